// SPDX-License-Identifier: Apache-2.0
// Where the largest and smallest elements are: argmax, argmin. The first of several; a NaN counts
// as more extreme than any number.
#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct extreme_params {
    mxn_maybe_int axis;
    bool keepdims;
} extreme_params;

static const mxn_field fields[] = {
    {MXN_FIELD(extreme_params, axis, MAYBE_INT, "None")},
    {MXN_FIELD(extreme_params, keepdims, BOOL, "0")},
    {0},
};

enum { LARGEST = 0, SMALLEST = 1, NUMPY = 2, CHANNEL = 4 };

// Without an axis all elements are one row.
static int rows_of(const mxn_params *params, const mxn_shape *data, mxn_axis_view *s, int32_t *axis)
{
    const extreme_params *values = (const void *)params->values;
    bool channel = (params->op->def->variant & CHANNEL) != 0;
    const mxn_maybe_int second = {.has = true, .value = 1}, none = {0};
    // The one element of a scalar lies along axis 0, as NumPy says.
    bool only = !channel && data->ndim == 0 && values->axis.value >= -1 && values->axis.value <= 0;
    return mxn__axis_view_or_row(params,
                                 channel ? &second
                                 : only  ? &none
                                         : &values->axis,
                                 data, s, axis);
}

static int extreme_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0];
    int variant = shapes->params->op->def->variant;
    bool keeps = (variant & CHANNEL) == 0 &&
                 ((const extreme_params *)(const void *)shapes->params->values)->keepdims;
    if (!mxn_shape_known(data)) {
        return 0;
    }
    mxn_axis_view s;
    int32_t axis;
    int error = rows_of(shapes->params, data, &s, &axis);
    if (error != 0) {
        return error;
    }
    if (s.count == 0 && s.outer * s.inner > 0) {
        return mxn__shape_refused(shapes, 0, "has no element to choose from");
    }
    mxn_shape result = {.ndim = 0};
    for (int32_t i = 0; i < data->ndim; i++) {
        bool goes = axis < 0 || i == axis;
        if (!goes || keeps) {
            result.dims[result.ndim++] = goes ? 1 : data->dims[i];
        }
    }
    mxn__shape_settle(shapes->params, &result, (variant & NUMPY) != 0);
    return mxn__shape_output(shapes, 0, &result);
}

static int numpy_types(const mxn_types *types)
{
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_INT64);
}

#define IS_NAN(x) ((x) != (x))
#define TEMPLATE "runtime/op/reduce/argmax_kernels.h"
#include "runtime/op/kernels/each_real.h"
#undef IS_NAN
#define IS_NAN(x) false
#define TEMPLATE "runtime/op/reduce/argmax_kernels.h"
#include "runtime/op/kernels/each_whole.h"
#undef IS_NAN

typedef int64_t (*find_function)(const void *data, int64_t at, int64_t count, int64_t step,
                                 bool smallest);

static const find_function finds[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(find),
    [MXN_BOOL] = find_uint8,
};

static int extreme_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    mxn_operand *out = &job->outputs[0];
    mxn_axis_view s;
    int32_t axis;
    int error = rows_of(job->params, in->shape, &s, &axis);
    find_function find = finds[in->dtype];
    if (error != 0 || find == NULL) {
        return error != 0 ? error : mxn__type_refused(job, in->dtype);
    }
    bool smallest = (job->params->op->def->variant & SMALLEST) != 0;
    size_t size = mxn_dtype_size(out->dtype);
    for (int64_t i = 0; i < s.outer * s.inner; i++) {
        int64_t found = find(in->data, mxn__axis_view_at(&s, i), s.count, s.inner, smallest);
        mxn_cast((char *)out->data + (size_t)i * size, out->dtype, &found, MXN_INT64, 1);
    }
    return 0;
}

static double extreme_flops(const mxn_job *job)
{
    return (double)mxn_shape_size(job->inputs[0].shape);
}

#define EXTREME(name_, variant_, fields_, bytes_, types_)                                    \
    {                                                                                        \
        .name = (name_), .inputs = "data", .description = "Where the extreme elements are.", \
        .fields = (fields_), .params_bytes = (bytes_), .variant = (variant_),                \
        .shapes = extreme_shapes, .types = (types_), .gradient = MXN_GRADIENT_ZERO,          \
        .forward = extreme_forward, .flops = extreme_flops                                   \
    }

static const mxn_op_def table[] = {
    EXTREME("argmax", LARGEST, fields, sizeof(extreme_params), NULL),
    EXTREME("argmin", SMALLEST, fields, sizeof(extreme_params), NULL),
    EXTREME("argmax_channel", LARGEST | CHANNEL, NULL, 0, NULL),
    EXTREME("_npi_argmax", LARGEST | NUMPY, fields, sizeof(extreme_params), numpy_types),
    EXTREME("_npi_argmin", SMALLEST | NUMPY, fields, sizeof(extreme_params), numpy_types),
};

MXN_FAMILY(argmax, table);
