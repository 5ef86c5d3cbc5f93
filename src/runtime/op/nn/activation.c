// SPDX-License-Identifier: Apache-2.0
// Activation: a function of each element.
#include "runtime/op/nn/activation.h"

#include <math.h>

#include "runtime/op/registry/infer.h"
#include "runtime/op/loops/loops.h"

enum { RELU, SIGMOID, TANH, SOFTRELU, SOFTSIGN, LOG_SIGMOID, MISH };

typedef struct activation_params {
    int32_t act_type;
} activation_params;

static const mxn_word activations[] = {
    {"log_sigmoid", LOG_SIGMOID}, {"mish", MISH},         {"relu", RELU}, {"sigmoid", SIGMOID},
    {"softrelu", SOFTRELU},       {"softsign", SOFTSIGN}, {"tanh", TANH}, {0}};

static const mxn_field activation_fields[] = {
    {MXN_FIELD(activation_params, act_type, ENUM, NULL), .words = activations},
    {0},
};

static double softrelu(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double activate(int type, double x)
{
    switch (type) {
    case RELU:
        return x < 0 ? 0 : x;
    case SIGMOID:
        return 1 / (1 + exp(-x));
    case TANH:
        return tanh(x);
    case SOFTRELU:
        return softrelu(x);
    case SOFTSIGN:
        return x / (1 + fabs(x));
    case LOG_SIGMOID:
        return -softrelu(-x);
    default:  // MISH
        return x * tanh(softrelu(x));
    }
}

// From the input x and the output y.
static double activate_slope(int type, double x, double y)
{
    switch (type) {
    case RELU:
        return y > 0 ? 1 : 0;
    case SIGMOID:
        return y * (1 - y);
    case TANH:
        return 1 - y * y;
    case SOFTRELU:
        return -expm1(-y);
    case SOFTSIGN:
        return 1 / ((1 + fabs(x)) * (1 + fabs(x)));
    case LOG_SIGMOID:
        return -expm1(y);
    default: {  // MISH
        double t = tanh(softrelu(x));
        return t + x / (1 + exp(-x)) * (1 - t * t);
    }
    }
}

// relu is by far the most used: a loop of its own.
#define ACTIVATION(type)                                                                        \
    static void activation_##type(const mxn_job *job, size_t count)                             \
    {                                                                                           \
        const activation_params *p = mxn__values(job);                                          \
        const type *from = job->inputs[0].data;                                                 \
        type *to = job->outputs[0].data;                                                        \
        for (size_t i = 0; p->act_type == RELU && i < count; i++) {                             \
            to[i] = from[i] < 0 ? 0 : from[i];                                                  \
        }                                                                                       \
        for (size_t i = 0; p->act_type != RELU && i < count; i++) {                             \
            to[i] = (type)activate(p->act_type, (double)from[i]);                               \
        }                                                                                       \
    }                                                                                           \
    static void activation_back_##type(const mxn_job *job, size_t count)                        \
    {                                                                                           \
        const activation_params *p = mxn__values(job);                                          \
        const type *g = job->inputs[0].data, *y = job->inputs[1].data;                          \
        const type *x = job->inputs[2].data;                                                    \
        type *to = job->outputs[0].data;                                                        \
        for (size_t i = 0; p->act_type == RELU && i < count; i++) {                             \
            to[i] = y[i] > 0 ? g[i] : 0;                                                        \
        }                                                                                       \
        for (size_t i = 0; p->act_type != RELU && i < count; i++) {                             \
            to[i] =                                                                             \
                (type)((double)g[i] * activate_slope(p->act_type, (double)x[i], (double)y[i])); \
        }                                                                                       \
    }
ACTIVATION(float)
ACTIVATION(double)

static int activation_forward(mxn_job *job)
{
    size_t count = mxn_shape_size(job->outputs[0].shape);
    int error = mxn__real_type(job, job->outputs[0].dtype);
    if (error == 0) {
        (job->outputs[0].dtype == MXN_FLOAT32 ? activation_float : activation_double)(job, count);
    }
    return error;
}

static int activation_backward(mxn_job *job)
{
    size_t count = mxn_shape_size(job->outputs[0].shape);
    int error = mxn__real_type(job, job->outputs[0].dtype);
    if (error == 0) {
        (job->outputs[0].dtype == MXN_FLOAT32 ? activation_back_float
                                              : activation_back_double)(job, count);
    }
    return error;
}

bool mxn__activation_is_relu(const mxn_params *params)
{
    return ((const activation_params *)(const void *)params->values)->act_type == RELU;
}

static const mxn_op_def table[] = {
    {
        .name = "Activation",
        .aliases = "_npx_activation",
        .inputs = "data",
        .description = "A function of each element.",
        .fields = activation_fields,
        .params_bytes = sizeof(activation_params),
        .flags = MXN_OP_INPLACE,
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
        .flags = MXN_OP_BACKWARD | MXN_OP_SILENT | MXN_OP_INPLACE,
        .flops_each = 10,
    },
};

MXN_FAMILY(activation, table);
