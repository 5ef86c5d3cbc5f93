// SPDX-License-Identifier: Apache-2.0
// Sums of all elements up to each, along an axis. The gradient is the same from the other end.
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

typedef struct cumulative_params {
    mxn_maybe_int axis;
    int32_t dtype;
} cumulative_params;

static const mxn_field fields[] = {
    {MXN_FIELD(cumulative_params, axis, MAYBE_INT, "None")},
    {MXN_FIELD(cumulative_params, dtype, ENUM, "None"), .words = mxn__words_maybe_numbers},
    {0},
};

enum { FORWARD, BACKWARD };

// Without an axis the array is one row, and so is the result.
static int rows_of(const mxn_params *params, const mxn_shape *data, mxn_axis_view *s)
{
    const cumulative_params *values = (const void *)params->values;
    int32_t axis;
    return mxn__axis_view_or_row(params, &values->axis, data, s, &axis);
}

static int cumulative_shapes(const mxn_shapes *shapes)
{
    const cumulative_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_axis_view s;
    int error = rows_of(shapes->params, in, &s);
    const mxn_shape row = {.ndim = 1, .dims = {s.count}};
    return error != 0 ? error : mxn__shape_output(shapes, 0, params->axis.has ? in : &row);
}

static int cumulative_types(const mxn_types *types)
{
    int32_t dtype = ((const cumulative_params *)(const void *)types->params->values)->dtype;
    int32_t in = types->inputs[0];
    dtype = dtype != MXN_DTYPE_NONE ? dtype : in == MXN_BOOL ? MXN_INT64 : in;
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], dtype);
}

#define TEMPLATE "runtime/op/reduce/cumsum_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/reduce/cumsum_kernels.h"
#include "runtime/op/kernels/each_whole.h"
#define T bool
#define NAME(x) x##_bool
#include "runtime/op/reduce/cumsum_kernels.h"
#undef T
#undef NAME

typedef void (*sum_function)(void *data, const mxn_axis_view *s, bool backward);

static const sum_function sums[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(sum_rows),
    [MXN_BOOL] = sum_rows_bool,
};

static int cumulative(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    bool backward = job->params->op->def->variant == BACKWARD;
    mxn_axis_view s;
    int error = rows_of(job->params, (backward ? out : in)->shape, &s);
    if (error != 0) {
        return error;
    }
    if (out->data != in->data) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    }
    if (sums[out->dtype] == NULL) {
        return mxn__type_refused(job, out->dtype);
    }
    sums[out->dtype](out->data, &s, backward);
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "_npi_cumsum",
        .aliases = "_np_cumsum cumsum",
        .inputs = "a",
        .description = "Sums up to each element.",
        .fields = fields,
        .params_bytes = sizeof(cumulative_params),
        .variant = FORWARD,
        .shapes = cumulative_shapes,
        .types = cumulative_types,
        .gradient = MXN_USES_NONE("_backward_npi_cumsum"),
        .takes = MXN_TAKES_NUMBERS,
        .forward = cumulative,
    },
    {
        .name = "_backward_npi_cumsum",
        .input_count = 1,
        .fields = fields,
        .params_bytes = sizeof(cumulative_params),
        .variant = BACKWARD,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .gradient = MXN_USES_NONE("_npi_cumsum"),
        .forward = cumulative,
    },
};

MXN_FAMILY(cumsum, table);
