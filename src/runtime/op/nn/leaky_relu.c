// SPDX-License-Identifier: Apache-2.0
// LeakyReLU: functions of each element that are not 0 below 0. prelu learns its slopes, one for all
// or one a channel; rrelu draws them in training and has their mean else.
#include <math.h>
#include <string.h>

#include "runtime/op/registry/infer.h"
#include "runtime/op/loops/loops.h"

typedef struct leaky_params {
    int32_t act_type;
    double slope, lower_bound, upper_bound;
} leaky_params;

enum { ELU, GELU, LEAKY, PRELU, RRELU, SELU };
static const mxn_word words[] = {{"elu", ELU},
                                 {"gelu", GELU},
                                 {"leaky", LEAKY},
                                 {"prelu", PRELU},
                                 {"rrelu", RRELU},
                                 {"selu", SELU},
                                 {0}};

static const mxn_field fields[] = {
    {MXN_FIELD(leaky_params, act_type, ENUM, "leaky"), .words = words},
    {MXN_FIELD(leaky_params, slope, WIDE_FLOAT, "0.25")},
    {MXN_FIELD(leaky_params, lower_bound, WIDE_FLOAT, "0.125")},
    {MXN_FIELD(leaky_params, upper_bound, WIDE_FLOAT, "0.333999991")},
    {0},
};

static int32_t type_of(const void *values)
{
    return ((const leaky_params *)values)->act_type;
}

static uint32_t inputs_of(const void *values)
{
    return type_of(values) == PRELU ? 2 : 1;
}

// The slopes that rrelu took are a result too.
static uint32_t outputs_of(const void *values)
{
    return type_of(values) == RRELU ? 2 : 1;
}

static uint32_t gradients_of(const void *values)
{
    return type_of(values) == PRELU ? 2 : 1;
}

static bool draws(const void *values)
{
    return type_of(values) == RRELU;
}

// ---- slopes of prelu ----------------------------------------------------------------------------
static int32_t channel_axis(const mxn_shape *data)
{
    return data->ndim > 1 ? 1 : 0;
}

static int leaky_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0];
    int32_t type = type_of(shapes->params->values);
    int error = mxn__shape_output(shapes, 0, data);
    error = error != 0 ? error : mxn__shape_input(shapes, 0, shapes->outputs[0]);
    if (error != 0 || type == RRELU) {
        return error != 0 ? error : mxn__shape_output(shapes, 1, data);
    }
    const mxn_shape *gamma = type == PRELU ? shapes->inputs[1] : NULL;
    if (gamma == NULL || data->ndim < 1 ||
        (mxn_shape_known(gamma) && (mxn_shape_size(gamma) == 1 || mxn_shape_equal(gamma, data)))) {
        return 0;
    }
    return mxn__shape_input(shapes, 1,
                            &(mxn_shape){.ndim = 1, .dims = {data->dims[channel_axis(data)]}});
}

static void slope_steps(const mxn_shape *gamma, const mxn_shape *data, int64_t *steps)
{
    memset(steps, 0, (size_t)data->ndim * sizeof *steps);
    if (mxn_shape_equal(gamma, data)) {
        mxn__row_steps(data, steps);
    } else if (mxn_shape_size(gamma) > 1) {
        steps[channel_axis(data)] = 1;
    }
}

// ---- functions ----------------------------------------------------------------------------------
static const double selu_scale = 1.0507009873554804934, selu_alpha = 1.6732632423543772848;

static double leaky(int32_t type, double x, double slope)
{
    switch (type) {
    case ELU:
        return x > 0 ? x : slope * expm1(x);
    case SELU:
        return selu_scale * (x > 0 ? x : selu_alpha * expm1(x));
    case GELU:
        return x * 0.5 * (1 + erf(x * 0.70710678118654752440));
    default:
        return x > 0 ? x : x * slope;
    }
}

static double leaky_slope(int32_t type, double x, double slope)
{
    switch (type) {
    case ELU:
        return x > 0 ? 1 : slope * exp(x);
    case SELU:
        return selu_scale * (x > 0 ? 1 : selu_alpha * exp(x));
    case GELU:
        return 0.5 * (1 + erf(x * 0.70710678118654752440)) +
               x * 0.39894228040143267794 * exp(-0.5 * x * x);
    default:
        return x > 0 ? 1 : slope;
    }
}

// `slopes` follows the walk; without it there is one.
#define LEAKY_LOOPS(type)                                                                       \
    static void leaky_##type(const mxn_job *job, double slope, const type *slopes, mxn_walk *w) \
    {                                                                                           \
        const int32_t function = type_of(job->params->values);                                  \
        const type *x = job->inputs[0].data;                                                    \
        type *y = job->outputs[0].data;                                                         \
        for (bool more = w->total > 0; more; more = mxn__walk_next(w)) {                        \
            for (int64_t i = 0; i < w->count; i++) {                                            \
                const double s =                                                                \
                    slopes == NULL ? slope : (double)slopes[w->at[0] + i * w->step[0]];         \
                *y++ = (type)leaky(function, (double)*x++, s);                                  \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    static void leaky_back_##type(const mxn_job *job, double slope, const type *slopes,         \
                                  mxn_walk *w)                                                  \
    {                                                                                           \
        const int32_t function = type_of(job->params->values);                                  \
        const type *g = job->inputs[0].data, *x = job->inputs[1].data;                          \
        type *to = job->outputs[0].data;                                                        \
        type *of_slopes = function == PRELU ? job->outputs[1].data : NULL;                      \
        for (bool more = w->total > 0; more; more = mxn__walk_next(w)) {                        \
            for (int64_t i = 0; i < w->count; i++, g++, x++) {                                  \
                const int64_t at = w->at[0] + i * w->step[0];                                   \
                if (of_slopes != NULL) {                                                        \
                    of_slopes[at] += *x > 0 ? 0 : *g * *x;                                      \
                }                                                                               \
                if (to != NULL) {                                                               \
                    const double s = slopes == NULL ? slope : (double)slopes[at];               \
                    *to++ = (type)((double)*g * leaky_slope(function, (double)*x, s));          \
                }                                                                               \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    static void draw_##type(const mxn_job *job, double low, double high)                        \
    {                                                                                           \
        type *to = job->outputs[1].data;                                                        \
        uint64_t count = mxn_shape_size(job->outputs[1].shape), key, first;                     \
        mxn_random_reserve(job->random, (count + 3) / 4, &key, &first);                         \
        for (uint64_t i = 0; i < count; i += 4) {                                               \
            uint32_t numbers[4];                                                                \
            mxn_random_block(key, first + i / 4, numbers);                                      \
            for (uint64_t k = 0; k < 4 && i + k < count; k++) {                                 \
                to[i + k] = (type)(low + (high - low) * numbers[k] / 4294967296.0);             \
            }                                                                                   \
        }                                                                                       \
    }
LEAKY_LOOPS(float)
LEAKY_LOOPS(double)

// ---- running ------------------------------------------------------------------------------------
// Over the data; the slopes, if they are an array, are operand 0.
static void start_walk(mxn_walk *walk, const mxn_shape *data, const mxn_shape *slopes)
{
    int64_t steps[MXN_DIMS_MAX] = {0};
    if (slopes != NULL) {
        slope_steps(slopes, data, steps);
    }
    mxn__walk_init(walk, data->ndim, data->dims, (const int64_t *const[]){steps, NULL, NULL});
}

static void take_slopes(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *mask = &job->outputs[1];
    const double low = params->lower_bound, high = params->upper_bound;
    if (!job->training) {
        mxn_fill(mask->data, mask->dtype, (low + high) / 2, mxn_shape_size(mask->shape));
    } else if (mask->dtype == MXN_FLOAT32) {
        draw_float(job, low, high);
    } else {
        draw_double(job, low, high);
    }
}

static int leaky_forward(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *out = &job->outputs[0];
    if (out->dtype != MXN_FLOAT32 && out->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, out->dtype);
    }
    const mxn_operand *slopes = NULL;
    if (params->act_type == PRELU) {
        slopes = &job->inputs[1];
    } else if (params->act_type == RRELU) {
        take_slopes(job);
        slopes = &job->outputs[1];
    }
    mxn_walk walk;
    start_walk(&walk, out->shape, slopes == NULL ? NULL : slopes->shape);
    const void *data = slopes == NULL ? NULL : slopes->data;
    if (out->dtype == MXN_FLOAT32) {
        leaky_float(job, params->slope, data, &walk);
    } else {
        leaky_double(job, params->slope, data, &walk);
    }
    return 0;
}

// Inputs: the gradient, the data and, of those that have them, the slopes.
static int leaky_backward(mxn_job *job)
{
    const leaky_params *params = mxn__values(job);
    const mxn_operand *g = &job->inputs[0];
    if (g->dtype != MXN_FLOAT32 && g->dtype != MXN_FLOAT64) {
        return mxn__type_refused(job, g->dtype);
    }
    const mxn_operand *slopes = job->params->input_count > 2 ? &job->inputs[2] : NULL;
    if (params->act_type == PRELU && job->outputs[1].data != NULL) {
        mxn_fill(job->outputs[1].data, g->dtype, 0, mxn_shape_size(job->outputs[1].shape));
    }
    mxn_walk walk;
    start_walk(&walk, g->shape, slopes == NULL ? NULL : slopes->shape);
    const void *data = slopes == NULL ? NULL : slopes->data;
    if (g->dtype == MXN_FLOAT32) {
        leaky_back_float(job, params->slope, data, &walk);
    } else {
        leaky_back_double(job, params->slope, data, &walk);
    }
    return 0;
}

static uint32_t backward_inputs(const void *values)
{
    return type_of(values) == PRELU || type_of(values) == RRELU ? 3 : 2;
}

static const mxn_gradient_step *leaky_gradient(const void *values)
{
    static const mxn_gradient_step alone[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0", .gives = "0"}, {0}};
    static const mxn_gradient_step learned[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0 i1", .gives = "0 1"}, {0}};
    static const mxn_gradient_step drawn[] = {
        {.op = "_backward_LeakyReLU", .takes = "g0 i0 o1", .gives = "0"}, {0}};
    int32_t type = type_of(values);
    return type == PRELU ? learned : type == RRELU ? drawn : alone;
}

static const mxn_op_def table[] = {
    {
        .name = "LeakyReLU",
        .aliases = "_npx_leaky_relu",
        .inputs = "data gamma",
        .description = "A function of each element that does not end at 0.",
        .fields = fields,
        .params_bytes = sizeof(leaky_params),
        .inputs_of = inputs_of,
        .outputs_of = outputs_of,
        .draws = draws,
        .shapes = leaky_shapes,
        .flags = MXN_OP_INPLACE,
        .gradient_of = leaky_gradient,
        .takes = MXN_TAKES_REALS,
        .forward = leaky_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_LeakyReLU",
        .inputs_of = backward_inputs,
        .outputs_of = gradients_of,
        .fields = fields,
        .params_bytes = sizeof(leaky_params),
        .takes = MXN_TAKES_REALS | MXN_TAKES_OF_INPUT,
        .forward = leaky_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .flops_each = 10,
    },
};

MXN_FAMILY(leaky_relu, table);
