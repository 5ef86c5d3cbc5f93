// SPDX-License-Identifier: Apache-2.0
// Operators whose result is the same values under another shape or type, and what passes values on
// unchanged. Arrays are row-major, so all of these copy (or convert) straight through.
#include <string.h>

#include "base/fail.h"
#include "runtime/op/registry/dtype_choices.h"
#include "runtime/op/registry/infer.h"
#include "runtime/op/shape/numpy_reshape.h"

static int copy_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    mxn_operand *out = &job->outputs[0];
    if (out->data != in->data || out->dtype != in->dtype) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(out->shape));
    }
    return 0;
}

// ---- reshape ----------------------------------------------------------------------------------
typedef struct reshape_params {
    mxn_tuple shape;
    bool reverse;
    mxn_tuple target_shape;
    bool keep_highest;
    const char *order;
} reshape_params;

static const mxn_field reshape_fields[] = {
    {MXN_FIELD(reshape_params, shape, TUPLE, "[]")},
    {MXN_FIELD(reshape_params, reverse, BOOL, "0")},
    {MXN_FIELD(reshape_params, target_shape, TUPLE, "[]")},
    {MXN_FIELD(reshape_params, keep_highest, BOOL, "0")},
    {0},
};

static const mxn_field npx_reshape_fields[] = {
    {.name = "newshape", .kind = MXN_FIELD_TUPLE, .offset = offsetof(reshape_params, shape)},
    {MXN_FIELD(reshape_params, reverse, BOOL, "0")},
    {MXN_FIELD(reshape_params, order, STRING, "C")},
    {0},
};

static const mxn_field np_reshape_fields[] = {
    {.name = "newshape", .kind = MXN_FIELD_TUPLE, .offset = offsetof(reshape_params, shape)},
    {MXN_FIELD(reshape_params, order, STRING, "C")},
    {0},
};

// `result` is what the parameter made of the input: it must hold as many elements.
static int output_of_size(const mxn_shapes *shapes, const char *parameter, const mxn_shape *result)
{
    if (mxn_shape_size(result) != mxn_shape_size(shapes->inputs[0])) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "cannot become %s %s", parameter,
                                  mxn_shape_tuple(result, text));
    }
    return mxn__shape_output(shapes, 0, result);
}

// The form of the past: sizes, of which one may be 0 and is what is left over; with `keep_highest`
// the first one is the input's.
static int target_shape(const mxn_shapes *shapes, const reshape_params *params, mxn_shape *result)
{
    const mxn_shape *in = shapes->inputs[0];
    int32_t left_over = -1;
    if (params->target_shape.count <= 0) {
        return mxn__shape_refused(shapes, 0, "parameter shape is empty");
    }
    int error = mxn_shape_set(result, params->target_shape.count, params->target_shape.values,
                              "target_shape");
    if (error != 0) {
        return error;
    }
    if (params->keep_highest) {
        result->dims[0] = in->ndim > 0 ? in->dims[0] : 1;
    }
    for (int32_t i = params->keep_highest; i < result->ndim && left_over < 0; i++) {
        left_over = result->dims[i] == 0 ? i : -1;
    }
    if (left_over >= 0) {
        result->dims[left_over] = 1;
        uint64_t others = mxn_shape_size(result);
        result->dims[left_over] = others == 0 ? 0 : (int64_t)(mxn_shape_size(in) / others);
    }
    return output_of_size(shapes, "target_shape", result);
}

// Of an input with sizes that are not known: the sizes that parameter `shape` spells out.
static int output_as_told(const mxn_shapes *shapes, const mxn_tuple *told)
{
    mxn_shape result = {.ndim = told->count};
    if (shapes->inputs[0]->ndim < 0 || told->count <= 0 || told->count > MXN_DIMS_MAX) {
        return 0;
    }
    for (int32_t i = 0; i < told->count; i++) {
        if (told->values[i] == 0 || told->values[i] < -1) {
            return 0;
        }
        result.dims[i] = told->values[i];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// Of an input with one size that is not known: what the others leave of the result's elements.
static int input_of_size(const mxn_shapes *shapes)
{
    const mxn_shape *result = shapes->outputs[0];
    mxn_shape in = *shapes->inputs[0];
    int32_t open = -1;
    for (int32_t i = 0; i < in.ndim; i++) {
        if (in.dims[i] < 0) {
            if (open >= 0) {
                return 0;
            }
            open = i;
            in.dims[i] = 1;
        }
    }
    if (open < 0 || !mxn_shape_known(result)) {
        return 0;
    }
    const uint64_t others = mxn_shape_size(&in), elements = mxn_shape_size(result);
    if (others == 0 || elements % others != 0) {
        return 0;
    }
    in.dims[open] = (int64_t)(elements / others);
    return mxn__shape_input(shapes, 0, &in);
}

static int reshape_shapes(const mxn_shapes *shapes)
{
    const reshape_params *params = (const void *)shapes->params->values;
    if (!mxn_shape_known(shapes->inputs[0])) {
        int error = output_as_told(shapes, &params->shape);
        return error != 0 ? error : input_of_size(shapes);
    }
    mxn_shape result;
    if (params->shape.count <= 0) {
        return target_shape(shapes, params, &result);
    }
    int error = mxn_shape_infer_reshape(shapes->inputs[0], params->shape.count,
                                        params->shape.values, params->reverse, &result);
    if (error != 0) {
        return mxn__shape_refused(shapes, 0, "%s", mxp_last_error());
    }
    return output_of_size(shapes, "shape", &result);
}

static int npx_reshape_shapes(const mxn_shapes *shapes)
{
    const reshape_params *params = (const void *)shapes->params->values;
    mxn_shape result;
    if (!mxn_shape_known(shapes->inputs[0])) {
        return 0;
    }
    int error = mxn__numpy_reshape(shapes, &params->shape, params->reverse, &result);
    return error != 0 ? error : output_of_size(shapes, "newshape", &result);
}

static int npx_reshape_check(const mxn_op *op, void *values)
{
    const reshape_params *params = values;
    if (strcmp(params->order, "C") == 0) {
        return 0;
    }
    return mxp__fail(MXP_EINVAL, "Operator %s: order='%s' is not supported, use 'C'", op->name,
                     params->order);
}

static int flatten_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    mxn_shape result = {.ndim = 2, .dims = {in->ndim > 0 ? in->dims[0] : 1, 1}};
    for (int32_t i = 1; i < in->ndim; i++) {
        result.dims[1] *= in->dims[i];
    }
    return mxn__shape_output(shapes, 0, &result);
}

// ---- expand_dims, squeeze ---------------------------------------------------------------------
typedef struct axis_params {
    int32_t axis;
    mxn_tuple axes;
} axis_params;

static const mxn_field expand_fields[] = {
    {MXN_FIELD(axis_params, axis, INT, NULL)},
    {0},
};

static const mxn_field squeeze_fields[] = {
    {.name = "axis",
     .kind = MXN_FIELD_MAYBE_TUPLE,
     .offset = offsetof(axis_params, axes),
     .value = "None"},
    {0},
};

static int expand_shapes(const mxn_shapes *shapes)
{
    const axis_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    if (in->ndim < 0) {
        return 0;
    }
    int32_t axis;
    int error = mxn__axis(shapes->params, params->axis, in->ndim + 1, &axis);
    if (error != 0) {
        return error;
    }
    if (in->ndim == MXN_DIMS_MAX) {
        return mxn__shape_refused(shapes, 0, "has no room for one more dimension");
    }
    mxn_shape result = {.ndim = in->ndim + 1};
    for (int32_t i = 0; i < result.ndim; i++) {
        result.dims[i] = i == axis ? 1 : in->dims[i < axis ? i : i - 1];
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int squeeze_marks(const mxn_shapes *shapes, bool marks[MXN_DIMS_MAX])
{
    const axis_params *params = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0];
    for (int32_t i = 0; i < in->ndim; i++) {
        marks[i] = params->axes.count == MXN_TUPLE_ABSENT && in->dims[i] == 1;
    }
    for (int32_t i = 0; i < params->axes.count; i++) {
        int32_t axis;
        int error = mxn__axis(shapes->params, params->axes.values[i], in->ndim, &axis);
        if (error != 0) {
            return error;
        }
        if (in->dims[axis] != 1) {
            return mxn__shape_refused(shapes, 0, "cannot select axis %d, its size is not 1", axis);
        }
        marks[axis] = true;
    }
    return 0;
}

// MXNet's squeeze leaves at least one dimension, numpy's none.
static int squeeze_shapes(const mxn_shapes *shapes)
{
    const mxn_shape *in = shapes->inputs[0];
    if (!mxn_shape_known(in)) {
        return 0;
    }
    bool marks[MXN_DIMS_MAX];
    int error = squeeze_marks(shapes, marks);
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = 0};
    for (int32_t i = 0; i < in->ndim; i++) {
        if (!marks[i]) {
            result.dims[result.ndim++] = in->dims[i];
        }
    }
    mxn__shape_settle(shapes->params, &result, shapes->params->op->def->variant != 0);
    return mxn__shape_output(shapes, 0, &result);
}

// ---- Cast -------------------------------------------------------------------------------------
typedef struct cast_params {
    int32_t dtype;
} cast_params;

static const mxn_field cast_fields[] = {
    {MXN_FIELD(cast_params, dtype, ENUM, NULL), .words = mxn__words_all_types},
    {0},
};

static int cast_types(const mxn_types *types)
{
    const cast_params *params = (const void *)types->params->values;
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], params->dtype);
}

// A gradient continues through whole numbers, as if the cast did not round. Truths have none.
static const mxn_gradient_step *cast_gradient(const void *values)
{
    static const mxn_gradient_step back[] = {{.op = "_backward_cast", .takes = "g0"}, {0}};
    static const mxn_gradient_step none[] = {{0}};
    return ((const cast_params *)values)->dtype == MXN_BOOL ? none : back;
}

// ---- the table --------------------------------------------------------------------------------
#define BACKWARD(name_)                                                                \
    {                                                                                  \
        .name = (name_), .input_count = 1, .flags = MXN_OP_BACKWARD | MXN_OP_ANY_TYPE, \
        .inplace = MXN_INPLACE_ALL, .gradient = MXN_USES_NONE("_backward_reshape"),    \
        .forward = copy_forward                                                        \
    }
#define COPY(name_, aliases_, input_, gradient_)                                              \
    {                                                                                         \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .flags = MXN_OP_ANY_TYPE, \
        .inplace = MXN_INPLACE_ALL, .gradient = (gradient_), .forward = copy_forward          \
    }
#define SQUEEZE(name_, aliases_, input_, variant_)                                               \
    {                                                                                            \
        .name = (name_), .aliases = (aliases_), .inputs = (input_), .fields = squeeze_fields,    \
        .variant = (variant_), .description = "Without dimensions of size 1.",                   \
        .params_bytes = sizeof(axis_params), .shapes = squeeze_shapes, .flags = MXN_OP_ANY_TYPE, \
        .inplace = MXN_INPLACE_ALL, .forward = copy_forward,                                     \
        .gradient = MXN_USES_NONE("_backward_squeeze")                                           \
    }

static const mxn_op_def table[] = {
    {
        .name = "Reshape",
        .aliases = "reshape",
        .inputs = "data",
        .fields = reshape_fields,
        .description = "The same values under another shape.",
        .params_bytes = sizeof(reshape_params),
        .shapes = reshape_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_reshape"),
        .forward = copy_forward,
    },
    {
        .name = "_npx_reshape",
        .aliases = "_npi_reshape",
        .inputs = "a",
        .description = "The same values under another shape.",
        .fields = npx_reshape_fields,
        .params_bytes = sizeof(reshape_params),
        .check = npx_reshape_check,
        .shapes = npx_reshape_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_reshape"),
        .forward = copy_forward,
    },
    {
        .name = "_np_reshape",
        .inputs = "a",
        .description = "The same values under another shape.",
        .fields = np_reshape_fields,
        .params_bytes = sizeof(reshape_params),
        .check = npx_reshape_check,
        .shapes = npx_reshape_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_reshape"),
        .forward = copy_forward,
    },
    {
        .name = "Flatten",
        .aliases = "_npx_batch_flatten flatten",
        .inputs = "data",
        .description = "All dimensions but the first as one.",
        .shapes = flatten_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_copy"),
        .forward = copy_forward,
    },
    {
        .name = "expand_dims",
        .aliases = "_npi_expand_dims",
        .inputs = "data",
        .description = "One more dimension of size 1.",
        .fields = expand_fields,
        .params_bytes = sizeof(axis_params),
        .shapes = expand_shapes,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_USES_NONE("_backward_reshape"),
        .forward = copy_forward,
    },
    SQUEEZE("squeeze", NULL, "data", 0),
    SQUEEZE("_npi_squeeze", "_np_squeeze", "a", 1),
    {
        .name = "Cast",
        .aliases = "_npi_cast _npx_cast cast",
        .inputs = "data",
        .description = "The same values in another type.",
        .fields = cast_fields,
        .params_bytes = sizeof(cast_params),
        .types = cast_types,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient_of = cast_gradient,
        .forward = copy_forward,
    },
    COPY("_copy", "identity", "data", MXN_USES_NONE("_copy")),
    COPY("_npi_copy", NULL, "a", MXN_USES_NONE("_copy")),
    COPY("_np_copy", NULL, "a", MXN_USES_NONE("_copy")),
    COPY("BlockGrad", "_npx_stop_gradient _sparse_stop_gradient stop_gradient", "data",
         MXN_GRADIENT_ZERO),
    COPY("_identity_with_attr_like_rhs", NULL, "lhs rhs",
         MXN_GRADIENT({.op = "_copy", .takes = "g0", .gives = "0"})),
    BACKWARD("_backward_reshape"),
    BACKWARD("_backward_copy"),
    BACKWARD("_backward_squeeze"),
    BACKWARD("_backward_cast"),
};

MXN_FAMILY(reshape_cast, table);
