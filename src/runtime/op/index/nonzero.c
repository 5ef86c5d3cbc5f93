// SPDX-License-Identifier: Apache-2.0
// What depends on which values are not 0: their places, and a condition that must hold.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

// ---- places -----------------------------------------------------------------------------------
// Fills the begin of `found` and gives how many there are.
static uint64_t find(const bool *truths, uint64_t size, int64_t *found)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < size; i++) {
        found[count] = (int64_t)i;
        count += truths[i];
    }
    return count;
}

static void split_places(const int64_t *found, uint64_t count, const mxn_shape *shape, int64_t *to)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t rest = found[i];
        for (int32_t axis = shape->ndim - 1; axis >= 0; axis--) {
            to[i * (uint64_t)shape->ndim + (uint64_t)axis] = rest % shape->dims[axis];
            rest /= shape->dims[axis];
        }
    }
}

static int give_places(const mxn_array *in, const int64_t *found, uint64_t count, mxn_array *out)
{
    const mxn_shape shape = {.ndim = 2, .dims = {(int64_t)count, in->shape.ndim}};
    const uint64_t size = mxn_shape_size(&shape);
    int64_t *places = mxp__alloc(size * sizeof *places + 1);
    if (places == NULL) {
        return mxp__fail_memory("the places of what is not 0");
    }
    split_places(found, count, &in->shape, places);
    int error = MXP_OK;
    if (mxn_array_is_none(out)) {
        error = mxn_array_init(out, &shape, MXN_INT64, mxn_array_context(in), NULL);
    } else if (!mxn_shape_equal(&out->shape, &shape) || out->dtype != MXN_INT64) {
        error = mxp__fail(MXP_EINVAL,
                          "Operator _npx_nonzero: the output is not of int64 and "
                          "shape (%llu,%d)",
                          (unsigned long long)count, in->shape.ndim);
    }
    if (error == MXP_OK && size > 0) {
        error = mxn_array_copy_in(out, places, size);
    }
    mxp__free(places, size * sizeof *places + 1);
    return error;
}

// The shape of the result follows from values, so the caller waits for them.
static int nonzero(const mxn_direct_call *call)
{
    const mxn_array *in = call->inputs[0];
    const uint64_t size = mxn_array_size(in), bytes = size * mxn_dtype_size(in->dtype);
    void *values = mxp__alloc(bytes + 1);
    bool *truths = mxp__alloc(size + 1);
    int64_t *found = mxp__alloc((size + 1) * sizeof *found);
    int error = values == NULL || truths == NULL || found == NULL
                    ? mxp__fail_memory("values to look at")
                    : mxn_array_copy_out(in, values, size);
    if (error == MXP_OK) {
        mxn_cast(truths, MXN_BOOL, values, in->dtype, size);
        error = give_places(in, found, find(truths, size, found), call->outputs[0]);
    }
    mxp__free(values, bytes + 1);
    mxp__free(truths, size + 1);
    mxp__free(found, (size + 1) * sizeof *found);
    return error;
}

// ---- a condition ------------------------------------------------------------------------------
typedef struct check_params {
    const char *msg;
} check_params;

static const mxn_field check_fields[] = {
    {MXN_FIELD(check_params, msg, STRING, "Constraint violated.")},
    {0},
};

static int scalar_shape(const mxn_shapes *shapes)
{
    const mxn_shape scalar = {.ndim = 0};
    return mxn__shape_output(shapes, 0, &scalar);
}

static int check_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0];
    const bool *values = in->data;
    for (uint64_t i = 0; i < mxn_shape_size(in->shape); i++) {
        if (!values[i]) {
            return mxp__fail(MXP_EINVAL, "%s", ((const check_params *)mxn__values(job))->msg);
        }
    }
    *(bool *)job->outputs[0].data = true;
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "_npx_nonzero",
        .aliases = "_npi_nonzero",
        .inputs = "x",
        .description = "Places of what is not 0, a row for each.",
        .flags = MXN_OP_DIRECT,
        .gradient = MXN_GRADIENT_ZERO,
        .direct = nonzero,
    },
    {
        .name = "_npx_constraint_check",
        .inputs = "input",
        .description = "True; an error with a text of the program's where a truth does not hold.",
        .fields = check_fields,
        .params_bytes = sizeof(check_params),
        .shapes = scalar_shape,
        .takes = MXN_TAKES(BOOL),
        .flags = MXN_OP_ANY_TYPE,
        .gradient = MXN_GRADIENT_ZERO,
        .forward = check_forward,
    },
};

MXN_FAMILY(nonzero, table);
