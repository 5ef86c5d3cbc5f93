// SPDX-License-Identifier: Apache-2.0
// The text of ceiling_16.c, ceiling_32.c and ceiling_64.c: VECTOR_BYTES, and TABLE for the name of
// the table. A chain is a variable: of an array of them gcc 12 keeps the sums in memory, and the
// loop has a quarter of its rate.
#include "profiler/analysis/roof/ceiling_kernels.h"

typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES)));

#define EACH_CHAIN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define BEGIN_CHAIN(i) vector a##i = zero + i;
#define STEP_CHAIN(i) a##i = a##i * b + c;
#define ADD_CHAIN(i) sum += a##i;

// The sums tend to 1: no denormal numbers, which are slow, and none that overflow.
static float multiply_add_f32(uint64_t count)
{
    typedef vector_f32 vector;
    const vector zero = {0}, b = zero + 0.999f, c = zero + 0.001f;
    EACH_CHAIN(BEGIN_CHAIN)
    for (uint64_t k = 0; k < count; k++) {
        EACH_CHAIN(STEP_CHAIN)
    }
    vector sum = zero;
    EACH_CHAIN(ADD_CHAIN)
    return sum[0];
}

static double multiply_add_f64(uint64_t count)
{
    typedef vector_f64 vector;
    const vector zero = {0}, b = zero + 0.999, c = zero + 0.001;
    EACH_CHAIN(BEGIN_CHAIN)
    for (uint64_t k = 0; k < count; k++) {
        EACH_CHAIN(STEP_CHAIN)
    }
    vector sum = zero;
    EACH_CHAIN(ADD_CHAIN)
    return sum[0];
}

static void triad(float *a, const float *b, const float *c, size_t count, uint64_t times)
{
    enum { LANES = VECTOR_BYTES / sizeof(float) };
    vector_f32 *to = (vector_f32 *)a;
    const vector_f32 *x = (const vector_f32 *)b, *y = (const vector_f32 *)c;
    for (uint64_t k = 0; k < times; k++) {
        for (size_t i = 0; i < count / LANES; i++) {
            to[i] = x[i] + 3.0f * y[i];
        }
        __asm__ volatile("" ::"r"(a) : "memory");  // all of it is written before it begins again
    }
}

const mxp_ceiling_kernels TABLE = {.vector_bytes = VECTOR_BYTES,
                                   .multiply_add_f32 = multiply_add_f32,
                                   .multiply_add_f64 = multiply_add_f64,
                                   .triad = triad};
