// SPDX-License-Identifier: Apache-2.0
// Shapes as values, and values under the shape of another array.
#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// ---- reshape_like -------------------------------------------------------------------------------
typedef struct alike_params {
    mxn_maybe_int lhs_begin, lhs_end, rhs_begin, rhs_end;
} alike_params;

static const mxn_field alike_fields[] = {
    {MXN_FIELD(alike_params, lhs_begin, MAYBE_INT, "None")},
    {MXN_FIELD(alike_params, lhs_end, MAYBE_INT, "None")},
    {MXN_FIELD(alike_params, rhs_begin, MAYBE_INT, "None")},
    {MXN_FIELD(alike_params, rhs_end, MAYBE_INT, "None")},
    {0},
};

// A range of dimensions: begin .. end, counted from either side; None is the whole.
static int range_of(const mxn_shapes *shapes, uint32_t index, const mxn_maybe_int limits[2],
                    int32_t found[2])
{
    int32_t ndim = shapes->inputs[index]->ndim;
    for (int i = 0; i < 2; i++) {
        found[i] = limits[i].has ? limits[i].value : i == 0 ? 0 : ndim;
        found[i] += found[i] < 0 ? ndim : 0;
    }
    if (found[0] >= 0 && found[0] <= found[1] && found[1] <= ndim) {
        return 0;
    }
    return mxn__shape_refused(shapes, index, "dimensions %d to %d are none of it", found[0],
                              found[1]);
}

static int alike_shapes(const mxn_shapes *shapes)
{
    const alike_params *p = (const void *)shapes->params->values;
    const mxn_shape *in = shapes->inputs[0], *other = shapes->inputs[1];
    if (!mxn_shape_known(in) || !mxn_shape_known(other)) {
        return 0;
    }
    int32_t left[2], right[2];
    int error = range_of(shapes, 0, (const mxn_maybe_int[]){p->lhs_begin, p->lhs_end}, left);
    if (error == 0) {
        error = range_of(shapes, 1, (const mxn_maybe_int[]){p->rhs_begin, p->rhs_end}, right);
    }
    if (error != 0) {
        return error;
    }
    mxn_shape result = {.ndim = 0};
    if (in->ndim - (left[1] - left[0]) + (right[1] - right[0]) > MXN_DIMS_MAX) {
        return mxn__shape_refused(shapes, 0, "the result would have more than %d dimensions",
                                  MXN_DIMS_MAX);
    }
    for (int32_t i = 0; i < left[0]; i++) {
        result.dims[result.ndim++] = in->dims[i];
    }
    for (int32_t i = right[0]; i < right[1]; i++) {
        result.dims[result.ndim++] = other->dims[i];
    }
    for (int32_t i = left[1]; i < in->ndim; i++) {
        result.dims[result.ndim++] = in->dims[i];
    }
    if (mxn_shape_size(&result) != mxn_shape_size(in)) {
        char text[MXN_SHAPE_TEXT];
        return mxn__shape_refused(shapes, 0, "cannot become shape %s",
                                  mxn_shape_tuple(&result, text));
    }
    return mxn__shape_output(shapes, 0, &result);
}

static int alike_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    if (in->data != out->data) {
        mxn_cast(out->data, out->dtype, in->data, in->dtype, mxn_shape_size(in->shape));
    }
    return 0;
}

// ---- shape_array, size_array --------------------------------------------------------------------
enum { SHAPE, SIZE };

static int array_shapes(const mxn_shapes *shapes)
{
    bool whole = shapes->params->op->def->variant == SHAPE;
    int32_t ndim = shapes->inputs[0]->ndim;
    const mxn_shape result = {.ndim = 1, .dims = {whole ? ndim : 1}};
    return ndim < 0 ? 0 : mxn__shape_output(shapes, 0, &result);
}

static int array_types(const mxn_types *types)
{
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_INT64);
}

static int array_forward(mxn_job *job)
{
    const mxn_shape *in = job->inputs[0].shape;
    int64_t *to = job->outputs[0].data;
    if (job->params->op->def->variant == SIZE) {
        to[0] = (int64_t)mxn_shape_size(in);
        return 0;
    }
    for (int32_t i = 0; i < in->ndim; i++) {
        to[i] = in->dims[i];
    }
    return 0;
}

#define ARRAY(name_, aliases_, variant_, text)                                            \
    {                                                                                     \
        .name = (name_), .aliases = (aliases_), .inputs = "data", .description = (text),  \
        .variant = (variant_), .shapes = array_shapes, .types = array_types,              \
        .flags = MXN_OP_ANY_TYPE, .gradient = MXN_GRADIENT_ZERO, .forward = array_forward \
    }

static const mxn_op_def table[] = {
    {
        .name = "reshape_like",
        .aliases = "_npx_reshape_like",
        .inputs = "lhs rhs",
        .description = "The same values under the shape of another array.",
        .fields = alike_fields,
        .params_bytes = sizeof(alike_params),
        .shapes = alike_shapes,
        .types = mxn__types_of_first,
        .flags = MXN_OP_ANY_TYPE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_reshape", .takes = "g0", .gives = "0"}),
        .forward = alike_forward,
    },
    ARRAY("shape_array", "_npx_shape_array", SHAPE, "The dimensions."),
    ARRAY("size_array", NULL, SIZE, "The number of elements."),
};

MXN_FAMILY(reshape_like, table);
