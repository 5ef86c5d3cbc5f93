// SPDX-License-Identifier: Apache-2.0
// Whole networks in an operator's place: `_CachedOp` on a tape, and its gradient
// `_backward_CachedOp`. What they push is the network's own matter: it gives two functions.
//
// Thread rule: those of mxn_op_direct. Ownership: parameters hold the network by its functions.
#ifndef MXN_OP_SUBGRAPH_H
#define MXN_OP_SUBGRAPH_H

#include "runtime/op/op.h"

typedef struct mxn_subgraph {
    // As mxn_op_direct. `call->state`: of a forward, null if nobody goes back through it, else
    // where it puts a state for its backward, which finds it there.
    int (*forward)(struct mxn_subgraph *graph, const mxn_direct_call *call);
    // Takes the gradients of all outputs, null where there is none; gives those of all inputs, with
    // MXN_ADD too.
    int (*backward)(struct mxn_subgraph *graph, const mxn_direct_call *call);
    void (*retain)(struct mxn_subgraph *graph);
    void (*release)(struct mxn_subgraph *graph);
} mxn_subgraph;

// Parameters of `_CachedOp`, one reference, which hold the network.
int mxn_subgraph_params(mxn_subgraph *graph, uint32_t inputs, uint32_t outputs, bool numpy_shape,
                        mxn_params **params);

#endif
