// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of functions of one number, of a float or a double x as ONE_OF chooses.
MXN_LOOP_OF void NAME(each)(T (*function)(T x), const T *from, T *to, size_t count)
{
    MXN_EACH_ALONE
    for (size_t i = 0; i < count; i++) {
        to[i] = function(from[i]);
    }
}

MXN_LOOP_OF void NAME(each_back)(T (*function)(T g, T y), const T *gradients, const T *values,
                                 T *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = function(gradients[i], values[i]);
    }
}

#define FUNCTION(name, expression)                                   \
    static inline T NAME(name##_of)(T x)                             \
    {                                                                \
        return (T)(expression);                                      \
    }                                                                \
    static void NAME(name)(const void *from, void *to, size_t count) \
    {                                                                \
        NAME(each)(NAME(name##_of), from, to, count);                \
    }
#define BACK(name, expression)                                                          \
    static inline T NAME(name##_back_of)(T g, T y)                                      \
    {                                                                                   \
        (void)y;                                                                        \
        return (T)(expression);                                                         \
    }                                                                                   \
    static void NAME(name##_back)(const void *g, const void *y, void *to, size_t count) \
    {                                                                                   \
        NAME(each_back)(NAME(name##_back_of), g, y, to, count);                         \
    }
#define PRODUCT(name)
#ifdef ONE_OF
#define REAL(name, of_float, of_double) FUNCTION(name, ONE_OF(of_float, of_double))
#define ROUNDING REAL
#define WHOLE(name, of_real, of_whole) FUNCTION(name, of_real)
#define GRADIENT BACK
#define WHOLE_GRADIENT(name, of_real, of_whole) BACK(name, of_real)
#else
#define REAL(name, of_float, of_double)
#define ROUNDING REAL
#define WHOLE(name, of_real, of_whole) FUNCTION(name, of_whole)
#define GRADIENT(name, expression)
#define WHOLE_GRADIENT(name, of_real, of_whole) BACK(name, of_whole)
#endif
#include "runtime/op/kernels/unary_functions.def"
#undef FUNCTION
#undef PRODUCT
#undef REAL
#undef ROUNDING
#undef WHOLE
#undef GRADIENT
#undef WHOLE_GRADIENT
#undef BACK
