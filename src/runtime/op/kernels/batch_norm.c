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

// Which number of gamma and beta is that of a channel.
static inline int64_t scale_at(const mxn_groups *s, int64_t group, int64_t member)
{
    return s->of_channel ? group * s->members + member : group;
}

#define TEMPLATE "runtime/op/kernels/batch_norm_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/kernels/group_norm_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_batch_norm_kernels MXN_WIDE(mxn__batch_norm) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
};

const mxn_group_norm_kernels MXN_WIDE(mxn__group_norm) = {
    .forward = {group_forward_float, group_forward_double},
    .backward = {group_backward_float, group_backward_double},
};
