// SPDX-License-Identifier: Apache-2.0
// Parts of arrays: slice, slice_axis, and assignment to a part. Values are copied as bytes, so
// every type goes.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct slice_params {
    mxn_tuple begin, end, step;
    mxn_number scalar;
    int32_t axis;
    int64_t from;
    mxn_maybe_int to;
} slice_params;

#define RANGE_FIELDS                                       \
    {MXN_FIELD(slice_params, begin, OPEN_TUPLE, NULL)},    \
        {MXN_FIELD(slice_params, end, OPEN_TUPLE, NULL)},  \
        {MXN_FIELD(slice_params, step, OPEN_TUPLE, "[]")}, \
    {                                                      \
        0                                                  \
    }

static const mxn_field slice_fields[] = {
    RANGE_FIELDS,
};

static const mxn_field assign_fields[] = {
    {MXN_FIELD(slice_params, scalar, NUMBER, "0")},
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
    int64_t span = up ? end - begin : begin - end, size = up ? step : -step;
    int64_t count = span > 0 ? (span - 1) / size + 1 : 0;
    return (range){begin, count > 1 ? step : 1, count};
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

static int part_shape(const mxn_params *params, const mxn_shape *in, mxn_shape *part)
{
    range ranges[MXN_DIMS_MAX];
    int error = ranges_of(params, in, ranges);
    *part = (mxn_shape){.ndim = in->ndim};
    for (int32_t i = 0; error == 0 && i < in->ndim; i++) {
        part->dims[i] = ranges[i].count;
    }
    return error;
}

static int slice_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_shape part;
    int error = part_shape(shapes->params, in, &part);
    return error != 0 ? error : mxn__shape_output(shapes, 0, &part);
}

// An iterator over the part of `whole` that the slice takes, which begins at `*begin` elements, and
// over the part by itself: the former is operand 0, or, into the whole, operand 1.
static int part_iterator(const mxn_params *params, const mxn_shape *whole, bool into_whole,
                         mxn_iterator *it, int64_t *begin)
{
    range ranges[MXN_DIMS_MAX];
    int error = ranges_of(params, whole, ranges);
    if (error != 0) {
        return error;
    }
    int64_t own[MXN_DIMS_MAX], in_whole[MXN_DIMS_MAX], in_part[MXN_DIMS_MAX];
    mxn_shape part = {.ndim = whole->ndim};
    mxn__row_steps(whole, own);
    *begin = 0;
    for (int32_t i = 0; i < whole->ndim; i++) {
        part.dims[i] = ranges[i].count;
        in_whole[i] = own[i] * ranges[i].step;
        *begin += own[i] * ranges[i].begin;
    }
    mxn__row_steps(&part, in_part);
    mxn__iterator_init(it, part.ndim, part.dims,
                       (const int64_t *const[]){into_whole ? in_part : in_whole,
                                                into_whole ? in_whole : in_part, NULL});
    return 0;
}

static int copy_part(const mxn_params *params, const mxn_operand *whole, const mxn_operand *part,
                     bool into_whole)
{
    size_t size = mxn_dtype_size(whole->dtype);
    mxn_iterator it;
    int64_t begin;
    int error = part_iterator(params, whole->shape, into_whole, &it, &begin);
    if (error != 0 || it.total == 0) {
        return error;
    }
    char *there = (char *)whole->data + begin * (int64_t)size;
    mxn__iterator_copy(&it, into_whole ? part->data : there, into_whole ? there : part->data, size);
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
    mxn_iterator it;
    int64_t begin;
    int error = part_iterator(job->params, in->shape, false, &it, &begin);
    if (error != 0) {
        return error;
    }
    int64_t value;
    mxn_number_fill(&value, out->dtype, &((const slice_params *)mxn__values(job))->scalar, 1);
    for (bool more = it.total > 0; more; more = mxn__iterator_next(&it)) {
        for (int64_t i = 0; i < it.count; i++) {
            int64_t at = begin + it.at[0] + i * it.step[0];
            memcpy((char *)out->data + at * (int64_t)size, &value, size);
        }
    }
    return 0;
}

// ---- assignment of an array ---------------------------------------------------------------------
static int assign_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_shape part;
    int error = part_shape(shapes->params, in, &part);
    if (error == 0) {
        error = mxn__shape_input(shapes, 1, &part);
    }
    return error != 0 ? error : mxn__shape_output(shapes, 0, in);
}

static size_t operand_bytes(const mxn_operand *operand)
{
    return mxn_shape_size(operand->shape) * mxn_dtype_size(operand->dtype);
}

static bool is_own(const mxn_job *job)
{
    return job->inputs[1].memory.buffer == job->outputs[0].memory.buffer;
}

// Values of the memory that they are written to, as in a[::-1] = a, are read before anything is
// written. A job that is prepared has no memory yet: it may come to that.
static uint64_t assign_workspace(const mxn_job *job)
{
    return is_own(job) ? operand_bytes(&job->inputs[1]) : 0;
}

static int assign_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    mxn_operand values = job->inputs[1];
    if (job->workspace != NULL && is_own(job)) {
        values.data = memcpy(job->workspace, values.data, operand_bytes(&values));
    }
    if (out->data != in->data) {
        memcpy(out->data, in->data, operand_bytes(in));
    }
    return copy_part(job->params, out, &values, true);
}

// What is assigned to a part takes its gradient from there, and what was there has none.
static void clear_scalar(void *values)
{
    ((slice_params *)values)->scalar = mxn_number_of_double(0);
}

#define REST_GRADIENT                                                                     \
    {                                                                                     \
        .op = "_slice_assign_scalar", .takes = "g0", .gives = "0", .adjust = clear_scalar \
    }

// ---- the table ----------------------------------------------------------------------------------
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
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT(REST_GRADIENT),
        .forward = assign_scalar_forward,
    },
    {
        .name = "_slice_assign",
        .aliases = "_crop_assign _npi_slice_assign",
        .description = "An array into a part of each dimension.",
        .inputs = "lhs rhs",
        .fields = slice_fields,
        .params_bytes = sizeof(slice_params),
        .shapes = assign_shapes,
        .flags = MXN_OP_ANY_TYPE | MXN_OP_ASSIGNS,
        .inplace = 1 << 0,
        .workspace = assign_workspace,
        .gradient = MXN_GRADIENT(REST_GRADIENT, {.op = "slice", .takes = "g0", .gives = "1"}),
        .forward = assign_forward,
    },
};

MXN_FAMILY(slice, table);
