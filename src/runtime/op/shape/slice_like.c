// SPDX-License-Identifier: Apache-2.0
// slice_like: the beginning of an array, as long as another one.
#include <string.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct like_params {
    mxn_tuple axes;
} like_params;

static const mxn_field like_fields[] = {
    {MXN_FIELD(like_params, axes, TUPLE, "[]")},
    {0},
};

// As long as the other array along the axes, or along all of them.
static int like_shapes(const mxn_shapes *shapes)
{
    const mxn_tuple *axes = &((const like_params *)(const void *)shapes->params->values)->axes;
    const mxn_shape *in = shapes->inputs[0], *other = shapes->inputs[1];
    if (!mxn_shape_known(in) || !mxn_shape_known(other)) {
        return 0;
    }
    mxn_shape result;
    mxn_shape_copy(&result, in);
    for (int32_t i = 0; i < (axes->count > 0 ? axes->count : in->ndim); i++) {
        int32_t axis = i;
        int error =
            axes->count > 0 ? mxn__axis(shapes->params, axes->values[i], in->ndim, &axis) : 0;
        if (error != 0) {
            return error;
        }
        if (axis >= other->ndim || other->dims[axis] > in->dims[axis] ||
            (axes->count <= 0 && other->ndim != in->ndim)) {
            char text[MXN_SHAPE_TEXT];
            return mxn__shape_refused(shapes, 0, "axis %d cannot be cut as in shape %s", axis,
                                      mxn_shape_tuple(other, text));
        }
        result.dims[axis] = other->dims[axis];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// The part begins where the whole does.
static void copy_like(const mxn_operand *whole, const mxn_operand *part, bool into_whole)
{
    int64_t in_whole[MXN_DIMS_MAX], in_part[MXN_DIMS_MAX];
    mxn__row_steps(whole->shape, in_whole);
    mxn__row_steps(part->shape, in_part);
    mxn_iterator it;
    mxn__iterator_init(&it, part->shape->ndim, part->shape->dims,
                       (const int64_t *const[]){into_whole ? in_part : in_whole,
                                                into_whole ? in_whole : in_part, NULL});
    mxn__iterator_copy(&it, into_whole ? part->data : whole->data,
                       into_whole ? whole->data : part->data, mxn_dtype_size(whole->dtype));
}

static int like_forward(mxn_job *job)
{
    copy_like(&job->inputs[0], &job->outputs[0], false);
    return 0;
}

static int like_backward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    memset(out->data, 0, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
    copy_like(out, &job->inputs[0], true);
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "slice_like",
        .aliases = "_npx_slice_like",
        .description = "Cut to the sizes of another array.",
        .inputs = "data shape_like",
        .fields = like_fields,
        .params_bytes = sizeof(like_params),
        .shapes = like_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT({.op = "_backward_slice_like", .takes = "g0", .gives = "0"}),
        .forward = like_forward,
    },
    {
        .name = "_backward_slice_like",
        .input_count = 1,
        .fields = like_fields,
        .params_bytes = sizeof(like_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .forward = like_backward,
    },
};

MXN_FAMILY(slice_like, table);
