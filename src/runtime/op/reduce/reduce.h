// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/reduce: operators over axes: sums, extremes, sorting.
//
// What reductions and their gradients share. Private to op/.
#ifndef MXN_OP_REDUCE_REDUCE_H
#define MXN_OP_REDUCE_REDUCE_H

#include "runtime/op/reduce/reduce_loops.h"
#include "runtime/op/registry/declare.h"

typedef struct mxn_reduce_params {
    mxn_tuple axis;
    bool keepdims;
    bool exclude;
    int32_t dtype;
    mxn_maybe_number initial;
} mxn_reduce_params;

// The variant of an operator: what it makes, and whether it is one of NumPy's (MXNet's names of the
// past leave one dimension where NumPy's leave none).
enum { MXN_REDUCE_MEAN = MXN_REDUCE_COUNT, MXN_REDUCE_KIND = 0xff, MXN_REDUCE_NUMPY = 1 << 8 };

// The steps of the result along the dimensions of the input, and how many elements go into one.
int mxn__reduce_steps(const mxn_params *params, const mxn_shape *big, int64_t *steps,
                      int64_t *reduced_count);

int mxn__reduce_backward(mxn_job *job);
uint64_t mxn__reduce_backward_workspace(const mxn_job *job);

#endif
