// SPDX-License-Identifier: Apache-2.0
// Diagonals: taken out, put into a matrix, and what lies on one side of them.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

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

// Of the two operators that take diagonals alone, and refuse vectors.
static const mxn_field diagonal_fields[] = {
    {.name = "offset", .kind = MXN_FIELD_INT, .offset = offsetof(diag_params, k), .value = "0"},
    {MXN_FIELD(diag_params, axis1, INT, "0")},
    {MXN_FIELD(diag_params, axis2, INT, "1")},
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
    if (op->def->fields != diag_fields && op->def->fields != diagonal_fields) {
        params->axis2 = 1;
    }
    return 0;
}

static int diag_axes(const mxn_params *params, int32_t ndim, int32_t axes[2])
{
    const diag_params *values = (const void *)params->values;
    int error = mxn__axis(params, values->axis1, ndim, &axes[0]);
    if (error == 0) {
        error = mxn__axis(params, values->axis2, ndim, &axes[1]);
    }
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

enum { DIAGONAL = 2, TRACE, FLAT };  // variants beside those of triangles

// A matrix with so many numbers on its diagonal.
static int matrix_shape(const mxn_shapes *shapes, int64_t count, int64_t k)
{
    const int64_t side = count + (k < 0 ? -k : k);
    const mxn_shape result = {.ndim = 2, .dims = {side, side}};
    return mxn__shape_output(shapes, 0, &result);
}

// Of a vector: a matrix with it on a diagonal. Else the two axes go and the diagonal comes last.
static int diag_shapes(const mxn_shapes *shapes)
{
    const diag_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    const int variant = shapes->params->op->def->variant;
    if (!mxn_shape_known(in)) {
        return 0;
    }
    if (in->ndim == 1 && variant != DIAGONAL && variant != TRACE) {
        return matrix_shape(shapes, in->dims[0], params->k);
    }
    if (in->ndim < 2) {
        return mxn__shape_refused(shapes, 0, "it has no diagonal");
    }
    mxn_shape result = {.ndim = 0};
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
    int64_t length = diagonal_length(in->dims[axes[0]], in->dims[axes[1]], params->k);
    int64_t beyond = params->k < 0 ? in->dims[axes[0]] + params->k : in->dims[axes[1]] - params->k;
    if (beyond <= 0 && params->k != 0 && shapes->params->op->def->fields == diag_fields) {
        return mxn__shape_refused(shapes, 0, "the diagonal k=%d does not exist", params->k);
    }
    if (variant != TRACE) {
        result.dims[result.ndim++] = length;
    }
    return mxn__shape_output(shapes, 0, &result);
}

// The input counts as a vector.
static int flat_shapes(const mxn_shapes *shapes)
{
    const diag_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    return mxn_shape_known(in) ? matrix_shape(shapes, (int64_t)mxn_shape_size(in), params->k) : 0;
}

// An iterator over the diagonal of `full`: steps[0] in it, steps[1] in the array of diagonals, or
// of their sums. Gives where it begins in `full`, in elements; 0 if there is none.
static int diag_iterator(const mxn_params *params, const mxn_shape *full,
                         const mxn_shape *diagonals, mxn_iterator *it, int64_t *begin)
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
    const int64_t k = ((const diag_params *)(const void *)params->values)->k;
    mxn_shape every;
    mxn_shape_copy(&every, diagonals);
    steps[0][count] = own[axes[0]] + own[axes[1]];
    mxn__row_steps(diagonals, steps[1]);
    if (params->op->def->variant == TRACE) {
        every.ndim = count + 1;
        every.dims[count] = diagonal_length(full->dims[axes[0]], full->dims[axes[1]], k);
        steps[1][count] = 0;
    }
    mxn__iterator_init(it, every.ndim, every.dims,
                       (const int64_t *const[]){steps[0], steps[1], NULL});
    *begin = it->total == 0 ? 0 : k < 0 ? -k * own[axes[0]] : k * own[axes[1]];
    return 0;
}

static int take_diagonal(mxn_job *job, const mxn_operand *full, const mxn_operand *diagonals)
{
    size_t size = mxn_dtype_size(full->dtype);
    mxn_iterator it;
    int64_t begin;
    int error = diag_iterator(job->params, full->shape, diagonals->shape, &it, &begin);
    if (error == 0 && it.total > 0) {
        mxn__iterator_copy(&it, (const char *)full->data + begin * (int64_t)size, diagonals->data,
                           size);
    }
    return error;
}

static int put_diagonal(mxn_job *job, const mxn_operand *diagonals, const mxn_operand *full)
{
    size_t size = mxn_dtype_size(full->dtype);
    mxn_iterator it;
    int64_t begin;
    memset(full->data, 0, mxn_shape_size(full->shape) * size);
    int error = diag_iterator(job->params, full->shape, diagonals->shape, &it, &begin);
    if (error != 0) {
        return error;
    }
    char *to = (char *)full->data + (it.total > 0 ? begin * (int64_t)size : 0);
    const char *from = diagonals->data;
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t i = 0; i < it.count; i++) {
            memcpy(to + (it.at[0] + i * it.step[0]) * (int64_t)size,
                   from + (it.at[1] + i * it.step[1]) * (int64_t)size, size);
        }
    }
    return 0;
}

// ---- sums of diagonals ------------------------------------------------------------------------
#define ADD_ONE(NAME, type)                                     \
    case MXN_##NAME:                                            \
        *(type *)sum = (type)(*(type *)sum + *(const type *)x); \
        break;

static void add_one(int32_t dtype, void *sum, const void *x)
{
    switch (dtype) {
        MXN_ALL_TYPES(ADD_ONE)
    default:
        break;
    }
}

static int trace_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    const int64_t size = (int64_t)mxn_dtype_size(out->dtype);
    mxn_iterator it;
    int64_t begin;
    memset(out->data, 0, mxn_shape_size(out->shape) * (size_t)size);
    const int error = diag_iterator(job->params, in->shape, out->shape, &it, &begin);
    if (error != 0) {
        return error;
    }
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t i = 0; i < it.count; i++) {
            add_one(out->dtype, (char *)out->data + (it.at[1] + i * it.step[1]) * size,
                    (const char *)in->data + (begin + it.at[0] + i * it.step[0]) * size);
        }
    }
    return 0;
}

// ---- a matrix of any array --------------------------------------------------------------------
static int flat_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    const mxn_shape flat = {.ndim = 1, .dims = {(int64_t)mxn_shape_size(in->shape)}};
    const mxn_operand vector = {.shape = &flat, .data = in->data, .dtype = in->dtype};
    return put_diagonal(job, &vector, &job->outputs[0]);
}

static int flat_backward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    const mxn_shape flat = {.ndim = 1, .dims = {(int64_t)mxn_shape_size(out->shape)}};
    const mxn_operand vector = {.shape = &flat, .data = out->data, .dtype = out->dtype};
    return take_diagonal(job, &job->inputs[0], &vector);
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

// ---- triangles ----------------------------------------------------------------------------------
enum { LOWER, UPPER };

// Of a vector: a matrix with it in every row.
static int triangle_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    if (in->ndim == 0) {
        return mxn__shape_refused(shapes, 0, "a scalar has no triangle");
    }
    mxn_shape result;
    mxn_shape_copy(&result, in);
    if (in->ndim == 1) {
        result = (mxn_shape){.ndim = 2, .dims = {in->dims[0], in->dims[0]}};
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int triangle_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int64_t k = ((const diag_params *)mxn__values(job))->k;
    int64_t rows = out->shape->dims[out->shape->ndim - 2];
    int64_t columns = out->shape->dims[out->shape->ndim - 1];
    int64_t size = (int64_t)mxn_dtype_size(out->dtype);
    int64_t all = (int64_t)mxn_shape_size(out->shape) / columns;
    bool lower = job->params->op->def->variant == LOWER;
    for (int64_t i = 0; i < all; i++) {
        int64_t row = i % rows, edge = row + k + lower;
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        int64_t begin = lower ? 0 : edge, end = lower ? edge : columns;
        const char *from = (const char *)in->data + (in->shape->ndim == 1 ? 0 : i) * columns * size;
        char *to = (char *)out->data + i * columns * size;
        memset(to, 0, (size_t)(columns * size));
        memcpy(to + begin * size, from + begin * size, (size_t)((end - begin) * size));
    }
    return 0;
}

// Of a vector the columns are summed.
#define TEMPLATE "runtime/op/shape/triangle_kernels.h"
#include "runtime/op/kernels/each_real.h"

static int triangle_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    int64_t k = ((const diag_params *)mxn__values(job))->k;
    bool lower = job->params->op->def->variant == LOWER;
    if (out->shape->ndim > 1) {
        return triangle_forward(job);
    }
    if (out->dtype == MXN_FLOAT32) {
        triangle_sum_float(job->inputs[0].data, out->data, out->shape->dims[0], k, lower);
    } else if (out->dtype == MXN_FLOAT64) {
        triangle_sum_double(job->inputs[0].data, out->data, out->shape->dims[0], k, lower);
    } else {
        return mxn__type_refused(job, out->dtype);
    }
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------
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
#define TRIANGLE(name_, variant_, gradient_)                                                       \
    {                                                                                              \
        .name = (name_), .inputs = "data", .description = "One side of a diagonal.",               \
        .fields = np_diag_fields, .params_bytes = sizeof(diag_params), .variant = (variant_),      \
        .shapes = triangle_shapes, .flags = MXN_OP_ANY_TYPE, .gradient = MXN_USES_NONE(gradient_), \
        .forward = triangle_forward                                                                \
    }
#define TRIANGLE_BACKWARD(name_, variant_, again_)                                   \
    {                                                                                \
        .name = (name_), .input_count = 1, .fields = np_diag_fields,                 \
        .params_bytes = sizeof(diag_params), .variant = (variant_),                  \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT, .gradient = MXN_USES_NONE(again_), \
        .forward = triangle_backward                                                 \
    }

#define DIAGONALS(name_, variant_, fields_, shapes_, flags_, gradient_, forward_, text)  \
    {                                                                                    \
        .name = (name_), .inputs = "data", .description = (text), .fields = (fields_),   \
        .params_bytes = sizeof(diag_params), .variant = (variant_), .check = diag_check, \
        .shapes = (shapes_), .flags = (flags_), .gradient = MXN_USES_NONE(gradient_),    \
        .forward = (forward_)                                                            \
    }
#define DIAGONALS_BACKWARD(name_, variant_, fields_, again_, forward_) \
    {                                                                  \
        .name = (name_), .input_count = 1, .fields = (fields_),        \
        .params_bytes = sizeof(diag_params), .variant = (variant_),    \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,    \
        .gradient = MXN_USES_NONE(again_), .forward = (forward_)       \
    }

static const mxn_op_def table[] = {
    DIAG("diag", diag_fields, "_backward_diag"),
    DIAG("_npi_diag", npi_diag_fields, "_backward_npi_diag"),
    DIAG("_np_diag", np_diag_fields, "_backward_np_diag"),
    DIAG_BACKWARD("_backward_np_diag", np_diag_fields, "_np_diag"),
    DIAG_BACKWARD("_backward_diag", diag_fields, "diag"),
    DIAG_BACKWARD("_backward_npi_diag", npi_diag_fields, "_npi_diag"),
    // Names of the 1.x line.
    DIAGONALS("_np_diagonal", DIAGONAL, diagonal_fields, diag_shapes, MXN_OP_ANY_TYPE,
              "_backward_np_diagonal", diag_forward, "Diagonals, as the last dimension."),
    DIAGONALS("_np_trace", TRACE, diagonal_fields, diag_shapes, 0, "_backward_np_trace",
              trace_forward, "Sums of diagonals."),
    DIAGONALS("_np_diagflat", FLAT, np_diag_fields, flat_shapes, MXN_OP_ANY_TYPE,
              "_backward_np_diagflat", flat_forward, "A matrix with all values on a diagonal."),
    DIAGONALS_BACKWARD("_backward_np_diagonal", DIAGONAL, diagonal_fields, "_np_diagonal",
                       diag_backward),
    DIAGONALS_BACKWARD("_backward_np_trace", TRACE, diagonal_fields, "_np_trace", diag_backward),
    DIAGONALS_BACKWARD("_backward_np_diagflat", FLAT, np_diag_fields, "_np_diagflat",
                       flat_backward),
    TRIANGLE("_npi_tril", LOWER, "_backward_tril"),
    TRIANGLE("_npi_triu", UPPER, "_backward_triu"),
    TRIANGLE_BACKWARD("_backward_tril", LOWER, "_npi_tril"),
    TRIANGLE_BACKWARD("_backward_triu", UPPER, "_npi_triu"),
};

MXN_FAMILY(diag_tri, table);
