// SPDX-License-Identifier: Apache-2.0
// Sums of every type: whole numbers wrap, narrow floats are rounded once.
#include "runtime/kvstore/sums.h"

#include <string.h>

#include "cmocka_all.h"

enum { COUNT = 37, VALUES = 3 };

// The sum of the three values of `bytes` each, as the owner makes it.
static void sum_of(int dtype, const void *values, size_t bytes, void *result)
{
    unsigned char sum[COUNT * 8];
    mxn__sum_begin(dtype, sum, values, COUNT);
    for (size_t i = 1; i < VALUES; i++) {
        mxn__sum_add(dtype, sum, (const char *)values + i * bytes, COUNT);
    }
    if (mxn__sum_is_wide(dtype)) {
        mxn__sum_round(dtype, result, sum, COUNT);
    } else {
        memcpy(result, sum, bytes);
    }
}

// Low bits are what they are, whatever the sign: so one model does for all whole numbers.
static void whole_numbers_wrap(void **state)
{
    (void)state;
    static const int dtypes[] = {MXN_INT8,   MXN_UINT8, MXN_INT16,  MXN_UINT16,
                                 MXN_UINT32, MXN_INT32, MXN_UINT64, MXN_INT64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const size_t size = mxn_dtype_size(dtypes[d]);
        unsigned char values[VALUES * COUNT * 8], result[COUNT * 8];
        uint64_t wanted[COUNT] = {0};
        for (size_t i = 0; i < VALUES * COUNT; i++) {
            const uint64_t value =
                UINT64_C(0xf37b5a9d3c2e1f08) * (i + 3) ^ (i % 2 == 0 ? UINT64_MAX : 0);
            memcpy(values + i * size, &value, size);  // little-endian
            wanted[i % COUNT] += value;
        }
        sum_of(dtypes[d], values, COUNT * size, result);
        for (size_t i = 0; i < COUNT; i++) {
            assert_memory_equal(result + i * size, &wanted[i], size);
        }
    }
}

static void floats_are_added_in_their_order(void **state)
{
    (void)state;
    static const float parts[VALUES] = {1e8f, 3.3f, -1e8f};  // another order gives 3.3
    float values[VALUES][COUNT], result[COUNT];
    double wide[VALUES][COUNT], wide_result[COUNT];
    for (int v = 0; v < VALUES; v++) {
        for (int i = 0; i < COUNT; i++) {
            values[v][i] = parts[v];
            wide[v][i] = v == 1 ? 3.3e-9 : (double)parts[v];
        }
    }
    sum_of(MXN_FLOAT32, values, sizeof values[0], result);
    sum_of(MXN_FLOAT64, wide, sizeof wide[0], wide_result);
    for (int i = 0; i < COUNT; i++) {
        assert_true(result[i] == 0.0f);
        assert_true(wide_result[i] == (1e8 + 3.3e-9) - 1e8);
    }
}

static void narrow_floats_are_rounded_at_the_end(void **state)
{
    (void)state;
    mxn_half halves[VALUES][COUNT], half[COUNT];
    mxn_bfloat bfloats[VALUES][COUNT], bfloat[COUNT];
    for (int v = 0; v < VALUES; v++) {
        for (int i = 0; i < COUNT; i++) {
            const float part = v == 0 ? 2048 : 0.9f;  // 2048 + 0.9 is 2048 in float16
            halves[v][i] = mxn_half_from_float(part);
            bfloats[v][i] = mxn_bfloat_from_float(v == 0 ? 256 : 0.9f);
        }
    }
    sum_of(MXN_FLOAT16, halves, sizeof halves[0], half);
    sum_of(MXN_BFLOAT16, bfloats, sizeof bfloats[0], bfloat);
    const float small = mxn_half_to_float(mxn_half_from_float(0.9f));
    const float coarse = mxn_bfloat_to_float(mxn_bfloat_from_float(0.9f));
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(half[i].bits, mxn_half_from_float(2048 + small + small).bits);
        assert_int_equal(bfloat[i].bits, mxn_bfloat_from_float(256 + coarse + coarse).bits);
    }
    assert_true(mxn_half_to_float(half[0]) == 2050);
    assert_true(mxn_bfloat_to_float(bfloat[0]) == 258);
}

static void bools_are_one_or_the_other(void **state)
{
    (void)state;
    bool values[VALUES][COUNT], result[COUNT];
    for (int i = 0; i < VALUES * COUNT; i++) {
        values[i / COUNT][i % COUNT] = (i % COUNT >> i / COUNT & 1) != 0;
    }
    sum_of(MXN_BOOL, values, sizeof values[0], result);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(result[i], i % 8 != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_wrap),
        cmocka_unit_test(floats_are_added_in_their_order),
        cmocka_unit_test(narrow_floats_are_rounded_at_the_end),
        cmocka_unit_test(bools_are_one_or_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
