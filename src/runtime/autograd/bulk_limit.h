// SPDX-License-Identifier: Apache-2.0
// How many operations the engine may join into one, as the environment says.
#ifndef MXN_AUTOGRAD_BULK_LIMIT_H
#define MXN_AUTOGRAD_BULK_LIMIT_H

// Of a backward: MXNET_EXEC_BULK_EXEC_TRAIN (1; 0 turns it off),
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD, else MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (15). *size 0:
// none. MXP_EVALUE: one is ill-formed.
int mxn_bulk_limit_backward(int *size);
// Of a cached operator's forward: MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD, else
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (15). MXP_EVALUE as above.
int mxn_bulk_limit_forward(int *size);

#endif
