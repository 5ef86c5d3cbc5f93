// SPDX-License-Identifier: Apache-2.0
// The sum of many arrays.
#include <string.h>

#include "op/infer.h"
#include "op/loops.h"

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

static const mxn_op_def table[] = {
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
};

MXN_FAMILY(add_n, table);
