// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/leaky_relu.h"

#include <math.h>

static const double selu_scale = 1.0507009873554804934, selu_alpha = 1.6732632423543772848;

// Those that have no loop of their own, and what all have with slopes that are far apart.
static double leaky(int32_t type, double x, double slope)
{
    switch (type) {
    case MXN_LEAKY_ELU:
        return x > 0 ? x : slope * expm1(x);
    case MXN_LEAKY_SELU:
        return selu_scale * (x > 0 ? x : selu_alpha * expm1(x));
    case MXN_LEAKY_GELU:
        return x * 0.5 * (1 + erf(x * 0.70710678118654752440));
    default:
        return x > 0 ? x : x * slope;
    }
}

static double leaky_slope(int32_t type, double x, double slope)
{
    switch (type) {
    case MXN_LEAKY_ELU:
        return x > 0 ? 1 : slope * exp(x);
    case MXN_LEAKY_SELU:
        return selu_scale * (x > 0 ? 1 : selu_alpha * exp(x));
    case MXN_LEAKY_GELU:
        return 0.5 * (1 + erf(x * 0.70710678118654752440)) +
               x * 0.39894228040143267794 * exp(-0.5 * x * x);
    default:
        return x > 0 ? 1 : slope;
    }
}

// Whether the function is a slope below 0 and nothing more.
static bool is_line(int function)
{
    return function == MXN_LEAKY_LEAKY || function == MXN_LEAKY_PRELU ||
           function == MXN_LEAKY_RRELU;
}

#define TEMPLATE "runtime/op/kernels/leaky_relu_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_leaky_kernels MXN_WIDE(mxn__leaky) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
};
