// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/create: operators without inputs, and those that fill.
//
// Operators that make arrays from nothing, or like others. Without a `dtype` they make float32.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

// ---- zeros, ones, full --------------------------------------------------------------------------
typedef struct fill_params {
    mxn_tuple shape;
    const char *ctx;
    int32_t dtype;
    mxn_number value;
    double double_value;
    int64_t int_value;
    uint64_t uint_value;
    int32_t value_type;
} fill_params;

enum { FILL_ZERO, FILL_ONE, FILL_VALUE, FILL_TYPED, FILL_MASK = 0xff, NUMPY = 1 << 8 };
enum { VALUE_INT = 0, VALUE_UINT = 1, VALUE_DOUBLE = 2 };  // value_type

static const mxn_field fill_fields[] = {
    {MXN_FIELD(fill_params, shape, TUPLE, "[]")},
    {MXN_FIELD(fill_params, ctx, STRING, "")},
    {MXN_FIELD(fill_params, dtype, ENUM, "None"), .words = mxn__words_none_or_types},
    {0},
};

static const mxn_field full_fields[] = {
    {MXN_FIELD(fill_params, shape, TUPLE, "None")},
    {MXN_FIELD(fill_params, ctx, STRING, "")},
    {MXN_FIELD(fill_params, dtype, ENUM, "None"), .words = mxn__words_none_or_types},
    {MXN_FIELD(fill_params, value, NUMBER, NULL)},
    {0},
};

static const mxn_field npi_full_fields[] = {
    {MXN_FIELD(fill_params, shape, TUPLE, "None")},
    {MXN_FIELD(fill_params, ctx, STRING, "")},
    {MXN_FIELD(fill_params, dtype, ENUM, "None"), .words = mxn__words_none_or_types},
    {MXN_FIELD(fill_params, double_value, DOUBLE, NULL)},
    {MXN_FIELD(fill_params, int_value, LONG, NULL)},
    {MXN_FIELD(fill_params, uint_value, ULONG, NULL)},
    {MXN_FIELD(fill_params, value_type, INT, NULL), .min = 0, .max = 2},
    {0},
};

static const mxn_field without_dtype_fields[] = {
    {MXN_FIELD(fill_params, shape, TUPLE, "None")},
    {MXN_FIELD(fill_params, ctx, STRING, "")},
    {MXN_FIELD(fill_params, dtype, INT, "-1"), .min = -1, .max = MXN_DTYPE_COUNT - 1},
    {0},
};

// Where shapes are not NumPy's a size of 0 is not known: what takes the result, or the array that
// is to hold it, tells. A call that has neither makes an array without elements.
static bool is_told_by_others(const mxn_shapes *shapes)
{
    return !shapes->alone || shapes->outputs[0]->ndim >= 0;
}

static void open_sizes(mxn_shape *shape)
{
    for (int32_t i = 0; i < shape->ndim; i++) {
        shape->dims[i] = shape->dims[i] == 0 ? -1 : shape->dims[i];
    }
}

// Of no sizes: a scalar for NumPy's operators and where shapes are NumPy's, else not known.
static int shape_of_tuple(const mxn_shapes *shapes, const mxn_tuple *tuple, bool numpy)
{
    bool unknown = tuple->count == 0 && !numpy && !shapes->params->numpy_shape;
    if (tuple->count == MXN_TUPLE_ABSENT || unknown) {
        return 0;
    }
    mxn_shape shape;
    int error = mxn_shape_set(&shape, tuple->count, tuple->values, shapes->params->op->name);
    if (!numpy && !shapes->params->numpy_shape && is_told_by_others(shapes)) {
        open_sizes(&shape);
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, &shape);
}

static int fill_shapes(const mxn_shapes *shapes)
{
    const fill_params *params = (const void *)shapes->params->values;
    return shape_of_tuple(shapes, &params->shape, (shapes->params->op->def->variant & NUMPY) != 0);
}

static int made_type(const mxn_types *types, int32_t dtype)
{
    if (dtype == MXN_DTYPE_NONE && types->outputs[0] != MXN_DTYPE_NONE) {
        return 0;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           dtype == MXN_DTYPE_NONE ? MXN_FLOAT32 : dtype);
}

static int fill_types(const mxn_types *types)
{
    return made_type(types, ((const fill_params *)(const void *)types->params->values)->dtype);
}

static void fill_number(mxn_job *job, const mxn_number *number)
{
    mxn_operand *out = &job->outputs[0];
    mxn_number_fill(out->data, out->dtype, number, mxn_shape_size(out->shape));
}

static void fill_output(mxn_job *job, double value)
{
    const mxn_number number = mxn_number_of_double(value);
    fill_number(job, &number);
}

static mxn_number typed_number(const fill_params *params)
{
    switch (params->value_type) {
    case VALUE_INT:
        return mxn_number_of_whole(params->int_value);
    case VALUE_UINT:
        return (mxn_number){
            .real = (double)params->uint_value, .bits = params->uint_value, .dtype = MXN_UINT64};
    default:
        return mxn_number_of_double(params->double_value);
    }
}

static int fill_forward(mxn_job *job)
{
    const fill_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    switch (job->params->op->def->variant & FILL_MASK) {
    case FILL_ZERO:
        memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
        return 0;
    case FILL_ONE:
        fill_output(job, 1);
        return 0;
    case FILL_VALUE:
        fill_number(job, &params->value);
        return 0;
    default: {
        const mxn_number number = typed_number(params);
        fill_number(job, &number);
        return 0;
    }
    }
}

#define FILL(name_, aliases_, fields_, variant_, text)                                      \
    {                                                                                       \
        .name = (name_), .aliases = (aliases_), .description = (text), .fields = (fields_), \
        .params_bytes = sizeof(fill_params), .variant = (variant_), .shapes = fill_shapes,  \
        .types = fill_types, .flags = MXN_OP_ANY_TYPE, .gradient = MXN_GRADIENT_ZERO,       \
        .forward = fill_forward                                                             \
    }

// ---- like another -----------------------------------------------------------------------------
typedef struct full_like_params {
    mxn_number fill_value;
    const char *ctx;
    int32_t dtype;
} full_like_params;

static const mxn_field full_like_fields[] = {
    {MXN_FIELD(full_like_params, fill_value, NUMBER, NULL)},
    {MXN_FIELD(full_like_params, ctx, STRING, "")},
    {MXN_FIELD(full_like_params, dtype, ENUM, "None"), .words = mxn__words_maybe_types},
    {0},
};

static int full_like_types(const mxn_types *types)
{
    const full_like_params *params = (const void *)types->params->values;
    return params->dtype == MXN_DTYPE_NONE
               ? mxn__types_alike(types)
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], params->dtype);
}

static int full_like_forward(mxn_job *job)
{
    fill_number(job, &((const full_like_params *)mxn__values(job))->fill_value);
    return 0;
}

#define LIKE(name_, aliases_, variant_, text)                                              \
    {                                                                                      \
        .name = (name_), .aliases = (aliases_), .description = (text), .inputs = "data",   \
        .variant = (variant_), .reads = MXN_READS_NONE, .flags = MXN_OP_ANY_TYPE,          \
        .inplace = MXN_INPLACE_ALL, .gradient = MXN_GRADIENT_ZERO, .forward = fill_forward \
    }

// ---- eye --------------------------------------------------------------------------------------
typedef struct eye_params {
    int64_t N, M;
    mxn_tuple columns;  // of numpy's: None is N
    int64_t k;
    const char *ctx;
    int32_t dtype;
} eye_params;

static const mxn_field eye_fields[] = {
    {MXN_FIELD(eye_params, N, LONG, NULL), .min = 0, .max = 2e9},
    {MXN_FIELD(eye_params, M, LONG, "0"), .min = 0, .max = 2e9},
    {MXN_FIELD(eye_params, k, LONG, "0")},
    {MXN_FIELD(eye_params, ctx, STRING, "")},
    {MXN_FIELD(eye_params, dtype, ENUM, "None"), .words = mxn__words_none_or_older},
    {0},
};

static const mxn_field npi_eye_fields[] = {
    {MXN_FIELD(eye_params, N, LONG, NULL), .min = 0, .max = 2e9},
    {.name = "M",
     .kind = MXN_FIELD_ANY_TUPLE,
     .offset = offsetof(eye_params, columns),
     .value = "None"},
    {MXN_FIELD(eye_params, k, LONG, "0")},
    {MXN_FIELD(eye_params, ctx, STRING, "")},
    {MXN_FIELD(eye_params, dtype, ENUM, "None"), .words = mxn__words_none_or_types},
    {0},
};

static int eye_check(const mxn_op *op, void *values)
{
    eye_params *params = values;
    if (op->def->fields == npi_eye_fields) {
        bool given = params->columns.count == 1;
        params->M = given ? params->columns.values[0] : params->N;
        if (params->M < 0 || params->columns.count > 1) {
            return mxp__fail(MXP_EINVAL, "Operator %s: M must be one number of 0 or more",
                             op->name);
        }
    } else if (params->M == 0) {
        params->M = params->N;
    }
    return 0;
}

static int eye_shapes(const mxn_shapes *shapes)
{
    const eye_params *params = (const void *)shapes->params->values;
    mxn_shape shape = {.ndim = 2, .dims = {params->N, params->M}};
    return mxn__shape_output(shapes, 0, &shape);
}

static int eye_types(const mxn_types *types)
{
    return made_type(types, ((const eye_params *)(const void *)types->params->values)->dtype);
}

static int eye_forward(mxn_job *job)
{
    const eye_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    int64_t rows = out->shape->dims[0], columns = out->shape->dims[1];
    size_t size = mxn_dtype_size(out->dtype);
    memset(out->data, 0, mxn_shape_size(out->shape) * size);
    for (int64_t row = 0; row < rows; row++) {
        if (params->k >= -row && params->k < columns - row) {
            int64_t at = row * columns + row + params->k;
            mxn_fill((char *)out->data + (size_t)at * size, out->dtype, 1, 1);
        }
    }
    return 0;
}

#define EYE(name_, fields_)                                                          \
    {                                                                                \
        .name = (name_), .description = "Ones on a diagonal, zeros elsewhere.",      \
        .fields = (fields_), .params_bytes = sizeof(eye_params), .check = eye_check, \
        .shapes = eye_shapes, .types = eye_types, .flags = MXN_OP_ANY_TYPE,          \
        .gradient = MXN_GRADIENT_ZERO, .forward = eye_forward                        \
    }

static const mxn_op_def table[] = {
    FILL("_zeros", NULL, fill_fields, FILL_ZERO, "Zeros."),
    FILL("_npi_zeros", NULL, fill_fields, FILL_ZERO | NUMPY, "Zeros."),
    FILL("_zeros_without_dtype", NULL, without_dtype_fields, FILL_ZERO | NUMPY,
         "Zeros of any type."),
    FILL("_ones", NULL, fill_fields, FILL_ONE, "Ones."),
    FILL("_npi_ones", NULL, fill_fields, FILL_ONE | NUMPY, "Ones."),
    FILL("_full", NULL, full_fields, FILL_VALUE, "One value everywhere."),
    FILL("_npi_full", NULL, npi_full_fields, FILL_TYPED | NUMPY, "One value everywhere."),
    LIKE("zeros_like", "_sparse_zeros_like", FILL_ZERO, "Zeros, as many as the input has."),
    LIKE("ones_like", NULL, FILL_ONE, "Ones, as many as the input has."),
    {
        .name = "_npi_full_like",
        .description = "One value, as often as the input has elements.",
        .inputs = "a",
        .fields = full_like_fields,
        .params_bytes = sizeof(full_like_params),
        .types = full_like_types,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT_ZERO,
        .forward = full_like_forward,
    },
    EYE("_eye", eye_fields),
    EYE("_npi_eye", npi_eye_fields),
};

MXN_FAMILY(zeros_full_arange, table);
