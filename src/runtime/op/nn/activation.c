// SPDX-License-Identifier: Apache-2.0
// Activation: a function of each element.
#include "runtime/op/nn/activation.h"

#include "runtime/op/kernels/activation.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/registry/infer.h"

typedef struct activation_params {
    int32_t act_type;
} activation_params;

static const mxn_word activations[] = {{"log_sigmoid", MXN_ACT_LOG_SIGMOID},
                                       {"mish", MXN_ACT_MISH},
                                       {"relu", MXN_ACT_RELU},
                                       {"sigmoid", MXN_ACT_SIGMOID},
                                       {"softrelu", MXN_ACT_SOFTRELU},
                                       {"softsign", MXN_ACT_SOFTSIGN},
                                       {"tanh", MXN_ACT_TANH},
                                       {0}};

static const mxn_field activation_fields[] = {
    {MXN_FIELD(activation_params, act_type, ENUM, NULL), .words = activations},
    {0},
};

static int function_of(const mxn_job *job)
{
    return ((const activation_params *)mxn__values(job))->act_type;
}

static int activation_forward(mxn_job *job)
{
    const mxn_operand *out = &job->outputs[0];
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        MXN_WIDEST(mxn__activation)
            ->forward[out->dtype == MXN_FLOAT64](function_of(job), job->inputs[0].data, out->data,
                                                 mxn_shape_size(out->shape));
    }
    return error;
}

// Inputs: gradient, output, input.
static int activation_backward(mxn_job *job)
{
    const mxn_operand *in = job->inputs, *out = &job->outputs[0];
    int error = mxn__real_type(job, out->dtype);
    if (error == 0) {
        MXN_WIDEST(mxn__activation)
            ->backward[out->dtype == MXN_FLOAT64](function_of(job), in[0].data, in[1].data,
                                                  in[2].data, out->data,
                                                  mxn_shape_size(out->shape));
    }
    return error;
}

bool mxn__activation_is_relu(const mxn_params *params)
{
    return ((const activation_params *)(const void *)params->values)->act_type == MXN_ACT_RELU;
}

static const mxn_op_def table[] = {
    {
        .name = "Activation",
        .aliases = "_npx_activation",
        .inputs = "data",
        .description = "A function of each element.",
        .fields = activation_fields,
        .params_bytes = sizeof(activation_params),
        .flags = MXN_OP_POINTWISE,
        .inplace = MXN_INPLACE_ALL,
        .gradient = MXN_GRADIENT({.op = "_backward_Activation", .takes = "g0 o0 i0"}),
        .takes = MXN_TAKES_REALS,
        .forward = activation_forward,
        .flops_each = 10,
    },
    {
        .name = "_backward_Activation",
        .input_count = 3,
        .fields = activation_fields,
        .params_bytes = sizeof(activation_params),
        .takes = MXN_TAKES_REALS,
        .forward = activation_backward,
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_POINTWISE,
        .inplace = MXN_INPLACE_ALL,
        .flops_each = 10,
    },
};

MXN_FAMILY(activation, table);
