// SPDX-License-Identifier: Apache-2.0
// softmax and its kin. All work along one axis: the array is `outer` times `count` times `inner`
// numbers, and numbers of one softmax lie `inner` apart.
#include "op/softmax.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"
#include "op/words.h"

typedef struct stretch {
    int64_t outer, count, inner;
} stretch;

static stretch stretch_of(const mxn_shape *shape, int32_t axis)
{
    stretch s = {1, shape->ndim == 0 ? 1 : shape->dims[axis], 1};
    for (int32_t i = 0; i < shape->ndim; i++) {
        s.outer *= i < axis ? shape->dims[i] : 1;
        s.inner *= i > axis ? shape->dims[i] : 1;
    }
    return s;
}

// ---- softmax, log_softmax -----------------------------------------------------------------------
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
    error = error != 0 ? error : mxn__shape_input(shapes, 0, shapes->outputs[0]);
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

// One softmax of `valid` numbers, in place; the rest of `count` becomes 0.
#define SOFTMAX_ONE(type)                                                                       \
    static void softmax_one_##type(type *at, int64_t count, int64_t valid, int64_t step,        \
                                   double scale, bool log_of_it)                                \
    {                                                                                           \
        type most = valid > 0 ? at[0] : 0;                                                      \
        double sum = 0;                                                                         \
        for (int64_t i = 1; i < valid; i++) {                                                   \
            most = at[i * step] > most ? at[i * step] : most;                                   \
        }                                                                                       \
        for (int64_t i = 0; i < valid; i++) {                                                   \
            double power = exp((double)(at[i * step] - most) * scale);                          \
            sum += power;                                                                       \
            at[i * step] = log_of_it ? at[i * step] : (type)power;                              \
        }                                                                                       \
        for (int64_t i = 0; i < valid; i++) {                                                   \
            double x = (double)at[i * step];                                                    \
            at[i * step] = (type)(log_of_it ? (x - (double)most) * scale - log(sum) : x / sum); \
        }                                                                                       \
        for (int64_t i = valid; i < count; i++) {                                               \
            at[i * step] = 0;                                                                   \
        }                                                                                       \
    }
SOFTMAX_ONE(float)
SOFTMAX_ONE(double)

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

static int softmax_forward(mxn_job *job)
{
    const softmax_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int32_t axis;
    int error = softmax_axis(job->params, in->shape, &axis);
    if (error != 0) {
        return error;
    }
    const stretch s = stretch_of(in->shape, axis);
    const double scale = params->temperature.has ? 1 / params->temperature.value : 1;
    const bool log_of_it = job->params->op->def->variant == LOG_SOFTMAX;
    if (out->dtype != MXN_FLOAT32 && out->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, out->dtype);
    }
    if (in->data != out->data) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    }
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        int64_t at = i / s.inner * s.count * s.inner + i % s.inner;
        int64_t valid = length_at(job, i, s.count);
        if (out->dtype == MXN_FLOAT32) {
            softmax_one_float((float *)out->data + at, s.count, valid, s.inner, scale, log_of_it);
        } else {
            softmax_one_double((double *)out->data + at, s.count, valid, s.inner, scale, log_of_it);
        }
    }
    return 0;
}

bool mxn__softmax_describe(const mxn_job *job, int64_t sizes[3], bool *logarithm)
{
    const softmax_params *params = mxn__values(job);
    const mxn_shape *shape = job->inputs[0].shape;
    int32_t axis;
    if (softmax_axis(job->params, shape, &axis) != 0 || params->temperature.has ||
        job->params->input_count > 1 || mxn_shape_size(shape) == 0) {
        return false;
    }
    const stretch s = stretch_of(shape, axis);
    sizes[0] = s.outer;
    sizes[1] = s.count;
    sizes[2] = s.inner;
    *logarithm = job->params->op->def->variant == LOG_SOFTMAX;
    return true;
}

// From the gradient and the output: of softmax y (g - sum(g y)), of its logarithm g - exp(y)
// sum(g).
typedef struct softmax_back {
    const void *g, *y;
    void *to;
    int64_t count, step;
    double scale;
    bool log_of_it;
} softmax_back;

#define SOFTMAX_BACKWARD(type, to_type)                                                          \
    static void softmax_back_##type##_##to_type(const softmax_back *b, int64_t at)               \
    {                                                                                            \
        const type *g = (const type *)b->g + at, *y = (const type *)b->y + at;                   \
        to_type *to = (to_type *)b->to + at;                                                     \
        double sum = 0;                                                                          \
        for (int64_t i = 0; i < b->count * b->step; i += b->step) {                              \
            sum += (double)g[i] * (b->log_of_it ? 1.0 : (double)y[i]);                           \
        }                                                                                        \
        for (int64_t i = 0; i < b->count * b->step; i += b->step) {                              \
            double gi = (double)g[i], yi = (double)y[i];                                         \
            to[i] = (to_type)(b->scale * (b->log_of_it ? gi - exp(yi) * sum : yi * (gi - sum))); \
        }                                                                                        \
    }
SOFTMAX_BACKWARD(float, float)
SOFTMAX_BACKWARD(float, double)
SOFTMAX_BACKWARD(double, float)
SOFTMAX_BACKWARD(double, double)

static int softmax_backward(mxn_job *job)
{
    const softmax_params *params = mxn__values(job);
    const mxn_operand *g = &job->inputs[0], *y = &job->inputs[1], *out = &job->outputs[0];
    int32_t axis;
    int error = softmax_axis(job->params, g->shape, &axis);
    if (error != 0) {
        return error;
    }
    static void (*const backs[2][2])(const softmax_back *b, int64_t at) = {
        {softmax_back_float_float, softmax_back_float_double},
        {softmax_back_double_float, softmax_back_double_double}};
    bool wide = g->dtype == MXN_FLOAT64, to_wide = out->dtype == MXN_FLOAT64;
    if ((!wide && g->dtype != MXN_FLOAT32) || (!to_wide && out->dtype != MXN_FLOAT32)) {
        return mxn__type_refused(job, out->dtype);
    }
    const stretch s = stretch_of(g->shape, axis);
    const softmax_back b = {.g = g->data,
                            .y = y->data,
                            .to = out->data,
                            .count = s.count,
                            .step = s.inner,
                            .scale = params->temperature.has ? 1 / params->temperature.value : 1,
                            .log_of_it = job->params->op->def->variant == LOG_SOFTMAX};
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        backs[wide][to_wide](&b, i / s.inner * s.count * s.inner + i % s.inner);
    }
    return 0;
}

// ---- SoftmaxOutput
// --------------------------------------------------------------------------------
typedef struct output_params {
    float grad_scale, ignore_label;
    bool multi_output, use_ignore, preserve_shape;
    int32_t normalization;
    bool out_grad;
    float smooth_alpha;
} output_params;

enum { PER_NOTHING, PER_BATCH, PER_VALID };
static const mxn_word normalizations[] = {
    {"batch", PER_BATCH}, {"null", PER_NOTHING}, {"valid", PER_VALID}, {0}};

static const mxn_field output_fields[] = {
    {MXN_FIELD(output_params, grad_scale, FLOAT, "1")},
    {MXN_FIELD(output_params, ignore_label, FLOAT, "-1")},
    {MXN_FIELD(output_params, multi_output, BOOL, "0")},
    {MXN_FIELD(output_params, use_ignore, BOOL, "0")},
    {MXN_FIELD(output_params, preserve_shape, BOOL, "0")},
    {MXN_FIELD(output_params, normalization, ENUM, "null"), .words = normalizations},
    {MXN_FIELD(output_params, out_grad, BOOL, "0")},
    {MXN_FIELD(output_params, smooth_alpha, FLOAT, "0"), .min = 0, .max = 1},
    {0},
};

// Over channels (axis 1), the last axis, or everything but the first.
static stretch output_stretch(const mxn_shape *data, const output_params *params)
{
    if (params->multi_output) {
        return stretch_of(data, 1);
    }
    if (params->preserve_shape) {
        return stretch_of(data, data->ndim - 1);
    }
    stretch s = {data->dims[0], 1, 1};
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
    const stretch s = output_stretch(data, params);
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
    const output_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    const stretch s = output_stretch(in->shape, params);
    mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        int64_t at = i / s.inner * s.count * s.inner + i % s.inner;
        if (in->dtype == MXN_FLOAT32) {
            softmax_one_float((float *)out->data + at, s.count, s.count, s.inner, 1, false);
        } else if (in->dtype == MXN_FLOAT64) {
            softmax_one_double((double *)out->data + at, s.count, s.count, s.inner, 1, false);
        } else {
            return mxn__type_refused(job, in->dtype);
        }
    }
    return 0;
}

// Probability less what the label says: 1 for its class, of which smoothing takes a part.
#define OUTPUT_BACKWARD(type)                                                                   \
    static int64_t output_back_##type(const mxn_job *job, const output_params *p, stretch s)    \
    {                                                                                           \
        const type *y = job->inputs[0].data, *labels = job->inputs[1].data;                     \
        type *to = job->outputs[0].data;                                                        \
        const double rest = s.count > 1 ? (double)p->smooth_alpha / (double)(s.count - 1) : 0;  \
        int64_t valid = 0;                                                                      \
        for (int64_t i = 0; i < s.outer * s.inner; i++) {                                       \
            int64_t at = i / s.inner * s.count * s.inner + i % s.inner;                         \
            bool ignored = p->use_ignore && (float)labels[i] == p->ignore_label;                \
            valid += !ignored;                                                                  \
            for (int64_t k = 0; k < s.count; k++) {                                             \
                double wanted = (int64_t)labels[i] == k ? 1.0 - (double)p->smooth_alpha : rest; \
                type *here = &to[at + k * s.inner];                                             \
                *here = ignored ? 0 : (type)((double)y[at + k * s.inner] - wanted);             \
            }                                                                                   \
        }                                                                                       \
        return valid;                                                                           \
    }                                                                                           \
    static void output_scale_##type(const mxn_job *job, double scale)                           \
    {                                                                                           \
        type *to = job->outputs[0].data;                                                        \
        const type *g = job->params->input_count > 2 ? job->inputs[2].data : NULL;              \
        size_t count = mxn_shape_size(job->outputs[0].shape);                                   \
        for (size_t i = 0; i < count; i++) {                                                    \
            to[i] = (type)((double)to[i] * scale * (g == NULL ? 1.0 : (double)g[i]));           \
        }                                                                                       \
    }                                                                                           \
    static void output_difference_##type(const mxn_job *job)                                    \
    {                                                                                           \
        const type *y = job->inputs[0].data, *labels = job->inputs[1].data;                     \
        size_t count = mxn_shape_size(job->outputs[0].shape);                                   \
        for (size_t i = 0; i < count; i++) {                                                    \
            ((type *)job->outputs[0].data)[i] = y[i] - labels[i];                               \
        }                                                                                       \
    }
OUTPUT_BACKWARD(float)
OUTPUT_BACKWARD(double)

// Inputs: output, label and, if asked for, the gradient of the output.
static int output_backward(mxn_job *job)
{
    const output_params *params = mxn__values(job);
    const mxn_operand *out = &job->outputs[0];
    const stretch s = output_stretch(out->shape, params);
    bool wide = out->dtype == MXN_FLOAT64;
    if (!wide && out->dtype != MXN_FLOAT32) {
        return mxn__type_refused(job, out->dtype);
    }
    int64_t valid = s.outer * s.inner;
    double scale = (double)params->grad_scale;
    if (mxn_shape_equal(job->inputs[1].shape, out->shape)) {
        wide ? output_difference_double(job) : output_difference_float(job);
    } else {
        valid = wide ? output_back_double(job, params, s) : output_back_float(job, params, s);
        scale /= params->normalization == PER_BATCH   ? (double)out->shape->dims[0]
                 : params->normalization == PER_VALID ? (double)(valid > 0 ? valid : 1)
                                                      : 1.0;
        scale /= params->multi_output && params->normalization != PER_VALID ? (double)s.inner : 1.0;
    }
    wide ? output_scale_double(job, scale) : output_scale_float(job, scale);
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

// ---- the table
// ------------------------------------------------------------------------------------
#define ENTRY(name_, aliases_, inputs_, variant_, backward_)                                      \
    {                                                                                             \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .variant = (variant_),       \
        .fields = softmax_fields, .params_bytes = sizeof(softmax_params), .check = softmax_check, \
        .inputs_of = softmax_inputs, .shapes = softmax_shapes, .types = softmax_types,            \
        .flags = MXN_OP_INPLACE,                                                                  \
        .gradient = MXN_GRADIENT({.op = (backward_), .takes = "g0 o0", .gives = "0"}),            \
        .forward = softmax_forward, .flops_each = 25                                              \
    }
#define BACKWARD(name_, variant_)                                                               \
    {                                                                                           \
        .name = (name_), .inputs = "args[]", .variant = (variant_), .fields = softmax_fields,   \
        .params_bytes = sizeof(softmax_params),                                                 \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_INPLACE, .forward = softmax_backward, \
        .flops_each = 5                                                                         \
    }

static const mxn_op_def table[] = {
    ENTRY("softmax", "_npx_softmax", "data length", SOFTMAX, "_backward_softmax"),
    ENTRY("log_softmax", "_npx_log_softmax", "data", LOG_SOFTMAX, "_backward_log_softmax"),
    BACKWARD("_backward_softmax", SOFTMAX),
    BACKWARD("_backward_log_softmax", LOG_SOFTMAX),
    {
        .name = "SoftmaxOutput",
        .aliases = "Softmax",
        .inputs = "data label",
        .description = "softmax with the gradient of the cross entropy.",
        .fields = output_fields,
        .params_bytes = sizeof(output_params),
        .shapes = output_shapes,
        .gradient_of = output_gradient,
        .forward = output_forward,
        .flops_each = 25,
    },
    {
        .name = "_backward_SoftmaxOutput",
        .inputs_of = output_backward_inputs,
        .fields = output_fields,
        .params_bytes = sizeof(output_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .forward = output_backward,
        .flops_each = 3,
    },
};

MXN_FAMILY(softmax, table);
