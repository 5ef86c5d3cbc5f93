// SPDX-License-Identifier: Apache-2.0
// Rows of floats from one place to another. Part of simd_loops.h.
#ifndef MXN_OP_BACKEND_CPU_SIMD_COPY_H
#define MXN_OP_BACKEND_CPU_SIMD_COPY_H

#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/backend/cpu/simd_types.h"

// Copies a little more than asked for: what follows is written later, or is slack.
static inline void copy_some(float *to, const float *from, int64_t count)
{
    for (; count > HALF; count -= 2 * HALF, to += 2 * HALF, from += 2 * HALF) {
        *(half *)(void *)to = *(const half *)(const void *)from;
        *(half *)(void *)(to + HALF) = *(const half *)(const void *)(from + HALF);
    }
    if (count > 0) {
        *(half *)(void *)to = *(const half *)(const void *)from;
    }
}

// One segment for all rows: the inner loop is the same each time.
static inline __attribute__((always_inline)) void gather_one(float *to, int64_t to_row,
                                                             const float *image,
                                                             const int64_t *offsets, int64_t rows,
                                                             int64_t count)
{
    for (int64_t row = 0; row < rows; row++) {
        copy_some(to + row * to_row, image + offsets[row], count);
    }
}

static void gather(float *to, int64_t to_row, const float *image, const int64_t *offsets,
                   int64_t rows, const mxn_row_segment *segments, int64_t count, int64_t step)
{
    for (const mxn_row_segment *s = segments; s < segments + count; s++) {
        float *here = to + s->to;
        const float *from = image + s->from;
        if (step != 1) {
            for (int64_t row = 0; row < rows; row++) {
                for (int64_t k = 0; k < s->count; k++) {
                    here[row * to_row + k] = from[offsets[row] + k * step];
                }
            }
        } else if (s->count <= HALF) {
            gather_one(here, to_row, from, offsets, rows, HALF);
        } else if (s->count <= 2 * HALF) {
            gather_one(here, to_row, from, offsets, rows, 2 * HALF);
        } else {
            gather_one(here, to_row, from, offsets, rows, s->count);
        }
    }
}

static void scatter(float *image, const int64_t *offsets, const float *from, int64_t from_row,
                    int64_t rows, const mxn_row_segment *segments, int64_t count, int64_t step)
{
    for (int64_t row = 0; row < rows; row++, from += from_row) {
        for (const mxn_row_segment *s = segments; s < segments + count; s++) {
            float *to = image + offsets[row] + s->from;
            const float *here = from + s->to;
            if (s->count == HALF && step == 1) {
                *(half *)(void *)to += *(const half *)(const void *)here;
                continue;
            }
            int64_t k = 0;
            for (; step == 1 && k + HALF <= s->count; k += HALF) {
                *(half *)(void *)(to + k) += *(const half *)(const void *)(here + k);
            }
            for (; k < s->count; k++) {
                to[k * step] += here[k];
            }
        }
    }
}

static void gather_lines(float *to, const float *image, const int64_t *offsets, int64_t count,
                         int64_t width)
{
    if (width <= HALF) {
        for (int64_t i = 0; i < count; i += width) {
            *(half *)(void *)(to + i) = *(const half *)(const void *)(image + offsets[i]);
        }
        return;
    }
    for (int64_t i = 0; i < count; i += width) {
        copy_some(to + i, image + offsets[i], width);
    }
}

static void transpose_4(float *to, int64_t to_row, const float *from, int64_t from_row)
{
    const quad a = load_quad(from), b = load_quad(from + from_row);
    const quad c = load_quad(from + 2 * from_row), d = load_quad(from + 3 * from_row);
    const quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(quad *)(void *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(quad *)(void *)(to + to_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(quad *)(void *)(to + 2 * to_row) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
    *(quad *)(void *)(to + 3 * to_row) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

static void transpose(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t rows,
                      int64_t columns)
{
    for (int64_t j = 0; j < columns; j += 4) {
        for (int64_t i = 0; i < rows; i += 4) {
            if (i + 4 <= rows && j + 4 <= columns) {
                transpose_4(to + j * to_row + i, to_row, from + i * from_row + j, from_row);
                continue;
            }
            for (int64_t l = j; l < j + 4 && l < columns; l++) {
                for (int64_t k = i; k < i + 4 && k < rows; k++) {
                    to[l * to_row + k] = from[k * from_row + l];
                }
            }
        }
    }
}

#endif
