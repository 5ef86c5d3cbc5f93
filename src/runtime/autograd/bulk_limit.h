// SPDX-License-Identifier: Apache-2.0
// How many operations of a backward the engine may join into one.
#ifndef MXN_AUTOGRAD_BULK_LIMIT_H
#define MXN_AUTOGRAD_BULK_LIMIT_H

// MXNET_EXEC_BULK_EXEC_TRAIN (1; 0 turns it off), MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD, else
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (15). *size 0: none. MXP_EVALUE: one is ill-formed.
int mxn__bulk_limit_backward(int *size);

#endif
