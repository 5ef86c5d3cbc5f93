// SPDX-License-Identifier: Apache-2.0
// Softmax of rows. Private to op/.
#ifndef MXN_OP_KERNELS_SOFTMAX_H
#define MXN_OP_KERNELS_SOFTMAX_H

#include "runtime/op/kernels/kernels.h"

// From the gradient and the output: of softmax y (g - sum(g y)), of its logarithm g - exp(y)
// sum(g).
typedef struct mxn_softmax_back {
    const void *g, *y;  // of one type
    void *to;
    int64_t count, step;
    double scale;
    bool log_of_it;
    bool to_is_double;
} mxn_softmax_back;

typedef struct mxn_softmax_kernels {  // each of float, of double
    // A softmax or its logarithm of `valid` numbers `step` apart, in place; the rest of `count`
    // becomes 0 (of a softmax).
    void (*row[2])(void *at, int64_t count, int64_t valid, int64_t step, double scale,
                   bool log_of_it);
    // The logarithm of a row of floats without gaps.
    void (*log_row)(float *at, int64_t count, double scale);
    void (*backward[2])(const mxn_softmax_back *b);
} mxn_softmax_kernels;

MXN_EACH_WIDTH(mxn_softmax_kernels, mxn__softmax);

#endif
