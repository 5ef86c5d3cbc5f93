// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows, whose elements lie `s.inner` apart. What is not asked for is null. Private to
// op/.
#ifndef MXN_OP_KERNELS_LAYER_NORM_H
#define MXN_OP_KERNELS_LAYER_NORM_H

#include "runtime/op/kernels/kernels.h"

typedef struct mxn_layer_norm {
    mxn_axis_view s;
    const void *data, *gamma, *beta;
    void *to, *means, *deviations;
    double epsilon;
} mxn_layer_norm;

typedef struct mxn_layer_norm_back {
    mxn_axis_view s;
    const void *gradient, *data, *gamma, *means, *deviations;
    void *to;
    double
        *sums;  // of a row's length each: the gradients of gamma and beta, added to what is there
} mxn_layer_norm_back;

typedef struct mxn_layer_norm_kernels {  // of float, of double
    void (*forward[2])(const mxn_layer_norm *l);
    void (*backward[2])(const mxn_layer_norm_back *l);
} mxn_layer_norm_kernels;

MXN_EACH_WIDTH(mxn_layer_norm_kernels, mxn__layer_norm);

#endif
