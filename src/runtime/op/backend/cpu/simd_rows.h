// SPDX-License-Identifier: Apache-2.0
// Rows of functions of two numbers, one loop of each function and type, which the compiler makes
// vectors of. Part of simd_loops.h.
#ifndef MXN_OP_BACKEND_CPU_SIMD_ROWS_H
#define MXN_OP_BACKEND_CPU_SIMD_ROWS_H

#include <math.h>

#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/loops/loops.h"
#include "runtime/tensor/dtype.h"

// ---- functions ----------------------------------------------------------------------------------
// Of whole numbers x / 0 and x % 0 are 0; the remainder has the divisor's sign.
static inline int64_t divide_signed(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t remainder_signed(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return 0;
    }
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static inline int64_t floor_signed(int64_t a, int64_t b)
{
    int64_t quotient = divide_signed(a, b);
    return b != 0 && b != -1 && quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static inline uint64_t power_unsigned(uint64_t a, uint64_t b)
{
    uint64_t result = 1;
    for (; b != 0; b >>= 1, a *= a) {
        result *= (b & 1) != 0 ? a : 1;
    }
    return result;
}

// To a negative power: what is left of the fraction without its digits.
static inline int64_t power_signed(int64_t a, int64_t b)
{
    if (b >= 0) {
        return (int64_t)power_unsigned((uint64_t)a, (uint64_t)b);
    }
    return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
}

// As MXNet's own operators have it: 0 where the divisor is.
static double old_remainder(double a, double b)
{
    if (b == 0) {
        return 0;
    }
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// numpy's: a is the quotient times b, plus the remainder. The quotient is made of the remainder,
// because the rounded a / b may be a whole number that the exact one is below.
#define DIVISION(type, suffix)                                                               \
    static type remainder_##type(type a, type b)                                             \
    {                                                                                        \
        type rest = fmod##suffix(a, b);                                                      \
        if (b == 0 || rest != rest) {                                                        \
            return rest;                                                                     \
        }                                                                                    \
        return rest == 0 ? copysign##suffix(0, b) : (rest < 0) != (b < 0) ? rest + b : rest; \
    }                                                                                        \
    static type floor_divide_##type(type a, type b)                                          \
    {                                                                                        \
        if (b == 0) {                                                                        \
            return a / b;                                                                    \
        }                                                                                    \
        type rest = fmod##suffix(a, b), quotient = (a - rest) / b;                           \
        quotient -= rest != 0 && (rest < 0) != (b < 0);                                      \
        if (quotient == 0) {                                                                 \
            return copysign##suffix(0, a / b);                                               \
        }                                                                                    \
        type below = floor##suffix(quotient);                                                \
        return quotient - below > (type)0.5 ? below + 1 : below;                             \
    }
DIVISION(float, f)
DIVISION(double, )

static double log_add_exp(double a, double b)
{
    double distance = a - b;
    if (a == b) {  // infinite ones too
        return a + 0.69314718055994530942;
    }
    return distance != distance ? distance : (distance > 0 ? a : b) + log1p(exp(-fabs(distance)));
}

// ---- loops --------------------------------------------------------------------------------------
// An output may be exactly an input's memory, which no iteration but its own reads.
MXN_LOOP_OF void each_pair(void (*one)(const void *left, const void *right, void *to),
                           const char *left, const char *right, size_t in_bytes, char *to,
                           size_t out_bytes, int64_t count)
{
    MXN_EACH_ALONE for (int64_t i = 0; i < count; i++)
    {
        one(left + i * (int64_t)in_bytes, right + i * (int64_t)in_bytes,
            to + i * (int64_t)out_bytes);
    }
}

#define ROW(name, suffix, type, result, expression)                                           \
    static inline void name##_one_##suffix(const void *left, const void *right, void *to)     \
    {                                                                                         \
        const type a = *(const type *)left, b = *(const type *)right;                         \
        *(result *)to = (result)(expression);                                                 \
    }                                                                                         \
    static void name##_##suffix(const void *left, const void *right, void *to, int64_t count) \
    {                                                                                         \
        each_pair(name##_one_##suffix, left, right, sizeof(type), to, sizeof(result), count); \
    }
#define FLOAT_ROWS(name, of_float, of_double) \
    ROW(name, float, float, float, of_float)  \
    ROW(name, double, double, double, of_double)
#define UNSIGNED_ROWS(name, expression)               \
    ROW(name, uint8, uint8_t, uint8_t, expression)    \
    ROW(name, uint16, uint16_t, uint16_t, expression) \
    ROW(name, uint32, uint32_t, uint32_t, expression) \
    ROW(name, uint64, uint64_t, uint64_t, expression)
#define SIGNED_ROWS(name, expression)              \
    ROW(name, int8, int8_t, int8_t, expression)    \
    ROW(name, int16, int16_t, int16_t, expression) \
    ROW(name, int32, int32_t, int32_t, expression) \
    ROW(name, int64, int64_t, int64_t, expression)

#define WRAPS(name, of_float, of_whole) \
    FLOAT_ROWS(name, of_float, of_float) UNSIGNED_ROWS(name, of_whole)
#define NUMBER(name, of_float, of_double, of_signed, of_unsigned) \
    FLOAT_ROWS(name, of_float, of_double)                         \
    SIGNED_ROWS(name, of_signed) UNSIGNED_ROWS(name, of_unsigned)
#define REAL(name, of_float, of_double) FLOAT_ROWS(name, of_float, of_double)
#define BITS(name, expression) UNSIGNED_ROWS(name, expression)
#define TRUTH(name, expression)                   \
    ROW(name, float, float, bool, expression)     \
    ROW(name, double, double, bool, expression)   \
    ROW(name, uint8, uint8_t, bool, expression)   \
    ROW(name, uint16, uint16_t, bool, expression) \
    ROW(name, uint32, uint32_t, bool, expression) \
    ROW(name, uint64, uint64_t, bool, expression) \
    ROW(name, int8, int8_t, bool, expression)     \
    ROW(name, int16, int16_t, bool, expression)   \
    ROW(name, int32, int32_t, bool, expression)   \
    ROW(name, int64, int64_t, bool, expression)   \
    ROW(name, wide, mxn_wide, bool, expression)
#include "runtime/op/loops/binary_functions.def"
#undef WRAPS
#undef NUMBER
#undef REAL
#undef BITS
#undef TRUTH

#define FLOATS_OF(name) [MXN_FLOAT32] = name##_float, [MXN_FLOAT64] = name##_double
#define UNSIGNED_OF(name)                                                                   \
    [MXN_UINT8] = name##_uint8, [MXN_UINT16] = name##_uint16, [MXN_UINT32] = name##_uint32, \
    [MXN_UINT64] = name##_uint64
#define SIGNED_OF(name, suffix)                                         \
    [MXN_INT8] = name##_##suffix##8, [MXN_INT16] = name##_##suffix##16, \
    [MXN_INT32] = name##_##suffix##32, [MXN_INT64] = name##_##suffix##64

static const mxn_function_rows function_rows[MXN_BINARY_COUNT] = {
#define WRAPS(name, of_float, of_whole) \
    {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, uint)}, NULL},
#define NUMBER(name, of_float, of_double, of_signed, of_unsigned) \
    {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, int)}, NULL},
#define REAL(name, of_float, of_double) {{FLOATS_OF(name)}, NULL},
#define BITS(name, expression) {{UNSIGNED_OF(name), SIGNED_OF(name, uint)}, NULL},
#define TRUTH(name, expression) \
    {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, int)}, name##_wide},
#include "runtime/op/loops/binary_functions.def"
};

#endif
