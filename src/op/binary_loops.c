// SPDX-License-Identifier: Apache-2.0
// Loops of functions of two numbers. float32, float64, int32 and int64 have loops of their own;
// other types and mixtures are computed as doubles, in pieces that stay in the cache.
#include "op/binary_loops.h"

#include <math.h>

#include "op/loops.h"

// Of whole numbers x / 0 and x % 0 are 0; the remainder has the divisor's sign.
static int64_t divide_whole(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_whole(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return 0;
    }
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double remainder_real(double a, double b)
{
    if (b == 0) {
        return 0;
    }
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t power_whole(int64_t a, int64_t b)
{
    return (int64_t)pow((double)a, (double)b);
}

// X(name, of float32, of float64, of whole numbers as uint64_t or int64_t)
#define FUNCTIONS(X)                                                               \
    X(add, a + b, a + b, (uint64_t)a + (uint64_t)b)                                \
    X(sub, a - b, a - b, (uint64_t)a - (uint64_t)b)                                \
    X(mul, a *b, a *b, (uint64_t)a *(uint64_t)b)                                   \
    X(div, a / b, a / b, divide_whole(a, b))                                       \
    X(mod, remainder_real(a, b), remainder_real(a, b), remainder_whole(a, b))      \
    X(power, powf(a, b), pow(a, b), power_whole(a, b))                             \
    X(maximum, a >= b || a != a ? a : b, a >= b || a != a ? a : b, a >= b ? a : b) \
    X(minimum, a <= b || a != a ? a : b, a <= b || a != a ? a : b, a <= b ? a : b) \
    X(hypot, hypotf(a, b), hypot(a, b), hypot((double)a, (double)b))               \
    X(equal, a == b, a == b, a == b)                                               \
    X(not_equal, a != b, a != b, a != b)                                           \
    X(greater, a > b, a > b, a > b)                                                \
    X(greater_equal, a >= b, a >= b, a >= b)                                       \
    X(lesser, a < b, a < b, a < b)                                                 \
    X(lesser_equal, a <= b, a <= b, a <= b)                                        \
    X(logical_and, a != 0 && b != 0, a != 0 && b != 0, a != 0 && b != 0)           \
    X(logical_or, a != 0 || b != 0, a != 0 || b != 0, a != 0 || b != 0)            \
    X(logical_xor, (a != 0) != (b != 0), (a != 0) != (b != 0), (a != 0) != (b != 0))

// The cases that matter, each a loop the compiler can make vectors of.
#define ROW(name, suffix, type, expression)                                             \
    static void name##_##suffix(const void *left, int64_t left_step, const void *right, \
                                int64_t right_step, void *to, int64_t count)            \
    {                                                                                   \
        const type *lhs = left, *rhs = right;                                           \
        type *out = to;                                                                 \
        if (left_step == 1 && right_step == 1) {                                        \
            for (int64_t i = 0; i < count; i++) {                                       \
                const type a = lhs[i], b = rhs[i];                                      \
                out[i] = (type)(expression);                                            \
            }                                                                           \
        } else if (left_step == 1 && right_step == 0) {                                 \
            const type b = rhs[0];                                                      \
            for (int64_t i = 0; i < count; i++) {                                       \
                const type a = lhs[i];                                                  \
                out[i] = (type)(expression);                                            \
            }                                                                           \
        } else {                                                                        \
            for (int64_t i = 0; i < count; i++) {                                       \
                const type a = lhs[i * left_step], b = rhs[i * right_step];             \
                out[i] = (type)(expression);                                            \
            }                                                                           \
        }                                                                               \
    }
#define ROWS(name, of_float, of_double, of_whole) \
    ROW(name, float, float, of_float)             \
    ROW(name, double, double, of_double)          \
    ROW(name, int32, int32_t, of_whole)           \
    ROW(name, int64, int64_t, of_whole)
FUNCTIONS(ROWS)

typedef void (*row_function)(const void *left, int64_t left_step, const void *right,
                             int64_t right_step, void *to, int64_t count);

static const struct {
    row_function of_float, of_double, of_int32, of_int64;
} functions[MXN_BINARY_COUNT] = {
#define ENTRY(name, of_float, of_double, of_whole) \
    {name##_float, name##_double, name##_int32, name##_int64},
    FUNCTIONS(ENTRY)
#undef ENTRY
};

static row_function function_of(int function, int32_t dtype)
{
    switch (dtype) {
    case MXN_FLOAT32:
        return functions[function].of_float;
    case MXN_FLOAT64:
        return functions[function].of_double;
    case MXN_INT32:
        return functions[function].of_int32;
    case MXN_INT64:
        return functions[function].of_int64;
    default:
        return NULL;
    }
}

enum { CHUNK = 256 };

// Elements from `done` on as doubles.
static void load(double *to, const mxn_row *row, int64_t done, int64_t count)
{
    size_t size = mxn_dtype_size(row->dtype);
    const char *from = (const char *)row->data + (size_t)(done * row->step) * size;
    if (row->step == 1) {
        mxn_cast(to, MXN_FLOAT64, from, row->dtype, (size_t)count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        mxn_cast(&to[i], MXN_FLOAT64, from + (size_t)(i * row->step) * size, row->dtype, 1);
    }
}

void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count)
{
    row_function own = function_of(function, to_dtype);
    if (own != NULL && a->dtype == to_dtype && b->dtype == to_dtype) {
        own(a->data, a->step, b->data, b->step, to, count);
        return;
    }
    double left[CHUNK], right[CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t n = count - done < CHUNK ? count - done : CHUNK;
        load(left, a, done, n);
        load(right, b, done, n);
        functions[function].of_double(left, 1, right, 1, left, n);
        mxn_cast((char *)to + (size_t)done * mxn_dtype_size(to_dtype), to_dtype, left, MXN_FLOAT64,
                 (size_t)n);
    }
}
