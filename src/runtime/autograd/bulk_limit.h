// SPDX-License-Identifier: Apache-2.0
// How many operations the engine may join into one, as the environment says.
#ifndef MXN_AUTOGRAD_BULK_LIMIT_H
#define MXN_AUTOGRAD_BULK_LIMIT_H

#include <stdbool.h>

// Of a backward: MXNET_EXEC_BULK_EXEC_TRAIN (1; 0 turns it off),
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD, else MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (15). *size 0:
// none. MXP_EVALUE: one is ill-formed.
int mxn_bulk_limit_backward(int *size);
// Of a cached operator's forward: MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD, else
// MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN (15). MXP_EVALUE as above.
int mxn_bulk_limit_forward(int *size);
// Whether a cached operator may have bulks at all: MXNET_EXEC_BULK_EXEC_TRAIN (1) while its thread
// records or trains, else MXNET_EXEC_BULK_EXEC_INFERENCE (1). Those above have told of errors.
bool mxn_bulk_allowed(bool training);

#endif
