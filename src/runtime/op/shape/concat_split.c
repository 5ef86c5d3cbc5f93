// SPDX-License-Identifier: Apache-2.0
// Arrays put together along an axis, and taken apart. Every form of joining is one: each array is
// seen under a shape of as many dimensions as the result, and these are laid side by side.
// Splitting is the same the other way round.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct join_params {
    int32_t num_args, axis;
    mxn_maybe_int dim;
    int32_t num_outputs, sections;
    bool squeeze_axis;
    mxn_tuple indices;
} join_params;

enum { CONCAT, STACK, HSTACK, VSTACK, DSTACK, COLUMNS, SLICES, SPLIT };

#define COUNT_FIELD                                                                    \
    {                                                                                  \
        MXN_FIELD(join_params, num_args, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX \
    }

static const mxn_field concat_fields[] = {
    COUNT_FIELD,
    {MXN_FIELD(join_params, dim, MAYBE_INT, "1"),
     .other_name = "axis"},  // of 1.9.1's _npi_concatenate
    {0},
};

static const mxn_field stack_fields[] = {
    {MXN_FIELD(join_params, axis, INT, "0")},
    COUNT_FIELD,
    {0},
};

static const mxn_field count_fields[] = {
    COUNT_FIELD,
    {0},
};

static const mxn_field slices_fields[] = {
    {MXN_FIELD(join_params, num_outputs, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX},
    {MXN_FIELD(join_params, axis, INT, "1")},
    {MXN_FIELD(join_params, squeeze_axis, BOOL, "0")},
    {0},
};

static const mxn_field split_fields[] = {
    {MXN_FIELD(join_params, indices, TUPLE, NULL)},
    {MXN_FIELD(join_params, axis, INT, "1")},
    {MXN_FIELD(join_params, squeeze_axis, BOOL, "0")},
    {MXN_FIELD(join_params, sections, INT, "0"), .min = 0, .max = MXN_OPERANDS_MAX},
    {0},
};

static const join_params *params_of(const mxn_params *params)
{
    return (const void *)params->values;
}

// The axis of the whole, which has `ndim` dimensions.
static int joined_axis(const mxn_params *params, int32_t ndim, int32_t *axis)
{
    const join_params *values = params_of(params);
    switch (params->op->def->variant) {
    case CONCAT:
        *axis = 0;
        return values->dim.has ? mxn__axis(params, values->dim.value, ndim, axis) : 0;
    case HSTACK:
        *axis = ndim == 1 ? 0 : 1;
        return 0;
    case VSTACK:
        *axis = 0;
        return 0;
    case DSTACK:
        *axis = 2;
        return 0;
    case COLUMNS:
        *axis = 1;
        return 0;
    default:
        return mxn__axis(params, values->axis, ndim, axis);
    }
}

// ---- joining ------------------------------------------------------------------------------------
static uint32_t joined_count(const void *values)
{
    return (uint32_t)((const join_params *)values)->num_args;
}

static void add_ones(mxn_shape *shape, int32_t front, int32_t back)
{
    const mxn_shape in = *shape;
    shape->ndim = front + in.ndim + back;
    for (int32_t i = 0; i < shape->ndim; i++) {
        shape->dims[i] = i < front || i >= front + in.ndim ? 1 : in.dims[i - front];
    }
}

// An input under as many dimensions as the result has.
static int seen_as(const mxn_shapes *shapes, uint32_t index, mxn_shape *view)
{
    const mxn_params *params = shapes->params;
    mxn_shape_copy(view, shapes->inputs[index]);
    int32_t ndim = view->ndim, axis;
    int variant = params->op->def->variant;
    if (variant == CONCAT && !params_of(params)->dim.has) {
        *view = (mxn_shape){.ndim = 1, .dims = {(int64_t)mxn_shape_size(view)}};
    } else if (variant == STACK) {
        int error = mxn__axis(params, params_of(params)->axis, ndim + 1, &axis);
        if (error != 0) {
            return error;
        }
        if (ndim == MXN_DIMS_MAX) {
            return mxn__shape_refused(shapes, index, "has no room for one more dimension");
        }
        for (int32_t i = ndim; i > axis; i--) {
            view->dims[i] = view->dims[i - 1];
        }
        view->dims[axis] = 1;
        view->ndim = ndim + 1;
    } else if (variant == COLUMNS && ndim < 2) {
        add_ones(view, 0, 2 - ndim);
    } else if (variant != CONCAT && ndim == 0) {
        add_ones(view, 0, variant == HSTACK ? 1 : variant == VSTACK ? 2 : 3);
    } else if (variant == VSTACK && ndim == 1) {
        add_ones(view, 1, 0);
    } else if (variant == DSTACK && ndim < 3) {
        add_ones(view, ndim == 1 ? 1 : 0, 1);
    }
    return 0;
}

static int join_one(const mxn_shapes *shapes, uint32_t index, int32_t axis, mxn_shape *result)
{
    mxn_shape view;
    int error = seen_as(shapes, index, &view);
    if (error != 0) {
        return error;
    }
    bool fits = view.ndim == result->ndim;
    for (int32_t k = 0; fits && k < view.ndim; k++) {
        fits = k == axis || view.dims[k] == result->dims[k];
    }
    if (!fits) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, index, "cannot be joined along axis %d with shape %s",
                                  axis, mxn_shape_tuple(shapes->inputs[0], text));
    }
    return mxn__dim_add(shapes->params, result->dims[axis], view.dims[axis], &result->dims[axis]);
}

// What the result has beside `sum` is of the one array whose size is not known. Those of an RNN are
// the weights of a layer's inputs, of one size in both directions.
static void tell_sizes(const mxn_shapes *shapes, int32_t axis, uint32_t open_count, int64_t sum)
{
    const mxn_shape *result = shapes->outputs[0];
    const bool even = strcmp(shapes->params->op->name, "_rnn_param_concat") == 0;
    const int64_t rest = result->ndim > axis ? result->dims[axis] - sum : -1;
    if (rest < 0 || rest % open_count != 0 || (open_count > 1 && !even)) {
        return;
    }
    for (uint32_t i = 0; i < shapes->params->input_count; i++) {
        if (shapes->inputs[i]->dims[axis] < 0) {
            shapes->inputs[i]->dims[axis] = rest / open_count;
        }
    }
}

// Along the axis: the sum of the sizes, or -1.
static int sum_sizes(const mxn_shapes *shapes, int32_t axis, int64_t *sum)
{
    uint32_t open_count = 0;
    int error = 0;
    *sum = 0;
    for (uint32_t i = 0; error == 0 && i < shapes->params->input_count; i++) {
        const int64_t size = shapes->inputs[i]->dims[axis];
        open_count += size < 0;
        error = size < 0 ? 0 : mxn__dim_add(shapes->params, *sum, size, sum);
    }
    if (error == 0 && open_count > 0) {
        tell_sizes(shapes, axis, open_count, *sum);
        *sum = -1;
    }
    return error;
}

// Arrays of which some sizes are not known: they are those of the others, but for the axis.
static int join_known_sizes(const mxn_shapes *shapes)
{
    const uint32_t count = shapes->params->input_count;
    mxn_shape common;
    mxn_shape_copy(&common, shapes->inputs[0]);
    int32_t axis;
    int error = joined_axis(shapes->params, common.ndim, &axis);
    for (uint32_t i = 0; error == 0 && i < count; i++) {
        common.dims[axis] =
            shapes->inputs[i]->ndim == common.ndim ? shapes->inputs[i]->dims[axis] : -1;
        error = mxn__shape_merge(shapes->params, "input", i, &common, shapes->inputs[i]);
    }
    int64_t sum = -1;
    if (error == 0) {
        error = sum_sizes(shapes, axis, &sum);
    }
    for (uint32_t i = 0; error == 0 && i < count; i++) {
        common.dims[axis] = shapes->inputs[i]->dims[axis];
        error = mxn__shape_input(shapes, i, &common);
    }
    common.dims[axis] = sum;
    return error != 0 ? error : mxn__shape_output(shapes, 0, &common);
}

// Of a joining along an axis that is there: whether the ranks of all are known.
static bool knows_ranks(const mxn_shapes *shapes)
{
    bool known = shapes->params->op->def->variant == CONCAT && params_of(shapes->params)->dim.has;
    for (uint32_t i = 0; known && i < shapes->params->input_count; i++) {
        known = shapes->inputs[i]->ndim > 0;
    }
    return known;
}

static int join_shapes(const mxn_shapes *shapes)
{
    const uint32_t count = shapes->params->input_count;
    const bool all_alike = shapes->params->op->def->variant == STACK;
    for (uint32_t i = 0; i < count; i++) {
        int error = all_alike ? mxn__shape_input(shapes, i, shapes->inputs[0]) : 0;
        if (error != 0) {
            return error;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!mxn_shape_known(shapes->inputs[i])) {
            return knows_ranks(shapes) ? join_known_sizes(shapes) : 0;
        }
    }
    mxn_shape result;
    int32_t axis;
    int error = seen_as(shapes, 0, &result);
    if (error == 0) {
        error = joined_axis(shapes->params, result.ndim, &axis);
    }
    for (uint32_t i = 1; error == 0 && i < count; i++) {
        error = join_one(shapes, i, axis, &result);
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

// Copies between the whole and its parts: `outer` times a row of each in turn. A part without
// data is passed over.
static int copy_parts(const mxn_job *job, const mxn_operand *whole, const mxn_operand *parts,
                      uint32_t count, bool into_parts)
{
    int32_t axis;
    int error = joined_axis(job->params, whole->shape->ndim, &axis);
    if (error != 0) {
        return error;
    }
    uint64_t outer = 1;
    for (int32_t i = 0; i < axis; i++) {
        outer *= (uint64_t)whole->shape->dims[i];
    }
    size_t size = mxn_dtype_size(whole->dtype);
    size_t stride = outer == 0 ? 0 : mxn_shape_size(whole->shape) / outer * size;
    size_t offset = 0;
    for (uint32_t i = 0; i < count && outer > 0; i++) {
        size_t bytes = mxn_shape_size(parts[i].shape) / outer * size;
        for (uint64_t k = 0; k < outer && parts[i].data != NULL && bytes > 0; k++) {
            char *part = (char *)parts[i].data + k * bytes;
            char *there = (char *)whole->data + k * stride + offset;
            memcpy(into_parts ? part : there, into_parts ? there : part, bytes);
        }
        offset += bytes;
    }
    return 0;
}

static int put_together(mxn_job *job)
{
    return copy_parts(job, &job->outputs[0], job->inputs, job->params->input_count, false);
}

static int take_apart(mxn_job *job)
{
    return copy_parts(job, &job->inputs[0], job->outputs, job->params->output_count, true);
}

// ---- splitting ----------------------------------------------------------------------------------
static uint32_t slices_count(const void *values)
{
    return (uint32_t)((const join_params *)values)->num_outputs;
}

// `indices` are where the parts begin, the first one 0.
static uint32_t split_count(const void *values)
{
    const join_params *params = values;
    return (uint32_t)(params->sections > 0 ? params->sections : params->indices.count);
}

static int split_check(const mxn_op *op, void *values)
{
    const join_params *params = values;
    for (int32_t i = 0; params->sections == 0 && i < params->indices.count; i++) {
        int64_t before = i == 0 ? 0 : params->indices.values[i - 1];
        if (params->indices.values[i] < before || (i == 0 && params->indices.values[0] != 0)) {
            return mxp__fail(MXP_EINVAL,
                             "Operator %s: indices must begin with 0 and rise; element %d is %lld",
                             op->name, i, (long long)params->indices.values[i]);
        }
    }
    return params->sections > 0 || params->indices.count > 0
               ? 0
               : mxp__fail(MXP_EINVAL, "Operator %s: neither indices nor sections are given",
                           op->name);
}

// Where part `index` begins. What does not divide evenly makes the first parts longer.
static int64_t part_begin(const mxn_params *params, uint32_t index, int64_t dim)
{
    const join_params *values = params_of(params);
    int64_t count = params->output_count, at = index;
    if (params->op->def->variant == SLICES || values->sections > 0) {
        int64_t rest = dim % count;
        return at * (dim / count) + (at < rest ? at : rest);
    }
    int64_t begin = at < count ? values->indices.values[index] : dim;
    return begin < dim ? begin : dim;
}

static int part_shape(const mxn_shapes *shapes, uint32_t index, int32_t axis, mxn_shape *part)
{
    const mxn_shape *in = shapes->inputs[0];
    int64_t begin = part_begin(shapes->params, index, in->dims[axis]);
    mxn_shape_copy(part, in);
    part->dims[axis] = part_begin(shapes->params, index + 1, in->dims[axis]) - begin;
    if (!params_of(shapes->params)->squeeze_axis) {
        return 0;
    }
    if (part->dims[axis] != 1) {
        return mxn__shape_refused(shapes, 0,
                                  "squeeze_axis wants parts of size 1 along axis %d, not %lld",
                                  axis, (long long)part->dims[axis]);
    }
    part->ndim--;
    for (int32_t i = axis; i < part->ndim; i++) {
        part->dims[i] = in->dims[i + 1];
    }
    return 0;
}

static int split_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    uint32_t count = shapes->params->output_count;
    if (!mxn_shape_known(in)) {
        return 0;
    }
    int32_t axis;
    int error = mxn__axis(shapes->params, params_of(shapes->params)->axis, in->ndim, &axis);
    if (error == 0 && shapes->params->op->def->variant == SLICES && in->dims[axis] % count != 0) {
        error = mxn__shape_refused(shapes, 0, "axis %d cannot be split into %u equal parts", axis,
                                   count);
    }
    for (uint32_t i = 0; error == 0 && i < count; i++) {
        mxn_shape part;
        error = part_shape(shapes, i, axis, &part);
        if (error == 0) {
            error = mxn__shape_output(shapes, i, &part);
        }
    }
    return error;
}

// ---- the table ----------------------------------------------------------------------------------
enum { TAKEN_BACK = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE };

#define JOIN(name_, aliases_, variant_, fields_, gradient_, text)                               \
    {                                                                                           \
        .name = (name_), .aliases = (aliases_), .inputs = "data[]", .key = "num_args",          \
        .description = (text), .fields = (fields_), .params_bytes = sizeof(join_params),        \
        .variant = (variant_), .inputs_of = joined_count, .shapes = join_shapes,                \
        .flags = MXN_OP_ANY_TYPE, .gradient = MXN_USES_NONE(gradient_), .forward = put_together \
    }
#define JOIN_BACKWARD(name_, aliases_, variant_, fields_, again_)                               \
    {                                                                                           \
        .name = (name_), .aliases = (aliases_), .fields = (fields_), .variant = (variant_),     \
        .params_bytes = sizeof(join_params), .inputs_of = mxn__one, .outputs_of = joined_count, \
        .flags = TAKEN_BACK, .forward = take_apart,                                             \
        .gradient = MXN_GRADIENT({.op = (again_), .takes = "g*", .gives = "0"})                 \
    }
#define SPLIT(name_, aliases_, variant_, fields_, check_, count_, gradient_)                \
    {                                                                                       \
        .name = (name_), .aliases = (aliases_), .inputs = "data",                           \
        .description = "Parts along an axis, as arrays of their own.", .fields = (fields_), \
        .params_bytes = sizeof(join_params), .variant = (variant_), .check = (check_),      \
        .outputs_of = (count_), .shapes = split_shapes, .flags = MXN_OP_ANY_TYPE,           \
        .gradient = MXN_GRADIENT({.op = (gradient_), .takes = "g*"}), .forward = take_apart \
    }
#define SPLIT_BACKWARD(name_, variant_, fields_, count_, again_)                            \
    {                                                                                       \
        .name = (name_), .inputs_of = (count_), .fields = (fields_), .variant = (variant_), \
        .params_bytes = sizeof(join_params), .flags = TAKEN_BACK, .forward = put_together,  \
        .gradient = MXN_GRADIENT({.op = (again_), .takes = "g0", .gives = NULL})            \
    }

static const mxn_op_def table[] = {
    JOIN("Concat", "_npi_concatenate _sparse_concat concat", CONCAT, concat_fields,
         "_backward_Concat", "Joined along a dimension."),
    JOIN("stack", "_npi_stack", STACK, stack_fields, "_backward_stack",
         "Joined along a new dimension."),
    JOIN("_npi_hstack", NULL, HSTACK, concat_fields, "_backward_np_hstack",
         "Joined along the second dimension."),
    JOIN("_npi_vstack", NULL, VSTACK, count_fields, "_backward_np_vstack",
         "Joined along the first dimension."),
    JOIN("_npi_dstack", NULL, DSTACK, concat_fields, "_backward_np_dstack",
         "Joined along the third dimension."),
    JOIN("_npi_column_stack", NULL, COLUMNS, count_fields, "_backward_np_column_stack",
         "Joined as columns."),
    JOIN("_rnn_param_concat", "_npi_rnn_param_concat", CONCAT, concat_fields, "_backward_Concat",
         "Parameters of recurrent layers joined to one vector."),
    JOIN_BACKWARD("_backward_Concat", "_backward_np_concat", CONCAT, concat_fields, "Concat"),
    JOIN_BACKWARD("_backward_stack", NULL, STACK, stack_fields, "stack"),
    JOIN_BACKWARD("_backward_np_hstack", NULL, HSTACK, concat_fields, "_npi_hstack"),
    JOIN_BACKWARD("_backward_np_vstack", NULL, VSTACK, count_fields, "_npi_vstack"),
    JOIN_BACKWARD("_backward_np_dstack", NULL, DSTACK, concat_fields, "_npi_dstack"),
    JOIN_BACKWARD("_backward_np_column_stack", NULL, COLUMNS, count_fields, "_npi_column_stack"),
    SPLIT("SliceChannel", "_npx_slice_channel split", SLICES, slices_fields, NULL, slices_count,
          "_backward_SliceChannel"),
    SPLIT("_split_v2", "_npi_array_split _npi_split", SPLIT, split_fields, split_check, split_count,
          "_split_v2_backward"),
    SPLIT_BACKWARD("_backward_SliceChannel", SLICES, slices_fields, slices_count, "SliceChannel"),
    SPLIT_BACKWARD("_split_v2_backward", SPLIT, split_fields, split_count, "_split_v2"),
};

MXN_FAMILY(concat_split, table);
