// SPDX-License-Identifier: Apache-2.0
// Arrays that get as many dimensions as NumPy's atleast_1d, atleast_2d and atleast_3d give.
#include <string.h>

#include "runtime/op/registry/infer.h"

typedef struct atleast_params {
    int32_t num_args;
} atleast_params;

static const mxn_field fields[] = {
    {MXN_FIELD(atleast_params, num_args, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX},
    {0},
};

static uint32_t count_of(const void *values)
{
    return (uint32_t)((const atleast_params *)values)->num_args;
}

// A new dimension is in front; the third is behind two others.
static void widen(const mxn_shape *in, int32_t least, mxn_shape *out)
{
    mxn_shape_copy(out, in);
    if (in->ndim >= least) {
        return;
    }
    const int32_t front = in->ndim == 2 ? 0 : in->ndim == 1 ? least / 2 : least;
    *out = (mxn_shape){.ndim = least, .dims = {1, 1, 1}};
    memcpy(out->dims + front, in->dims, (size_t)in->ndim * sizeof *in->dims);
}

static int atleast_shapes(const mxn_shapes *shapes)
{
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < shapes->params->input_count; i++) {
        if (mxn_shape_known(shapes->inputs[i])) {
            mxn_shape out;
            widen(shapes->inputs[i], shapes->params->op->def->variant, &out);
            error = mxn__shape_output(shapes, i, &out);
        }
    }
    return error;
}

static int atleast_types(const mxn_types *types)
{
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < types->params->input_count; i++) {
        error = mxn__type_merge(types->params, "output", i, &types->outputs[i], types->inputs[i]);
    }
    return error;
}

static int copy_all(mxn_job *job)
{
    for (uint32_t i = 0; i < job->params->output_count; i++) {
        const mxn_operand *in = &job->inputs[i], *out = &job->outputs[i];
        if (out->data != NULL && out->data != in->data) {
            memmove(out->data, in->data, mxn_shape_size(out->shape) * mxn_dtype_size(out->dtype));
        }
    }
    return 0;
}

#define ATLEAST(name_, least_)                                                              \
    {                                                                                       \
        .name = (name_), .inputs = "arys[]", .key = "num_args", .fields = fields,           \
        .description = "The same values with more dimensions, where there are fewer.",      \
        .params_bytes = sizeof(atleast_params), .variant = (least_), .inputs_of = count_of, \
        .outputs_of = count_of, .shapes = atleast_shapes, .types = atleast_types,           \
        .flags = MXN_OP_ANY_TYPE, .forward = copy_all,                                      \
        .gradient = MXN_GRADIENT({.op = "_backward_np_atleast", .takes = "g*"})             \
    }

static const mxn_op_def table[] = {
    ATLEAST("_np_atleast_1d", 1),
    ATLEAST("_np_atleast_2d", 2),
    ATLEAST("_np_atleast_3d", 3),
    {
        .name = "_backward_np_atleast",
        .fields = fields,
        .params_bytes = sizeof(atleast_params),
        .inputs_of = count_of,
        .outputs_of = count_of,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_ANY_TYPE,
        .forward = copy_all,
        .gradient = MXN_GRADIENT({.op = "_backward_np_atleast", .takes = "g*"}),
    },
};

MXN_FAMILY(atleast, table);
