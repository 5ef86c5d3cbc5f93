// SPDX-License-Identifier: Apache-2.0
// Operators that cut arrays out, put them together and choose between them. Values are copied as
// bytes wherever they only move, so every type goes.
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "op/infer.h"
#include "op/loops.h"

// ---- slice
// ----------------------------------------------------------------------------------------
typedef struct slice_params {
    mxn_tuple begin, end, step;
    double scalar;
    int32_t axis;
    int64_t from;
    mxn_maybe_int to;
} slice_params;

#define RANGE_FIELDS                                                                       \
    {MXN_FIELD(slice_params, begin, TUPLE, NULL), .type_text = "tuple of <>, required"},   \
        {MXN_FIELD(slice_params, end, TUPLE, NULL), .type_text = "tuple of <>, required"}, \
        {MXN_FIELD(slice_params, step, TUPLE, "[]"),                                       \
         .type_text = "tuple of <>, optional, default=[]"},                                \
    {                                                                                      \
        0                                                                                  \
    }

static const mxn_field slice_fields[] = {
    RANGE_FIELDS,
};

static const mxn_field assign_fields[] = {
    {MXN_FIELD(slice_params, scalar, DOUBLE, "0")},
    RANGE_FIELDS,
};

static const mxn_field slice_axis_fields[] = {
    {MXN_FIELD(slice_params, axis, INT, NULL)},
    {.name = "begin", .kind = MXN_FIELD_LONG, .offset = offsetof(slice_params, from)},
    {.name = "end",
     .kind = MXN_FIELD_MAYBE_INT,
     .offset = offsetof(slice_params, to),
     .type_text = ", required"},
    {0},
};

// What a slice takes of one dimension.
typedef struct range {
    int64_t begin, step, count;
} range;

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// As Python does: None is the natural end, negative counts from the end, beyond is cut.
static range range_of(int64_t dim, int64_t begin, int64_t end, int64_t step)
{
    bool up = step > 0;
    if (begin == MXN_NONE_ELEMENT) {
        begin = up ? 0 : dim - 1;
    } else {
        begin = clamp(begin < 0 ? begin + dim : begin, up ? 0 : -1, up ? dim : dim - 1);
    }
    if (end == MXN_NONE_ELEMENT) {
        end = up ? dim : -1;
    } else {
        end = clamp(end < 0 ? end + dim : end, up ? 0 : -1, up ? dim : dim - 1);
    }
    int64_t count = up ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
    return (range){begin, step, count > 0 ? count : 0};
}

static int64_t element_or(const mxn_tuple *tuple, int32_t i, int64_t other)
{
    return i < tuple->count && tuple->values[i] != MXN_NONE_ELEMENT ? tuple->values[i] : other;
}

static int slice_ranges(const mxn_params *params, const mxn_shape *in, range *ranges)
{
    const slice_params *values = (const void *)params->values;
    if (values->begin.count > in->ndim || values->begin.count != values->end.count) {
        return mxp__fail(
            MXP_EINVAL, "Operator %s: begin has %d elements, end %d, for an input of %d dimensions",
            params->op->name, values->begin.count, values->end.count, in->ndim);
    }
    for (int32_t i = 0; i < in->ndim; i++) {
        int64_t step = element_or(&values->step, i, 1);
        if (step == 0) {
            return mxp__fail(MXP_EINVAL, "Operator %s: step of axis %d is 0", params->op->name, i);
        }
        ranges[i] = range_of(in->dims[i], element_or(&values->begin, i, MXN_NONE_ELEMENT),
                             element_or(&values->end, i, MXN_NONE_ELEMENT), step);
    }
    return 0;
}

static int axis_ranges(const mxn_params *params, const mxn_shape *in, range *ranges)
{
    const slice_params *values = (const void *)params->values;
    int32_t axis;
    int error = mxn__axis(params, values->axis, in->ndim, &axis);
    if (error != 0) {
        return error;
    }
    for (int32_t i = 0; i < in->ndim; i++) {
        ranges[i] = (range){0, 1, in->dims[i]};
    }
    int64_t dim = in->dims[axis];
    int64_t begin = values->from < 0 ? values->from + dim : values->from;
    int64_t end = !values->to.has        ? dim
                  : values->to.value < 0 ? values->to.value + dim
                                         : values->to.value;
    if (begin < 0 || end > dim || begin > end) {
        return mxp__fail(MXP_EINVAL, "Operator %s: begin=%lld, end=%lld of axis %d of size %lld",
                         params->op->name, (long long)begin, (long long)end, axis, (long long)dim);
    }
    ranges[axis] = (range){begin, 1, end - begin};
    return 0;
}

static int ranges_of(const mxn_params *params, const mxn_shape *in, range *ranges)
{
    return params->op->def->fields == slice_axis_fields ? axis_ranges(params, in, ranges)
                                                        : slice_ranges(params, in, ranges);
}

static int slice_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    range ranges[MXN_DIMS_MAX];
    int error = ranges_of(shapes->params, in, ranges);
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = in->ndim};
    for (int32_t i = 0; i < in->ndim; i++) {
        result.dims[i] = ranges[i].count;
    }
    return mxn__shape_output(shapes, 0, &result);
}

// A walk over the part of `whole` that the slice takes: operand 0, beginning at `*begin` elements.
// Operand 1 is the part by itself.
static int part_walk(const mxn_params *params, const mxn_shape *whole, mxn_walk *walk,
                     int64_t *begin)
{
    range ranges[MXN_DIMS_MAX];
    int error = ranges_of(params, whole, ranges);
    if (error != 0) {
        return error;
    }
    int64_t own[MXN_DIMS_MAX], steps[2][MXN_DIMS_MAX];
    mxn_shape part = {.ndim = whole->ndim};
    mxn__row_steps(whole, own);
    *begin = 0;
    for (int32_t i = 0; i < whole->ndim; i++) {
        part.dims[i] = ranges[i].count;
        steps[0][i] = own[i] * ranges[i].step;
        *begin += own[i] * ranges[i].begin;
    }
    mxn__row_steps(&part, steps[1]);
    mxn__walk_init(walk, part.ndim, part.dims, (const int64_t *const[]){steps[0], steps[1], NULL});
    return 0;
}

// Between the part of `whole` and `part`, in the direction asked for.
static int copy_part(const mxn_params *params, const mxn_operand *whole, const mxn_operand *part,
                     bool into_whole)
{
    size_t size = mxn_dtype_size(whole->dtype);
    mxn_walk walk;
    int64_t begin;
    int error = part_walk(params, whole->shape, &walk, &begin);
    if (error != 0) {
        return error;
    }
    for (bool more = walk.total > 0; more; more = mxn__walk_next(&walk)) {
        for (int64_t i = 0; i < walk.count; i++) {
            char *in_whole =
                (char *)whole->data + (begin + walk.at[0] + i * walk.step[0]) * (int64_t)size;
            char *in_part = (char *)part->data + (walk.at[1] + i * walk.step[1]) * (int64_t)size;
            memcpy(into_whole ? in_whole : in_part, into_whole ? in_part : in_whole, size);
        }
    }
    return 0;
}

static int slice_forward(mxn_job *job)
{
    return copy_part(job->params, &job->inputs[0], &job->outputs[0], false);
}

static int slice_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    return copy_part(job->params, out, &job->inputs[0], true);
}

static int assign_scalar_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    size_t size = mxn_dtype_size(out->dtype);
    if (out->data != in->data) {
        memcpy(out->data, in->data, mxn_shape_size(in->shape) * size);
    }
    mxn_walk walk;
    int64_t begin;
    int error = part_walk(job->params, in->shape, &walk, &begin);
    if (error != 0) {
        return error;
    }
    int64_t value;
    const double scalar = ((const slice_params *)mxn__values(job))->scalar;
    mxn_cast(&value, out->dtype, &scalar, MXN_FLOAT64, 1);
    for (bool more = walk.total > 0; more; more = mxn__walk_next(&walk)) {
        for (int64_t i = 0; i < walk.count; i++) {
            int64_t at = begin + walk.at[0] + i * walk.step[0];
            memcpy((char *)out->data + at * (int64_t)size, &value, size);
        }
    }
    return 0;
}

// ---- Concat, stack
// ----------------------------------------------------------------------------------
typedef struct join_params {
    int32_t num_args;
    mxn_maybe_int dim;
    int32_t axis;
} join_params;

static const mxn_field concat_fields[] = {
    {MXN_FIELD(join_params, num_args, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX},
    {MXN_FIELD(join_params, dim, MAYBE_INT, "1")},
    {0},
};

static const mxn_field stack_fields[] = {
    {MXN_FIELD(join_params, axis, INT, "0")},
    {MXN_FIELD(join_params, num_args, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX},
    {0},
};

static uint32_t joined_count(const void *values)
{
    return (uint32_t)((const join_params *)values)->num_args;
}

static uint32_t one_input(const void *values)
{
    (void)values;
    return 1;
}

static int concat_shapes(const mxn_shapes *shapes)
{
    const join_params *params = (const void *)shapes->params->values;
    mxn_shape result;
    mxn_shape_copy(&result, shapes->inputs[0]);
    for (uint32_t i = 0; i < shapes->params->input_count; i++) {
        if (!mxn_shape_known(shapes->inputs[i])) {
            return 0;
        }
    }
    if (!params->dim.has) {  // all as vectors
        result = (mxn_shape){.ndim = 1, .dims = {0}};
        for (uint32_t i = 0; i < shapes->params->input_count; i++) {
            result.dims[0] += (int64_t)mxn_shape_size(shapes->inputs[i]);
        }
        return mxn__shape_output(shapes, 0, &result);
    }
    int32_t axis;
    int error = mxn__axis(shapes->params, params->dim.value, result.ndim, &axis);
    for (uint32_t i = 1; error == 0 && i < shapes->params->input_count; i++) {
        const mxn_shape *other = shapes->inputs[i];
        bool fits = other->ndim == result.ndim;
        for (int32_t k = 0; fits && k < result.ndim; k++) {
            fits = k == axis || other->dims[k] == result.dims[k];
        }
        if (!fits) {
            char text[MXN_SHAPE_TEXT];
            return mxn__shape_refused(shapes, i, "cannot be joined along axis %d with shape %s",
                                      axis, mxn_shape_tuple(shapes->inputs[0], text));
        }
        result.dims[axis] += other->dims[axis];
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, &result);
}

static int stack_shapes(const mxn_shapes *shapes)
{
    const join_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    for (uint32_t i = 1; i < shapes->params->input_count; i++) {
        int error = mxn__shape_input(shapes, i, in);
        if (error != 0) {
            return error;
        }
    }
    if (!mxn_shape_known(in)) {
        return 0;
    }
    int32_t axis;
    int error = mxn__axis(shapes->params, params->axis, in->ndim + 1, &axis);
    if (error == 0 && in->ndim == MXN_DIMS_MAX) {
        error = mxn__shape_refused(shapes, 0, "has no room for one more dimension");
    }
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = in->ndim + 1};
    for (int32_t i = 0; i < result.ndim; i++) {
        result.dims[i] =
            i == axis ? (int64_t)shapes->params->input_count : in->dims[i < axis ? i : i - 1];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// Joined along an axis means: `outer` times a stretch of each in turn.
static int outer_count(const mxn_params *params, const mxn_shape *joined, uint64_t *outer)
{
    const join_params *values = (const void *)params->values;
    bool stacks = params->op->def->fields == stack_fields;
    int32_t axis = 0;
    int error =
        stacks || values->dim.has
            ? mxn__axis(params, stacks ? values->axis : values->dim.value, joined->ndim, &axis)
            : 0;
    *outer = 1;
    for (int32_t i = 0; i < axis; i++) {
        *outer *= (uint64_t)joined->dims[i];
    }
    return error;
}

// Copies between the joined array and its parts. A part without data is passed over.
static int copy_parts(const mxn_job *job, const mxn_operand *joined, const mxn_operand *parts,
                      uint32_t count, bool into_parts)
{
    uint64_t outer;
    int error = outer_count(job->params, joined->shape, &outer);
    if (error != 0) {
        return error;
    }
    size_t size = mxn_dtype_size(joined->dtype);
    size_t stride = outer == 0 ? 0 : mxn_shape_size(joined->shape) / outer * size;
    size_t offset = 0;
    for (uint32_t i = 0; i < count && outer > 0; i++) {
        size_t bytes = mxn_shape_size(parts[i].shape) / outer * size;
        for (uint64_t k = 0; k < outer && parts[i].data != NULL; k++) {
            char *part = (char *)parts[i].data + k * bytes;
            char *whole = (char *)joined->data + k * stride + offset;
            memcpy(into_parts ? part : whole, into_parts ? whole : part, bytes);
        }
        offset += bytes;
    }
    return 0;
}

static int join_forward(mxn_job *job)
{
    return copy_parts(job, &job->outputs[0], job->inputs, job->params->input_count, false);
}

static int join_backward(mxn_job *job)
{
    return copy_parts(job, &job->inputs[0], job->outputs, job->params->output_count, true);
}

// ---- add_n
// ------------------------------------------------------------------------------------------
#define ADD_CASE(NAME, type)                                      \
    case MXN_##NAME:                                              \
        for (uint32_t k = 1; k < job->params->input_count; k++) { \
            const type *more = job->inputs[k].data;               \
            type *sum = job->outputs[0].data;                     \
            for (size_t i = 0; i < count; i++) {                  \
                sum[i] = (type)(sum[i] + more[i]);                \
            }                                                     \
        }                                                         \
        return 0;

// In place only onto the first input: any other would be overwritten before it is read.
static int add_n_forward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    memcpy(out->data, job->inputs[0].data, count * mxn_dtype_size(out->dtype));
    switch (out->dtype) {
        MXN_NUMBER_TYPES(ADD_CASE)
    default:
        return mxn__type_refused(job, out->dtype);
    }
}

static double add_n_flops(const mxn_job *job)
{
    return (double)mxn_shape_size(job->outputs[0].shape) * (job->params->input_count - 1.0);
}

// ---- where, clip
// ------------------------------------------------------------------------------------
static int where_shapes(const mxn_shapes *shapes)
{
    int error = mxn__shape_input(shapes, 2, shapes->inputs[1]);
    error = error != 0 ? error : mxn__shape_input(shapes, 1, shapes->inputs[2]);
    error = error != 0 ? error : mxn__shape_output(shapes, 0, shapes->inputs[1]);
    const mxn_shape *condition = shapes->inputs[0], *x = shapes->inputs[1];
    bool rows = condition->ndim == 1 && x->ndim > 0 && condition->dims[0] == x->dims[0];
    return error != 0 || rows ? error : mxn__shape_input(shapes, 0, x);
}

static int where_types(const mxn_types *types)
{
    int error = mxn__type_merge(types->params, "input", 2, &types->inputs[2], types->inputs[1]);
    return error != 0
               ? error
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], types->inputs[1]);
}

static bool is_true(const mxn_operand *condition, uint64_t index)
{
    bool truth;
    mxn_cast(&truth, MXN_BOOL,
             (const char *)condition->data + index * mxn_dtype_size(condition->dtype),
             condition->dtype, 1);
    return truth;
}

static int where_forward(mxn_job *job)
{
    const mxn_operand *condition = &job->inputs[0], *out = &job->outputs[0];
    size_t size = mxn_dtype_size(out->dtype);
    uint64_t count = mxn_shape_size(out->shape);
    uint64_t each = count / mxn_shape_size(condition->shape) * size;
    for (uint64_t i = 0; i * each < count * size; i++) {
        const mxn_operand *from = &job->inputs[is_true(condition, i) ? 1 : 2];
        memcpy((char *)out->data + i * each, (const char *)from->data + i * each, each);
    }
    return 0;
}

static int where_backward(mxn_job *job)
{
    const mxn_operand *g = &job->inputs[0], *condition = &job->inputs[1];
    uint64_t bytes = mxn_shape_size(g->shape) * mxn_dtype_size(g->dtype);
    uint64_t each = bytes / mxn_shape_size(condition->shape);
    for (uint32_t side = 0; side < 2; side++) {
        char *to = job->outputs[side].data;
        for (uint64_t i = 0; to != NULL && i * each < bytes; i++) {
            if (is_true(condition, i) == (side == 0)) {
                memcpy(to + i * each, (const char *)g->data + i * each, each);
            } else {
                memset(to + i * each, 0, each);
            }
        }
    }
    return 0;
}

typedef struct clip_params {
    float a_min, a_max;
} clip_params;

static const mxn_field clip_fields[] = {
    {MXN_FIELD(clip_params, a_min, FLOAT, NULL)},
    {MXN_FIELD(clip_params, a_max, FLOAT, NULL)},
    {0},
};

#define CLIP_CASE(NAME, type)                                              \
    case MXN_##NAME:                                                       \
        for (size_t i = 0; i < count; i++) {                               \
            type x = ((const type *)job->inputs[0].data)[i];               \
            double value = (double)x;                                      \
            ((type *)job->outputs[0].data)[i] = value > high  ? (type)high \
                                                : value < low ? (type)low  \
                                                              : x;         \
        }                                                                  \
        return 0;

static int clip_forward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const double low = (double)params->a_min, high = (double)params->a_max;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    switch (job->outputs[0].dtype) {
        MXN_NUMBER_TYPES(CLIP_CASE)
    default:
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
}

#define CLIP_BACKWARD_CASE(NAME, type)                                         \
    case MXN_##NAME:                                                           \
        for (size_t i = 0; i < count; i++) {                                   \
            type g = ((const type *)job->inputs[0].data)[i];                   \
            double x = (double)((const type *)job->inputs[1].data)[i];         \
            ((type *)job->outputs[0].data)[i] = x >= low && x <= high ? g : 0; \
        }                                                                      \
        return 0;

static int clip_backward(mxn_job *job)
{
    const clip_params *params = mxn__values(job);
    const double low = (double)params->a_min, high = (double)params->a_max;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    switch (job->outputs[0].dtype) {
        MXN_REAL_TYPES(CLIP_BACKWARD_CASE)
    default:
        return mxn__type_refused(job, job->outputs[0].dtype);
    }
}

// ---- the table
// ------------------------------------------------------------------------------------
enum { SLICED_BACK = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE };

static const mxn_op_def table[] = {
    {
        .name = "slice",
        .aliases = "_npi_slice _npx_slice _sparse_slice crop",
        .inputs = "data",
        .description = "A part of each dimension.",
        .fields = slice_fields,
        .params_bytes = sizeof(slice_params),
        .shapes = slice_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_backward_slice"),
        .forward = slice_forward,
    },
    {
        .name = "_backward_slice",
        .input_count = 1,
        .fields = slice_fields,
        .params_bytes = sizeof(slice_params),
        .flags = SLICED_BACK,
        .forward = slice_backward,
        .gradient = MXN_USES_NONE("slice"),
    },
    {
        .name = "slice_axis",
        .inputs = "data",
        .description = "A part of one dimension.",
        .fields = slice_axis_fields,
        .params_bytes = sizeof(slice_params),
        .shapes = slice_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_backward_slice_axis"),
        .forward = slice_forward,
    },
    {
        .name = "_backward_slice_axis",
        .input_count = 1,
        .fields = slice_axis_fields,
        .params_bytes = sizeof(slice_params),
        .flags = SLICED_BACK,
        .forward = slice_backward,
        .gradient = MXN_USES_NONE("slice_axis"),
    },
    {
        .name = "_slice_assign_scalar",
        .aliases = "_crop_assign_scalar _npi_slice_assign_scalar",
        .description = "A number into a part of each dimension.",
        .inputs = "data",
        .fields = assign_fields,
        .params_bytes = sizeof(slice_params),
        .flags = MXN_OP_ANY_TYPE | MXN_OP_INPLACE,
        .forward = assign_scalar_forward,
    },
    {
        .name = "Concat",
        .aliases = "_npi_concatenate _sparse_concat concat",
        .inputs = "data[]",
        .description = "Joined along a dimension.",
        .key = "num_args",
        .fields = concat_fields,
        .params_bytes = sizeof(join_params),
        .inputs_of = joined_count,
        .shapes = concat_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_backward_Concat"),
        .forward = join_forward,
    },
    {
        .name = "_backward_Concat",
        .aliases = "_backward_np_concat",
        .inputs_of = one_input,
        .outputs_of = joined_count,
        .fields = concat_fields,
        .params_bytes = sizeof(join_params),
        .flags = SLICED_BACK,
        .forward = join_backward,
    },
    {
        .name = "stack",
        .aliases = "_npi_stack",
        .inputs = "data[]",
        .key = "num_args",
        .description = "Joined along a new dimension.",
        .fields = stack_fields,
        .params_bytes = sizeof(join_params),
        .inputs_of = joined_count,
        .shapes = stack_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_USES_NONE("_backward_stack"),
        .forward = join_forward,
    },
    {
        .name = "_backward_stack",
        .inputs_of = one_input,
        .outputs_of = joined_count,
        .fields = stack_fields,
        .params_bytes = sizeof(join_params),
        .flags = SLICED_BACK,
        .forward = join_backward,
    },
    {
        .name = "add_n",
        .aliases = "ElementWiseSum _npx_add_n _sparse_ElementWiseSum _sparse_add_n",
        .description = "The sum of all inputs.",
        .inputs = "args[]",
        .key = "num_args",
        .gradient = MXN_GRADIENT({.op = "_copy", .takes = "g0", .gives = "each"}),
        .forward = add_n_forward,
        .flops = add_n_flops,
    },
    {
        .name = "where",
        .aliases = "_sparse_where",
        .inputs = "condition x y",
        .description = "Of x where the condition is not zero, else of y.",
        .shapes = where_shapes,
        .types = where_types,
        .flags = MXN_OP_ANY_TYPE,
        .forward = where_forward,
        .gradient = MXN_GRADIENT({.op = "_backward_where", .takes = "g0 i0", .gives = "1 2"}),
    },
    {
        .name = "_backward_where",
        .input_count = 2,
        .output_count = 2,
        .flags = MXN_OP_BACKWARD | MXN_OP_ANY_TYPE,
        .forward = where_backward,
    },
    {
        .name = "clip",
        .aliases = "_npi_clip _sparse_clip",
        .inputs = "data",
        .description = "No smaller and no larger than two limits.",
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_INPLACE,
        .gradient = MXN_GRADIENT({.op = "_backward_clip", .takes = "g0 i0"}),
        .forward = clip_forward,
    },
    {
        .name = "_backward_clip",
        .input_count = 2,
        .fields = clip_fields,
        .params_bytes = sizeof(clip_params),
        .flags = MXN_OP_SILENT | MXN_OP_INPLACE,
        .forward = clip_backward,
    },
};

MXN_FAMILY(select, table);
