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

// One stretch for all rows: the inner loop is the same each time.
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
                   int64_t rows, const mxn_stretch *stretches, int64_t count, int64_t step)
{
    for (const mxn_stretch *s = stretches; s < stretches + count; s++) {
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
                    int64_t rows, const mxn_stretch *stretches, int64_t count, int64_t step)
{
    for (int64_t row = 0; row < rows; row++, from += from_row) {
        for (const mxn_stretch *s = stretches; s < stretches + count; s++) {
            float *to = image + offsets[row] + s->from;
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

static float dot(const float *x, const float *y, int64_t count)
{
    vec sums[4] = {{0}, {0}, {0}, {0}};
    int64_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            sums[k] += load(x + i + k * LANES) * load(y + i + k * LANES);
        }
    }
    sums[0] += sums[1] + sums[2] + sums[3];
    float total = 0;
    for (int k = 0; k < LANES; k++) {
        total += sums[0][k];
    }
    for (; i < count; i++) {
        total += x[i] * y[i];
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

// ---- windows of 2 x 2 ---------------------------------------------------------------------------
// Rows are short: 8 windows at a time, then 4, then one.
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

static void pool2(float *to, const float *top, const float *bottom, int64_t count)
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

static void pool2_back(float *to_top, float *to_bottom, const float *g, const float *top,
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

const mxn_vector TABLE = {
    .columns = TILE_VECTORS * LANES,
    .tile = tile,
    .gather = gather,
    .scatter = scatter,
    .gather_lines = gather_lines,
    .transpose = transpose,
    .sum = sum,
    .dot = dot,
    .relu = relu,
    .relu_back = relu_back,
    .sgd = sgd,
    .pool2 = pool2,
    .pool2_back = pool2_back,
};
