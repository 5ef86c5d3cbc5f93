// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/softmax.h"

#include <math.h>
#include <string.h>

// ---- what the logarithm needs of rows of floats, in parts that are vectors of every width
// --------
enum { LANES = 8, CHUNK = 32 };

// The largest of `count` numbers, of which there is at least one.
static float largest(const float *x, int64_t count)
{
    float parts[LANES];
    for (int k = 0; k < LANES; k++) {
        parts[k] = x[k < count ? k : 0];
    }
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            parts[k] = x[i + k] > parts[k] ? x[i + k] : parts[k];
        }
    }
    float most = parts[0];
    for (int k = 1; k < LANES; k++) {
        most = parts[k] > most ? parts[k] : most;
    }
    for (; i < count; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

// Number by number exp of what is not above 0: 2^k times a polynomial of what is left, at most
// ln 2 / 2 in size. Adding `shift` rounds to a whole number, which then is in the low bits.
// Below -700 it is that of -700, nothing beside a sum that has a 1. A NaN stays one.
MXN_VECTOR_LOOP void exp_below(double *x)
{
    const double shift = 0x1.8p52;
    double scaled[CHUNK];
    uint64_t bits[CHUNK];
    for (int i = 0; i < CHUNK; i++) {
        x[i] = x[i] < -700 ? -700 : x[i];
        scaled[i] = x[i] * 1.44269504088896340736 + shift;
    }
    memcpy(bits, scaled, sizeof bits);
    for (int i = 0; i < CHUNK; i++) {
        bits[i] = (bits[i] + 1023) << 52;
        const double k = scaled[i] - shift;
        const double r = x[i] - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10;
        const double tail =
            1. / 720 + r * (1. / 5040 + r * (1. / 40320 + r * (1. / 362880 + r * (1. / 3628800))));
        x[i] =
            1 + r * (1 + r * (1. / 2 + r * (1. / 6 + r * (1. / 24 + r * (1. / 120 + r * tail)))));
    }
    memcpy(scaled, bits, sizeof bits);
    for (int i = 0; i < CHUNK; i++) {
        x[i] *= scaled[i];
    }
}

// The sum of exp((x - most) * scale), of which none is above 1, with 12 right digits.
static double exp_sum(const float *x, int64_t count, float most, double scale)
{
    double parts[CHUNK] = {0}, powers[CHUNK], sum = 0;
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int n = count - done < CHUNK ? (int)(count - done) : CHUNK;
        for (int i = 0; i < n; i++) {
            powers[i] = ((double)x[done + i] - (double)most) * scale;
        }
        for (int i = n; i < CHUNK; i++) {
            powers[i] = -700;
        }
        exp_below(powers);
        for (int i = 0; i < CHUNK; i++) {
            parts[i] += powers[i];
        }
    }
    for (int i = 0; i < CHUNK; i++) {
        sum += parts[i];
    }
    return sum;
}

// ---- rows ---------------------------------------------------------------------------------------
#define TEMPLATE "runtime/op/kernels/softmax_kernels.h"
#include "runtime/op/kernels/each_real.h"

static void log_row(float *at, int64_t count, double scale)
{
    const float most = largest(at, count);
    shift_row_float(at, count, most, scale, log(exp_sum(at, count, most, scale)));
}

const mxn_softmax_kernels MXN_WIDE(mxn__softmax) = {
    .row = {row_float, row_double},
    .log_row = log_row,
    .backward = {backward_float, backward_double},
};
