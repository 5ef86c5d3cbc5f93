// SPDX-License-Identifier: Apache-2.0
// Loops of gradients of functions of two numbers, for float32 and float64.
#include <math.h>

#include "runtime/op/loops/binary_loops.h"

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
