// SPDX-License-Identifier: Apache-2.0
// The sum of many arrays.
#include <string.h>

#include "runtime/op/loops/binary_loops.h"

// In place only onto the first input: any other would be overwritten before it is read.
static int add_n_forward(mxn_job *job)
{
    mxn_operand *out = &job->outputs[0];
    size_t count = mxn_shape_size(out->shape);
    if (out->data != job->inputs[0].data) {
        memcpy(out->data, job->inputs[0].data, count * mxn_dtype_size(out->dtype));
    }
    const mxn_row sum = {out->data, 1, out->dtype};
    for (uint32_t k = 1; k < job->params->input_count; k++) {
        const mxn_row more = {job->inputs[k].data, 1, out->dtype};
        mxn__binary_row(MXN_ADD_OF, &sum, &more, out->data, out->dtype, (int64_t)count);
    }
    return 0;
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
        .flags = MXN_OP_POINTWISE,
        .inplace = 1 << 0,
        .gradient = MXN_GRADIENT({.op = "_copy", .takes = "g0", .gives = "each"}),
        .forward = add_n_forward,
        .flops = add_n_flops,
    },
};

MXN_FAMILY(add_n, table);
