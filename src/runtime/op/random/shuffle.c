// SPDX-License-Identifier: Apache-2.0
// The rows of an array in a random order, every order as likely.
#include <string.h>

#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

static int64_t row_count(const mxn_shape *shape)
{
    return shape->ndim == 0 ? 1 : shape->dims[0];
}

static uint64_t shuffle_workspace(const mxn_job *job)
{
    return (uint64_t)row_count(job->inputs[0].shape) * sizeof(int64_t);
}

// A whole number below `below`: 64 random bits times it, of which the upper half counts.
static int64_t number_below(const uint32_t numbers[2], int64_t below)
{
    uint64_t low = (uint64_t)numbers[1] * (uint64_t)below >> 32;
    uint64_t high = (uint64_t)numbers[0] * (uint64_t)below;
    return (int64_t)((high + low) >> 32);
}

static int shuffle_forward(mxn_job *job)
{
    const mxn_operand *in = &job->inputs[0], *out = &job->outputs[0];
    int64_t rows = row_count(in->shape);
    size_t bytes = mxn_shape_size(in->shape) / (size_t)rows * mxn_dtype_size(in->dtype);
    int64_t *order = job->workspace;
    uint64_t key, first;
    mxn_random_reserve(job->random, ((uint64_t)rows + 1) / 2, &key, &first);
    uint32_t numbers[4];
    for (int64_t i = 0; i < rows; i++) {
        if (i % 2 == 0) {
            mxn_random_block(key, first + (uint64_t)i / 2, numbers);
        }
        int64_t other = number_below(&numbers[i % 2 * 2], i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (int64_t i = 0; i < rows; i++) {
        memcpy((char *)out->data + (size_t)i * bytes,
               (const char *)in->data + (size_t)order[i] * bytes, bytes);
    }
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "_shuffle",
        .aliases = "_npi_shuffle shuffle",
        .inputs = "data",
        .description = "The rows in a random order.",
        .flags = MXN_OP_RANDOM | MXN_OP_ANY_TYPE,
        .forward = shuffle_forward,
        .workspace = shuffle_workspace,
    },
};

MXN_FAMILY(shuffle, table);
