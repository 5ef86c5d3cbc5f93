// SPDX-License-Identifier: Apache-2.0
// Windows of 2 x 2. Rows are short: 8 windows at a time, then 4, then one. Part of simd_loops.h.
#ifndef MXN_OP_BACKEND_CPU_SIMD_POOLING_H
#define MXN_OP_BACKEND_CPU_SIMD_POOLING_H

#include "runtime/op/backend/cpu/simd_types.h"

typedef int32_t half_mask __attribute__((vector_size(32)));
typedef int32_t quad_mask __attribute__((vector_size(16)));

static inline half evens_8(const float *row)
{
    const half a = *(const half *)(const void *)row, b = *(const half *)(const void *)(row + HALF);
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}

static inline half odds_8(const float *row)
{
    const half a = *(const half *)(const void *)row, b = *(const half *)(const void *)(row + HALF);
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

static inline void interleave_8(float *row, half even, half odd)
{
    *(half *)(void *)row = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
    *(half *)(void *)(row + HALF) = __builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15);
}

static inline quad evens_4(const float *row)
{
    return __builtin_shufflevector(load_quad(row), load_quad(row + 4), 0, 2, 4, 6);
}

static inline quad odds_4(const float *row)
{
    return __builtin_shufflevector(load_quad(row), load_quad(row + 4), 1, 3, 5, 7);
}

static inline void interleave_4(float *row, quad even, quad odd)
{
    *(quad *)(void *)row = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
    *(quad *)(void *)(row + 4) = __builtin_shufflevector(even, odd, 2, 6, 3, 7);
}

// A later number counts if it is larger: what the reference does, numbers that are none included.
#define POOL_OF(lanes, type, mask)                                                           \
    static inline type larger_##lanes(type a, type b)                                        \
    {                                                                                        \
        const mask is = (mask)(b > a);                                                       \
        return (type)(((mask)b & is) | ((mask)a & ~is));                                     \
    }                                                                                        \
    static inline void pool_##lanes(float *to, const float *top, const float *bottom)        \
    {                                                                                        \
        type most = larger_##lanes(evens_##lanes(top), odds_##lanes(top));                   \
        most = larger_##lanes(most, evens_##lanes(bottom));                                  \
        *(type *)(void *)to = larger_##lanes(most, odds_##lanes(bottom));                    \
    }                                                                                        \
    static inline void pool_back_##lanes(float *to_top, float *to_bottom, const float *from, \
                                         const float *top, const float *bottom)              \
    {                                                                                        \
        const type a = evens_##lanes(top), b = odds_##lanes(top);                            \
        const type c = evens_##lanes(bottom), d = odds_##lanes(bottom);                      \
        const type most_2 = larger_##lanes(a, b), most_3 = larger_##lanes(most_2, c);        \
        const mask g = *(const mask##_loose *)(const void *)from;                            \
        const mask is_d = (mask)(d > most_3), is_c = (mask)(c > most_2) & ~is_d;             \
        const mask is_b = (mask)(b > a) & ~is_c & ~is_d, is_a = ~(is_b | is_c | is_d);       \
        interleave_##lanes(to_top, (type)(g & is_a), (type)(g & is_b));                      \
        interleave_##lanes(to_bottom, (type)(g & is_c), (type)(g & is_d));                   \
    }
typedef int32_t half_mask_loose __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t quad_mask_loose __attribute__((vector_size(16), aligned(4), may_alias));
POOL_OF(8, half, half_mask)
POOL_OF(4, quad, quad_mask)

static inline void pool2_row(float *to, const float *top, const float *bottom, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        pool_8(to + i, top + 2 * i, bottom + 2 * i);
    }
    for (; i + 4 <= count; i += 4) {
        pool_4(to + i, top + 2 * i, bottom + 2 * i);
    }
    for (; i < count; i++) {
        float most = top[2 * i];
        most = top[2 * i + 1] > most ? top[2 * i + 1] : most;
        most = bottom[2 * i] > most ? bottom[2 * i] : most;
        to[i] = bottom[2 * i + 1] > most ? bottom[2 * i + 1] : most;
    }
}

static inline void pool2_back_row(float *to_top, float *to_bottom, const float *g, const float *top,
                                  const float *bottom, int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        pool_back_8(to_top + 2 * i, to_bottom + 2 * i, g + i, top + 2 * i, bottom + 2 * i);
    }
    for (; i + 4 <= count; i += 4) {
        pool_back_4(to_top + 2 * i, to_bottom + 2 * i, g + i, top + 2 * i, bottom + 2 * i);
    }
    for (; i < count; i++) {
        const float *const seen[] = {&top[2 * i], &top[2 * i + 1], &bottom[2 * i],
                                     &bottom[2 * i + 1]};
        float *const to[] = {&to_top[2 * i], &to_top[2 * i + 1], &to_bottom[2 * i],
                             &to_bottom[2 * i + 1]};
        int most = 0;
        for (int k = 0; k < 4; k++) {
            most = *seen[k] > *seen[most] ? k : most;
            *to[k] = 0;
        }
        *to[most] = g[i];
    }
}

static void pool2(float *to, const float *in, int64_t in_row, int64_t rows, int64_t count)
{
    for (int64_t y = 0; y < rows; y++, to += count, in += 2 * in_row) {
        pool2_row(to, in, in + in_row, count);
    }
}

static void pool2_back(float *to, const float *g, const float *in, int64_t in_row, int64_t rows,
                       int64_t count)
{
    for (int64_t y = 0; y < rows; y++, g += count, to += 2 * in_row, in += 2 * in_row) {
        pool2_back_row(to, to + in_row, g, in, in + in_row, count);
    }
}

#endif
