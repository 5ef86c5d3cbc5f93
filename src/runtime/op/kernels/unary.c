// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/unary.h"

#include <math.h>

#include "runtime/op/kernels/exponentials.h"

// ---- functions that libm has not ----------------------------------------------------------------
static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double mish_slope(double x)
{
    double t = tanh(softplus(x));
    return t + x / (1 + exp(-x)) * (1 - t * t);
}

// lgamma writes a global, the sign: not for many threads.
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

// Up to where the asymptotic series is good, by the recurrence; below 0 by reflection.
static double digamma(double x)
{
    if (x <= 0) {
        return digamma(1 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * x);
    }
    double sum = 0;
    for (; x < 10; x++) {
        sum -= 1 / x;
    }
    double r = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

// Its derivative, by the same three ways.
static double trigamma(double x)
{
    if (x <= 0) {
        double s = sin(3.14159265358979323846 * x);
        return 9.86960440108935861883 / (s * s) - trigamma(1 - x);
    }
    double sum = 0;
    for (; x < 10; x++) {
        sum += 1 / (x * x);
    }
    double r = 1 / (x * x);
    return sum + 1 / x + r / 2 +
           r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * 5 / 66))));
}

// From a rational guess by Newton's steps, which double the digits each time.
static double inverse_erf(double x)
{
    if (!(fabs(x) < 1)) {
        return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    }
    double l = log1p(-x * x), a = 4.3307467508 + l / 2;
    double y = copysign(sqrt(sqrt(a * a - l / 0.147) - a), x);
    for (int i = 0; i < 4; i++) {
        y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    }
    return y;
}

// ---- rows ---------------------------------------------------------------------------------------
#define T float
#define NAME(x) x##_float
#define ONE_OF(of_float, of_double) of_float
#include "runtime/op/kernels/unary_kernels.h"
#undef T
#undef NAME
#undef ONE_OF
#define T double
#define NAME(x) x##_double
#define ONE_OF(of_float, of_double) of_double
#include "runtime/op/kernels/unary_kernels.h"
#undef T
#undef NAME
#undef ONE_OF
#define TEMPLATE "runtime/op/kernels/unary_kernels.h"
#include "runtime/op/kernels/each_whole.h"

const mxn_unary_kernels MXN_WIDE(mxn__unary) = {
#define FLOATS_OF(name) [MXN_FLOAT32] = name##_float, [MXN_FLOAT64] = name##_double
#define REAL(name, of_float, of_double) .of[MXN_UNARY_##name] = {FLOATS_OF(name)},
#define ROUNDING REAL
#define ALL_OF(name)                                                           \
    FLOATS_OF(name), [MXN_UINT8] = name##_uint8, [MXN_INT8] = name##_int8,     \
                     [MXN_INT16] = name##_int16, [MXN_UINT16] = name##_uint16, \
                     [MXN_INT32] = name##_int32, [MXN_UINT32] = name##_uint32, \
                     [MXN_INT64] = name##_int64, [MXN_UINT64] = name##_uint64
#define WHOLE(name, of_real, of_whole) .of[MXN_UNARY_##name] = {ALL_OF(name)},
#define PRODUCT(name)
#define GRADIENT(name, expression) .gradients[MXN_UNARY_##name] = {FLOATS_OF(name##_back)},
#define WHOLE_GRADIENT(name, of_real, of_whole) \
    .gradients[MXN_UNARY_##name] = {ALL_OF(name##_back)},
#include "runtime/op/kernels/unary_functions.def"
};
