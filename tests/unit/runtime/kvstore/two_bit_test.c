// SPDX-License-Identifier: Apache-2.0
// 2-bit compression against the definition of MXNet 1.9.1, value by value, for every remainder.
#include "runtime/kvstore/two_bit.h"

#include <math.h>

#include "cmocka_all.h"

enum { MOST = 100, ROUNDS = 12 };

// ---- the definition ----------------------------------------------------------------------------
// One value at a time, as the original's kernel has it: masks within a byte.
static void define(const float *gradient, float *residual, uint64_t count, float threshold,
                   unsigned char *bytes)
{
    static const unsigned char up[] = {0xc0, 0x30, 0x0c, 0x03}, down[] = {0x80, 0x20, 0x08, 0x02};
    memset(bytes, 0, mxn__two_bit_bytes(count));
    for (uint64_t i = 0; i < count; i++) {
        residual[i] += gradient[i];
        if (residual[i] >= threshold) {
            bytes[i / 4] |= up[i % 4];
            residual[i] -= threshold;
        } else if (residual[i] <= -threshold) {
            bytes[i / 4] |= down[i % 4];
            residual[i] += threshold;
        }
    }
}

static float defined_value(const unsigned char *bytes, uint64_t at, float threshold)
{
    const unsigned code = bytes[at / 4] >> (6 - 2 * (at % 4)) & 3u;
    return code == 3 ? threshold : code == 2 ? -threshold : 0.0f;
}

static float drawn(uint64_t round, uint64_t at)
{
    const uint64_t mixed = (round * 7919 + at * 104729 + 11) * UINT64_C(2654435761) >> 7;
    return ((float)(mixed % 4001) - 2000.0f) * 0.0005f;  // within 1 of 0
}

// ---- tests -------------------------------------------------------------------------------------
static void the_first_values_are_in_the_upper_bits(void **state)
{
    (void)state;
    const float gradient[18] = {0.5f, 0.49f, -0.5f, -0.49f, 2.0f, 0, 0, -9, [16] = 0.5f, [17] = -1};
    float residual[18] = {0};
    unsigned char words[8];
    memset(words, 0xff, sizeof words);
    mxn__two_bit_encode(gradient, residual, 18, 0.5f, words);
    const unsigned char wanted[8] = {0xc8, 0xc2, 0, 0, 0xe0, 0, 0, 0};
    assert_memory_equal(words, wanted, sizeof wanted);
    assert_true(residual[0] == 0 && residual[1] == 0.49f && residual[2] == 0);
    assert_true(residual[4] == 1.5f && residual[7] == -8.5f && residual[17] == -0.5f);
}

static void every_length_is_as_defined_over_many_rounds(void **state)
{
    (void)state;
    for (uint64_t count = 0; count <= MOST; count++) {
        float gradient[MOST], residual[MOST + 1] = {0}, other[MOST] = {0};
        residual[count] = 77;  // behind the end nothing is touched
        for (uint64_t round = 0; round < ROUNDS; round++) {
            unsigned char words[MOST / 4 + 8], defined[MOST / 4 + 8];
            const uint64_t bytes = mxn__two_bit_bytes(count);
            memset(words, 0x5a, sizeof words);
            for (uint64_t i = 0; i < count; i++) {
                gradient[i] = drawn(round, i);
            }
            mxn__two_bit_encode(gradient, residual, count, 0.3f, words);
            define(gradient, other, count, 0.3f, defined);
            assert_int_equal(bytes, (count + 15) / 16 * 4);
            assert_memory_equal(words, defined, bytes);
            assert_int_equal(words[bytes], 0x5a);
            assert_memory_equal(residual, other, count * sizeof *other);
            assert_true(residual[count] == 77);
        }
    }
}

static void what_was_encoded_is_expanded_and_added(void **state)
{
    (void)state;
    for (uint64_t count = 0; count <= MOST; count++) {
        float gradient[MOST], residual[MOST] = {0}, values[MOST + 1], sum[MOST + 1];
        unsigned char room[MOST / 4 + 9], *words = room + 1;  // of any alignment
        for (uint64_t i = 0; i < count; i++) {
            gradient[i] = drawn(1, i);
            sum[i] = drawn(2, i);
        }
        values[count] = sum[count] = 77;
        mxn__two_bit_encode(gradient, residual, count, 0.3f, words);
        mxn__two_bit_expand(words, count, 0.3f, values);
        mxn__two_bit_add(words, count, 0.3f, sum);
        for (uint64_t i = 0; i < count; i++) {
            const float wanted = defined_value(words, i, 0.3f);
            assert_memory_equal(&values[i], &wanted, sizeof wanted);
            assert_true(sum[i] == drawn(2, i) + wanted);
        }
        assert_true(values[count] == 77 && sum[count] == 77);
    }
}

// A peer may send it; the original takes it for nothing, too.
static void the_code_that_is_never_sent_is_nothing(void **state)
{
    (void)state;
    const unsigned char words[4] = {0x55, 0x55, 0x55, 0x55};
    float values[16];
    mxn__two_bit_expand(words, 16, 0.3f, values);
    for (int i = 0; i < 16; i++) {
        assert_true(values[i] == 0 && !signbit(values[i]));
    }
}

static void what_is_infinite_is_always_sent_and_no_number_never(void **state)
{
    (void)state;
    const float gradient[4] = {NAN, INFINITY, -INFINITY, 1};
    float residual[4] = {0}, values[4];
    unsigned char words[4];
    for (int round = 0; round < 2; round++) {
        mxn__two_bit_encode(gradient, residual, 4, 1, words);
        mxn__two_bit_expand(words, 4, 1, values);
        assert_true(values[0] == 0 && values[1] == 1 && values[2] == -1 && values[3] == 1);
        assert_true(isnan(residual[0]) && residual[1] == INFINITY && residual[2] == -INFINITY);
    }
}

static void thresholds_are_numbers_above_nothing(void **state)
{
    (void)state;
    const float bad[] = {0, -0.0f, -1, NAN, INFINITY, -INFINITY};
    const float good[] = {0.5f, 1e-45f, 3.402823466e38f};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mxn__two_bit_is_threshold(bad[i]));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(mxn__two_bit_is_threshold(good[i]));
        assert_true(mxn__two_bit_threshold(mxn__two_bit_bits(good[i])) == good[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_values_are_in_the_upper_bits),
        cmocka_unit_test(every_length_is_as_defined_over_many_rounds),
        cmocka_unit_test(what_was_encoded_is_expanded_and_added),
        cmocka_unit_test(the_code_that_is_never_sent_is_nothing),
        cmocka_unit_test(what_is_infinite_is_always_sent_and_no_number_never),
        cmocka_unit_test(thresholds_are_numbers_above_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
