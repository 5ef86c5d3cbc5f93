// SPDX-License-Identifier: Apache-2.0
// Dropout: some elements become 0, the others grow, so that the mean stays.
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct dropout_params {
    double p;
    int32_t mode;
    mxn_tuple axes;
    mxn_maybe_int cudnn_off;
} dropout_params;

enum { WHEN_TRAINING, ALWAYS };
static const mxn_word dropout_modes[] = {{"always", ALWAYS}, {"training", WHEN_TRAINING}, {0}};

static const mxn_field dropout_fields[] = {
    {MXN_FIELD(dropout_params, p, WIDE_FLOAT, "0.5"), .min = 0, .max = 1},
    {MXN_FIELD(dropout_params, mode, ENUM, "training"), .words = dropout_modes},
    {MXN_FIELD(dropout_params, axes, TUPLE, "[]")},
    {MXN_FIELD(dropout_params, cudnn_off, MAYBE_BOOL, "0")},
    {0},
};

static uint32_t one_visible(const void *values)
{
    (void)values;
    return 1;
}

// The mask has size 1 along the axes that share it.
static int dropout_shapes(const mxn_shapes *shapes)
{
    const dropout_params *params = (const void *)shapes->params->values;
    int error = mxn__shape_output(shapes, 0, shapes->inputs[0]);
    if (error != 0 || shapes->inputs[0]->ndim < 0) {
        return error;
    }
    mxn_shape mask;
    mxn_shape_copy(&mask, shapes->inputs[0]);
    for (int32_t i = 0; i < params->axes.count; i++) {
        int32_t axis;
        error = mxn__axis(shapes->params, params->axes.values[i], mask.ndim, &axis);
        if (error != 0) {
            return error;
        }
        mask.dims[axis] = 1;
    }
    return mxn__shape_output(shapes, 1, &mask);
}

// 32 bits decide each element: kept ones are 1 / (1 - p), so that the mean
// stays.
static void fill_mask(mxn_job *job, double keep)
{
    mxn_operand *mask = &job->outputs[1];
    uint64_t count = mxn_shape_size(mask->shape), key, first;
    size_t size = mxn_dtype_size(mask->dtype);
    uint64_t limit = (uint64_t)(keep * 4294967296.0);
    const double kept = keep > 0 ? 1 / keep : 0;
    mxn_random_reserve(job->random, (count + 3) / 4, &key, &first);
    for (uint64_t i = 0; i < count; i += 4) {
        uint32_t numbers[4];
        mxn_random_block(key, first + i / 4, numbers);
        for (uint64_t k = 0; k < 4 && i + k < count; k++) {
            double value = numbers[k] < limit ? kept : 0;
            mxn_cast((char *)mask->data + (i + k) * size, mask->dtype, &value, MXN_FLOAT64, 1);
        }
    }
}

#define TEMPLATE "runtime/op/random/dropout_kernels.h"
#include "runtime/op/kernels/each_real.h"

static int times_mask(const mxn_job *job, const mxn_operand *from, const mxn_operand *mask,
                      mxn_operand *to)
{
    int64_t steps[MXN_DIMS_MAX];
    mxn__broadcast_steps(mask->shape, to->shape, steps);
    mxn_iterator it;
    mxn__iterator_init(&it, to->shape->ndim, to->shape->dims,
                       (const int64_t *const[]){steps, NULL, NULL});
    int error = mxn__real_type(job, to->dtype);
    if (error == 0) {
        (to->dtype == MXN_FLOAT32 ? times_mask_float : times_mask_double)(from->data, mask->data,
                                                                          to->data, &it);
    }
    return error;
}

// Not dropping is a mask of ones, so that the gradient need not know.
static int dropout_forward(mxn_job *job)
{
    const dropout_params *params = mxn__values(job);
    mxn_operand *mask = &job->outputs[1];
    if (!job->training && params->mode != ALWAYS) {
        mxn_fill(mask->data, mask->dtype, 1, mxn_shape_size(mask->shape));
        mxn_cast(job->outputs[0].data, job->outputs[0].dtype, job->inputs[0].data,
                 job->inputs[0].dtype, mxn_shape_size(job->outputs[0].shape));
        return 0;
    }
    fill_mask(job, 1 - params->p);
    return times_mask(job, &job->inputs[0], mask, &job->outputs[0]);
}

static int dropout_backward(mxn_job *job)
{
    return times_mask(job, &job->inputs[0], &job->inputs[1], &job->outputs[0]);
}

static const mxn_op_def table[] = {
    {
        .name = "Dropout",
        .aliases = "_npx_dropout",
        .inputs = "data",
        .output_count = 2,
        .description = "Some elements become 0, the others grow.",
        .fields = dropout_fields,
        .params_bytes = sizeof(dropout_params),
        .visible_of = one_visible,
        .shapes = dropout_shapes,
        .flags = MXN_OP_RANDOM,
        .gradient = MXN_GRADIENT({.op = "_backward_Dropout", .takes = "g0 o1"}),
        .takes = MXN_TAKES_REALS,
        .forward = dropout_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_Dropout",
        .input_count = 2,
        .fields = dropout_fields,
        .params_bytes = sizeof(dropout_params),
        .gradient = MXN_GRADIENT({.op = "_backward_Dropout", .takes = "g0 i1", .gives = "0"}),
        .takes = MXN_TAKES_REALS,
        .forward = dropout_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .inplace = MXN_INPLACE_ALL,
    },
};

MXN_FAMILY(dropout, table);
