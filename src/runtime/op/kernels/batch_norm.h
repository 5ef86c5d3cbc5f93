// SPDX-License-Identifier: Apache-2.0
// Batch norm over channels, each of which lies in `outer` rows of `inner` elements, `count`
// channels apart; group norm over groups of a sample's channels, each of which lies in one piece.
// What is not asked for is null. Private to op/.
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

// `samples` of `groups` of `members` channels of `inner` elements.
typedef struct mxn_groups {
    int64_t samples, groups, members, inner;
    bool of_channel;  // gamma and beta are numbers of each channel, not of each group
} mxn_groups;

typedef struct mxn_group_norm {
    mxn_groups s;
    const void *data, *gamma, *beta;
    void *to, *means, *deviations;  // the last two of each group of each sample
    double epsilon;
} mxn_group_norm;

typedef struct mxn_group_norm_back {
    mxn_groups s;
    const void *gradient, *data, *gamma, *means, *deviations;
    void *to;
    double *to_gamma, *to_beta;  // added to what is there
} mxn_group_norm_back;

// Of float, of double; of samples begin .. end.
typedef struct mxn_group_norm_kernels {
    void (*forward[2])(const mxn_group_norm *b, int64_t begin, int64_t end);
    void (*backward[2])(const mxn_group_norm_back *b, int64_t begin, int64_t end);
} mxn_group_norm_kernels;

MXN_EACH_WIDTH(mxn_group_norm_kernels, mxn__group_norm);

#endif
