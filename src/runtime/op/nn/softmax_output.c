// SPDX-License-Identifier: Apache-2.0
// SoftmaxOutput: a softmax whose gradient is that of the cross entropy with the labels.
#include "runtime/op/kernels/softmax_output.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/nn/softmax.h"
#include "runtime/op/registry/infer.h"

typedef struct output_params {
    double grad_scale, smooth_alpha;
    float ignore_label;
    bool multi_output, use_ignore, preserve_shape;
    int32_t normalization;
    bool out_grad;
} output_params;

enum { PER_NOTHING, PER_BATCH, PER_VALID };
static const mxn_word normalizations[] = {
    {"batch", PER_BATCH}, {"null", PER_NOTHING}, {"valid", PER_VALID}, {0}};

static const mxn_field output_fields[] = {
    {MXN_FIELD(output_params, grad_scale, WIDE_FLOAT, "1")},
    {MXN_FIELD(output_params, ignore_label, FLOAT, "-1")},
    {MXN_FIELD(output_params, multi_output, BOOL, "0")},
    {MXN_FIELD(output_params, use_ignore, BOOL, "0")},
    {MXN_FIELD(output_params, preserve_shape, BOOL, "0")},
    {MXN_FIELD(output_params, normalization, ENUM, "null"), .words = normalizations},
    {MXN_FIELD(output_params, out_grad, BOOL, "0")},
    {MXN_FIELD(output_params, smooth_alpha, WIDE_FLOAT, "0"), .min = 0, .max = 1},
    {0},
};

// Over channels (axis 1), the last axis, or everything but the first.
static mxn_axis_view output_view(const mxn_shape *data, const output_params *params)
{
    if (params->multi_output) {
        return mxn__axis_view(data, 1);
    }
    if (params->preserve_shape) {
        return mxn__axis_view(data, data->ndim - 1);
    }
    mxn_axis_view s = {data->dims[0], 1, 1};
    for (int32_t i = 1; i < data->ndim; i++) {
        s.count *= data->dims[i];
    }
    return s;
}

static int output_shapes(const mxn_shapes *shapes)
{
    const output_params *params = (const void *)shapes->params->values;
    const mxn_shape *data = shapes->inputs[0], *given = shapes->inputs[1];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    if (data->ndim < 2) {
        return mxn__shape_refused(shapes, 0, "must have at least 2 dimensions");
    }
    int error = mxn__shape_output(shapes, 0, data);
    const mxn_axis_view s = output_view(data, params);
    bool whole = given->ndim >= 0 && mxn_shape_equal(given, data);
    if (error != 0 || whole ||
        (mxn_shape_known(given) && (int64_t)mxn_shape_size(given) == s.outer * s.inner)) {
        return error;
    }
    mxn_shape label = {.ndim = 1, .dims = {data->dims[0]}};
    if (params->multi_output) {
        for (int32_t i = 2; i < data->ndim; i++) {
            label.dims[label.ndim++] = data->dims[i];
        }
    } else if (params->preserve_shape) {
        mxn_shape_copy(&label, data);
        label.ndim--;
    }
    return mxn__shape_input(shapes, 1, &label);
}

static int output_forward(mxn_job *job)
{
    return mxn__softmax_along(job, output_view(job->inputs[0].shape, mxn__values(job)));
}

// Inputs: output, label and, if asked for, the gradient of the output.
static int output_backward(mxn_job *job)
{
    const output_params *params = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    const mxn_axis_view s = output_view(out->shape, params);
    const size_t count = mxn_shape_size(out->shape);
    const bool wide = out->dtype == MXN_FLOAT64;
    int error = mxn__real_type(job, out->dtype);
    if (error != 0) {
        return error;
    }
    const mxn_softmax_output_kernels *kernels = MXN_WIDEST(mxn__softmax_output);
    double scale = params->grad_scale;
    if (mxn_shape_equal(in[1].shape, out->shape)) {
        kernels->difference[wide](in[0].data, in[1].data, out->data, count);
    } else {
        const mxn_softmax_output_back b = {s,
                                           in[0].data,
                                           in[1].data,
                                           out->data,
                                           params->smooth_alpha,
                                           params->use_ignore,
                                           params->ignore_label};
        const int64_t valid = kernels->backward[wide](&b);
        scale /= params->normalization == PER_BATCH   ? (double)s.outer
                 : params->normalization == PER_VALID ? (double)(valid > 0 ? valid : 1)
                                                      : 1.0;
        scale /= params->multi_output && params->normalization != PER_VALID ? (double)s.inner : 1.0;
    }
    kernels->scale[wide](out->data, scale, job->params->input_count > 2 ? in[2].data : NULL, count);
    return 0;
}

static uint32_t output_backward_inputs(const void *values)
{
    return ((const output_params *)values)->out_grad ? 3 : 2;
}

static const mxn_gradient_step *output_gradient(const void *values)
{
    static const mxn_gradient_step alone[] = {
        {.op = "_backward_SoftmaxOutput", .takes = "o0 i1", .gives = "0"}, {0}};
    static const mxn_gradient_step with_gradient[] = {
        {.op = "_backward_SoftmaxOutput", .takes = "o0 i1 g0", .gives = "0"}, {0}};
    return ((const output_params *)values)->out_grad ? with_gradient : alone;
}

static const mxn_op_def table[] = {
    {
        .name = "SoftmaxOutput",
        .aliases = "Softmax",
        .inputs = "data label",
        .description = "Softmax, with the gradient of the cross entropy.",
        .fields = output_fields,
        .params_bytes = sizeof(output_params),
        .shapes = output_shapes,
        .gradient_of = output_gradient,
        .takes = MXN_TAKES_REALS,
        .forward = output_forward,
        .flops_each = 25,
    },
    {
        .name = "_backward_SoftmaxOutput",
        .inputs_of = output_backward_inputs,
        .fields = output_fields,
        .params_bytes = sizeof(output_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .takes = MXN_TAKES_REALS,
        .forward = output_backward,
        .flops_each = 3,
    },
};

MXN_FAMILY(softmax_output, table);
