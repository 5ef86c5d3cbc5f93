// SPDX-License-Identifier: Apache-2.0
// A template (kernels.h) of what combines whole numbers.
static inline T NAME(sum_of)(T a, T b)
{
    return (T)((WRAPS)a + (WRAPS)b);
}

static inline T NAME(prod_of)(T a, T b)
{
    return (T)((WRAPS)a * (WRAPS)b);
}

static inline T NAME(max_of)(T a, T b)
{
    return a > b ? a : b;
}

static inline T NAME(min_of)(T a, T b)
{
    return a < b ? a : b;
}

MXN_LOOP_OF void NAME(combine)(T (*function)(T a, T b), const T *from, T *to, int64_t step,
                               int64_t count)
{
    if (step == 0) {
        T all = *to;
        for (int64_t i = 0; i < count; i++) {
            all = function(all, from[i]);
        }
        *to = all;
        return;
    }
    assert(step == 1);
    for (int64_t i = 0; i < count; i++) {
        to[i] = function(to[i], from[i]);
    }
}

MXN_VECTOR_LOOP void NAME(sum)(const void *from, void *to, int64_t step, int64_t count)
{
    NAME(combine)(NAME(sum_of), from, to, step, count);
}

static void NAME(prod)(const void *from, void *to, int64_t step, int64_t count)
{
    NAME(combine)(NAME(prod_of), from, to, step, count);
}

static void NAME(max)(const void *from, void *to, int64_t step, int64_t count)
{
    NAME(combine)(NAME(max_of), from, to, step, count);
}

static void NAME(min)(const void *from, void *to, int64_t step, int64_t count)
{
    NAME(combine)(NAME(min_of), from, to, step, count);
}
