// SPDX-License-Identifier: Apache-2.0
// Batch norm over channels, each of which lies in `outer` rows of `inner` elements, `count`
// channels apart. What is not asked for is null. Private to op/.
#ifndef MXN_OP_KERNELS_BATCH_NORM_H
#define MXN_OP_KERNELS_BATCH_NORM_H

#include "runtime/op/kernels/kernels.h"

// All arrays are of one type; those of a number a channel have `s.count` elements.
typedef struct mxn_batch_norm {
    mxn_axis_view s;
    const void *data, *gamma, *beta, *moving_mean, *moving_var;
    void *to, *means, *inverses;  // the result; the mean and the inverse deviation that it took
    double epsilon;
    bool gamma_is_1, of_batch;  // statistics of the batch, not the moving ones
} mxn_batch_norm;

typedef struct mxn_batch_norm_back {
    mxn_axis_view s;
    const void *gradient, *data, *gamma, *means, *inverses;
    void *to, *to_gamma, *to_beta;
    void *moving_mean, *moving_var;  // moved, if the statistics were those of the batch
    double epsilon, momentum;
    bool gamma_is_1, of_batch;
} mxn_batch_norm_back;

// Of float, of double; of channels begin .. end.
typedef struct mxn_batch_norm_kernels {
    void (*forward[2])(const mxn_batch_norm *b, int64_t begin, int64_t end);
    void (*backward[2])(const mxn_batch_norm_back *b, int64_t begin, int64_t end);
} mxn_batch_norm_kernels;

MXN_EACH_WIDTH(mxn_batch_norm_kernels, mxn__batch_norm);

#endif
