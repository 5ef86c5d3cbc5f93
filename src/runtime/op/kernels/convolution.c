// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/convolution.h"

// The places along one axis for which the window's element `at` lies on the image: begin .. end.
static void valid_range(const mxn_window *w, int axis, int64_t at, int64_t *begin, int64_t *end)
{
    int64_t offset = at * w->dilate[axis] - w->pad[axis];
    int64_t stride = w->stride[axis];
    *begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    int64_t last = w->in[axis] - 1 - offset;
    *end = last < 0 ? 0 : last / stride + 1;
    *end = *end < w->out[axis] ? *end : w->out[axis];
}

// Distances in memory, in elements: of neighbours in an image, of channels, of images.
typedef struct distances {
    int64_t in, in_channel, in_image, out, out_channel, out_image, kernel, kernel_channel;
} distances;

static distances distances_of(const mxn_conv *c)
{
    int64_t channels = c->channels * c->groups;
    distances s = {1, c->in_size,    c->in_size * channels,
                   1, c->out_size,   c->out_size * c->filters,
                   1, c->kernel_size};
    if (c->channels_last) {
        s.in = channels;
        s.out = c->filters;
        s.kernel = c->channels;
        s.in_channel = s.out_channel = s.kernel_channel = 1;
    }
    return s;
}

#define TEMPLATE "runtime/op/kernels/convolution_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_conv_kernels MXN_WIDE(mxn__convolution) = {
    .all = {all_float, all_double},
    .bias = {bias_float, bias_double},
};
