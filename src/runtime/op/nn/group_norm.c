// SPDX-License-Identifier: Apache-2.0
// GroupNorm: the channels of each sample in groups, each with mean 0 and deviation 1, scaled and
// shifted; InstanceNorm: a group is a channel. Outputs beside the result: mean and deviation of the
// groups.
#include <string.h>

#include "runtime/op/kernels/batch_norm.h"
#include "runtime/op/registry/infer.h"

typedef struct group_params {
    int32_t num_groups;  // of GroupNorm
    double eps;
    bool output_mean_var;
} group_params;

static const mxn_field group_fields[] = {
    {MXN_FIELD(group_params, num_groups, INT, "1"), .min = 1, .max = INT32_MAX},
    {MXN_FIELD(group_params, eps, WIDE_FLOAT, "9.99999975e-06")},
    {MXN_FIELD(group_params, output_mean_var, BOOL, "0")},
    {0},
};

static const mxn_field instance_fields[] = {
    {MXN_FIELD(group_params, eps, WIDE_FLOAT, "0.00100000005")},
    {0},
};

enum { DATA, GAMMA, BETA };  // inputs
enum { OUT, MEAN, DEVIATION };  // outputs
enum { B_GRADIENT, B_DATA, B_GAMMA, B_MEAN, B_DEVIATION };  // inputs of the gradient
enum { OF_GROUPS, OF_CHANNELS };  // variants
enum { CHANNELS = 1 };  // the axis

static uint32_t visible(const void *values)
{
    return ((const group_params *)values)->output_mean_var ? 3 : 1;
}

static int64_t groups_of(const mxn_params *params, const mxn_shape *data)
{
    const group_params *p = (const void *)params->values;
    return params->op->def->variant == OF_CHANNELS ? data->dims[CHANNELS] : p->num_groups;
}

// ---- shapes -------------------------------------------------------------------------------------
static int check_data(const mxn_shapes *shapes, const mxn_shape *data)
{
    const bool of_groups = shapes->params->op->def->variant == OF_GROUPS;
    if (data->ndim < (of_groups ? 3 : 2)) {
        return mxn__shape_refused(shapes, DATA, "it must be samples, channels%s",
                                  of_groups ? " and axes of space" : " and axes of space, if any");
    }
    const int64_t groups = groups_of(shapes->params, data), channels = data->dims[CHANNELS];
    if (of_groups && channels >= 0 && channels % groups != 0) {
        return mxn__shape_refused(shapes, DATA,
                                  "its %lld channels cannot be num_groups=%lld of one size",
                                  (long long)channels, (long long)groups);
    }
    return 0;
}

// A number of each channel, or where gamma is such a vector, of each group.
static int merge_scales(const mxn_shapes *shapes, int64_t groups, int64_t channels)
{
    const mxn_shape *gamma = shapes->inputs[GAMMA], *beta = shapes->inputs[BETA];
    const bool of_group = (gamma->ndim == 1 && gamma->dims[0] == groups) ||
                          (beta->ndim == 1 && beta->dims[0] == groups);
    const mxn_shape numbers = {.ndim = 1, .dims = {of_group ? groups : channels}};
    int error = mxn__shape_input(shapes, GAMMA, &numbers);
    return error != 0 ? error : mxn__shape_input(shapes, BETA, &numbers);
}

static int group_shapes(const mxn_shapes *shapes)
{
    int error = mxn__shape_output(shapes, OUT, shapes->inputs[DATA]);
    const mxn_shape *data = shapes->inputs[DATA];
    if (error != 0 || data->ndim < 0 || !mxn_shape_known(data)) {
        return error;
    }
    error = check_data(shapes, data);
    if (error != 0) {
        return error;
    }
    const int64_t groups = groups_of(shapes->params, data);
    const mxn_shape moments = {.ndim = 2, .dims = {data->dims[0], groups}};
    error = merge_scales(shapes, groups, data->dims[CHANNELS]);
    for (uint32_t i = MEAN; error == 0 && i <= DEVIATION; i++) {
        error = mxn__shape_output(shapes, i, &moments);
    }
    return error;
}

// ---- kernels ------------------------------------------------------------------------------------
static mxn_groups view_of(const mxn_job *job, const mxn_shape *data, const mxn_shape *gamma)
{
    const int64_t channels = data->dims[CHANNELS];
    const int64_t each = data->dims[0] * channels;
    const int64_t groups = gamma->dims[0] == 0 ? 1 : groups_of(job->params, data);
    return (mxn_groups){
        .samples = data->dims[0],
        .groups = groups,
        .members = channels / groups,
        .inner = each == 0 ? 0 : (int64_t)mxn_shape_size(data) / each,
        .of_channel = gamma->dims[0] == channels,
    };
}

static int group_forward(mxn_job *job)
{
    const group_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = job->outputs;
    const mxn_group_norm b = {
        .s = view_of(job, in[DATA].shape, in[GAMMA].shape),
        .data = in[DATA].data,
        .gamma = in[GAMMA].data,
        .beta = in[BETA].data,
        .to = out[OUT].data,
        .means = out[MEAN].data,
        .deviations = out[DEVIATION].data,
        .epsilon = p->eps,
    };
    const bool is_double = in[DATA].dtype == MXN_FLOAT64;
    int error = mxn__real_type(job, in[DATA].dtype);
    if (error == 0 && mxn_shape_size(in[DATA].shape) != 0) {
        MXN_WIDEST(mxn__group_norm)->forward[is_double](&b, 0, b.s.samples);
        return 0;
    }
    for (int i = MEAN; error == 0 && i <= DEVIATION; i++) {  // of groups without elements
        if (out[i].data != NULL) {
            const size_t bytes = is_double ? sizeof(double) : sizeof(float);
            memset(out[i].data, 0, mxn_shape_size(out[i].shape) * bytes);
        }
    }
    return error;
}

// Gradients of gamma and beta are made as doubles in the workspace.
static uint64_t backward_workspace(const mxn_job *job)
{
    return 2 * mxn_shape_size(job->inputs[B_GAMMA].shape) * sizeof(double);
}

static int group_backward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = job->outputs;
    const int32_t dtype = in[B_DATA].dtype;
    const size_t scales = mxn_shape_size(in[B_GAMMA].shape);
    double *sums = job->workspace;
    const mxn_group_norm_back b = {
        .s = view_of(job, in[B_DATA].shape, in[B_GAMMA].shape),
        .gradient = in[B_GRADIENT].data,
        .data = in[B_DATA].data,
        .gamma = in[B_GAMMA].data,
        .means = in[B_MEAN].data,
        .deviations = in[B_DEVIATION].data,
        .to = out[DATA].data,
        .to_gamma = sums,
        .to_beta = sums + scales,
    };
    int error = mxn__real_type(job, dtype);
    if (error != 0 || scales == 0) {
        return error;
    }
    memset(sums, 0, 2 * scales * sizeof *sums);
    if (mxn_shape_size(in[B_DATA].shape) != 0) {
        MXN_WIDEST(mxn__group_norm)->backward[dtype == MXN_FLOAT64](&b, 0, b.s.samples);
    }
    for (int i = GAMMA; i <= BETA; i++) {
        if (out[i].data != NULL) {
            mxn_cast(out[i].data, dtype, i == GAMMA ? b.to_gamma : b.to_beta, MXN_FLOAT64, scales);
        }
    }
    return 0;
}

// ---- the table ----------------------------------------------------------------------------------
#define FORWARD(variant_, fields_, backward_)                                         \
    .inputs = "data gamma beta", .outputs = "output mean std", .output_count = 3,     \
    .variant = (variant_), .fields = (fields_), .params_bytes = sizeof(group_params), \
    .visible_of = visible, .shapes = group_shapes, .takes = MXN_TAKES_REALS,          \
    .gradient = MXN_GRADIENT({.op = (backward_), .takes = "g0 i0 i1 o1 o2"}),         \
    .forward = group_forward, .flops_each = 8
#define BACKWARD(variant_, fields_)                                                       \
    .input_count = 5, .output_count = 3, .variant = (variant_), .fields = (fields_),      \
    .params_bytes = sizeof(group_params), .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,       \
    .takes = MXN_TAKES_REALS, .forward = group_backward, .workspace = backward_workspace, \
    .flops_each = 12

static const mxn_op_def table[] = {
    {
        .name = "GroupNorm",
        .aliases = "_npx_group_norm",
        .description = "Groups of channels with mean 0 and deviation 1, scaled and shifted.",
        FORWARD(OF_GROUPS, group_fields, "_backward_GroupNorm"),
    },
    {
        .name = "InstanceNorm",
        .aliases = "_npx_instance_norm",
        .description = "Channels of each sample with mean 0 and deviation 1, scaled and shifted.",
        FORWARD(OF_CHANNELS, instance_fields, "_backward_InstanceNorm"),
    },
    {.name = "_backward_GroupNorm", BACKWARD(OF_GROUPS, group_fields)},
    {.name = "_backward_InstanceNorm", BACKWARD(OF_CHANNELS, instance_fields)},
};

MXN_FAMILY(group_norm, table);
