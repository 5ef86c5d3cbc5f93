// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/backend/cpu: faster kernels of our own.
//
// Loops over numbers, compiled for each width of vectors from one text (simd_loops.h); the widest
// that the processor has is taken at run time. One thread; memory need not be aligned. Private to
// op.
#ifndef MXN_OP_BACKEND_CPU_SIMD_H
#define MXN_OP_BACKEND_CPU_SIMD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    // With the columns of AVX-512: 20 sums, 4 operands and 1 factor in 32 registers.
    MXN_TILE_ROWS = 5,
    MXN_TILE_COLUMNS_MAX = 64,
    MXN_COPY_SLACK = 16  // floats that copies of short rows may read and write beyond their ends
};

// c[r][0 .. columns) = start + the sum over i < count of a[r, i] * b[i][0 .. columns).
typedef struct mxn_tile {
    const float *a;  // a[r, i] is a[r * a_row + i * a_step]
    int64_t a_row, a_step;
    const float *b;  // readable up to a multiple of the vectors' length
    int64_t b_row;
    float *c;
    int64_t c_row;
    int64_t count, rows, columns;  // rows <= MXN_TILE_ROWS, columns <= mxn_vector.columns
    bool adds;  // to what is in c; else start with `start` of each row, or 0 if that is null
    const float *start;
} mxn_tile;

// Rows of floats somewhere in an image, and where they are when put one after the other.
typedef struct mxn_row_segment {
    int64_t from, to, count;
} mxn_row_segment;

typedef struct mxn_vector {
    int64_t columns;  // of a whole tile
    void (*tile)(const mxn_tile *tile);
    // For each of `rows` offsets into an image: segments of it from there to where they are in a
    // row of `to`, `step` apart in the image; and back, added.
    void (*gather)(float *to, int64_t to_row, const float *image, const int64_t *offsets,
                   int64_t rows, const mxn_row_segment *segments, int64_t count, int64_t step);
    void (*scatter)(float *image, const int64_t *offsets, const float *from, int64_t from_row,
                    int64_t rows, const mxn_row_segment *segments, int64_t count, int64_t step);
    // `width` floats at every `width`th of `count` offsets, one after the other.
    void (*gather_lines)(float *to, const float *image, const int64_t *offsets, int64_t count,
                         int64_t width);
    // to[j * to_row + i] = from[i * from_row + j], i < rows, j < columns.
    void (*transpose)(float *to, int64_t to_row, const float *from, int64_t from_row, int64_t rows,
                      int64_t columns);
    float (*sum)(const float *x, int64_t count);
    float (*dot)(const float *x, const float *y, int64_t count);
    void (*relu)(float *to, const float *x, int64_t count);
    void (*relu_back)(float *to, const float *g, const float *y, int64_t count);
    // The same, but g y where y is not above 0: a result that is no number stays none.
    void (*relu_back_times)(float *to, const float *g, const float *y, int64_t count);
    // w * keep - g * rate, where g is first cut to -limit .. limit (divided by what scales it).
    void (*sgd)(float *to, const float *w, const float *g, int64_t count, float keep, float rate,
                float limit);
    // The largest of each 2 x 2 of a plane whose rows are `in_row` long: `rows` of `count`; and the
    // gradient, to the first of them.
    void (*pool2)(float *to, const float *in, int64_t in_row, int64_t rows, int64_t count);
    void (*pool2_back)(float *to, const float *g, const float *in, int64_t in_row, int64_t rows,
                       int64_t count);
    const struct mxn_function_rows *function_rows;  // by MXN_*_OF of op/binary_loops.h
} mxn_vector;

extern const mxn_vector mxn__vector_16, mxn__vector_32, mxn__vector_64;  // by bytes
const mxn_vector *mxn__vector(void);

static inline int64_t mxn__least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
