// SPDX-License-Identifier: Apache-2.0
// Functions of each element that are not 0 below 0. Private to op/.
#ifndef MXN_OP_KERNELS_LEAKY_RELU_H
#define MXN_OP_KERNELS_LEAKY_RELU_H

#include "runtime/op/kernels/kernels.h"

enum {
    MXN_LEAKY_ELU,
    MXN_LEAKY_GELU,
    MXN_LEAKY_LEAKY,
    MXN_LEAKY_PRELU,
    MXN_LEAKY_RRELU,
    MXN_LEAKY_SELU
};

// A row: its slopes lie `step` apart, or, if `slopes` is null, are all `slope`.
typedef struct mxn_leaky_row {
    int function;
    int64_t count;
    const void *x;
    void *to;
    const void *slopes;
    int64_t step;
    double slope;
    const void *g;  // of the gradient alone; what it adds to that of each slope, or null
    void *of_slopes;
} mxn_leaky_row;

typedef struct mxn_leaky_kernels {  // of float, of double
    void (*forward[2])(const mxn_leaky_row *row);
    void (*backward[2])(const mxn_leaky_row *row);
} mxn_leaky_kernels;

MXN_EACH_WIDTH(mxn_leaky_kernels, mxn__leaky);

#endif
