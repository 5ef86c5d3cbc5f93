// SPDX-License-Identifier: Apache-2.0
// Sums, products and extremes of whole numbers, in loops of each type. Private to op/.
#ifndef MXN_OP_KERNELS_REDUCE_WHOLE_H
#define MXN_OP_KERNELS_REDUCE_WHOLE_H

#include "runtime/op/kernels/kernels.h"

enum { MXN_REDUCE_SUM, MXN_REDUCE_PROD, MXN_REDUCE_MAX, MXN_REDUCE_MIN, MXN_REDUCE_COUNT };

// Combines `count` numbers of `from` with those of `to`, or all with the first one (step 0).
typedef void (*mxn_combine_function)(const void *from, void *to, int64_t step, int64_t count);

typedef struct mxn_reduce_whole_kernels {
    mxn_combine_function rows[MXN_DTYPE_COUNT][MXN_REDUCE_COUNT];
} mxn_reduce_whole_kernels;

MXN_EACH_WIDTH(mxn_reduce_whole_kernels, mxn__reduce_whole);

#endif
