// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/activation.h"

#include <math.h>

#include "runtime/op/kernels/exponentials.h"

static double softrelu(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

// Those that have no loop of their own.
static double activate(int type, double x)
{
    switch (type) {
    case MXN_ACT_SOFTRELU:
        return softrelu(x);
    case MXN_ACT_LOG_SIGMOID:
        return -softrelu(-x);
    default:  // MISH
        return x * tanh(softrelu(x));
    }
}

// From the input x and the output y.
static double activate_slope(int type, double x, double y)
{
    switch (type) {
    case MXN_ACT_SOFTRELU:
        return -expm1(-y);
    case MXN_ACT_LOG_SIGMOID:
        return -expm1(y);
    default: {  // MISH
        double t = tanh(softrelu(x));
        return t + x / (1 + exp(-x)) * (1 - t * t);
    }
    }
}

#define TEMPLATE "runtime/op/kernels/activation_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_activation_kernels MXN_WIDE(mxn__activation) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
};
