// SPDX-License-Identifier: Apache-2.0
// LayerNorm: each row along an axis less its mean, divided by its deviation, scaled and shifted
// element by element. Outputs beside the result: mean and deviation of the rows.
#include <string.h>

#include "runtime/op/kernels/layer_norm.h"
#include "runtime/op/nn/normalise.h"
#include "runtime/op/registry/infer.h"

typedef struct layer_params {
    int32_t axis;
    double eps;
    bool output_mean_var;
} layer_params;

static const mxn_field fields[] = {
    {MXN_FIELD(layer_params, axis, INT, "-1")},
    {MXN_FIELD(layer_params, eps, WIDE_FLOAT, "9.99999975e-06")},
    {MXN_FIELD(layer_params, output_mean_var, BOOL, "0")},
    {0},
};

enum { DATA, GAMMA, BETA };  // inputs
enum { OUT, MEAN, DEVIATION };  // outputs
enum { B_GRADIENT, B_DATA, B_GAMMA, B_MEAN, B_DEVIATION };  // inputs of the gradient

static uint32_t visible(const void *values)
{
    return ((const layer_params *)values)->output_mean_var ? 3 : 1;
}

static int layer_shapes(const mxn_shapes *shapes)
{
    const layer_params *params = (const void *)shapes->params->values;
    mxn_shape row, moments;
    int32_t axis;
    int error = mxn__normalised_shapes(shapes, params->axis, &axis, &row);
    if (error != 0 || axis < 0) {
        return error;
    }
    mxn_shape_copy(&moments, shapes->inputs[DATA]);
    moments.dims[axis] = 1;
    for (uint32_t i = GAMMA; error == 0 && i <= BETA; i++) {
        error = mxn__shape_input(shapes, i, &row);
    }
    for (uint32_t i = MEAN; error == 0 && i <= DEVIATION; i++) {
        error = mxn__shape_output(shapes, i, &moments);
    }
    return error;
}

static int layer_forward(mxn_job *job)
{
    const layer_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = job->outputs;
    mxn_layer_norm l = {
        .data = in[DATA].data,
        .gamma = in[GAMMA].data,
        .beta = in[BETA].data,
        .to = out[OUT].data,
        .means = out[MEAN].data,
        .deviations = out[DEVIATION].data,
        .epsilon = p->eps,
    };
    int error = mxn__normalised_view(job, DATA, p->axis, &l.s);
    if (error == 0) {
        MXN_WIDEST(mxn__layer_norm)->forward[in[DATA].dtype == MXN_FLOAT64](&l);
    }
    return error;
}

// ---- gradient -----------------------------------------------------------------------------------
// Those of gamma and beta are made as doubles in the workspace.
static uint64_t backward_workspace(const mxn_job *job)
{
    return 2 * mxn_shape_size(job->inputs[B_GAMMA].shape) * sizeof(double);
}

static int layer_backward(mxn_job *job)
{
    const layer_params *p = mxn__values(job);
    const mxn_operand *in = job->inputs, *out = job->outputs;
    const int32_t dtype = in[B_DATA].dtype;
    mxn_layer_norm_back l = {
        .gradient = in[B_GRADIENT].data,
        .data = in[B_DATA].data,
        .gamma = in[B_GAMMA].data,
        .means = in[B_MEAN].data,
        .deviations = in[B_DEVIATION].data,
        .to = out[DATA].data,
        .sums = job->workspace,
    };
    int error = mxn__normalised_view(job, B_DATA, p->axis, &l.s);
    if (error != 0) {
        return error;
    }
    memset(l.sums, 0, 2 * (size_t)l.s.count * sizeof *l.sums);
    MXN_WIDEST(mxn__layer_norm)->backward[dtype == MXN_FLOAT64](&l);
    for (int i = GAMMA; i <= BETA; i++) {
        if (out[i].data != NULL) {
            mxn_cast(out[i].data, dtype, l.sums + (i - GAMMA) * l.s.count, MXN_FLOAT64,
                     (size_t)l.s.count);
        }
    }
    return 0;
}

static const mxn_op_def table[] = {
    {
        .name = "LayerNorm",
        .aliases = "_npx_layer_norm",
        .inputs = "data gamma beta",
        .outputs = "output mean std",
        .output_count = 3,
        .description = "Rows with mean 0 and deviation 1, scaled and shifted.",
        .fields = fields,
        .params_bytes = sizeof(layer_params),
        .visible_of = visible,
        .shapes = layer_shapes,
        .gradient = MXN_GRADIENT({.op = "_backward_LayerNorm", .takes = "g0 i0 i1 o1 o2"}),
        .takes = MXN_TAKES_REALS,
        .forward = layer_forward,
        .flops_each = 8,
    },
    {
        .name = "_backward_LayerNorm",
        .input_count = 5,
        .output_count = 3,
        .fields = fields,
        .params_bytes = sizeof(layer_params),
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT,
        .takes = MXN_TAKES_REALS,
        .forward = layer_backward,
        .workspace = backward_workspace,
        .flops_each = 12,
    },
};

MXN_FAMILY(layer_norm, table);
