// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax.
#include "runtime/op/nn/softmax.h"

#include <string.h>

#include "base/fail.h"
#include "runtime/op/kernels/softmax.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

typedef struct softmax_params {
    int32_t axis;
    mxn_maybe_double temperature;
    int32_t dtype;
    mxn_maybe_int use_length;
} softmax_params;

static const mxn_field softmax_fields[] = {
    {MXN_FIELD(softmax_params, axis, INT, "-1")},
    {MXN_FIELD(softmax_params, temperature, MAYBE_DOUBLE, "None")},
    {MXN_FIELD(softmax_params, dtype, ENUM, "None"), .words = mxn__words_maybe_reals},
    {MXN_FIELD(softmax_params, use_length, MAYBE_BOOL, "0")},
    {0},
};

enum { SOFTMAX, LOG_SOFTMAX };

static int softmax_check(const mxn_op *op, void *values)
{
    softmax_params *params = values;
    if (params->temperature.has && !(params->temperature.value > 0)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: temperature=%g must be above 0", op->name,
                         params->temperature.value);
    }
    if (op->def->variant == LOG_SOFTMAX && params->use_length.value != 0) {
        return mxp__fail(MXP_EINVAL, "Operator %s: use_length is not supported, use softmax",
                         op->name);
    }
    return 0;
}

static uint32_t softmax_inputs(const void *values)
{
    return ((const softmax_params *)values)->use_length.value != 0 ? 2 : 1;
}

static int softmax_axis(const mxn_params *params, const mxn_shape *shape, int32_t *axis)
{
    *axis = 0;
    int32_t wanted = ((const softmax_params *)(const void *)params->values)->axis;
    return shape->ndim == 0 ? 0 : mxn__axis(params, wanted, shape->ndim, axis);
}

static int softmax_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0];
    int32_t axis;
    int error = mxn__shape_output(shapes, 0, data);
    if (error == 0) {
        error = mxn__shape_input(shapes, 0, shapes->outputs[0]);
    }
    if (error != 0 || data->ndim < 0) {
        return error;
    }
    error = softmax_axis(shapes->params, data, &axis);
    if (error != 0 || shapes->params->input_count == 1) {
        return error;
    }
    mxn_shape length = {.ndim = 0};
    for (int32_t i = 0; i < data->ndim; i++) {
        if (i != axis) {
            length.dims[length.ndim++] = data->dims[i];
        }
    }
    return mxn__shape_input(shapes, 1, &length);
}

static int softmax_types(const mxn_types *types)
{
    int32_t dtype = ((const softmax_params *)(const void *)types->params->values)->dtype;
    if (dtype == MXN_DTYPE_NONE && types->inputs[0] != MXN_DTYPE_NONE &&
        !mxn_dtype_is_float(types->inputs[0])) {
        dtype = MXN_FLOAT32;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           dtype == MXN_DTYPE_NONE ? types->inputs[0] : dtype);
}

static int64_t length_at(const mxn_job *job, int64_t index, int64_t count)
{
    if (job->params->input_count < 2) {
        return count;
    }
    const mxn_operand *length = &job->inputs[1];
    int64_t value;
    mxn_cast(&value, MXN_INT64,
             (const char *)length->data + (size_t)index * mxn_dtype_size(length->dtype),
             length->dtype, 1);
    return value < 0 ? 0 : value > count ? count : value;
}

static void *element(const mxn_operand *operand, int64_t i)
{
    return (char *)operand->data + i * (int64_t)mxn_dtype_size(operand->dtype);
}

static int softmax_forward(mxn_job *job)
{
    const softmax_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int32_t axis;
    int error = softmax_axis(job->params, in->shape, &axis);
    if (error != 0) {
        return error;
    }
    const mxn_axis_view s = mxn__axis_view(in->shape, axis);
    const double scale = params->temperature.has ? 1 / params->temperature.value : 1;
    const bool log_of_it = job->params->op->def->variant == LOG_SOFTMAX;
    if (out->dtype != MXN_FLOAT32 && out->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, out->dtype);
    }
    if (in->data != out->data) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    }
    const mxn_softmax_kernels *kernels = MXN_WIDEST(mxn__softmax);
    const bool wide = out->dtype == MXN_FLOAT64;
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        const int64_t valid = length_at(job, i, s.count);
        if (!wide && log_of_it && s.inner == 1 && valid == s.count) {
            kernels->log_row(element(out, mxn__axis_view_at(&s, i)), s.count, scale);
        } else {
            kernels->row[wide](element(out, mxn__axis_view_at(&s, i)), s.count, valid, s.inner,
                               scale, log_of_it);
        }
    }
    return 0;
}

int mxn__softmax_along(const mxn_job *job, mxn_axis_view s)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int error = mxn__real_type(job, in->dtype);
    if (error != 0) {
        return error;
    }
    mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        MXN_WIDEST(mxn__softmax)
            ->row[in->dtype == MXN_FLOAT64](element(out, mxn__axis_view_at(&s, i)), s.count,
                                            s.count, s.inner, 1, false);
    }
    return 0;
}

bool mxn__softmax_describe(const mxn_job *job, int64_t sizes[3])
{
    const softmax_params *params = mxn__values(job);
    const mxn_shape *shape = job->inputs[0].shape;
    int32_t axis;
    if (softmax_axis(job->params, shape, &axis) != 0 || params->temperature.has ||
        job->params->input_count > 1 || mxn_shape_size(shape) == 0) {
        return false;
    }
    const mxn_axis_view s = mxn__axis_view(shape, axis);
    sizes[0] = s.outer;
    sizes[1] = s.count;
    sizes[2] = s.inner;
    return true;
}

static int softmax_backward(mxn_job *job)
{
    const softmax_params *params = mxn__values(job);
    const mxn_operand *g = &job->inputs[0], *y = &job->inputs[1], *out = &job->outputs[0];
    int32_t axis;
    int error = softmax_axis(job->params, g->shape, &axis);
    if (error != 0) {
        return error;
    }
    error = mxn__real_type(job, g->dtype);
    if (error == 0) {
        error = mxn__real_type(job, out->dtype);
    }
    if (error != 0) {
        return error;
    }
    const mxn_axis_view s = mxn__axis_view(g->shape, axis);
    mxn_softmax_back b = {.count = s.count,
                          .step = s.inner,
                          .scale = params->temperature.has ? 1 / params->temperature.value : 1,
                          .log_of_it = job->params->op->def->variant == LOG_SOFTMAX,
                          .to_is_double = out->dtype == MXN_FLOAT64};
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        const int64_t at = mxn__axis_view_at(&s, i);
        b.g = element(g, at);
        b.y = element(y, at);
        b.to = element(out, at);
        MXN_WIDEST(mxn__softmax)->backward[g->dtype == MXN_FLOAT64](&b);
    }
    return 0;
}

// ---- the table --------------------------------------------------------------------------------
#define ENTRY(name_, aliases_, inputs_, variant_, backward_)                                      \
    {                                                                                             \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .variant = (variant_),       \
        .fields = softmax_fields, .params_bytes = sizeof(softmax_params), .check = softmax_check, \
        .inputs_of = softmax_inputs, .shapes = softmax_shapes, .types = softmax_types,            \
        .inplace = 1 << 0,                                                                        \
        .gradient = MXN_GRADIENT({.op = (backward_), .takes = "g0 o0", .gives = "0"}),            \
        .takes = MXN_TAKES_REALS, .forward = softmax_forward, .flops_each = 25                    \
    }
#define BACKWARD(name_, variant_)                                                             \
    {                                                                                         \
        .name = (name_), .inputs = "args[]", .variant = (variant_), .fields = softmax_fields, \
        .params_bytes = sizeof(softmax_params), .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,     \
        .inplace = MXN_INPLACE_ALL, .takes = MXN_TAKES_REALS, .forward = softmax_backward,    \
        .flops_each = 5                                                                       \
    }

static const mxn_op_def table[] = {
    ENTRY("softmax", "_npx_softmax", "data length", SOFTMAX, "_backward_softmax"),
    ENTRY("log_softmax", "_npx_log_softmax", "data", LOG_SOFTMAX, "_backward_log_softmax"),
    BACKWARD("_backward_softmax", SOFTMAX),
    BACKWARD("_backward_log_softmax", LOG_SOFTMAX),
};

MXN_FAMILY(softmax, table);
