// SPDX-License-Identifier: Apache-2.0
// Loops of functions of two numbers and of their gradients. float32, float64, int32 and int64 have
// loops of their own; other types and mixtures are computed as doubles, in pieces that stay in the
// cache.
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

static double floor_real(double a, double b)
{
    return b == 0 ? 0 : floor(a / b);
}

static int64_t floor_whole(int64_t a, int64_t b)
{
    return b == 0 ? 0 : divide_whole(a, b) - (remainder_whole(a, b) != 0 && (a < 0) != (b < 0));
}

static double log_add_exp(double a, double b)
{
    double most = a > b ? a : b;
    return isinf(most) ? most : most + log1p(exp(-fabs(a - b)));
}

// X(NAME, of float32, of float64, of whole numbers as uint64_t or int64_t)
#define FUNCTIONS(X)                                                                      \
    X(ADD, a + b, a + b, (uint64_t)a + (uint64_t)b)                                       \
    X(SUB, a - b, a - b, (uint64_t)a - (uint64_t)b)                                       \
    X(MUL, a *b, a *b, (uint64_t)a *(uint64_t)b)                                          \
    X(DIV, a / b, a / b, divide_whole(a, b))                                              \
    X(MOD, remainder_real(a, b), remainder_real(a, b), remainder_whole(a, b))             \
    X(POWER, powf(a, b), pow(a, b), power_whole(a, b))                                    \
    X(MAXIMUM, a >= b || a != a ? a : b, a >= b || a != a ? a : b, a >= b ? a : b)        \
    X(MINIMUM, a <= b || a != a ? a : b, a <= b || a != a ? a : b, a <= b ? a : b)        \
    X(HYPOT, hypotf(a, b), hypot(a, b), hypot((double)a, (double)b))                      \
    X(ARCTAN2, atan2f(a, b), atan2(a, b), atan2((double)a, (double)b))                    \
    X(FMAX, fmaxf(a, b), fmax(a, b), a >= b ? a : b)                                      \
    X(FMIN, fminf(a, b), fmin(a, b), a <= b ? a : b)                                      \
    X(LOGADDEXP, log_add_exp(a, b), log_add_exp(a, b), log_add_exp((double)a, (double)b)) \
    X(FLOOR_DIVIDE, floor_real(a, b), floor_real(a, b), floor_whole(a, b))                \
    X(EQUAL, a == b, a == b, a == b)                                                      \
    X(NOT_EQUAL, a != b, a != b, a != b)                                                  \
    X(GREATER, a > b, a > b, a > b)                                                       \
    X(GREATER_EQUAL, a >= b, a >= b, a >= b)                                              \
    X(LESSER, a < b, a < b, a < b)                                                        \
    X(LESSER_EQUAL, a <= b, a <= b, a <= b)                                               \
    X(LOGICAL_AND, a != 0 && b != 0, a != 0 && b != 0, a != 0 && b != 0)                  \
    X(LOGICAL_OR, a != 0 || b != 0, a != 0 || b != 0, a != 0 || b != 0)                   \
    X(LOGICAL_XOR, (a != 0) != (b != 0), (a != 0) != (b != 0), (a != 0) != (b != 0))      \
    X(BITWISE_AND, (int64_t)a &(int64_t)b, (int64_t)a &(int64_t)b, a &b)                  \
    X(BITWISE_OR, (int64_t)a | (int64_t)b, (int64_t)a | (int64_t)b, a | b)                \
    X(BITWISE_XOR, (int64_t)a ^ (int64_t)b, (int64_t)a ^ (int64_t)b, a ^ b)

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
    [MXN_##name##_OF] = {name##_float, name##_double, name##_int32, name##_int64},
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

// ---- gradients ----------------------------------------------------------------------------------
#define GRADIENT_ROW(name, type, expression)                             \
    static void name##_##type(const mxn_gradient_row *row)               \
    {                                                                    \
        const type *gs = row->g, *as = row->a, *bs = row->b;             \
        type *to = row->to;                                              \
        for (int64_t i = 0; i < row->count; i++) {                       \
            const type g = gs[i];                                        \
            const type a = as[i * row->a_step], b = bs[i * row->b_step]; \
            (void)a, (void)b;                                            \
            if (row->sums == NULL) {                                     \
                to[i] = (type)(expression);                              \
            } else {                                                     \
                row->sums[i * row->to_step] += (double)(expression);     \
            }                                                            \
        }                                                                \
    }
#define GRADIENT_ROWS(name, of_left, of_right)  \
    GRADIENT_ROW(name##_LEFT, float, of_left)   \
    GRADIENT_ROW(name##_LEFT, double, of_left)  \
    GRADIENT_ROW(name##_RIGHT, float, of_right) \
    GRADIENT_ROW(name##_RIGHT, double, of_right)

// X(NAME, derivative by a, derivative by b)
#define GRADIENTS(X)                                                             \
    X(ADD, g, g)                                                                 \
    X(SUB, g, -g)                                                                \
    X(MUL, g *b, g *a)                                                           \
    X(DIV, g / b, -g * a / (b * b))                                              \
    X(MOD, g, -g *floor(a / b))                                                  \
    X(POWER, g *b *pow(a, b - 1), g *pow(a, b) * log(a))                         \
    X(MAXIMUM, a >= b ? g : 0, a >= b ? 0 : g)                                   \
    X(MINIMUM, a <= b ? g : 0, a <= b ? 0 : g)                                   \
    X(HYPOT, g *a / hypot(a, b), g * b / hypot(a, b))                            \
    X(ARCTAN2, g *b / (a * a + b * b), -g * a / (a * a + b * b))                 \
    X(FMAX, a >= b || b != b ? g : 0, a >= b || b != b ? 0 : g)                  \
    X(FMIN, a <= b || b != b ? g : 0, a <= b || b != b ? 0 : g)                  \
    X(LOGADDEXP, g / (1 + exp((double)(b - a))), g / (1 + exp((double)(a - b)))) \
    X(RPOWER, g *a *log(b), g * 0)
GRADIENTS(GRADIENT_ROWS)

typedef void (*gradient_function)(const mxn_gradient_row *row);

static const gradient_function gradients[][2][2] = {
#define ENTRY(name, of_left, of_right)                            \
    [MXN_##name##_OF] = {{name##_LEFT_float, name##_LEFT_double}, \
                         {name##_RIGHT_float, name##_RIGHT_double}},
    GRADIENTS(ENTRY)
#undef ENTRY
};

void mxn__binary_gradient(int function, uint32_t side, int32_t dtype, const mxn_gradient_row *row)
{
    gradients[function][side][dtype == MXN_FLOAT64](row);
}
