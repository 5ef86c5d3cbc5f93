// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/index: operators that take and put by index.
//
// Rows of an array by index: take, Embedding; and one_hot, which makes such rows. An index beyond
// either end means the last or the first row, unless the operator wraps or refuses it.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"

typedef struct lookup_params {
    int32_t axis, mode;
    int64_t input_dim, output_dim, depth;
    double on_value, off_value;
    int32_t dtype;
    bool sparse_grad;
} lookup_params;

enum { CLIP, RAISE, WRAP };
static const mxn_word take_modes[] = {{"clip", CLIP}, {"raise", RAISE}, {"wrap", WRAP}, {0}};

static const mxn_field take_fields[] = {
    {MXN_FIELD(lookup_params, axis, INT, "0")},
    {MXN_FIELD(lookup_params, mode, ENUM, "clip"), .words = take_modes},
    {0},
};

static const mxn_field embedding_fields[] = {
    {MXN_FIELD(lookup_params, input_dim, LONG, NULL), .min = 1, .max = 9e18},
    {MXN_FIELD(lookup_params, output_dim, LONG, NULL), .min = 1, .max = 9e18},
    {MXN_FIELD(lookup_params, dtype, ENUM, "float32"), .words = mxn__words_older},
    {MXN_FIELD(lookup_params, sparse_grad, BOOL, "0")},
    {0},
};

static const mxn_field one_hot_fields[] = {
    {MXN_FIELD(lookup_params, depth, LONG, NULL), .min = 0, .max = 9e18},
    {MXN_FIELD(lookup_params, on_value, DOUBLE, "1")},
    {MXN_FIELD(lookup_params, off_value, DOUBLE, "0")},
    {MXN_FIELD(lookup_params, dtype, ENUM, "float32"), .words = mxn__words_older},
    {0},
};

static const lookup_params *params_of(const mxn_params *params)
{
    return (const void *)params->values;
}

// `result` = the first dimensions of `outer`, all of `middle`, the last ones of `outer`.
static int join_shapes(const mxn_shapes *shapes, const mxn_shape *outer, int32_t front,
                       const mxn_shape *middle, int32_t back)
{
    mxn_shape result = {.ndim = 0};
    if (front + middle->ndim + back > MXN_DIMS_MAX) {
        return mxn__shape_refused(shapes, 1, "the result would have more than %d dimensions",
                                  MXN_DIMS_MAX);
    }
    for (int32_t i = 0; i < front; i++) {
        result.dims[result.ndim++] = outer->dims[i];
    }
    for (int32_t i = 0; i < middle->ndim; i++) {
        result.dims[result.ndim++] = middle->dims[i];
    }
    for (int32_t i = 0; i < back; i++) {
        result.dims[result.ndim++] = outer->dims[outer->ndim - back + i];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// ---- take ---------------------------------------------------------------------------------------
static int take_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *data = shapes->inputs[0], *indices = shapes->inputs[1];
    if (!mxn_shape_known(data) || !mxn_shape_known(indices)) {
        return 0;
    }
    if (data->ndim == 0) {
        return mxn__shape_refused(shapes, 0, "a scalar has no axis to take from");
    }
    int32_t axis;
    int error = mxn__axis(shapes->params, params_of(shapes->params)->axis, data->ndim, &axis);
    mxn_axis_view s = error == 0 ? mxn__axis_view(data, axis) : (mxn_axis_view){0};
    if (s.count == 0 && s.outer * s.inner > 0 && mxn_shape_size(indices) > 0) {
        error = mxn__shape_refused(shapes, 0, "axis %d has nothing to take", axis);
    }
    return error != 0 ? error : join_shapes(shapes, data, axis, indices, data->ndim - axis - 1);
}

static int row_index(const mxn_job *job, const mxn_operand *indices, int64_t i, int64_t count,
                     int64_t *row)
{
    const lookup_params *params = mxn__values(job);
    int64_t index = mxn__whole_at(indices, i);
    if (params->mode == RAISE && (index < -count || index >= count)) {
        return mxp__fail(
            MXP_EINVAL,
            "IndexError: Operator %s: index %lld at place %lld of 'indices' is not one of 0 .. "
            "%lld, nor of -%lld .. -1, counted from the end",
            job->params->op->name, (long long)index, (long long)i, (long long)count - 1,
            (long long)count);
    }
    if (params->mode == RAISE && index < 0) {
        index += count;
    }
    if (params->mode == WRAP) {
        index %= count;
        index += index < 0 ? count : 0;
    }
    *row = index < 0 ? 0 : index >= count ? count - 1 : index;
    return 0;
}

static int take_rows(const mxn_job *job, const mxn_operand *data, const mxn_operand *indices,
                     const mxn_axis_view *s)
{
    int64_t taken = (int64_t)mxn_shape_size(indices->shape);
    int64_t bytes = s->inner * (int64_t)mxn_dtype_size(data->dtype);
    for (int64_t i = 0; i < taken; i++) {
        int64_t row;
        int error = row_index(job, indices, i, s->count, &row);
        if (error != 0) {
            return error;
        }
        for (int64_t outer = 0; outer < s->outer; outer++) {
            memcpy((char *)job->outputs[0].data + (outer * taken + i) * bytes,
                   (const char *)data->data + (outer * s->count + row) * bytes, (size_t)bytes);
        }
    }
    return 0;
}

static int view_of(const mxn_job *job, const mxn_shape *data, mxn_axis_view *s)
{
    return mxn__axis_view_along(job->params, params_of(job->params)->axis, data, s);
}

static int take_forward(mxn_job *job)
{
    mxn_axis_view s;
    int error = view_of(job, job->inputs[0].shape, &s);
    return error != 0 ? error : take_rows(job, &job->inputs[0], &job->inputs[1], &s);
}

// A row that was taken several times gets the sum.
#define TEMPLATE "runtime/op/index/add_row_kernels.h"
#include "runtime/op/kernels/each_real.h"
#define TEMPLATE "runtime/op/index/add_row_kernels.h"
#include "runtime/op/kernels/each_whole.h"

typedef void add_row(const void *from, void *to, int64_t count);

// Truths are or-ed.
static void add_row_truth(const void *from, void *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        ((bool *)to)[i] = ((bool *)to)[i] || ((const bool *)from)[i];
    }
}

static add_row *const row_adders[MXN_DTYPE_COUNT] = {MXN_OF_NUMBERS(add_row), [MXN_BOOL] =
                                                                                  add_row_truth};

static int put_rows(const mxn_job *job, const mxn_operand *indices, const mxn_axis_view *s)
{
    const mxn_operand *g = &job->inputs[0], *out = &job->outputs[0];
    int64_t taken = (int64_t)mxn_shape_size(indices->shape);
    int64_t bytes = s->inner * (int64_t)mxn_dtype_size(out->dtype);
    add_row *const add = row_adders[out->dtype];
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    for (int64_t i = 0; i < taken; i++) {
        int64_t row;
        int error = row_index(job, indices, i, s->count, &row);
        if (error != 0) {
            return error;
        }
        for (int64_t outer = 0; outer < s->outer; outer++) {
            const char *from = (const char *)g->data + (outer * taken + i) * bytes;
            char *to = (char *)out->data + (outer * s->count + row) * bytes;
            add(from, to, s->inner);
        }
    }
    return 0;
}

static int take_backward(mxn_job *job)
{
    mxn_axis_view s;
    int error = view_of(job, job->outputs[0].shape, &s);
    return error != 0 ? error : put_rows(job, &job->inputs[1], &s);
}

// ---- Embedding ----------------------------------------------------------------------------------
static int embedding_shapes(const mxn_shapes *shapes)
{
    const lookup_params *params = params_of(shapes->params);
    const mxn_shape weight = {.ndim = 2, .dims = {params->input_dim, params->output_dim}};
    int error = mxn__shape_input(shapes, 1, &weight);
    if (error != 0 || !mxn_shape_known(shapes->inputs[0])) {
        return error;
    }
    return join_shapes(shapes, &weight, 0, shapes->inputs[0], 1);
}

// The weight's type decides; `dtype` is what it becomes where nobody knows it.
static int embedding_types(const mxn_types *types)
{
    int32_t *weight = &types->inputs[1];
    if (*weight == MXN_DTYPE_NONE) {
        *weight = types->outputs[0] != MXN_DTYPE_NONE ? types->outputs[0]
                                                      : params_of(types->params)->dtype;
    }
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], *weight);
}

static int embedding_forward(mxn_job *job)
{
    const mxn_axis_view s = mxn__axis_view(job->inputs[1].shape, 0);
    return take_rows(job, &job->inputs[1], &job->inputs[0], &s);
}

static int embedding_backward(mxn_job *job)
{
    const mxn_axis_view s = mxn__axis_view(job->outputs[0].shape, 0);
    return put_rows(job, &job->inputs[1], &s);
}

// ---- one_hot ------------------------------------------------------------------------------------
static int one_hot_shapes(const mxn_shapes *shapes)
{
    const mxn_shape depth = {.ndim = 1, .dims = {params_of(shapes->params)->depth}};
    return mxn_shape_known(shapes->inputs[0]) ? join_shapes(shapes, &depth, 0, shapes->inputs[0], 1)
                                              : 0;
}

static int one_hot_types(const mxn_types *types)
{
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           params_of(types->params)->dtype);
}

static int one_hot_forward(mxn_job *job)
{
    const lookup_params *params = mxn__values(job);
    mxn_operand *out = &job->outputs[0];
    int64_t count = (int64_t)mxn_shape_size(job->inputs[0].shape);
    size_t size = mxn_dtype_size(out->dtype);
    mxn_fill(out->data, out->dtype, params->off_value, mxn_shape_size(out->shape));
    for (int64_t i = 0; i < count; i++) {
        int64_t index = mxn__whole_at(&job->inputs[0], i);
        if (index >= 0 && index < params->depth) {
            char *to = (char *)out->data + (size_t)(i * params->depth + index) * size;
            mxn_fill(to, out->dtype, params->on_value, 1);
        }
    }
    return 0;
}

// The old form: an array of the shape of the result tells how many columns there are.
static int encode_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *rows = shapes->inputs[0], *like = shapes->inputs[1];
    if (mxn_shape_known(rows) && mxn_shape_known(like) &&
        (rows->ndim != 1 || like->ndim != 2 || rows->dims[0] != like->dims[0])) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "must be a column for each row of shape %s",
                                  mxn_shape_tuple(like, text));
    }
    return mxn__shape_output(shapes, 0, like);
}

static int encode_types(const mxn_types *types)
{
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], types->inputs[1]);
}

static int encode_forward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    const int64_t columns = out->shape->dims[1];
    mxn_fill(out->data, out->dtype, 0, mxn_shape_size(out->shape));
    for (int64_t i = 0; i < out->shape->dims[0]; i++) {
        const int64_t column = mxn__whole_at(&job->inputs[0], i);
        if (column >= 0 && column < columns) {
            const size_t at = (size_t)(i * columns + column) * mxn_dtype_size(out->dtype);
            mxn_fill((char *)out->data + at, out->dtype, 1, 1);
        }
    }
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------
#define BACKWARD(name_, fields_, forward_)                            \
    {                                                                 \
        .name = (name_), .input_count = 2, .fields = (fields_),       \
        .params_bytes = sizeof(lookup_params), .forward = (forward_), \
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT                      \
    }

static const mxn_op_def table[] = {
    {
        .name = "take",
        .aliases = "_npi_take",
        .inputs = "a indices",
        .description = "Parts of an array, by index along an axis.",
        .fields = take_fields,
        .params_bytes = sizeof(lookup_params),
        .shapes = take_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT({.op = "_backward_take", .takes = "g0 i1", .gives = "0"}),
        .forward = take_forward,
    },
    BACKWARD("_backward_take", take_fields, take_backward),
    {
        .name = "Embedding",
        .aliases = "_npx_embedding _sparse_Embedding",
        .inputs = "data weight",
        .description = "Rows of the weight, by index.",
        .fields = embedding_fields,
        .params_bytes = sizeof(lookup_params),
        .shapes = embedding_shapes,
        .types = embedding_types,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT({.op = "_backward_Embedding", .takes = "g0 i0", .gives = "1"}),
        .forward = embedding_forward,
    },
    BACKWARD("_backward_Embedding", embedding_fields, embedding_backward),
    {
        .name = "one_hot",
        .aliases = "_npx_one_hot",
        .inputs = "indices",
        .description = "For each index a row with one value at its place.",
        .fields = one_hot_fields,
        .params_bytes = sizeof(lookup_params),
        .shapes = one_hot_shapes,
        .types = one_hot_types,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT_ZERO,
        .forward = one_hot_forward,
    },
    {
        .name = "_onehot_encode",
        .inputs = "lhs rhs",
        .description = "In each row a one, in the column that lhs says; zeros elsewhere.",
        .shapes = encode_shapes,
        .types = encode_types,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT_ZERO,
        .forward = encode_forward,
    },
};

MXN_FAMILY(take_embedding_onehot, table);
