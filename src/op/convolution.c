// SPDX-License-Identifier: Apache-2.0
// Convolution of images in 1, 2 and 3 dimensions. The plain C reference: for each pair of channels
// and each place of the kernel, a multiple of a shifted image is added; the inner loop runs along a
// row of the result.
#include <string.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"
#include "op/window.h"

typedef struct conv_params {
    mxn_tuple kernel, stride, dilate, pad;
    uint32_t num_filter, num_group;
    uint64_t workspace;
    bool no_bias;
    int32_t cudnn_tune;
    bool cudnn_off;
    int32_t layout;
} conv_params;

static const mxn_word tune_words[] = {
    {MXN_NONE_WORD, -1}, {"fastest", 2}, {"limited_workspace", 1}, {"off", 0}, {0}};

static const mxn_field conv_fields[] = {
    {MXN_FIELD(conv_params, kernel, TUPLE, NULL)},
    {MXN_FIELD(conv_params, stride, TUPLE, "[]")},
    {MXN_FIELD(conv_params, dilate, TUPLE, "[]")},
    {MXN_FIELD(conv_params, pad, TUPLE, "[]")},
    {MXN_FIELD(conv_params, num_filter, UINT, NULL), .min = 1, .max = 100000},
    {MXN_FIELD(conv_params, num_group, UINT, "1"), .min = 1, .max = 100000},
    {MXN_FIELD(conv_params, workspace, ULONG, "1024")},
    {MXN_FIELD(conv_params, no_bias, BOOL, "0")},
    {MXN_FIELD(conv_params, cudnn_tune, ENUM, "None"), .words = tune_words},
    {MXN_FIELD(conv_params, cudnn_off, BOOL, "0")},
    {MXN_FIELD(conv_params, layout, ENUM, "None"), .words = mxn__words_layouts},
    {0},
};

static int conv_window(const mxn_params *params, mxn_window *window)
{
    const conv_params *p = (const void *)params->values;
    return mxn__window_init(window, params->op, &p->kernel, &p->stride, &p->dilate, &p->pad);
}

static int conv_check(const mxn_op *op, void *values)
{
    const conv_params *p = values;
    if (p->layout == MXN_LAYOUT_CHANNELS_LAST) {
        return mxp__fail(MXP_ENOTSUP, "Operator %s: layouts with channels last are not supported",
                         op->name);
    }
    if (p->num_filter % p->num_group != 0) {
        return mxp__fail(MXP_EINVAL, "Operator %s: num_filter=%u is no multiple of num_group=%u",
                         op->name, p->num_filter, p->num_group);
    }
    mxn_window window;
    return mxn__window_init(&window, op, &p->kernel, &p->stride, &p->dilate, &p->pad);
}

static uint32_t conv_inputs(const void *values)
{
    return ((const conv_params *)values)->no_bias ? 2 : 3;
}

static uint32_t three_inputs(const void *values)
{
    (void)values;
    return 3;
}

static int conv_shapes(const mxn_shapes *shapes)
{
    const conv_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    mxn_shape bias = {.ndim = 1, .dims = {p->num_filter}};
    int error = p->no_bias ? 0 : mxn__shape_input(shapes, 2, &bias);
    if (error != 0 || !mxn_shape_known(data)) {
        return error;
    }
    mxn_window window;
    error = conv_window(shapes->params, &window);
    if (error != 0) {
        return error;
    }
    if (data->ndim != p->kernel.count + 2 || data->dims[1] % p->num_group != 0) {
        return mxn__shape_refused(shapes, 0,
                                  "must have %d dimensions and a multiple of %u channels",
                                  p->kernel.count + 2, p->num_group);
    }
    mxn_shape weight = {.ndim = data->ndim, .dims = {p->num_filter, data->dims[1] / p->num_group}};
    mxn_shape result = {.ndim = data->ndim, .dims = {data->dims[0], p->num_filter}};
    for (int32_t i = 2; i < data->ndim; i++) {
        int32_t k = 3 - data->ndim + i;
        int64_t span = window.dilate[k] * (window.kernel[k] - 1) + 1;
        int64_t room = data->dims[i] + 2 * window.pad[k] - span;
        if (room < 0) {
            return mxn__shape_refused(shapes, 0, "the kernel exceeds dimension %d with its pad", i);
        }
        weight.dims[i] = window.kernel[k];
        result.dims[i] = room / window.stride[k] + 1;
    }
    error = mxn__shape_input(shapes, 1, &weight);
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

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

typedef struct conv {
    mxn_window window;
    int64_t images, filters, channels, groups;  // channels: of one group
    int64_t in_size, out_size, kernel_size;
    void *data, *weight, *result;  // any of them is what is computed
} conv;

enum { FORWARD, TO_DATA, TO_WEIGHT };

// One row: the result's `out` against the data's `in`, `count` places, `step` apart in the data.
#define CONV_ROW(type)                                                                     \
    static void conv_row_##type(int kind, type *out, type *in, type *weight, int64_t step, \
                                int64_t count)                                             \
    {                                                                                      \
        const type factor = *weight;                                                       \
        type sum = 0;                                                                      \
        switch (kind) {                                                                    \
        case FORWARD:                                                                      \
            for (int64_t x = 0; x < count; x++) {                                          \
                out[x] += factor * in[x * step];                                           \
            }                                                                              \
            return;                                                                        \
        case TO_DATA:                                                                      \
            for (int64_t x = 0; x < count; x++) {                                          \
                in[x * step] += factor * out[x];                                           \
            }                                                                              \
            return;                                                                        \
        default:                                                                           \
            for (int64_t x = 0; x < count; x++) {                                          \
                sum += out[x] * in[x * step];                                              \
            }                                                                              \
            *weight += sum;                                                                \
        }                                                                                  \
    }
// One image of a channel, one of a filter, one kernel between them.
#define CONV_PLANE(type)                                                                      \
    static void conv_plane_##type(const mxn_window *w, int kind, type *out, type *in,         \
                                  type *kernel)                                               \
    {                                                                                         \
        int64_t begin[3], end[3], k[3];                                                       \
        for (k[0] = 0; k[0] < w->kernel[0]; k[0]++) {                                         \
            valid_range(w, 0, k[0], &begin[0], &end[0]);                                      \
            for (k[1] = 0; k[1] < w->kernel[1]; k[1]++) {                                     \
                valid_range(w, 1, k[1], &begin[1], &end[1]);                                  \
                for (k[2] = 0; k[2] < w->kernel[2]; k[2]++, kernel++) {                       \
                    valid_range(w, 2, k[2], &begin[2], &end[2]);                              \
                    int64_t count = end[2] - begin[2];                                        \
                    int64_t x = begin[2] * w->stride[2] + k[2] * w->dilate[2] - w->pad[2];    \
                    for (int64_t z = begin[0]; z < end[0] && count > 0; z++) {                \
                        int64_t iz = z * w->stride[0] + k[0] * w->dilate[0] - w->pad[0];      \
                        for (int64_t y = begin[1]; y < end[1]; y++) {                         \
                            int64_t iy = y * w->stride[1] + k[1] * w->dilate[1] - w->pad[1];  \
                            conv_row_##type(kind,                                             \
                                            out + (z * w->out[1] + y) * w->out[2] + begin[2], \
                                            in + (iz * w->in[1] + iy) * w->in[2] + x, kernel, \
                                            w->stride[2], count);                             \
                        }                                                                     \
                    }                                                                         \
                }                                                                             \
            }                                                                                 \
        }                                                                                     \
    }
#define CONV_ALL(type)                                                                          \
    static void conv_all_##type(const conv *c, int kind)                                        \
    {                                                                                           \
        int64_t filters = c->filters / c->groups;                                               \
        for (int64_t n = 0; n < c->images; n++) {                                               \
            for (int64_t f = 0; f < c->filters; f++) {                                          \
                type *out = (type *)c->result + (n * c->filters + f) * c->out_size;             \
                for (int64_t i = 0; i < c->channels; i++) {                                     \
                    int64_t channel = f / filters * c->channels + i;                            \
                    type *in =                                                                  \
                        (type *)c->data + (n * c->channels * c->groups + channel) * c->in_size; \
                    type *kernel = (type *)c->weight + (f * c->channels + i) * c->kernel_size;  \
                    conv_plane_##type(&c->window, kind, out, in, kernel);                       \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    static void conv_bias_##type(const conv *c, const type *bias)                               \
    {                                                                                           \
        type *out = c->result;                                                                  \
        for (int64_t i = 0; i < c->images * c->filters; i++) {                                  \
            for (int64_t k = 0; k < c->out_size; k++) {                                         \
                *out++ = bias == NULL ? 0 : bias[i % c->filters];                               \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    static void conv_bias_sum_##type(const conv *c, type *sums)                                 \
    {                                                                                           \
        const type *g = c->result;                                                              \
        memset(sums, 0, (size_t)c->filters * sizeof(type));                                     \
        for (int64_t i = 0; i < c->images * c->filters; i++) {                                  \
            type sum = 0;                                                                       \
            for (int64_t k = 0; k < c->out_size; k++) {                                         \
                sum += *g++;                                                                    \
            }                                                                                   \
            sums[i % c->filters] += sum;                                                        \
        }                                                                                       \
    }
#define CONV(type) CONV_ROW(type) CONV_PLANE(type) CONV_ALL(type)
CONV(float)
CONV(double)

static int conv_init(const mxn_job *job, conv *c, const mxn_shape *data, const mxn_shape *result)
{
    const conv_params *p = mxn__values(job);
    int error = conv_window(job->params, &c->window);
    if (error != 0) {
        return error;
    }
    mxn__window_images(&c->window, data, result);
    const mxn_window *w = &c->window;
    c->images = data->dims[0];
    c->filters = p->num_filter;
    c->groups = p->num_group;
    c->channels = data->dims[1] / p->num_group;
    c->in_size = w->in[0] * w->in[1] * w->in[2];
    c->out_size = w->out[0] * w->out[1] * w->out[2];
    c->kernel_size = w->kernel[0] * w->kernel[1] * w->kernel[2];
    return 0;
}

static int conv_forward(mxn_job *job)
{
    conv c = {
        .data = job->inputs[0].data, .weight = job->inputs[1].data, .result = job->outputs[0].data};
    int error = conv_init(job, &c, job->inputs[0].shape, job->outputs[0].shape);
    const void *bias = job->params->input_count == 3 ? job->inputs[2].data : NULL;
    if (error != 0) {
        return error;
    }
    if (job->outputs[0].dtype == MXN_FLOAT32) {
        conv_bias_float(&c, bias);
        conv_all_float(&c, FORWARD);
    } else if (job->outputs[0].dtype == MXN_FLOAT64) {
        conv_bias_double(&c, bias);
        conv_all_double(&c, FORWARD);
    } else {
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
    return 0;
}

static void conv_gradient(const mxn_job *job, conv *c, int kind)
{
    mxn_operand *out = &job->outputs[kind == TO_DATA ? 0 : 1];
    if (out->data == NULL) {
        return;
    }
    c->data = kind == TO_DATA ? out->data : job->inputs[1].data;
    c->weight = kind == TO_DATA ? job->inputs[2].data : out->data;
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    if (out->dtype == MXN_FLOAT32) {
        conv_all_float(c, kind);
    } else {
        conv_all_double(c, kind);
    }
}

// Inputs: gradient, data, weight.
static int conv_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0];
    conv c = {.result = g->data};
    if (g->dtype != MXN_FLOAT32 && g->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, g->dtype);
    }
    int error = conv_init(job, &c, job->inputs[1].shape, g->shape);
    if (error != 0) {
        return error;
    }
    conv_gradient(job, &c, TO_DATA);
    conv_gradient(job, &c, TO_WEIGHT);
    void *bias = job->params->output_count == 3 ? job->outputs[2].data : NULL;
    if (bias != NULL && g->dtype == MXN_FLOAT32) {
        conv_bias_sum_float(&c, bias);
    } else if (bias != NULL) {
        conv_bias_sum_double(&c, bias);
    }
    return 0;
}

static double conv_flops(const mxn_job *job)
{
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    const mxn_shape *result = backward ? job->inputs[0].shape : job->outputs[0].shape;
    const mxn_shape *weight = job->inputs[backward ? 2 : 1].shape;
    double each =
        weight->dims[0] == 0 ? 0 : (double)mxn_shape_size(weight) / (double)weight->dims[0];
    return (backward ? 4.0 : 2.0) * (double)mxn_shape_size(result) * each;
}

static const mxn_op_def table[] = {
    {
        .name = "Convolution",
        .aliases = "_npx_convolution",
        .inputs = "data weight bias",
        .description = "Images through filters.",
        .fields = conv_fields,
        .params_bytes = sizeof(conv_params),
        .check = conv_check,
        .inputs_of = conv_inputs,
        .shapes = conv_shapes,
        .flags = MXN_OP_PARALLEL,
        .gradient = MXN_GRADIENT({.op = "_backward_Convolution", .takes = "g0 i0 i1"}),
        .forward = conv_forward,
        .flops = conv_flops,
    },
    {
        .name = "_backward_Convolution",
        .inputs_of = three_inputs,
        .outputs_of = conv_inputs,
        .fields = conv_fields,
        .params_bytes = sizeof(conv_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL,
        .forward = conv_backward,
        .flops = conv_flops,
    },
};

MXN_FAMILY(convolution, table);
