// SPDX-License-Identifier: Apache-2.0
// Elements, or whole inner arrays, of an array at points: gather_nd reads them, scatter_nd and its
// kin write them. Column k of `indices` (m, ...) is a point in the first m dimensions; a negative
// coordinate counts from the end.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct point_params {
    mxn_tuple shape;
} point_params;

static const mxn_field shape_fields[] = {
    {MXN_FIELD(point_params, shape, TUPLE, NULL)},
    {0},
};

// The shape of what lies at the points of `whole`.
static int points_shape(const mxn_shapes *shapes, uint32_t input, const mxn_shape *whole,
                        mxn_shape *result)
{
    const mxn_shape *indices = shapes->inputs[input];
    if (indices->ndim == 0 || indices->dims[0] > whole->ndim) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, input, "its first dimension has no points of shape %s",
                                  mxn_shape_tuple(whole, text));
    }
    int32_t depth = (int32_t)indices->dims[0];
    if (indices->ndim - 1 + whole->ndim - depth > MXN_DIMS_MAX) {
        return mxn__shape_refused(shapes, input, "the result would have more than %d dimensions",
                                  MXN_DIMS_MAX);
    }
    *result = (mxn_shape){.ndim = 0};
    for (int32_t i = 1; i < indices->ndim; i++) {
        result->dims[result->ndim++] = indices->dims[i];
    }
    for (int32_t i = depth; i < whole->ndim; i++) {
        result->dims[result->ndim++] = whole->dims[i];
    }
    return 0;
}

static int gather_shapes(const mxn_shapes *shapes)
{
    if (!mxn_shape_known(shapes->inputs[0]) || !mxn_shape_known(shapes->inputs[1])) {
        return 0;
    }
    mxn_shape result;
    int error = points_shape(shapes, 1, shapes->inputs[0], &result);
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

// Of scatter_nd (data, indices) and _scatter_set_nd (lhs, data, indices): `shape` is the result's.
// As a gradient it is empty and the caller has said it.
static int scatter_shapes(const mxn_shapes *shapes)
{
    const point_params *params = (const void *)shapes->params->values;
    uint32_t data = shapes->params->input_count - 2;
    mxn_shape whole = {.ndim = -1}, points;
    int error = params->shape.count > 0
                    ? mxn_shape_set(&whole, params->shape.count, params->shape.values, "shape")
                    : 0;
    if (error == 0) {
        error = mxn__shape_output(shapes, 0, &whole);
    }
    if (error == 0 && data != 0) {
        error = mxn__shape_input(shapes, 0, shapes->outputs[0]);
    }
    if (error != 0 || !mxn_shape_known(shapes->outputs[0]) ||
        !mxn_shape_known(shapes->inputs[data + 1])) {
        return error;
    }
    error = points_shape(shapes, data + 1, shapes->outputs[0], &points);
    return error != 0 ? error : mxn__shape_input(shapes, data, &points);
}

// How many points `indices` has, one a column, and how many elements of `whole` are at each.
typedef struct point_counts {
    int64_t points, inner;
} point_counts;

static point_counts count_points(const mxn_shape *whole, const mxn_shape *indices)
{
    point_counts n = {1, 1};
    for (int32_t i = 1; i < indices->ndim; i++) {
        n.points *= indices->dims[i];
    }
    for (int32_t i = (int32_t)indices->dims[0]; i < whole->ndim; i++) {
        n.inner *= whole->dims[i];
    }
    return n;
}

// Where point `i` of `count` lies in `whole`, in inner arrays.
static int point_at(const mxn_job *job, const mxn_operand *indices, const mxn_shape *whole,
                    int64_t i, int64_t count, int64_t *at)
{
    *at = 0;
    for (int32_t axis = 0; axis < indices->shape->dims[0]; axis++) {
        int64_t dim = whole->dims[axis], index = mxn__whole_at(indices, axis * count + i);
        if (index < -dim || index >= dim) {
            return mxp__fail(
                MXP_EINVAL,
                "IndexError: Operator %s: index %lld of point %lld is out of range for axis %d of "
                "size %lld",
                job->params->op->name, (long long)index, (long long)i, axis, (long long)dim);
        }
        *at = *at * dim + (index < 0 ? index + dim : index);
    }
    return 0;
}

static void copy_inner(void *to, const void *from, int64_t count, int32_t dtype)
{
    memcpy(to, from, (size_t)count * mxn_dtype_size(dtype));
}

#define TEMPLATE "runtime/op/index/add_row_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/index/add_row_kernels.h"
#include "runtime/op/kernels/each_whole.h"

typedef void (*add_function)(const void *from, void *to, int64_t count);

static const add_function add_rows[MXN_DTYPE_COUNT] = {MXN_OF_NUMBERS(add_row)};

static void add_inner(void *to, const void *from, int64_t count, int32_t dtype)
{
    if (add_rows[dtype] != NULL) {
        add_rows[dtype](from, to, count);
    } else {
        copy_inner(to, from, count, dtype);
    }
}

// Copies what lies at the points of `whole` to the list, or puts the list there by `put`.
static int visit(const mxn_job *job, const mxn_operand *whole, const mxn_operand *list,
                 const mxn_operand *indices, void (*put)(void *, const void *, int64_t, int32_t))
{
    const point_counts n = count_points(whole->shape, indices->shape);
    int64_t bytes = n.inner * (int64_t)mxn_dtype_size(whole->dtype);
    for (int64_t i = 0; i < n.points; i++) {
        int64_t at;
        int error = point_at(job, indices, whole->shape, i, n.points, &at);
        if (error != 0) {
            return error;
        }
        char *there = (char *)whole->data + at * bytes, *here = (char *)list->data + i * bytes;
        put == NULL ? copy_inner(here, there, n.inner, whole->dtype)
                    : put(there, here, n.inner, whole->dtype);
    }
    return 0;
}

static int gather_forward(mxn_job *job)
{
    return visit(job, &job->inputs[0], &job->outputs[0], &job->inputs[1], NULL);
}

enum { SET, ADD, SET_INTO };

static int scatter_forward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    int variant = job->params->op->def->variant;
    uint32_t data = job->params->input_count - 2;
    size_t bytes = mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype);
    if (variant != SET_INTO) {
        memset(out->data, 0, bytes);
    } else if (out->data != job->inputs[0].data) {
        memcpy(out->data, job->inputs[0].data, bytes);
    }
    return visit(job, out, &job->inputs[data], &job->inputs[data + 1],
                 variant == ADD ? add_inner : copy_inner);
}

// Moves the gradients of the points to the list. From the last to the first, because of several
// values for one point the last one stayed, and it alone gets the gradient.
static int take_points(mxn_job *job, const mxn_operand *whole, mxn_operand *list)
{
    const mxn_operand *indices = &job->inputs[1];
    const point_counts n = count_points(whole->shape, indices->shape);
    size_t bytes = (size_t)n.inner * mxn_dtype_size(whole->dtype);
    for (int64_t i = n.points; i-- > 0;) {
        int64_t at;
        int error = point_at(job, indices, whole->shape, i, n.points, &at);
        if (error != 0) {
            return error;
        }
        char *there = (char *)whole->data + (size_t)at * bytes;
        if (list->data != NULL) {
            memcpy((char *)list->data + (size_t)i * bytes, there, bytes);
        }
        memset(there, 0, bytes);
    }
    return 0;
}

static uint64_t set_bytes(const mxn_job *job)
{
    const mxn_operand *gradient = &job->inputs[0];
    return mxn_shape_size(gradient->shape) * mxn_dtype_size(gradient->dtype);
}

static int set_backward(mxn_job *job)
{
    mxn_operand whole = job->inputs[0];
    whole.data = job->outputs[0].data != NULL ? job->outputs[0].data : job->workspace;
    memcpy(whole.data, job->inputs[0].data, set_bytes(job));
    return take_points(job, &whole, &job->outputs[1]);
}

static int scatter_types(const mxn_types *types)
{
    uint32_t data = types->params->input_count - 2;
    int error = mxn__type_merge(types->params, "input", 0, &types->inputs[0], types->inputs[data]);
    return error != 0 ? error : mxn__types_of_first(types);
}

#define SCATTER(name_, aliases_, inputs_, variant_, flags_, text, gradient_)                 \
    {                                                                                        \
        .name = (name_), .aliases = (aliases_), .inputs = (inputs_), .description = text,    \
        .fields = shape_fields, .params_bytes = sizeof(point_params), .variant = (variant_), \
        .shapes = scatter_shapes, .types = scatter_types, .flags = (flags_),                 \
        .inplace = (variant_) == SET_INTO ? 1 << 0 : 0, .gradient = (gradient_),             \
        .forward = scatter_forward                                                           \
    }
#define GATHER_GRADIENT MXN_GRADIENT({.op = "gather_nd", .takes = "g0 i1", .gives = "0"})

static const char *const no_shape[] = {"shape", "()", NULL};
static const char *const none[] = {NULL};

static const mxn_op_def table[] = {
    {
        .name = "gather_nd",
        .aliases = "_npi_gather_nd _npx_gather_nd",
        .inputs = "data indices",
        .description = "What lies at the points.",
        .shapes = gather_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT(
            {.op = "_backward_gather_nd", .takes = "g0 i1", .gives = "0", .params = no_shape}),
        .forward = gather_forward,
    },
    SCATTER("_backward_gather_nd", NULL, "data indices", ADD, MXN_OP_BACKWARD,
            "The sums of what goes to the same point.", GATHER_GRADIENT),
    SCATTER("scatter_nd", NULL, "data indices", SET, MXN_OP_ANY_TYPE,
            "Zeros but at the points; of several for one point the last.", GATHER_GRADIENT),
    SCATTER(
        "_scatter_set_nd", "_npi_scatter_set_nd", "lhs rhs indices", SET_INTO, MXN_OP_ANY_TYPE,
        "The first input with other values at the points.",
        MXN_GRADIENT(
            {.op = "_backward_scatter_set_nd", .takes = "g0 i2", .gives = "0 1", .params = none})),
    {
        .name = "_backward_scatter_set_nd",
        .description = "The gradients of what stays and of what is set.",
        .input_count = 2,
        .output_count = 2,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .types = mxn__types_given,
        .forward = set_backward,
        .workspace = set_bytes,
    },
};

MXN_FAMILY(gather_scatter_nd, table);
