// SPDX-License-Identifier: Apache-2.0
// The vector loops of every width that this processor has, against plain loops.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu/cpu.h"
#include "cmocka_all.h"
#include "runtime/op/backend/cpu/simd.h"

enum { FLOATS = 4096, LONGEST = 140 };

static float a[FLOATS], b[FLOATS], c[FLOATS], expected[FLOATS], found[FLOATS];
static const mxn_vector *vector;

static void fill(float *to, uint64_t seed)
{
    for (uint64_t i = 0; i < FLOATS; i++) {
        uint64_t mixed = (i * 2654435761u + seed * 40503u + 77u) * 2246822519u;
        to[i] = (float)(mixed >> 16 & 0xffff) / 32768 - 1;
    }
}

static void same(const float *one, const float *other, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count; i++) {
        if (!(fabsf(one[i] - other[i]) <= 1e-5f)) {
            fail_msg("vectors of %d floats, %s: element %d is %g, not %g", (int)vector->columns,
                     what, (int)i, (double)one[i], (double)other[i]);
        }
    }
}

// Rows of c lie 70 apart: what comes after the columns must stay.
static void check_tile(int64_t rows, int64_t columns, int64_t count, bool adds, bool starts)
{
    enum { ROW = 70, B_ROW = 64 };
    memcpy(found, c, sizeof c);
    memcpy(expected, c, sizeof c);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t j = 0; j < columns; j++) {
            float sum = adds ? c[r * ROW + j] : starts ? a[r] : 0;
            for (int64_t i = 0; i < count; i++) {
                sum += a[r * 3 + i * 16] * b[i * B_ROW + j];
            }
            expected[r * ROW + j] = sum;
        }
    }
    vector->tile(&(mxn_tile){.a = a,
                             .a_row = 3,
                             .a_step = 16,
                             .b = b,
                             .b_row = B_ROW,
                             .c = found,
                             .c_row = ROW,
                             .count = count,
                             .rows = rows,
                             .columns = columns,
                             .adds = adds,
                             .start = starts ? a : NULL});
    same(found, expected, FLOATS, "tile");
}

static void tiles(void)
{
    for (int64_t rows = 1; rows <= MXN_TILE_ROWS; rows++) {
        for (int64_t columns = 1; columns <= vector->columns; columns += rows == 5 ? 1 : 3) {
            check_tile(rows, columns, 7, false, false);
            check_tile(rows, columns, 0, false, true);
            check_tile(rows, columns, 9, true, false);
        }
    }
}

static void moves(void)
{
    const mxn_row_segment segments[] = {
        {3, 0, 5}, {40, 5, 8}, {90, 13, 16}, {130, 29, 1}, {150, 30, 34}};
    const int64_t offsets[] = {0, 7, 100};
    enum { COUNT = 5, ROW = 64 + MXN_COPY_SLACK };
    for (int64_t step = 1; step <= 2; step++) {
        memset(found, 0, sizeof found);
        vector->gather(found, ROW, a, offsets, 3, segments, COUNT, step);
        memcpy(expected, c, sizeof c);
        for (int64_t row = 0; row < 3; row++) {
            for (int64_t s = 0; s < COUNT; s++) {
                for (int64_t k = 0; k < segments[s].count; k++) {
                    int64_t from = offsets[row] + segments[s].from + k * step;
                    int64_t to = row * ROW + segments[s].to + k;
                    assert_true(found[to] == a[from]);
                    expected[from] += b[to];
                }
            }
        }
        memcpy(found, c, sizeof c);
        vector->scatter(found, offsets, b, ROW, 3, segments, COUNT, step);
        same(found, expected, FLOATS, "scatter");
    }
    for (int64_t width = 1; width <= 20; width++) {
        int64_t places[60];
        for (int64_t i = 0; i < 3 * width; i++) {
            places[i] = i / width * 100 + i % width;
        }
        vector->gather_lines(found, a, places, 3 * width, width);
        for (int64_t i = 0; i < 3 * width; i++) {
            assert_true(found[i] == a[places[i]]);
        }
    }
    for (int64_t rows = 1; rows <= 9; rows++) {
        memset(found, 0, sizeof found);
        vector->transpose(found, 20, a, 30, rows, rows + 5);
        for (int64_t j = 0; j < rows + 5; j++) {
            for (int64_t i = 0; i < 20; i++) {
                assert_true(found[j * 20 + i] == (i < rows ? a[i * 30 + j] : 0));
            }
        }
    }
}

static void along_memory(void)
{
    for (int64_t count = 0; count <= LONGEST; count++) {
        double sum = 0, dot = 0;
        memset(found, 0, sizeof found);
        memset(expected, 0, sizeof expected);
        for (int64_t i = 0; i < count; i++) {
            sum += (double)a[i];
            dot += (double)a[i] * (double)b[i];
            expected[i] = a[i] > 0 ? a[i] : 0;
            expected[i + 200] = b[i] > 0 ? a[i] : 0;
            float cut = b[i] > 0.5f ? 0.5f : b[i] < -0.5f ? -0.5f : b[i];
            expected[i + 400] = a[i] * 0.9f - cut * 0.1f;
        }
        assert_true(fabs((double)vector->sum(a, count) - sum) < 1e-4);
        assert_true(fabs((double)vector->dot(a, b, count) - dot) < 1e-4);
        vector->relu(found, a, count);
        vector->relu_back(found + 200, a, b, count);
        vector->sgd(found + 400, a, b, count, 0.9f, 0.1f, 0.5f);
        same(found, expected, FLOATS, "along memory");
    }
    const float none[] = {NAN, -INFINITY, INFINITY};
    vector->relu(found, none, 3);
    assert_true(isnan(found[0]) && found[1] == 0 && found[2] == INFINITY);
}

// Equal numbers are many: the first must have the gradient.
static void windows(void)
{
    static float plane[FLOATS];
    for (int i = 0; i < FLOATS; i++) {
        plane[i] = roundf(a[i] * 2);
    }
    for (int64_t width = 1; width <= 29; width++) {
        const int64_t rows = 3, in_row = 2 * width + 1;
        memset(expected, 0, sizeof expected);
        memset(found, 0, sizeof found);
        for (int64_t i = 0; i < rows * width; i++) {
            int64_t at = i / width * 2 * in_row + i % width * 2, most = at;
            const int64_t others[] = {at + 1, at + in_row, at + in_row + 1};
            for (int k = 0; k < 3; k++) {
                most = plane[others[k]] > plane[most] ? others[k] : most;
            }
            expected[i] = plane[most];
            expected[1000 + most] = b[i];
        }
        vector->pool2(found, plane, in_row, rows, width);
        vector->pool2_back(found + 1000, b, plane, in_row, rows, width);
        same(found, expected, FLOATS, "windows");
    }
}

static void every_width_computes_the_same(void **state)
{
    (void)state;
    static const struct {
        const mxn_vector *vector;
        uint32_t bytes;
    } widths[] = {{&mxn__vector_16, 16}, {&mxn__vector_32, 32}, {&mxn__vector_64, 64}};
    fill(a, 1);
    fill(b, 2);
    fill(c, 3);
    for (int i = 0; i < 3; i++) {
        if (widths[i].bytes <= mxp__cpu_vector_bytes()) {
            vector = widths[i].vector;
            tiles();
            moves();
            along_memory();
            windows();
        }
    }
    assert_non_null(vector);
}

static void widest_of_the_processor_is_taken(void **state)
{
    (void)state;
    uint32_t bytes = mxp__cpu_vector_bytes();
    assert_true(bytes == 16 || bytes == 32 || bytes == 64);
    assert_ptr_equal(mxn__vector(), bytes == 64   ? &mxn__vector_64
                                    : bytes == 32 ? &mxn__vector_32
                                                  : &mxn__vector_16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widest_of_the_processor_is_taken),
        cmocka_unit_test(every_width_computes_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
