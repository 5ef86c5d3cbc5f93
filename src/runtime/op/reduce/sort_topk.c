// SPDX-License-Identifier: Apache-2.0
// Order along an axis: sort, argsort, topk. A row's numbers become keys of 64 bits that compare as
// they do (NaN above all), and are sorted together with their places; equal ones keep their order.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct order_params {
    mxn_maybe_int axis;
    int32_t k, ret_typ;
    bool is_ascend;
    int32_t dtype;
} order_params;

enum { INDICES, VALUE, MASK, BOTH };  // ret_typ
static const mxn_word returns[] = {
    {"both", BOTH}, {"indices", INDICES}, {"mask", MASK}, {"value", VALUE}, {0}};

static const mxn_word index_types[] = {{"float16", MXN_FLOAT16},
                                       {"float32", MXN_FLOAT32},
                                       {"float64", MXN_FLOAT64},
                                       {"int32", MXN_INT32},
                                       {"int64", MXN_INT64},
                                       {"uint8", MXN_UINT8},
                                       {0}};

static const mxn_field topk_fields[] = {
    {MXN_FIELD(order_params, axis, MAYBE_INT, "-1")},
    {MXN_FIELD(order_params, k, INT, "1")},
    {MXN_FIELD(order_params, ret_typ, ENUM, "indices"), .words = returns},
    {MXN_FIELD(order_params, is_ascend, BOOL, "0")},
    {MXN_FIELD(order_params, dtype, ENUM, "float32"), .words = index_types},
    {0},
};

static const mxn_field sort_fields[] = {
    {MXN_FIELD(order_params, axis, MAYBE_INT, "-1")},
    {MXN_FIELD(order_params, is_ascend, BOOL, "1")},
    {0},
};

static const mxn_field argsort_fields[] = {
    {MXN_FIELD(order_params, axis, MAYBE_INT, "-1")},
    {MXN_FIELD(order_params, is_ascend, BOOL, "1")},
    {MXN_FIELD(order_params, dtype, ENUM, "float32"), .words = index_types},
    {0},
};

enum { TOPK, SORT, ARGSORT };

static const order_params *params_of(const mxn_params *params)
{
    return (const void *)params->values;
}

// sort and argsort as what topk would be asked for: all of them.
static int order_check(const mxn_op *op, void *values)
{
    order_params *params = values;
    if (op->def->variant == SORT) {
        params->ret_typ = VALUE;
    } else if (op->def->variant == ARGSORT) {
        params->ret_typ = INDICES;
    }
    return 0;
}

// The values are differentiable by the places they come from, which are an output of their own.
static uint32_t order_outputs(const void *values)
{
    int32_t returned = ((const order_params *)values)->ret_typ;
    return returned == VALUE || returned == BOTH ? 2 : 1;
}

static uint32_t order_visible(const void *values)
{
    return ((const order_params *)values)->ret_typ == BOTH ? 2 : 1;
}

// ---- shapes and types ---------------------------------------------------------------------------
static int rows_of(const mxn_params *params, const mxn_shape *data, mxn_axis_view *s, int32_t *axis)
{
    return mxn__axis_view_or_row(params, &params_of(params)->axis, data, s, axis);
}

static int64_t kept_of(const order_params *params, int64_t count)
{
    return params->k < 1 ? count : params->k;
}

static int order_shapes(const mxn_shapes *shapes)
{
    const order_params *params = params_of(shapes->params);
    const mxn_shape *data = shapes->inputs[0];
    if (!mxn_shape_known(data)) {
        return 0;
    }
    mxn_axis_view s;
    int32_t axis;
    int error = rows_of(shapes->params, data, &s, &axis);
    if (error != 0) {
        return error;
    }
    int64_t kept = kept_of(params, s.count);
    if (kept > s.count) {
        return mxn__shape_refused(shapes, 0, "k=%d is more than the %lld there are", params->k,
                                  (long long)s.count);
    }
    mxn_shape result = {.ndim = 1, .dims = {kept}};
    if (axis >= 0 || params->ret_typ == MASK) {
        mxn_shape_copy(&result, data);
    }
    if (axis >= 0 && params->ret_typ != MASK) {
        result.dims[axis] = kept;
    }
    for (uint32_t i = 0; error == 0 && i < shapes->params->output_count; i++) {
        error = mxn__shape_output(shapes, i, &result);
    }
    return error;
}

static int order_types(const mxn_types *types)
{
    const order_params *params = params_of(types->params);
    int32_t first = params->ret_typ == INDICES ? params->dtype : types->inputs[0];
    int32_t places = params->ret_typ == VALUE ? MXN_INT64 : params->dtype;
    int error = mxn__type_merge(types->params, "output", 0, &types->outputs[0], first);
    return error != 0 || types->params->output_count == 1
               ? error
               : mxn__type_merge(types->params, "output", 1, &types->outputs[1], places);
}

// ---- sorting ------------------------------------------------------------------------------------
typedef struct item {
    uint64_t key;
    int64_t place;
} item;

// The bits of a float, once the sign is dealt with, compare as the numbers do.
static uint64_t key_of_real(double value)
{
    uint64_t bits;
    value = isnan(value) ? NAN : value + 0.0;  // no sign of a NaN, no -0
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static uint64_t key_at(const mxn_operand *in, int64_t i)
{
    const char *from = (const char *)in->data + (size_t)i * mxn_dtype_size(in->dtype);
    if (mxn_dtype_is_float(in->dtype)) {
        double value;
        mxn_cast(&value, MXN_FLOAT64, from, in->dtype, 1);
        return key_of_real(value);
    }
    int64_t value;
    mxn_cast(&value, MXN_INT64, from, in->dtype, 1);
    return in->dtype == MXN_UINT64 ? (uint64_t)value : (uint64_t)value ^ 1ull << 63;
}

// Merges runs of doubling length; gives which of the two buffers has the result.
static item *merge_sort(item *items, item *other, int64_t count)
{
    for (int64_t run = 1; run < count; run *= 2) {
        for (int64_t begin = 0; begin < count; begin += 2 * run) {
            int64_t middle = begin + run < count ? begin + run : count;
            int64_t end = begin + 2 * run < count ? begin + 2 * run : count;
            int64_t left = begin, right = middle;
            for (int64_t i = begin; i < end; i++) {
                bool takes_left =
                    left < middle && (right == end || items[left].key <= items[right].key);
                other[i] = takes_left ? items[left++] : items[right++];
            }
        }
        item *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

static uint64_t order_workspace(const mxn_job *job)
{
    mxn_axis_view s;
    int32_t axis;
    return rows_of(job->params, job->inputs[0].shape, &s, &axis) != 0
               ? 0
               : 2 * (uint64_t)s.count * sizeof(item);
}

static void store(const mxn_job *job, const mxn_axis_view *s, int64_t row, const item *sorted)
{
    const order_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0];
    int64_t kept = kept_of(params, s->count);
    const mxn_axis_view to = {s->outer, params->ret_typ == MASK ? s->count : kept, s->inner};
    int64_t from_row = mxn__axis_view_at(s, row), to_row = mxn__axis_view_at(&to, row);
    for (int64_t i = 0; i < kept; i++) {
        int64_t place = sorted[i].place;
        for (uint32_t k = 0; k < job->params->output_count; k++) {
            const mxn_operand *out = &job->outputs[k];
            size_t size = mxn_dtype_size(out->dtype);
            int64_t at = to_row + (params->ret_typ == MASK ? place : i) * s->inner;
            char *target = out->data == NULL ? NULL : (char *)out->data + (size_t)at * size;
            if (target == NULL) {
                continue;
            }
            if (params->ret_typ == MASK) {
                mxn_fill(target, out->dtype, 1, 1);
            } else if (k == 1 || params->ret_typ == INDICES) {
                mxn_cast(target, out->dtype, &place, MXN_INT64, 1);
            } else {
                size_t from = (size_t)(from_row + place * s->inner) * size;
                memcpy(target, (const char *)in->data + from, size);
            }
        }
    }
}

static int order_forward(mxn_job *job)
{
    const order_params *params = mxn__values(job);
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    mxn_axis_view s;
    int32_t axis;
    int error = rows_of(job->params, in->shape, &s, &axis);
    if (error != 0) {
        return error;
    }
    if (params->ret_typ == MASK) {
        memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    }
    item *items = job->workspace;
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        int64_t first = mxn__axis_view_at(&s, row);
        for (int64_t i = 0; i < s.count; i++) {
            uint64_t key = key_at(in, first + i * s.inner);
            items[i] = (item){params->is_ascend ? key : ~key, i};
        }
        store(job, &s, row, merge_sort(items, items + s.count, s.count));
    }
    return 0;
}

// ---- gradient -----------------------------------------------------------------------------------
// Inputs: the gradient of the values, the places they came from.
static int order_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *places = &job->inputs[1], *out = &job->outputs[0];
    size_t size = mxn_dtype_size(out->dtype);
    mxn_axis_view s;
    int32_t axis;
    int error = rows_of(job->params, out->shape, &s, &axis);
    if (error != 0) {
        return error;
    }
    memset(out->data, 0, mxn_shape_size(out->shape) * size);
    const mxn_axis_view from = {s.outer, kept_of(mxn__values(job), s.count), s.inner};
    for (int64_t row = 0; row < s.outer * s.inner; row++) {
        int64_t first = mxn__axis_view_at(&from, row), begin = mxn__axis_view_at(&s, row);
        for (int64_t i = 0; i < from.count; i++) {
            int64_t at = first + i * s.inner;
            int64_t to = begin + mxn__whole_at(places, at) * s.inner;
            memcpy((char *)out->data + (size_t)to * size, (const char *)g->data + (size_t)at * size,
                   size);
        }
    }
    return 0;
}

// The struct of the parameters is the same, and order_check has completed it.
static const mxn_gradient_step *order_gradient(const void *values)
{
    static const mxn_gradient_step of_values[] = {
        {.op = "_backward_topk", .takes = "g0 o1", .adjust = mxn__values_kept}, {0}};
    static const mxn_gradient_step none[] = {{0}};
    return order_outputs(values) == 2 ? of_values : none;
}

#define ORDER(name_, aliases_, fields_, variant_, text)                                        \
    {                                                                                          \
        .name = (name_), .aliases = (aliases_), .inputs = "data", .description = (text),       \
        .fields = (fields_), .params_bytes = sizeof(order_params), .variant = (variant_),      \
        .check = order_check, .outputs_of = order_outputs, .visible_of = order_visible,        \
        .shapes = order_shapes, .types = order_types, .flags = MXN_OP_ANY_TYPE,                \
        .gradient_of = order_gradient, .forward = order_forward, .workspace = order_workspace, \
        .flops_each = 20                                                                       \
    }

static const mxn_op_def table[] = {
    ORDER("topk", "_npx_topk", topk_fields, TOPK, "The largest or smallest along an axis."),
    ORDER("sort", "_npi_sort", sort_fields, SORT, "In order along an axis."),
    ORDER("argsort", "_npi_argsort", argsort_fields, ARGSORT, "Where the sorted elements are."),
    {
        .name = "_backward_topk",
        .input_count = 2,
        .fields = topk_fields,
        .params_bytes = sizeof(order_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .forward = order_backward,
    },
};

MXN_FAMILY(sort_topk, table);
