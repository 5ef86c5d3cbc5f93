// SPDX-License-Identifier: Apache-2.0
// Gradients of functions of two numbers. Private to op/.
#ifndef MXN_OP_KERNELS_BINARY_GRADIENTS_H
#define MXN_OP_KERNELS_BINARY_GRADIENTS_H

#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/binary_loops.h"

// A row of g, a and b of one type, float32 or float64. The gradient of a (side 0) or b (side 1)
// goes to `to`, or is added to `sums` where that input was repeated.
typedef struct mxn_gradient_row {
    const void *g, *a, *b;
    int64_t a_step, b_step, to_step;
    void *to;
    double *sums;
    int64_t count;
} mxn_gradient_row;

typedef struct mxn_binary_gradient_kernels {  // by function, side, of float and of double
    void (*rows[MXN_BINARY_COUNT + 1][2][2])(const mxn_gradient_row *row);
} mxn_binary_gradient_kernels;

MXN_EACH_WIDTH(mxn_binary_gradient_kernels, mxn__binary_gradients);

#endif
