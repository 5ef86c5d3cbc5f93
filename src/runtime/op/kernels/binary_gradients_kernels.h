// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of gradients of functions of two numbers. What is added to a sum is not
// rounded to the type before.
MXN_LOOP_OF void NAME(each)(double (*function)(T g, T a, T b), const mxn_gradient_row *row)
{
    const T *g = row->g, *a = row->a, *b = row->b;
    T *to = row->to;
    if (row->sums != NULL) {
        for (int64_t i = 0; i < row->count; i++) {
            row->sums[i * row->to_step] += function(g[i], a[i * row->a_step], b[i * row->b_step]);
        }
        return;
    }
    for (int64_t i = 0; i < row->count; i++) {
        to[i] = (T)function(g[i], a[i * row->a_step], b[i * row->b_step]);
    }
}

#define GRADIENT_OF(name, expression)                   \
    static inline double NAME(name##_of)(T g, T a, T b) \
    {                                                   \
        (void)g, (void)a, (void)b;                      \
        return (double)(expression);                    \
    }                                                   \
    static void NAME(name)(const mxn_gradient_row *row) \
    {                                                   \
        NAME(each)(NAME(name##_of), row);               \
    }
#define GRADIENT(name, of_left, of_right) \
    GRADIENT_OF(name##_LEFT, of_left)     \
    GRADIENT_OF(name##_RIGHT, of_right)
#include "runtime/op/kernels/binary_gradients.def"
#undef GRADIENT
#undef GRADIENT_OF
