// SPDX-License-Identifier: Apache-2.0
// BatchNorm: each channel less its mean, divided by its deviation, scaled and shifted. Outputs
// beside the result: the mean and the inverse deviation that were used, which the gradient takes.
// The moving statistics follow in the backward operation, as in MXNet, so that they move once a
// training step however often the forward ran.
#include "runtime/op/nn/batch_norm.h"

#include "base/fail.h"
#include "runtime/op/nn/normalise.h"
#include "runtime/op/registry/infer.h"

typedef struct batch_params {
    double eps;
    double momentum;
    bool fix_gamma, use_global_stats, output_mean_var, cudnn_off;
    int32_t axis;
    mxn_maybe_double min_calib_range, max_calib_range;
    int32_t ndev;
    const char *key;
} batch_params;

static const mxn_field fields[] = {
    {MXN_FIELD(batch_params, eps, DOUBLE, "0.0010000000474974513"), .min = 0, .max = 1e30},
    {MXN_FIELD(batch_params, momentum, WIDE_FLOAT, "0.899999976")},
    {MXN_FIELD(batch_params, fix_gamma, BOOL, "1")},
    {MXN_FIELD(batch_params, use_global_stats, BOOL, "0")},
    {MXN_FIELD(batch_params, output_mean_var, BOOL, "0")},
    {MXN_FIELD(batch_params, axis, INT, "1")},
    {MXN_FIELD(batch_params, cudnn_off, BOOL, "0")},
    {MXN_FIELD(batch_params, min_calib_range, MAYBE_FLOAT, "None")},
    {MXN_FIELD(batch_params, max_calib_range, MAYBE_FLOAT, "None")},
    {0},
};

// On one device, which is what there is: `ndev` and `key` find the others.
static const mxn_field sync_fields[] = {
    {MXN_FIELD(batch_params, eps, WIDE_FLOAT, "0.00100000005")},
    {MXN_FIELD(batch_params, momentum, WIDE_FLOAT, "0.899999976")},
    {MXN_FIELD(batch_params, fix_gamma, BOOL, "1")},
    {MXN_FIELD(batch_params, use_global_stats, BOOL, "0")},
    {MXN_FIELD(batch_params, output_mean_var, BOOL, "0")},
    {MXN_FIELD(batch_params, ndev, INT, "1")},
    {MXN_FIELD(batch_params, key, STRING, NULL)},
    {0},
};

static int sync_check(const mxn_op *op, void *values)
{
    batch_params *params = values;
    params->axis = 1;
    return params->ndev == 1
               ? 0
               : mxp__fail(MXP_EINVAL, "Operator %s: ndev=%d, there is one device to take part",
                           op->name, params->ndev);
}

enum { DATA, GAMMA, BETA, MOVING_MEAN, MOVING_VAR };  // inputs
enum { OUT, MEAN, INVERSE };  // outputs
// Inputs of the gradient.
enum { B_GRADIENT, B_DATA, B_GAMMA, B_MEAN, B_INVERSE, B_MOVING_MEAN, B_MOVING_VAR };

static uint32_t visible(const void *values)
{
    return ((const batch_params *)values)->output_mean_var ? 3 : 1;
}

static int batch_shapes(const mxn_shapes *shapes)
{
    const batch_params *params = (const void *)shapes->params->values;
    mxn_shape channels;
    int32_t axis;
    int error = mxn__normalised_shapes(shapes, params->axis, &axis, &channels);
    if (error != 0 || axis < 0) {
        return error;
    }
    for (uint32_t i = GAMMA; error == 0 && i <= MOVING_VAR; i++) {
        error = mxn__shape_input(shapes, i, &channels);
    }
    for (uint32_t i = MEAN; error == 0 && i <= INVERSE; i++) {
        error = mxn__shape_output(shapes, i, &channels);
    }
    return error;
}

static bool uses_batch(const mxn_job *job)
{
    return job->training && !((const batch_params *)mxn__values(job))->use_global_stats;
}

static bool cuts(const void *values, bool training)
{
    const batch_params *p = values;
    return p->axis == 1 && (!training || p->use_global_stats);
}

int mxn__batch_norm_describe(const mxn_job *job, mxn_batch_norm *b)
{
    const batch_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = job->outputs;
    *b = (mxn_batch_norm){
        .data = in[DATA].data,
        .gamma = in[GAMMA].data,
        .beta = in[BETA].data,
        .moving_mean = in[MOVING_MEAN].data,
        .moving_var = in[MOVING_VAR].data,
        .to = out[OUT].data,
        .means = out[MEAN].data,
        .inverses = out[INVERSE].data,
        .epsilon = p->eps,
        .gamma_is_1 = p->fix_gamma,
        .of_batch = uses_batch(job),
    };
    return mxn__normalised_view(job, DATA, p->axis, &b->s);
}

static int batch_forward(mxn_job *job)
{
    mxn_batch_norm b;
    int error = mxn__batch_norm_describe(job, &b);
    if (error == 0) {
        MXN_WIDEST(mxn__batch_norm)
            ->forward[job->inputs[DATA].dtype == MXN_FLOAT64](&b, 0, b.s.count);
    }
    return error;
}

int mxn__batch_norm_back_describe(const mxn_job *job, mxn_batch_norm_back *b)
{
    const batch_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = job->outputs;
    *b = (mxn_batch_norm_back){
        .gradient = in[B_GRADIENT].data,
        .data = in[B_DATA].data,
        .gamma = in[B_GAMMA].data,
        .means = in[B_MEAN].data,
        .inverses = in[B_INVERSE].data,
        .to = out[DATA].data,
        .to_gamma = out[GAMMA].data,
        .to_beta = out[BETA].data,
        .moving_mean = in[B_MOVING_MEAN].data,
        .moving_var = in[B_MOVING_VAR].data,
        .epsilon = p->eps,
        .momentum = p->momentum,
        .gamma_is_1 = p->fix_gamma,
        .of_batch = uses_batch(job),
    };
    return mxn__normalised_view(job, B_DATA, p->axis, &b->s);
}

static int batch_backward(mxn_job *job)
{
    mxn_batch_norm_back b;
    int error = mxn__batch_norm_back_describe(job, &b);
    if (error == 0) {
        MXN_WIDEST(mxn__batch_norm)
            ->backward[job->inputs[B_DATA].dtype == MXN_FLOAT64](&b, 0, b.s.count);
    }
    return error;
}

static const char *init_of(const void *values, uint32_t input)
{
    (void)values;
    return input == MOVING_MEAN ? "[\"zero\", {}]" : input == MOVING_VAR ? "[\"one\", {}]" : NULL;
}

#define FORWARD(fields_, backward_)                                                           \
    .inputs = "data gamma beta moving_mean moving_var", .outputs = "output mean var",         \
    .output_count = 3, .fields = (fields_), .params_bytes = sizeof(batch_params),             \
    .mutates = 1 << MOVING_MEAN | 1 << MOVING_VAR, .init_of = init_of, .visible_of = visible, \
    .flags = MXN_OP_PARALLEL | MXN_OP_READS_STATES, .shapes = batch_shapes,                   \
    .gradient = MXN_GRADIENT({.op = (backward_), .takes = "g0 i0 i1 o1 o2 i3 i4"}),           \
    .takes = MXN_TAKES_REALS, .forward = batch_forward, .flops_each = 8
#define BACKWARD(fields_)                                                        \
    .input_count = 7, .output_count = 3, .fields = (fields_),                    \
    .params_bytes = sizeof(batch_params),                                        \
    .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_PARALLEL,                  \
    .mutates = 1 << B_MOVING_MEAN | 1 << B_MOVING_VAR, .takes = MXN_TAKES_REALS, \
    .forward = batch_backward, .flops_each = 12

static const mxn_op_def table[] = {
    {
        .name = "BatchNorm",
        .aliases = "_npx_batch_norm",
        .description = "Channels with mean 0 and deviation 1, scaled and shifted.",
        .cuts = cuts,
        FORWARD(fields, "_backward_BatchNorm"),
    },
    {
        .name = "_contrib_SyncBatchNorm",
        .description = "BatchNorm over the batches of all devices, of which there is one.",
        .check = sync_check,
        FORWARD(sync_fields, "_backward__contrib_SyncBatchNorm"),
    },
    {.name = "_backward_BatchNorm", BACKWARD(fields)},
    {.name = "_backward__contrib_SyncBatchNorm", .check = sync_check, BACKWARD(sync_fields)},
};

MXN_FAMILY(batch_norm, table);
