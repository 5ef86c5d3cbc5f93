// SPDX-License-Identifier: Apache-2.0
// Tiles of products of matrices. Part of simd_loops.h.
#ifndef MXN_OP_BACKEND_CPU_SIMD_TILES_H
#define MXN_OP_BACKEND_CPU_SIMD_TILES_H

#include <string.h>

#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/backend/cpu/simd_types.h"

// Everything that does not depend on data is a constant here, so that the sums stay in registers.
// What is in c is added at the end: of a deep product that comes in parts, sums of parts are added,
// and not each number to the sum of all before it, whose last digits would swallow it.
static inline __attribute__((always_inline)) void tile_of(const mxn_tile *t, int rows, int vectors,
                                                          float *c, int64_t c_row)
{
    vec sum[MXN_TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = all_of(t->start != NULL && !t->adds ? t->start[r] : 0);
        }
    }
    const float *a = t->a, *b = t->b;
    for (int64_t i = 0; i < t->count; i++, a += t->a_step, b += t->b_row) {
        vec with[TILE_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            with[v] = load(b + v * LANES);
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            const vec factor = all_of(a[r * t->a_row]);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; v++) {
                sum[r][v] += factor * with[v];
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            float *to = c + r * c_row + v * LANES;
            if (t->adds) {
                sum[r][v] += load(to);
            }
            store(to, sum[r][v]);
        }
    }
}

#define TILE(rows, vectors)                                                         \
    static void tile_##rows##_##vectors(const mxn_tile *t, float *c, int64_t c_row) \
    {                                                                               \
        tile_of(t, rows, vectors, c, c_row);                                        \
    }
#define TILES(vectors) \
    TILE(1, vectors) TILE(2, vectors) TILE(3, vectors) TILE(4, vectors) TILE(5, vectors)
#define TILE_NAMES(vectors)                                                                      \
    {                                                                                            \
        tile_1_##vectors, tile_2_##vectors, tile_3_##vectors, tile_4_##vectors, tile_5_##vectors \
    }
TILES(1)
TILES(2)
#if TILE_VECTORS == 4
TILES(3)
TILES(4)
#endif

static void (*const tiles[TILE_VECTORS][MXN_TILE_ROWS])(const mxn_tile *t, float *c,
                                                        int64_t c_row) = {
    TILE_NAMES(1),
    TILE_NAMES(2),
#if TILE_VECTORS == 4
    TILE_NAMES(3),
    TILE_NAMES(4),
#endif
};

// A tile whose last vector would stand out is computed in a temporary one.
static void tile(const mxn_tile *t)
{
    int64_t vectors = (t->columns + LANES - 1) / LANES;
    if (t->columns == vectors * LANES) {
        tiles[vectors - 1][t->rows - 1](t, t->c, t->c_row);
        return;
    }
    float temporary[MXN_TILE_ROWS * MXN_TILE_COLUMNS_MAX];
    for (int64_t r = 0; r < t->rows && t->adds; r++) {
        memcpy(temporary + r * MXN_TILE_COLUMNS_MAX, t->c + r * t->c_row,
               (size_t)t->columns * sizeof(float));
        memset(temporary + r * MXN_TILE_COLUMNS_MAX + t->columns, 0,
               (size_t)(vectors * LANES - t->columns) * sizeof(float));
    }
    tiles[vectors - 1][t->rows - 1](t, temporary, MXN_TILE_COLUMNS_MAX);
    for (int64_t r = 0; r < t->rows; r++) {
        memcpy(t->c + r * t->c_row, temporary + r * MXN_TILE_COLUMNS_MAX,
               (size_t)t->columns * sizeof(float));
    }
}

#endif
