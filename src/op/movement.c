// SPDX-License-Identifier: Apache-2.0
// Operators that move values: transposed, repeated, cut out, put together. Values are copied as
// bytes, so every type goes. A gradient is the same movement backwards.
#include <string.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"

// Copies a walk's elements: operand 0 is read, operand 1 written.
static void move_walk(mxn_walk *walk, const void *from, void *to, size_t size)
{
    for (bool more = walk->total > 0; more; more = mxn__walk_next(walk)) {
        const char *source = (const char *)from + walk->at[0] * (int64_t)size;
        char *target = (char *)to + walk->at[1] * (int64_t)size;
        if (walk->step[0] == 1 && walk->step[1] == 1) {
            memcpy(target, source, (size_t)walk->count * size);
            continue;
        }
        int64_t read = walk->step[0] * (int64_t)size, write = walk->step[1] * (int64_t)size;
        for (int64_t i = 0; i < walk->count; i++) {
            memcpy(target + i * write, source + i * read, size);
        }
    }
}

// ---- transpose
// ------------------------------------------------------------------------------------
typedef struct transpose_params {
    mxn_tuple axes;
} transpose_params;

static const mxn_field transpose_fields[] = {
    {MXN_FIELD(transpose_params, axes, TUPLE, "[]")},
    {0},
};

static const mxn_field npi_transpose_fields[] = {
    {MXN_FIELD(transpose_params, axes, TUPLE, "None")},
    {0},
};

// Dimension i of the result is dimension order[i] of the input.
static int transpose_order(const mxn_params *params, int32_t ndim, int32_t order[MXN_DIMS_MAX])
{
    const transpose_params *values = (const void *)params->values;
    bool seen[MXN_DIMS_MAX] = {false};
    if (values->axes.count > 0 && values->axes.count != ndim) {
        return mxp__fail(MXP_EINVAL, "Operator %s: %d axes for an input of %d dimensions",
                         params->op->name, values->axes.count, ndim);
    }
    for (int32_t i = 0; i < ndim; i++) {
        order[i] = ndim - 1 - i;
        int error =
            values->axes.count > 0 ? mxn__axis(params, values->axes.values[i], ndim, &order[i]) : 0;
        if (error != 0) {
            return error;
        }
        if (seen[order[i]]) {
            return mxp__fail(MXP_EINVAL, "Operator %s: axis %d is named twice", params->op->name,
                             order[i]);
        }
        seen[order[i]] = true;
    }
    return 0;
}

static int transpose_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (in->ndim < 0) {
        return 0;
    }
    int32_t order[MXN_DIMS_MAX];
    int error = transpose_order(shapes->params, in->ndim, order);
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = in->ndim};
    for (int32_t i = 0; i < in->ndim; i++) {
        result.dims[i] = in->dims[order[i]];
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int transpose_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int32_t order[MXN_DIMS_MAX];
    int error = transpose_order(job->params, in->shape->ndim, order);
    if (error != 0) {
        return error;
    }
    int64_t own[MXN_DIMS_MAX], steps[2][MXN_DIMS_MAX];
    mxn__row_steps(in->shape, own);
    mxn__row_steps(out->shape, steps[1]);
    for (int32_t i = 0; i < in->shape->ndim; i++) {
        steps[0][i] = own[order[i]];
    }
    mxn_walk walk;
    mxn__walk_init(&walk, out->shape->ndim, out->shape->dims,
                   (const int64_t *const[]){steps[0], steps[1], NULL});
    move_walk(&walk, in->data, out->data, mxn_dtype_size(out->dtype));
    return 0;
}

// The inverse order, of as many axes as there are dimensions. No axes are their own inverse.
static void transpose_invert(void *values)
{
    transpose_params *params = values;
    const mxn_tuple axes = params->axes;
    for (int32_t i = 0; i < axes.count; i++) {
        int64_t axis = axes.values[i] < 0 ? axes.values[i] + axes.count : axes.values[i];
        params->axes.values[axis] = i;
    }
}

// ---- broadcast_to
// ---------------------------------------------------------------------------------
typedef struct broadcast_params {
    mxn_tuple shape;
} broadcast_params;

static const mxn_field broadcast_fields[] = {
    {MXN_FIELD(broadcast_params, shape, TUPLE, "[]")},
    {0},
};

// A 0 in the parameter keeps the dimension.
static int broadcast_shapes(const mxn_shapes *shapes)
{
    const broadcast_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_shape result;
    int error = mxn_shape_set(&result, params->shape.count, params->shape.values, "shape");
    int32_t lead = params->shape.count - in->ndim;
    for (int32_t i = 0; error == 0 && i < in->ndim; i++) {
        int64_t *dim = lead >= 0 ? &result.dims[i + lead] : NULL;
        if (dim != NULL && *dim == 0) {
            *dim = in->dims[i];
        }
        if (dim == NULL || (*dim != in->dims[i] && in->dims[i] != 1)) {
            char text[MXN_SHAPE_TEXT];
            return mxn__shape_refused(shapes, 0, "cannot be broadcast to %s",
                                      mxn_shape_tuple(&result, text));
        }
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

static int broadcast_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int64_t steps[2][MXN_DIMS_MAX];
    mxn__broadcast_steps(in->shape, out->shape, steps[0]);
    mxn__row_steps(out->shape, steps[1]);
    mxn_walk walk;
    mxn__walk_init(&walk, out->shape->ndim, out->shape->dims,
                   (const int64_t *const[]){steps[0], steps[1], NULL});
    move_walk(&walk, in->data, out->data, mxn_dtype_size(out->dtype));
    return 0;
}

static uint64_t broadcast_workspace(const mxn_job *job)
{
    return mxn_shape_size(job->outputs[0].shape) * sizeof(double);
}

static int broadcast_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *out = &job->outputs[0];
    size_t size = mxn_shape_size(out->shape);
    int64_t steps[MXN_DIMS_MAX];
    mxn__broadcast_steps(out->shape, g->shape, steps);
    mxn_walk walk;
    mxn__walk_init(&walk, g->shape->ndim, g->shape->dims,
                   (const int64_t *const[]){steps, NULL, NULL});
    double *sums = job->workspace;
    memset(sums, 0, size * sizeof *sums);
    const char *from = g->data;
    size_t g_size = mxn_dtype_size(g->dtype);
    for (bool more = walk.total > 0; more; more = mxn__walk_next(&walk)) {
        for (int64_t i = 0; i < walk.count; i++, from += g_size) {
            double value;
            mxn_cast(&value, MXN_FLOAT64, from, g->dtype, 1);
            sums[walk.at[0] + i * walk.step[0]] += value;
        }
    }
    mxn_cast(out->data, out->dtype, sums, MXN_FLOAT64, size);
    return 0;
}

// ---- diag
// -----------------------------------------------------------------------------------------
typedef struct diag_params {
    int32_t k, axis1, axis2;
    int64_t wide_k;
} diag_params;

static const mxn_field diag_fields[] = {
    {MXN_FIELD(diag_params, k, INT, "0")},
    {MXN_FIELD(diag_params, axis1, INT, "0")},
    {MXN_FIELD(diag_params, axis2, INT, "1")},
    {0},
};

static const mxn_field npi_diag_fields[] = {
    {.name = "k",
     .kind = MXN_FIELD_LONG,
     .offset = offsetof(diag_params, wide_k),
     .value = "0",
     .min = INT32_MIN,
     .max = INT32_MAX},
    {0},
};

static const mxn_field np_diag_fields[] = {
    {MXN_FIELD(diag_params, k, INT, "0")},
    {0},
};

static int diag_check(const mxn_op *op, void *values)
{
    diag_params *params = values;
    if (op->def->fields == npi_diag_fields) {
        params->k = (int32_t)params->wide_k;
    }
    if (op->def->fields != diag_fields) {
        params->axis2 = 1;
    }
    return 0;
}

static int diag_axes(const mxn_params *params, int32_t ndim, int32_t axes[2])
{
    const diag_params *values = (const void *)params->values;
    int error = mxn__axis(params, values->axis1, ndim, &axes[0]);
    error = error != 0 ? error : mxn__axis(params, values->axis2, ndim, &axes[1]);
    if (error == 0 && axes[0] == axes[1]) {
        error = mxp__fail(MXP_EINVAL, "Operator %s: axis1 and axis2 are both %d", params->op->name,
                          axes[0]);
    }
    return error;
}

static int64_t diagonal_length(int64_t rows, int64_t columns, int64_t k)
{
    rows += k < 0 ? k : 0;
    columns -= k > 0 ? k : 0;
    int64_t length = rows < columns ? rows : columns;
    return length > 0 ? length : 0;
}

// Of a vector: a matrix with it on a diagonal. Else the two axes go and the diagonal comes last.
static int diag_shapes(const mxn_shapes *shapes)
{
    const diag_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_shape result = {.ndim = 0};
    if (in->ndim == 0) {
        return mxn__shape_refused(shapes, 0, "a scalar has no diagonal");
    }
    if (in->ndim == 1) {
        int64_t side = in->dims[0] + (params->k < 0 ? -(int64_t)params->k : params->k);
        result = (mxn_shape){.ndim = 2, .dims = {side, side}};
        return mxn__shape_output(shapes, 0, &result);
    }
    int32_t axes[2];
    int error = diag_axes(shapes->params, in->ndim, axes);
    if (error != 0) {
        return error;
    }
    for (int32_t i = 0; i < in->ndim; i++) {
        if (i != axes[0] && i != axes[1]) {
            result.dims[result.ndim++] = in->dims[i];
        }
    }
    result.dims[result.ndim++] = diagonal_length(in->dims[axes[0]], in->dims[axes[1]], params->k);
    return mxn__shape_output(shapes, 0, &result);
}

// A walk over the diagonal of `full`: steps[0] in it, steps[1] in the array of diagonals. Gives
// where it begins in `full`, in elements.
static int diag_walk(const mxn_params *params, const mxn_shape *full, const mxn_shape *diagonals,
                     mxn_walk *walk, int64_t *begin)
{
    int32_t axes[2];
    int error = diag_axes(params, full->ndim, axes);
    if (error != 0) {
        return error;
    }
    int64_t own[MXN_DIMS_MAX], steps[2][MXN_DIMS_MAX];
    int32_t count = 0;
    mxn__row_steps(full, own);
    for (int32_t i = 0; i < full->ndim; i++) {
        if (i != axes[0] && i != axes[1]) {
            steps[0][count++] = own[i];
        }
    }
    steps[0][count] = own[axes[0]] + own[axes[1]];
    mxn__row_steps(diagonals, steps[1]);
    int64_t k = ((const diag_params *)(const void *)params->values)->k;
    *begin = k < 0 ? -k * own[axes[0]] : k * own[axes[1]];
    mxn__walk_init(walk, diagonals->ndim, diagonals->dims,
                   (const int64_t *const[]){steps[0], steps[1], NULL});
    return 0;
}

static int take_diagonal(mxn_job *job, const mxn_operand *full, const mxn_operand *diagonals)
{
    size_t size = mxn_dtype_size(full->dtype);
    mxn_walk walk;
    int64_t begin;
    int error = diag_walk(job->params, full->shape, diagonals->shape, &walk, &begin);
    if (error == 0 && walk.total > 0) {
        move_walk(&walk, (const char *)full->data + begin * (int64_t)size, diagonals->data, size);
    }
    return error;
}

static int put_diagonal(mxn_job *job, const mxn_operand *diagonals, const mxn_operand *full)
{
    size_t size = mxn_dtype_size(full->dtype);
    mxn_walk walk;
    int64_t begin;
    memset(full->data, 0, mxn_shape_size(full->shape) * size);
    int error = diag_walk(job->params, full->shape, diagonals->shape, &walk, &begin);
    if (error != 0) {
        return error;
    }
    char *to = (char *)full->data + (walk.total > 0 ? begin * (int64_t)size : 0);
    const char *from = diagonals->data;
    for (bool more = walk.total > 0; more; more = mxn__walk_next(&walk)) {
        for (int64_t i = 0; i < walk.count; i++, from += size) {
            memcpy(to + (walk.at[0] + i * walk.step[0]) * (int64_t)size, from, size);
        }
    }
    return 0;
}

static int diag_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    return in->shape->ndim == 1 ? put_diagonal(job, in, out) : take_diagonal(job, in, out);
}

static int diag_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *out = &job->outputs[0];
    return out->shape->ndim == 1 ? take_diagonal(job, g, out) : put_diagonal(job, g, out);
}

// ---- the table
// ------------------------------------------------------------------------------------
#define DIAG(name_, fields_, gradient_)                                                        \
    {                                                                                          \
        .name = (name_), .inputs = "data", .description = "A diagonal, or a matrix of one.",   \
        .fields = (fields_), .params_bytes = sizeof(diag_params), .check = diag_check,         \
        .shapes = diag_shapes, .flags = MXN_OP_ANY_TYPE, .gradient = MXN_USES_NONE(gradient_), \
        .forward = diag_forward                                                                \
    }
#define DIAG_BACKWARD(name_, fields_, again_)                       \
    {                                                               \
        .name = (name_), .input_count = 1, .fields = (fields_),     \
        .params_bytes = sizeof(diag_params),                        \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE, \
        .gradient = MXN_USES_NONE(again_), .forward = diag_backward \
    }
#define TRANSPOSE(name_, input_, fields_)                                                          \
    {                                                                                              \
        .name = (name_), .inputs = (input_), .description = "Dimensions in another order.",        \
        .fields = (fields_), .params_bytes = sizeof(transpose_params), .shapes = transpose_shapes, \
        .flags = MXN_OP_ANY_TYPE, .forward = transpose_forward,                                    \
        .gradient = MXN_GRADIENT({.op = name_, .takes = "g0", .adjust = transpose_invert})         \
    }

static const mxn_op_def table[] = {
    TRANSPOSE("transpose", "data", transpose_fields),
    TRANSPOSE("_npi_transpose", "a", npi_transpose_fields),
    TRANSPOSE("_np_transpose", "a", npi_transpose_fields),
    DIAG("diag", diag_fields, "_backward_diag"),
    DIAG("_npi_diag", npi_diag_fields, "_backward_npi_diag"),
    DIAG("_np_diag", np_diag_fields, "_backward_np_diag"),
    DIAG_BACKWARD("_backward_np_diag", np_diag_fields, "_np_diag"),
    DIAG_BACKWARD("_backward_diag", diag_fields, "diag"),
    DIAG_BACKWARD("_backward_npi_diag", npi_diag_fields, "_npi_diag"),
    {
        .name = "broadcast_to",
        .inputs = "data",
        .fields = broadcast_fields,
        .description = "Repeated along dimensions of size 1.",
        .params_bytes = sizeof(broadcast_params),
        .shapes = broadcast_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_broadcast_backward"),
        .forward = broadcast_forward,
    },
    {
        .name = "_broadcast_backward",
        .input_count = 1,
        .flags = MXN_OP_BACKWARD,
        .forward = broadcast_backward,
        .workspace = broadcast_workspace,
    },
};

MXN_FAMILY(movement, table);
