// SPDX-License-Identifier: Apache-2.0
// The loops of functions of two numbers: of every width of vectors the same, of every length, in
// place too; rows of mixed types and steps against numbers worked out one by one.
#include <math.h>
#include <string.h>

#include "base/cpu/cpu.h"
#include "cmocka_all.h"
#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/loops/binary_loops.h"

enum { LONGEST = 140, BYTES = LONGEST * 16 };

static _Alignas(16) unsigned char left[BYTES], right[BYTES], expected[BYTES], found[BYTES];

// Any bits; of a float those of a number near 1, of truths 0 or 1.
static void fill(void *to, int32_t dtype, uint64_t seed)
{
    unsigned char *bytes = to;
    for (uint64_t i = 0; i < BYTES; i++) {
        uint64_t mixed = (i * 2654435761u + seed * 40503u + 77u) * 2246822519u;
        bytes[i] = (unsigned char)(mixed >> 19);
    }
    for (size_t i = 0; i < LONGEST && mxn_dtype_is_float(dtype); i++) {
        double number = (double)(bytes[i] % 64) / 16 - 2;
        mxn_cast(bytes + i * mxn_dtype_size(dtype), dtype, &number, MXN_FLOAT64, 1);
    }
}

static void check_row(const mxn_vector *vector, int function, int32_t dtype)
{
    const mxn_function_rows *rows = &vector->function_rows[function];
    const mxn_function_rows *plain = &mxn__vector_16.function_rows[function];
    size_t size = mxn_dtype_size(rows->of_wide != NULL ? MXN_BOOL : dtype);
    for (int64_t count = 0; count <= LONGEST; count += count < 70 ? 1 : 35) {
        memset(expected, 0x55, BYTES);
        memset(found, 0x55, BYTES);
        plain->of[dtype](left, right, expected, count);
        rows->of[dtype](left, right, found, count);
        assert_memory_equal(found, expected, BYTES);
        memcpy(found, left, BYTES);  // in place
        if (size == mxn_dtype_size(dtype)) {
            rows->of[dtype](found, right, found, count);
            assert_memory_equal(found, expected, (size_t)count * size);
        }
    }
}

static void every_width_computes_the_same(void **state)
{
    (void)state;
    const struct {
        const mxn_vector *vector;
        uint32_t bytes;
    } widths[] = {{&mxn__vector_32, 32}, {&mxn__vector_64, 64}};
    for (int32_t dtype = 0; dtype < MXN_DTYPE_COUNT; dtype++) {
        fill(left, dtype, 1);
        fill(right, dtype, 2);
        for (int function = 0; function < MXN_BINARY_COUNT; function++) {
            bool there = mxn__vector_16.function_rows[function].of[dtype] != NULL;
            for (int i = 0; i < 2 && there; i++) {
                if (widths[i].bytes <= mxp__cpu_vector_bytes()) {
                    check_row(widths[i].vector, function, dtype);
                }
            }
        }
    }
}

// ---- rows of mixed types ------------------------------------------------------------------------
enum { LONG = 3000 };  // several pieces

static void steps_and_types_are_those_of_each_row(void **state)
{
    (void)state;
    static int8_t narrow[LONG];
    static uint32_t spread[3 * LONG];
    static int64_t sums[LONG];
    for (int i = 0; i < LONG; i++) {
        narrow[i] = (int8_t)(i % 251 - 125);
        spread[3 * i] = 4294967295u - (uint32_t)i;
    }
    const mxn_row a = {narrow, 1, MXN_INT8}, b = {spread, 3, MXN_UINT32};
    mxn__binary_row(MXN_ADD_OF, &a, &b, sums, MXN_INT64, LONG);
    for (int i = 0; i < LONG; i++) {
        assert_int_equal(sums[i], 4294967295 - i + narrow[i]);
    }
    const int64_t one = INT64_C(9007199254740993);
    const mxn_row number = {&one, 0, MXN_INT64};
    mxn__binary_row(MXN_MUL_OF, &number, &a, sums, MXN_INT64, LONG);
    for (int i = 0; i < LONG; i++) {
        assert_int_equal(sums[i], one * narrow[i]);
    }
}

static void signed_and_unsigned_numbers_are_compared_as_they_are(void **state)
{
    (void)state;
    const int64_t whole[] = {-1, INT64_MAX, INT64_MIN, 5};
    const uint64_t large[] = {UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, 5};
    bool less[4], equal[4];
    const mxn_row a = {whole, 1, MXN_INT64}, b = {large, 1, MXN_UINT64};
    mxn__binary_row(MXN_LESSER_OF, &a, &b, less, MXN_BOOL, 4);
    mxn__binary_row(MXN_EQUAL_OF, &b, &a, equal, MXN_BOOL, 4);
    assert_memory_equal(less, ((const bool[]){true, false, true, false}), 4);
    assert_memory_equal(equal, ((const bool[]){false, true, false, true}), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_computes_the_same),
        cmocka_unit_test(steps_and_types_are_those_of_each_row),
        cmocka_unit_test(signed_and_unsigned_numbers_are_compared_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
