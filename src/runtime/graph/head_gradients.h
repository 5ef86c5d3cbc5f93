// SPDX-License-Identifier: Apache-2.0
// The gradients from which a network goes backward if the program gives none. Private to graph/.
#ifndef MXN_GRAPH_HEAD_GRADIENTS_H
#define MXN_GRAPH_HEAD_GRADIENTS_H

#include "runtime/graph/node.h"

// For each output of a network an array like `outputs`: of ones, pushed as "SetValueOp", or, where
// the operator's gradient does not look at it, as a loss's does not, one that is never written.
// `heads` are as many nulls, or what an earlier call has made, which stays; the caller releases
// them. None is there after an error. MXP_ENOMEM.
int mxn__head_gradients(const mxn_symbol *symbol, mxn_array *const *outputs, mxn_array **heads);

#endif
