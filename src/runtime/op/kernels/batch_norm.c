// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/batch_norm.h"

#include <math.h>
#include <string.h>

enum { FEW = 16 };  // of a row: where a call would cost more than the loop

// Where a row of a channel begins.
static inline int64_t row_at(const mxn_axis_view *s, int64_t channel, int64_t row)
{
    return (row * s->count + channel) * s->inner;
}

enum { SUMS = 16 };

static double total_of(const double *sums)
{
    double total = 0;
    for (int k = 0; k < SUMS; k++) {
        total += sums[k];
    }
    return total;
}

#define TEMPLATE "runtime/op/kernels/batch_norm_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_batch_norm_kernels MXN_WIDE(mxn__batch_norm) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
};
