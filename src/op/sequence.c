// SPDX-License-Identifier: Apache-2.0
// So many numbers from start to stop, evenly apart, and powers with such exponents.
#include <math.h>

#include "op/infer.h"
#include "op/loops.h"
#include "op/words.h"

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
    int32_t dtype = ((const sequence_params *)(const void *)types->params->values)->dtype;
    if (dtype == MXN_DTYPE_NONE && types->outputs[0] != MXN_DTYPE_NONE) {
        return 0;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           dtype == MXN_DTYPE_NONE ? MXN_FLOAT32 : dtype);
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
    SEQUENCE("_npi_linspace", linear_fields, LINEAR, "Numbers from start to stop."),
    SEQUENCE("_npi_logspace", power_fields, POWERS, "Powers with exponents from start to stop."),
};

MXN_FAMILY(sequence, table);
