// SPDX-License-Identifier: Apache-2.0
// The rates of LARS, which each weight has by its norm and its gradient's.
#include <math.h>

#include "runtime/op/kernels/reduce.h"
#include "runtime/op/registry/infer.h"

// ---- the sum of squares of each of several arrays -----------------------------------------------
typedef struct sum_params {
    int32_t num_arrays;
} sum_params;

static const mxn_field sum_fields[] = {
    {MXN_FIELD(sum_params, num_arrays, INT, NULL), .min = 1, .max = MXN_OPERANDS_MAX},
    {0},
};

static uint32_t array_count(const void *values)
{
    return (uint32_t)((const sum_params *)values)->num_arrays;
}

static int sum_shapes(const mxn_shapes *shapes)
{
    const mxn_shape sums = {.ndim = 1, .dims = {shapes->params->input_count}};
    return mxn__shape_output(shapes, 0, &sums);
}

static int sum_types(const mxn_types *types)
{
    int error = 0;
    for (uint32_t i = 1; error == 0 && i < types->params->input_count; i++) {
        error = mxn__type_merge(types->params, "input", i, &types->inputs[i], types->inputs[0]);
    }
    return error != 0
               ? error
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_FLOAT32);
}

static int sum_forward(mxn_job *job)
{
    float *to = job->outputs[0].data;
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < job->params->input_count; i++) {
        const mxn_operand *in = &job->inputs[i];
        size_t count = mxn_shape_size(in->shape);
        error = mxn__real_type(job, in->dtype);
        if (error == 0) {
            to[i] = (float)MXN_WIDEST(mxn__reduce)
                        ->squares_row[in->dtype == MXN_FLOAT64](in->data, (int64_t)count);
        }
    }
    return error;
}

static double sum_flops(const mxn_job *job)
{
    double elements = 0;
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        elements += (double)mxn_shape_size(job->inputs[i].shape);
    }
    return 2 * elements;
}

// ---- rates -----------------------------------------------------------------------------------
typedef struct lars_params {
    float eta, eps, rescale_grad;
} lars_params;

static const mxn_field lars_fields[] = {
    {MXN_FIELD(lars_params, eta, FLOAT, NULL)},
    {MXN_FIELD(lars_params, eps, FLOAT, NULL)},
    {MXN_FIELD(lars_params, rescale_grad, FLOAT, "1")},
    {0},
};

// lr eta |w| / (|g| + wd |w| + eps), where neither norm is 0.
static int lars_forward(mxn_job *job)
{
    const lars_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs;
    const float *rate = in[0].data, *weight = in[1].data, *gradient = in[2].data, *wd = in[3].data;
    float *to = job->outputs[0].data;
    size_t count = mxn_shape_size(job->outputs[0].shape);
    for (size_t i = 0; i < count; i++) {
        const double w = sqrt((double)weight[i]);
        const double g = sqrt((double)gradient[i]) * (double)p->rescale_grad;
        const double trust =
            w > 0 && g > 0 ? (double)p->eta * w / (g + (double)wd[i] * w + (double)p->eps) : 1;
        to[i] = (float)((double)rate[i] * trust);
    }
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "multi_sum_sq",
        .inputs = "data[]",
        .fields = sum_fields,
        .params_bytes = sizeof(sum_params),
        .inputs_of = array_count,
        .shapes = sum_shapes,
        .types = sum_types,
        .takes = MXN_TAKES_REALS | MXN_TAKES_OF_INPUT,
        .flags = MXN_OP_UPDATE,
        .forward = sum_forward,
        .flops = sum_flops,
    },
    {
        .name = "multi_lars",
        .inputs = "lrs weights_sum_sq grads_sum_sq wds",
        .fields = lars_fields,
        .params_bytes = sizeof(lars_params),
        .takes = MXN_TAKES(FLOAT32),
        .flags = MXN_OP_UPDATE,
        .inplace = MXN_INPLACE_ALL,
        .flops_each = 8,
        .forward = lars_forward,
    },
};

MXN_FAMILY(lars, table);
