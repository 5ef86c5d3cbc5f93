// SPDX-License-Identifier: Apache-2.0
// Numbers from start to stop: a step apart, or so many of them evenly apart, and powers with such
// exponents.
#include <math.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

// The type asked for, else that of the output, else float32.
static int made_type(const mxn_types *types, int32_t dtype)
{
    if (dtype == MXN_DTYPE_NONE && types->outputs[0] != MXN_DTYPE_NONE) {
        return 0;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           dtype == MXN_DTYPE_NONE ? MXN_FLOAT32 : dtype);
}

// ---- arange -----------------------------------------------------------------------------------
typedef struct arange_params {
    mxn_number start;
    mxn_maybe_number stop;
    mxn_number step;
    int32_t repeat;
    bool infer_range;
    const char *ctx;
    int32_t dtype;
} arange_params;

static const mxn_field arange_fields[] = {
    {MXN_FIELD(arange_params, start, NUMBER, NULL)},
    {MXN_FIELD(arange_params, stop, MAYBE_NUMBER, "None")},
    {MXN_FIELD(arange_params, step, NUMBER, "1")},
    {MXN_FIELD(arange_params, repeat, INT, "1"), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(arange_params, infer_range, BOOL, "0")},
    {MXN_FIELD(arange_params, ctx, STRING, "")},
    {MXN_FIELD(arange_params, dtype, ENUM, "None"), .words = mxn__words_none_or_older},
    {0},
};

// With one number only, that is the stop and the start is 0.
static int arange_check(const mxn_op *op, void *values)
{
    arange_params *params = values;
    const double start = params->start.real, step = params->step.real;
    if (step == 0 || !isfinite(step) || !isfinite(start)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: step=%g from start=%g never arrives", op->name,
                         step, start);
    }
    if (!params->stop.has && !params->infer_range) {
        params->stop = (mxn_maybe_number){true, params->start};
        params->start = mxn_number_of_whole(0);
    }
    return 0;
}

static bool whole_below(const mxn_number *a, const mxn_number *b)
{
    if (a->dtype != b->dtype) {
        return a->dtype == MXN_INT64;  // the other one is above all of those
    }
    return a->dtype == MXN_INT64 ? (int64_t)a->bits < (int64_t)b->bits : a->bits < b->bits;
}

// Of whole numbers a double may miss the last ones: their distance is counted as it is, in units of
// the step's size.
static double arange_count(const arange_params *params)
{
    const mxn_number *start = &params->start, *stop = &params->stop.number, *step = &params->step;
    bool up = step->real > 0;
    if (start->dtype == MXN_FLOAT64 || stop->dtype == MXN_FLOAT64 || step->dtype == MXN_FLOAT64) {
        return ceil((stop->real - start->real) / step->real);
    }
    if (up ? whole_below(stop, start) : whole_below(start, stop)) {
        return 0;
    }
    uint64_t distance = up ? stop->bits - start->bits : start->bits - stop->bits;
    uint64_t size = up ? step->bits : 0 - step->bits;
    return (double)(distance / size) + (distance % size != 0);
}

static int arange_shapes(const mxn_shapes *shapes)
{
    const arange_params *params = (const void *)shapes->params->values;
    if (!params->stop.has) {
        return 0;  // as long as the output is
    }
    double count = arange_count(params);
    count = count > 0 ? count : 0;
    if (!(count * params->repeat < 4.6e18)) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %g elements from start=%g to stop=%g",
                         shapes->params->op->name, count, params->start.real,
                         params->stop.number.real);
    }
    mxn_shape shape = {.ndim = 1, .dims = {(int64_t)count * params->repeat}};
    return mxn__shape_output(shapes, 0, &shape);
}

static int arange_types(const mxn_types *types)
{
    return made_type(types, ((const arange_params *)(const void *)types->params->values)->dtype);
}

// Whole numbers begin with the whole part of start and are that of step apart, as in MXNet.
static void arange_whole(const arange_params *params, mxn_operand *out)
{
    size_t count = mxn_shape_size(out->shape), size = mxn_dtype_size(out->dtype);
    uint64_t start, step;
    mxn_number_fill(&start, MXN_INT64, &params->start, 1);
    mxn_number_fill(&step, MXN_INT64, &params->step, 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t value = start + i / (size_t)params->repeat * step;
        mxn_cast((char *)out->data + i * size, out->dtype, &value, MXN_INT64, 1);
    }
}

static int arange_forward(mxn_job *job)
{
    const arange_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape), size = mxn_dtype_size(out->dtype);
    if (!mxn_dtype_is_float(out->dtype)) {
        arange_whole(params, out);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        double turn = (double)(i / (size_t)params->repeat);
        double value = params->start.real + turn * params->step.real;
        mxn_fill((char *)out->data + i * size, out->dtype, value, 1);
    }
    return 0;
}

#define ARANGE(name_)                                                                          \
    {                                                                                          \
        .name = (name_), .description = "Numbers from start to stop, step apart.",             \
        .fields = arange_fields, .params_bytes = sizeof(arange_params), .check = arange_check, \
        .shapes = arange_shapes, .types = arange_types, .flags = MXN_OP_ANY_TYPE,              \
        .gradient = MXN_GRADIENT_ZERO, .forward = arange_forward                               \
    }

// ---- linspace, logspace ------------------------------------------------------------------------
typedef struct sequence_params {
    double start_double, stop_double, start, stop, base;
    int64_t start_int, stop_int, num;
    uint64_t start_uint, stop_uint;
    bool endpoint;
    const char *ctx;
    int32_t dtype, value_type;
} sequence_params;

enum { VALUE_INT = 0, VALUE_UINT = 1, VALUE_DOUBLE = 2 };  // value_type
enum { LINEAR, POWERS };

static const mxn_field linear_fields[] = {
    {MXN_FIELD(sequence_params, start_double, DOUBLE, NULL)},
    {MXN_FIELD(sequence_params, stop_double, DOUBLE, NULL)},
    {MXN_FIELD(sequence_params, start_int, LONG, NULL)},
    {MXN_FIELD(sequence_params, stop_int, LONG, NULL)},
    {MXN_FIELD(sequence_params, start_uint, ULONG, NULL)},
    {MXN_FIELD(sequence_params, stop_uint, ULONG, NULL)},
    {MXN_FIELD(sequence_params, num, LONG, NULL), .min = 0, .max = 4e18},
    {MXN_FIELD(sequence_params, endpoint, BOOL, "1")},
    {MXN_FIELD(sequence_params, ctx, STRING, "")},
    {MXN_FIELD(sequence_params, dtype, ENUM, "None"), .words = mxn__words_none_or_types},
    {MXN_FIELD(sequence_params, value_type, INT, "0"), .min = 0, .max = 2},
    {0},
};

static const mxn_field power_fields[] = {
    {MXN_FIELD(sequence_params, start, DOUBLE, NULL)},
    {MXN_FIELD(sequence_params, stop, DOUBLE, NULL)},
    {MXN_FIELD(sequence_params, num, LONG, NULL), .min = 0, .max = 4e18},
    {MXN_FIELD(sequence_params, endpoint, BOOL, "1")},
    {MXN_FIELD(sequence_params, base, DOUBLE, "10")},
    {MXN_FIELD(sequence_params, ctx, STRING, "")},
    {MXN_FIELD(sequence_params, dtype, ENUM, "None"), .words = mxn__words_none_or_older},
    {0},
};

static int sequence_check(const mxn_op *op, void *values)
{
    sequence_params *params = values;
    if (op->def->variant == POWERS) {
        return 0;
    }
    bool whole = params->value_type == VALUE_INT, real = params->value_type == VALUE_DOUBLE;
    params->start = real    ? params->start_double
                    : whole ? (double)params->start_int
                            : (double)params->start_uint;
    params->stop = real    ? params->stop_double
                   : whole ? (double)params->stop_int
                           : (double)params->stop_uint;
    return 0;
}

static int sequence_shapes(const mxn_shapes *shapes)
{
    const sequence_params *params = (const void *)shapes->params->values;
    const mxn_shape result = {.ndim = 1, .dims = {params->num}};
    return mxn__shape_output(shapes, 0, &result);
}

static int sequence_types(const mxn_types *types)
{
    return made_type(types, ((const sequence_params *)(const void *)types->params->values)->dtype);
}

static int sequence_forward(mxn_job *job)
{
    const sequence_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    size_t size = mxn_dtype_size(out->dtype);
    int64_t gaps = params->endpoint ? params->num - 1 : params->num;
    double step = gaps > 0 ? (params->stop - params->start) / (double)gaps : 0;
    for (int64_t i = 0; i < params->num; i++) {
        bool last = params->endpoint && i > 0 && i == params->num - 1;
        double value = last ? params->stop : params->start + (double)i * step;
        value = job->params->op->def->variant == POWERS ? pow(params->base, value) : value;
        mxn_fill((char *)out->data + (size_t)i * size, out->dtype, value, 1);
    }
    return 0;
}

#define SEQUENCE(name_, fields_, variant_, text)                                                 \
    {                                                                                            \
        .name = (name_), .description = (text), .fields = (fields_),                             \
        .params_bytes = sizeof(sequence_params), .variant = (variant_), .check = sequence_check, \
        .shapes = sequence_shapes, .types = sequence_types, .flags = MXN_OP_ANY_TYPE,            \
        .gradient = MXN_GRADIENT_ZERO, .forward = sequence_forward                               \
    }

static const mxn_op_def table[] = {
    ARANGE("_arange"),
    ARANGE("_npi_arange"),
    SEQUENCE("_npi_linspace", linear_fields, LINEAR, "Numbers from start to stop."),
    SEQUENCE("_npi_logspace", power_fields, POWERS, "Powers with exponents from start to stop."),
};

MXN_FAMILY(linspace, table);
