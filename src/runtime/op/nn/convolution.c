// SPDX-License-Identifier: Apache-2.0
// Convolution and Deconvolution of images in 1, 2 and 3 dimensions. Deconvolution is convolution's
// gradient: its data are the result there, its output is the data.
#include "runtime/op/nn/convolution.h"

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct conv_params {
    mxn_tuple kernel, stride, dilate, pad, adj, target_shape;
    uint32_t num_filter, num_group;
    uint64_t workspace;
    bool no_bias;
    int32_t cudnn_tune;
    bool cudnn_off;
    int32_t layout;
} conv_params;

enum { CONVOLUTION, DECONVOLUTION };

static const mxn_word tune_words[] = {
    {MXN_NONE_WORD, -1}, {"fastest", 2}, {"limited_workspace", 1}, {"off", 0}, {0}};

static const mxn_word deconv_layouts[] = {{MXN_NONE_WORD, MXN_LAYOUT_NONE},
                                          {"NCDHW", MXN_LAYOUT_CHANNELS_FIRST},
                                          {"NCHW", MXN_LAYOUT_CHANNELS_FIRST},
                                          {"NCW", MXN_LAYOUT_CHANNELS_FIRST},
                                          {"NDHWC", MXN_LAYOUT_CHANNELS_LAST},
                                          {"NHWC", MXN_LAYOUT_CHANNELS_LAST},
                                          {0}};

#define WINDOW_FIELDS                                                                             \
    {MXN_FIELD(conv_params, kernel, TUPLE, NULL)}, {MXN_FIELD(conv_params, stride, TUPLE, "[]")}, \
        {MXN_FIELD(conv_params, dilate, TUPLE, "[]")},                                            \
    {                                                                                             \
        MXN_FIELD(conv_params, pad, TUPLE, "[]")                                                  \
    }
#define COUNT_FIELDS(workspace_, no_bias_, layouts_)                             \
    {MXN_FIELD(conv_params, num_filter, UINT, NULL), .min = 1, .max = 100000},   \
        {MXN_FIELD(conv_params, num_group, UINT, "1"), .min = 1, .max = 100000}, \
        {MXN_FIELD(conv_params, workspace, ULONG, workspace_)},                  \
        {MXN_FIELD(conv_params, no_bias, BOOL, no_bias_)},                       \
        {MXN_FIELD(conv_params, cudnn_tune, ENUM, "None"), .words = tune_words}, \
        {MXN_FIELD(conv_params, cudnn_off, BOOL, "0")},                          \
        {MXN_FIELD(conv_params, layout, ENUM, "None"), .words = layouts_},       \
    {                                                                            \
        0                                                                        \
    }

static const mxn_field conv_fields[] = {WINDOW_FIELDS,
                                        COUNT_FIELDS("1024", "0", mxn__words_layouts)};
static const mxn_field deconv_fields[] = {
    WINDOW_FIELDS,
    {MXN_FIELD(conv_params, adj, TUPLE, "[]")},
    {MXN_FIELD(conv_params, target_shape, TUPLE, "[]")},
    COUNT_FIELDS("1024", "1", deconv_layouts),
};

static bool is_deconvolution(const mxn_params *params)
{
    return params->op->def->variant == DECONVOLUTION;
}

static int window_of(const mxn_op *op, const conv_params *p, mxn_window *window)
{
    return mxn__window_init(window, op, &p->kernel, &p->stride, &p->dilate, &p->pad);
}

static int check_adjustment(const mxn_op *op, const conv_params *p, const mxn_window *w)
{
    if ((p->adj.count > 0 && p->adj.count != p->kernel.count) ||
        (p->target_shape.count > 0 && p->target_shape.count != p->kernel.count)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: adj and target_shape must be as long as kernel",
                         op->name);
    }
    for (int32_t i = 0; i < p->adj.count && p->target_shape.count <= 0; i++) {
        int64_t stride = w->stride[3 - p->kernel.count + i];
        if (p->adj.values[i] < 0 || p->adj.values[i] >= stride) {
            return mxp__fail(MXP_EINVAL, "Operator %s: adj has %lld, it must be below stride %lld",
                             op->name, (long long)p->adj.values[i], (long long)stride);
        }
    }
    return 0;
}

static int conv_check(const mxn_op *op, void *values)
{
    const conv_params *p = values;
    if (p->num_filter % p->num_group != 0) {
        return mxp__fail(MXP_EINVAL, "Operator %s: num_filter=%u is no multiple of num_group=%u",
                         op->name, p->num_filter, p->num_group);
    }
    mxn_window window;
    int error = window_of(op, p, &window);
    if (error == 0 && p->layout == MXN_LAYOUT_CHANNELS_LAST && op->def->variant == DECONVOLUTION) {
        error = mxp__fail(MXP_ENOTSUP, "Operator %s: layouts with channels last are not supported",
                          op->name);
    }
    return error != 0 ? error : check_adjustment(op, p, &window);
}

static bool conv_cuts(const void *values, bool training)
{
    (void)values;
    (void)training;
    return true;
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

// ---- shapes -----------------------------------------------------------------------------------

// The axis of channels, and the first one of the image.
static int32_t channel_axis(const conv_params *p, int32_t ndim)
{
    return p->layout == MXN_LAYOUT_CHANNELS_LAST ? ndim - 1 : 1;
}

static int32_t image_axis(const conv_params *p)
{
    return p->layout == MXN_LAYOUT_CHANNELS_LAST ? 1 : 2;
}

static int64_t span_of(const mxn_window *w, int k)
{
    return w->dilate[k] * (w->kernel[k] - 1) + 1;
}

static int conv_result(const mxn_shapes *shapes, const mxn_window *w, int32_t i, int64_t size,
                       int64_t *result)
{
    if (size < 0) {
        *result = -1;
        return 0;
    }
    int64_t extent = size + 2 * w->pad[i] - span_of(w, i);
    if (extent < 0) {
        return mxn__shape_refused(shapes, 0, "the kernel exceeds its size %lld with pad %lld",
                                  (long long)size, (long long)w->pad[i]);
    }
    *result = extent / w->stride[i] + 1;
    return 0;
}

// What a target shape asks for, it gets by a pad, the odd one by an adjustment.
static int deconv_result(const mxn_shapes *shapes, const mxn_window *w, int32_t i, int64_t size,
                         int64_t *result)
{
    const conv_params *p = (const void *)shapes->params->values;
    int32_t at = i - 3 + p->kernel.count;
    int64_t total;
    if (size < 0) {
        *result = p->target_shape.count > 0 ? p->target_shape.values[at] : -1;
        return 0;
    }
    int error = mxn__dim_mul(shapes->params, w->stride[i], size - 1, &total);
    if (error == 0) {
        error = mxn__dim_add(shapes->params, total, span_of(w, i), &total);
    }
    if (error != 0) {
        return error;
    }
    if (p->target_shape.count > 0) {
        *result = p->target_shape.values[at];
        return *result <= total && *result > 0
                   ? 0
                   : mxn__shape_refused(shapes, 0, "target_shape has %lld, the most is %lld",
                                        (long long)*result, (long long)total);
    }
    *result = total - 2 * w->pad[i] + (p->adj.count > 0 ? p->adj.values[at] : 0);
    return *result > 0 ? 0 : mxn__shape_refused(shapes, 0, "its pad leaves nothing");
}

// Sizes of the data may be unknown: what does not depend on them is told.
static int conv_shapes(const mxn_shapes *shapes)
{
    const conv_params *p = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0];
    mxn_shape bias = {.ndim = 1, .dims = {p->num_filter}};
    int error = p->no_bias ? 0 : mxn__shape_input(shapes, 2, &bias);
    if (error != 0 || data->ndim < 0) {
        return error;
    }
    mxn_window window;
    error = window_of(shapes->params->op, p, &window);
    if (error != 0) {
        return error;
    }
    int32_t ndim = p->kernel.count + 2, axis = channel_axis(p, ndim), first = image_axis(p);
    if (data->ndim != ndim || (data->dims[axis] > 0 && data->dims[axis] % p->num_group != 0)) {
        return mxn__shape_refused(
            shapes, 0, "must have %d dimensions and a multiple of %u channels", ndim, p->num_group);
    }
    bool transposed = is_deconvolution(shapes->params);
    int64_t channels = data->dims[axis];
    mxn_shape weight = {.ndim = ndim, .dims = {transposed ? channels : p->num_filter}};
    weight.dims[axis] = transposed     ? p->num_filter / p->num_group
                        : channels < 0 ? -1
                                       : channels / p->num_group;
    mxn_shape result = {.ndim = ndim, .dims = {data->dims[0]}};
    result.dims[axis] = p->num_filter;
    for (int32_t i = 0; i < p->kernel.count && error == 0; i++) {
        int32_t k = 3 - p->kernel.count + i;
        weight.dims[first + i] = window.kernel[k];
        error = (transposed ? deconv_result : conv_result)(
            shapes, &window, k, data->dims[first + i], &result.dims[first + i]);
    }
    if (error == 0) {
        error = mxn__shape_input(shapes, 1, &weight);
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

// ---- operators --------------------------------------------------------------------------------

static bool is_backward(const mxn_job *job)
{
    return (job->params->op->flags & MXN_OP_BACKWARD) != 0;
}

// A deconvolution to a target shape pads what it has too much, the odd one at the end.
static void pad_to_target(const conv_params *p, mxn_conv *c)
{
    for (int32_t i = 0; i < p->target_shape.count; i++) {
        int32_t k = 3 - p->kernel.count + i;
        mxn_window *w = &c->window;
        w->pad[k] = (w->stride[k] * (w->out[k] - 1) + span_of(w, k) - w->in[k] + 1) / 2;
    }
}

int mxn__conv_describe(const mxn_job *job, mxn_conv *c)
{
    const conv_params *p = mxn__values(job);
    bool transposed = is_deconvolution(job->params);
    const mxn_operand *given = &job->inputs[is_backward(job) ? 1 : 0];
    const mxn_shape *made = is_backward(job) ? job->inputs[0].shape : job->outputs[0].shape;
    const mxn_shape *data = transposed ? made : given->shape;
    const mxn_shape *result = transposed ? given->shape : made;
    int error = window_of(job->params->op, p, &c->window);
    if (error != 0) {
        return error;
    }
    mxn_window *w = &c->window;
    mxn__window_images(w, data, result, image_axis(p));
    int32_t axis = channel_axis(p, data->ndim);
    c->images = data->dims[0];
    c->filters = result->dims[axis];
    c->groups = p->num_group;
    c->channels = data->dims[axis] / p->num_group;
    c->in_size = w->in[0] * w->in[1] * w->in[2];
    c->out_size = w->out[0] * w->out[1] * w->out[2];
    c->kernel_size = w->kernel[0] * w->kernel[1] * w->kernel[2];
    c->channels_last = p->layout == MXN_LAYOUT_CHANNELS_LAST;
    c->dtype = given->dtype;
    c->data = c->weight = c->result = c->bias = NULL;
    c->weight_ref = (mxn_buffer_ref){0};
    if (transposed && p->target_shape.count > 0) {
        pad_to_target(p, c);
    }
    return 0;
}

// Asked of jobs without addresses, too: a kernel is chosen before there are any.
static bool is_wanted(const mxn_job *job, uint32_t output)
{
    return output < job->params->output_count && job->outputs[output].request != MXN_NULL;
}

int mxn__conv_steps(const mxn_job *job, mxn_conv_step steps[2])
{
    bool transposed = is_deconvolution(job->params);
    int count = 0;
    if (!is_backward(job)) {
        bool bias = !transposed && job->params->input_count == 3;
        steps[count++] = (mxn_conv_step){transposed ? MXN_CONV_TO_DATA : MXN_CONV_FORWARD, bias};
        return count;
    }
    if (is_wanted(job, 0)) {
        steps[count++] = (mxn_conv_step){transposed ? MXN_CONV_FORWARD : MXN_CONV_TO_DATA, false};
    }
    if (is_wanted(job, 1)) {
        steps[count++] = (mxn_conv_step){MXN_CONV_TO_WEIGHT, !transposed && is_wanted(job, 2)};
    }
    return count;
}

// Addresses of one step. Backward jobs take the gradient of the output, data and weight.
static void place_step(const mxn_job *job, const mxn_conv_step *step, mxn_conv *c)
{
    const mxn_operand *in = job->inputs, *out = job->outputs, *weight;
    const bool to_weight = step->kind == MXN_CONV_TO_WEIGHT;
    void *of_output, *of_data;  // the operator's output or its gradient, its data or theirs
    if (!is_backward(job)) {
        of_output = out[0].data;
        of_data = in[0].data;
        weight = &in[1];
    } else {  // inputs: gradient, data, weight
        of_output = in[0].data;
        of_data = to_weight ? in[1].data : out[0].data;
        weight = to_weight ? &out[1] : &in[2];
    }
    c->weight = weight->data;
    c->weight_ref = weight->memory;
    const bool transposed = is_deconvolution(job->params);
    c->data = transposed ? of_output : of_data;
    c->result = transposed ? of_data : of_output;
    c->bias = NULL;
    if (step->with_bias) {
        c->bias = to_weight ? out[2].data : in[2].data;
    }
}

// What no step does: the bias of a deconvolution, and a bias whose weight is not wanted.
static void finish_bias(const mxn_job *job, mxn_conv *c, bool with_weight)
{
    bool transposed = is_deconvolution(job->params);
    if (!is_backward(job)) {
        if (transposed && job->params->input_count == 3) {
            mxn__conv_bias(c, MXN_BIAS_ADD, job->outputs[0].data, c->channels * c->groups,
                           c->in_size, job->inputs[2].data);
        }
    } else if (is_wanted(job, 2) && (transposed || !with_weight)) {
        mxn__conv_bias(c, MXN_BIAS_SUM, job->inputs[0].data,
                       transposed ? c->channels * c->groups : c->filters,
                       transposed ? c->in_size : c->out_size, job->outputs[2].data);
    }
}

int mxn__conv_run(mxn_job *job, mxn_convolver convolve)
{
    mxn_conv c;
    mxn_conv_step steps[2];
    int error = mxn__conv_describe(job, &c);
    int count = mxn__conv_steps(job, steps);
    if (error == 0 && c.dtype != MXN_FLOAT32 && c.dtype != MXN_FLOAT64) {
        error = mxn__type_refused(job, c.dtype);
    }
    bool with_weight = false;
    for (int i = 0; i < count && error == 0; i++) {
        place_step(job, &steps[i], &c);
        with_weight = with_weight || steps[i].kind == MXN_CONV_TO_WEIGHT;
        error = convolve(job, &c, steps[i].kind);
    }
    if (error == 0) {
        finish_bias(job, &c, with_weight);
    }
    return error;
}

static int run_reference(mxn_job *job)
{
    return mxn__conv_run(job, mxn__conv_reference);
}

static double conv_flops(const mxn_job *job)
{
    mxn_conv c;
    if (mxn__conv_describe(job, &c) != 0) {
        return 0;
    }
    return (is_backward(job) ? 4.0 : 2.0) * (double)(c.images * c.filters * c.out_size) *
           (double)(c.channels * c.kernel_size);
}

#define FORWARD(name_, aliases_, backward_, fields_, variant_, description_)                \
    {                                                                                       \
        .name = (name_), .aliases = (aliases_), .inputs = "data weight bias",               \
        .description = (description_), .fields = (fields_), .variant = (variant_),          \
        .params_bytes = sizeof(conv_params), .check = conv_check, .inputs_of = conv_inputs, \
        .cuts = conv_cuts, .shapes = conv_shapes, .flags = MXN_OP_PARALLEL,                 \
        .gradient = MXN_GRADIENT({.op = (backward_), .takes = "g0 i0 i1"}),                 \
        .takes = MXN_TAKES_REALS, .forward = run_reference, .flops = conv_flops             \
    }
// Inputs: gradient, data, weight.
#define BACKWARD(name_, fields_, variant_)                                                    \
    {                                                                                         \
        .name = (name_), .inputs_of = three_inputs, .outputs_of = conv_inputs,                \
        .fields = (fields_), .variant = (variant_), .params_bytes = sizeof(conv_params),      \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL, .takes = MXN_TAKES_REALS, \
        .forward = run_reference, .flops = conv_flops, .reads = MXN_READS_OTHER               \
    }

static const mxn_op_def table[] = {
    FORWARD("Convolution", "_npx_convolution", "_backward_Convolution", conv_fields, CONVOLUTION,
            "Images through filters."),
    BACKWARD("_backward_Convolution", conv_fields, CONVOLUTION),
    FORWARD("Deconvolution", "_npx_deconvolution", "_backward_Deconvolution", deconv_fields,
            DECONVOLUTION, "Images out of filters: the gradient of a convolution."),
    BACKWARD("_backward_Deconvolution", deconv_fields, DECONVOLUTION),
};

MXN_FAMILY(convolution, table);
