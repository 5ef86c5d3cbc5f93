// SPDX-License-Identifier: Apache-2.0
// The text of the loops. Included by vector_16.c, vector_32.c and vector_64.c, which the build
// compiles for processors that have such vectors, after defining
//
//   VECTOR_BYTES   the length of a vector
//   TILE_VECTORS   vectors in a row of a tile: as many as the registers hold
//   TABLE          the name of the table at the end
#include <math.h>
#include <string.h>

#include "op/cpu/vector.h"

enum { LANES = VECTOR_BYTES / 4, HALF = 8 };

typedef float vec __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float half __attribute__((vector_size(32), aligned(4), may_alias));

static inline vec load(const float *from)
{
    return *(const vec *)(const void *)from;
}

static inline void store(float *to, vec value)
{
    *(vec *)(void *)to = value;
}

static inline vec all_of(float value)
{
    return value - (vec){0};
}

// ---- tiles ------------------------------------------------------------------------------------
// Everything that does not depend on data is a constant here, so that the sums stay in registers.
static inline __attribute__((always_inline)) void tile_of(const mxn_tile *t, int rows, int vectors,
                                                          float *c, int64_t c_row)
{
    vec sum[MXN_TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++) {
            sum[r][v] = t->adds ? load(c + r * c_row + v * LANES)
                                : all_of(t->start != NULL ? t->start[r] : 0);
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
            store(c + r * c_row + v * LANES, sum[r][v]);
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

// A tile whose last vector would stand out is computed aside.
static void tile(const mxn_tile *t)
{
    int64_t vectors = (t->columns + LANES - 1) / LANES;
    if (t->columns == vectors * LANES) {
        tiles[vectors - 1][t->rows - 1](t, t->c, t->c_row);
        return;
    }
    float aside[MXN_TILE_ROWS * MXN_TILE_COLUMNS_MAX];
    for (int64_t r = 0; r < t->rows && t->adds; r++) {
        memcpy(aside + r * MXN_TILE_COLUMNS_MAX, t->c + r * t->c_row,
               (size_t)t->columns * sizeof(float));
        memset(aside + r * MXN_TILE_COLUMNS_MAX + t->columns, 0,
               (size_t)(vectors * LANES - t->columns) * sizeof(float));
    }
    tiles[vectors - 1][t->rows - 1](t, aside, MXN_TILE_COLUMNS_MAX);
    for (int64_t r = 0; r < t->rows; r++) {
        memcpy(t->c + r * t->c_row, aside + r * MXN_TILE_COLUMNS_MAX,
               (size_t)t->columns * sizeof(float));
    }
}

// ---- moving rows ------------------------------------------------------------------------------
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

static void gather(float *to, const float *image, const mxn_stretch *stretches, int64_t count,
                   int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        const mxn_stretch *s = &stretches[i];
        if (step == 1) {
            copy_some(to + s->to, image + s->from, s->count);
            continue;
        }
        for (int64_t k = 0; k < s->count; k++) {
            to[s->to + k] = image[s->from + k * step];
        }
    }
}

static void scatter(float *image, const float *from, const mxn_stretch *stretches, int64_t count,
                    int64_t step)
{
    for (int64_t i = 0; i < count; i++) {
        const mxn_stretch *s = &stretches[i];
        float *to = image + s->from;
        const float *here = from + s->to;
        int64_t k = 0;
        for (; step == 1 && k + HALF <= s->count; k += HALF) {
            *(half *)(void *)(to + k) += *(const half *)(const void *)(here + k);
        }
        for (; k < s->count; k++) {
            to[k * step] += here[k];
        }
    }
}

static void gather_rows(float *to, const float *from, int64_t count, int64_t from_row,
                        int64_t width)
{
    for (int64_t i = 0; i < count; i++, to += width, from += from_row) {
        copy_some(to, from, width);
    }
}

typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

static inline quad load_quad(const float *from)
{
    return *(const quad *)(const void *)from;
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

// ---- along memory -----------------------------------------------------------------------------
static float sum(const float *x, int64_t count)
{
    vec sums = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        sums += load(x + i);
    }
    float total = 0;
    for (int k = 0; k < LANES; k++) {
        total += sums[k];
    }
    for (; i < count; i++) {
        total += x[i];
    }
    return total;
}

// A number that is none stays none.
static void relu(float *to, const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = x[i] < 0 ? 0 : x[i];
    }
}

static void relu_back(float *to, const float *g, const float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = y[i] > 0 ? g[i] : 0;
    }
}

static void sgd(float *to, const float *w, const float *g, int64_t count, float keep, float rate,
                float limit)
{
    for (int64_t i = 0; i < count; i++) {
        float cut = g[i] < -limit ? -limit : g[i];
        cut = cut > limit ? limit : cut;
        to[i] = w[i] * keep - cut * rate;
    }
}

static void pool2(float *to, const float *top, const float *bottom, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float most = top[2 * i];
        most = top[2 * i + 1] > most ? top[2 * i + 1] : most;
        most = bottom[2 * i] > most ? bottom[2 * i] : most;
        to[i] = bottom[2 * i + 1] > most ? bottom[2 * i + 1] : most;
    }
}

static void pool2_back(float *restrict to_top, float *restrict to_bottom, const float *restrict g,
                       const float *restrict top, const float *restrict bottom, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const float a = top[2 * i], b = top[2 * i + 1], c = bottom[2 * i], d = bottom[2 * i + 1];
        const float most_2 = b > a ? b : a, most_3 = c > most_2 ? c : most_2;
        const float to_d = d > most_3 ? g[i] : 0, rest_3 = d > most_3 ? 0 : g[i];
        const float to_c = c > most_2 ? rest_3 : 0, rest_2 = c > most_2 ? 0 : rest_3;
        to_top[2 * i] = b > a ? 0 : rest_2;
        to_top[2 * i + 1] = b > a ? rest_2 : 0;
        to_bottom[2 * i] = to_c;
        to_bottom[2 * i + 1] = to_d;
    }
}

const mxn_vector TABLE = {
    .columns = TILE_VECTORS * LANES,
    .tile = tile,
    .gather = gather,
    .scatter = scatter,
    .gather_rows = gather_rows,
    .transpose = transpose,
    .sum = sum,
    .relu = relu,
    .relu_back = relu_back,
    .sgd = sgd,
    .pool2 = pool2,
    .pool2_back = pool2_back,
};
