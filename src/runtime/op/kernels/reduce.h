// SPDX-License-Identifier: Apache-2.0
// Sums of rows and of their squares. Private to op/.
#ifndef MXN_OP_KERNELS_REDUCE_H
#define MXN_OP_KERNELS_REDUCE_H

#include "runtime/op/kernels/kernels.h"

typedef struct mxn_reduce_kernels {  // of float, of double
    double (*sum_row[2])(const void *from, int64_t count);
    double (*squares_row[2])(const void *from, int64_t count);
} mxn_reduce_kernels;

MXN_EACH_WIDTH(mxn_reduce_kernels, mxn__reduce);

#endif
