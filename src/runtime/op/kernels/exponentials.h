// SPDX-License-Identifier: Apache-2.0
// Functions of a float that call none of libm's, so that loops of them are vector code; those of a
// double are libm's.
#ifndef MXN_OP_KERNELS_EXPONENTIALS_H
#define MXN_OP_KERNELS_EXPONENTIALS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// exp of a float without a call, so that loops are vector code: 2 to the power of a whole number,
// times a polynomial of what is left (the coefficients are Cephes'). Within 2 units of the last
// place; beyond what a float holds it stays at the last one it does.
static inline float power_float(float x)
{
    const float limited = x < -87 ? -87 : x > 88 ? 88 : x;
    const float shifted = limited * 1.44269504f + 12582912.0f;  // 1.5 times 2 to the 23rd
    const float whole = shifted - 12582912.0f;
    const float r = limited - whole * 0.693359375f + whole * 2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4b400000u + 127u) << 23;
    float factor;
    memcpy(&factor, &bits, sizeof factor);
    return y * factor;
}

// Within 3 units of the last place. Where exp(x) is near the least float it is made of two factors.
static inline float sigmoid_float(float x)
{
    const float below = -fabsf(x);
    const bool is_far = below < -80;
    const float power = power_float(is_far ? below + 40 : below) * (is_far ? 4.24835426e-18f : 1);
    return (x < 0 ? power : 1) / (1 + power);
}
static inline double sigmoid_double(double x)
{
    return 1 / (1 + exp(-x));
}

// Within 2 units of the last place, and odd. Near 0, where the quotient would lose digits, a
// polynomial.
static inline float tangent_float(float x)
{
    const float z = x * x, far = 1 - 2 / (power_float(2 * fabsf(x)) + 1);
    float y = -5.70498872745e-3f;
    y = y * z + 2.06390887954e-2f;
    y = y * z - 5.37397155531e-2f;
    y = y * z + 1.33314422036e-1f;
    y = y * z - 3.33332819422e-1f;
    y = y * z * x + x;
    return copysignf(z < 0.390625f ? y : far, x);  // of -0 too
}
static inline double tangent_double(double x)
{
    return tanh(x);
}

#endif
