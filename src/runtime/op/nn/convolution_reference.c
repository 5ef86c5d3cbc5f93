// SPDX-License-Identifier: Apache-2.0
// The plain C reference of convolutions: for each pair of channels and each place of the kernel, a
// multiple of a shifted image is added; the inner loop runs along a row of the result.
#include <string.h>

#include "runtime/op/nn/convolution.h"
#include "runtime/op/loops/loops.h"

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

// One row: `count` places of the result, `out_step` apart, against the data's, `in_step` apart.
#define CONV_ROW(type)                                                                            \
    static void conv_row_##type(int kind, type *out, int64_t out_step, type *in, int64_t in_step, \
                                type *weight, int64_t count)                                      \
    {                                                                                             \
        const type factor = *weight;                                                              \
        type sum = 0;                                                                             \
        switch (kind) {                                                                           \
        case MXN_CONV_FORWARD:                                                                    \
            for (int64_t x = 0; x < count; x++) {                                                 \
                out[x * out_step] += factor * in[x * in_step];                                    \
            }                                                                                     \
            return;                                                                               \
        case MXN_CONV_TO_DATA:                                                                    \
            for (int64_t x = 0; x < count; x++) {                                                 \
                in[x * in_step] += factor * out[x * out_step];                                    \
            }                                                                                     \
            return;                                                                               \
        default:                                                                                  \
            for (int64_t x = 0; x < count; x++) {                                                 \
                sum += out[x * out_step] * in[x * in_step];                                       \
            }                                                                                     \
            *weight += sum;                                                                       \
        }                                                                                         \
    }
// One image of a channel, one of a filter, one kernel between them.
#define CONV_PLANE(type)                                                                        \
    static void conv_plane_##type(const mxn_window *w, const distances *s, int kind, type *out, \
                                  type *in, type *kernel)                                       \
    {                                                                                           \
        int64_t begin[3], end[3], k[3];                                                         \
        for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {                                           \
            valid_range(w, 0, k[0], &begin[0], &end[0]);                                        \
            for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {                                       \
                valid_range(w, 1, k[1], &begin[1], &end[1]);                                    \
                for (k[2] = 0; k[2] < w->kernel[2]; k[2]++, kernel += s->kernel) {              \
                    valid_range(w, 2, k[2], &begin[2], &end[2]);                                \
                    int64_t count = end[2] - begin[2];                                          \
                    int64_t x = begin[2] * w->stride[2] + k[2] * w->dilate[2] - w->pad[2];      \
                    for (int64_t z = begin[0]; z < end[0] && count > 0; z++) {                  \
                        int64_t iz = z * w->stride[0] + k[0] * w->dilate[0] - w->pad[0];        \
                        for (int64_t y = begin[1]; y < end[1]; y++) {                           \
                            int64_t iy = y * w->stride[1] + k[1] * w->dilate[1] - w->pad[1];    \
                            int64_t to = (z * w->out[1] + y) * w->out[2] + begin[2];            \
                            int64_t from = (iz * w->in[1] + iy) * w->in[2] + x;                 \
                            conv_row_##type(kind, out + to * s->out, s->out, in + from * s->in, \
                                            s->in * w->stride[2], kernel, count);               \
                        }                                                                       \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }
#define CONV_ALL(type)                                                                    \
    static void conv_all_##type(const mxn_conv *c, int kind)                              \
    {                                                                                     \
        const distances s = distances_of(c);                                              \
        int64_t filters = c->filters / c->groups;                                         \
        for (int64_t n = 0; n < c->images; n++) {                                         \
            for (int64_t f = 0; f < c->filters; f++) {                                    \
                type *out = (type *)c->result + n * s.out_image + f * s.out_channel;      \
                for (int64_t i = 0; i < c->channels; i++) {                               \
                    int64_t channel = f / filters * c->channels + i;                      \
                    type *in = (type *)c->data + n * s.in_image + channel * s.in_channel; \
                    type *kernel = (type *)c->weight + f * c->channels * c->kernel_size + \
                                   i * s.kernel_channel;                                  \
                    conv_plane_##type(&c->window, &s, kind, out, in, kernel);             \
                }                                                                         \
            }                                                                             \
        }                                                                                 \
    }
#define CONV_BIAS(type)                                                                            \
    static void conv_bias_##type(const mxn_conv *c, int what, type *images, int64_t channels,      \
                                 int64_t size, type *bias)                                         \
    {                                                                                              \
        int64_t step = c->channels_last ? channels : 1;                                            \
        for (int64_t i = 0; i < c->images * channels; i++) {                                       \
            int64_t channel = i % channels;                                                        \
            type *at =                                                                             \
                images + (c->channels_last ? i / channels * channels * size + channel : i * size); \
            type sum = bias == NULL ? 0 : bias[channel];                                           \
            for (int64_t k = 0; k < size; k++, at += step) {                                       \
                if (what == MXN_BIAS_SUM) {                                                        \
                    sum += *at;                                                                    \
                } else {                                                                           \
                    *at = sum + (what == MXN_BIAS_ADD ? *at : 0);                                  \
                }                                                                                  \
            }                                                                                      \
            if (what == MXN_BIAS_SUM) {                                                            \
                bias[channel] = sum;                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define CONV(type) CONV_ROW(type) CONV_PLANE(type) CONV_ALL(type) CONV_BIAS(type)
CONV(float)
CONV(double)

static void clear(void *data, int64_t count, int32_t dtype)
{
    if (count > 0) {
        memset(data, 0, (size_t)count * mxn_dtype_size(dtype));
    }
}

void mxn__conv_bias(const mxn_conv *c, int what, void *images, int64_t channels, int64_t size,
                    void *bias)
{
    if (what == MXN_BIAS_SUM) {
        clear(bias, channels, c->dtype);
    }
    if (c->dtype == MXN_FLOAT32) {
        conv_bias_float(c, what, images, channels, size, bias);
    } else {
        conv_bias_double(c, what, images, channels, size, bias);
    }
}

int mxn__conv_plainly(mxn_job *job, const mxn_conv *c, int kind)
{
    if (c->dtype != MXN_FLOAT32 && c->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, c->dtype);
    }
    int64_t weights = c->filters * c->channels * c->kernel_size;
    if (kind == MXN_CONV_FORWARD) {
        mxn__conv_bias(c, MXN_BIAS_STORE, c->result, c->filters, c->out_size, c->bias);
    } else if (kind == MXN_CONV_TO_DATA) {
        clear(c->data, c->images * c->channels * c->groups * c->in_size, c->dtype);
    } else {
        clear(c->weight, weights, c->dtype);
        if (c->bias != NULL) {
            mxn__conv_bias(c, MXN_BIAS_SUM, c->result, c->filters, c->out_size, c->bias);
        }
    }
    if (c->dtype == MXN_FLOAT32) {
        conv_all_float(c, kind);
    } else {
        conv_all_double(c, kind);
    }
    return 0;
}
