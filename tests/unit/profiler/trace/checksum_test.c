// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/checksum.h"

#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"

// The algorithm of checksum.c's comment, byte by byte and without regard for speed.
static uint64_t reference(const unsigned char *data, size_t size)
{
    const uint64_t k0 = UINT64_C(0x9e3779b97f4a7c15), k1 = UINT64_C(0xd1b54a32d192ed03);
    uint64_t lane[4] = {k0, k0 * 2, k0 * 3, k0 * 4};
    for (size_t stripe = 0; stripe < size; stripe += 32) {
        for (size_t i = 0; i < 4; i++) {
            uint64_t word = 0;
            for (size_t j = 0; j < 8; j++) {
                size_t at = stripe + i * 8 + j;
                word |= at < size ? (uint64_t)data[at] << (8 * j) : 0;
            }
            uint64_t mixed = lane[i] ^ word * k0;
            lane[i] = (mixed << 29 | mixed >> 35) * k1;
        }
    }
    uint64_t h = size * k0;
    for (int i = 0; i < 4; i++) {
        uint64_t mixed = h ^ (lane[i] ^ lane[i] >> 32) * k0;
        h = (mixed << 27 | mixed >> 37) * k1;
    }
    h = (h ^ h >> 32) * k0;
    return h ^ h >> 29;
}

// Part of the file format: these numbers may never change.
static void known_data_has_known_sums(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    assert_true(mxp__checksum(NULL, 0) == UINT64_C(0x0bd7b7d7cfb1e94f));
    assert_true(mxp__checksum("a", 1) == UINT64_C(0x4b450a598a3cf2a1));
    assert_true(mxp__checksum("mxprof", 6) == UINT64_C(0xbaf99d48801c625c));
    for (int i = 0; i < 32; i++) {
        bytes[i] = (unsigned char)i;
    }
    assert_true(mxp__checksum(bytes, 32) == UINT64_C(0x4563f446a2afe195));
    for (int i = 0; i < 1000; i++) {
        bytes[i] = (unsigned char)(i * 7);
    }
    assert_true(mxp__checksum(bytes, 1000) == UINT64_C(0xc5abfd794450c909));
}

static void all_lengths_and_alignments_agree(void **state)
{
    (void)state;
    unsigned char bytes[300];
    uint64_t random = 6;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)random_next(&random);
    }
    for (size_t start = 0; start < 9; start++) {
        for (size_t size = 0; size + start < sizeof bytes; size++) {
            assert_true(mxp__checksum(bytes + start, size) == reference(bytes + start, size));
        }
    }
}

static void pieces_give_the_sum_of_the_whole(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    memset(bytes, 0x5a, sizeof bytes);
    for (size_t first = 0; first <= sizeof bytes; first += 32) {
        mxp_checksum sum;
        mxp__checksum_init(&sum);
        mxp__checksum_add(&sum, bytes, first);
        mxp__checksum_add(&sum, bytes, 0);
        mxp__checksum_add(&sum, bytes + first, sizeof bytes - first);
        assert_true(mxp__checksum_end(&sum) == mxp__checksum(bytes, sizeof bytes));
        assert_true(mxp__checksum_end(&sum) == mxp__checksum_end(&sum));
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Every flipped bit, every pair of flipped bits, every length of zeros: all sums differ.
static void damage_changes_the_sum(void **state)
{
    (void)state;
    enum { BYTES = 100, BITS = BYTES * 8, SUMS = BITS + BITS * (BITS - 1) / 2 + BYTES };
    uint64_t *sums = malloc(SUMS * sizeof *sums);
    unsigned char bytes[BYTES] = {0};
    size_t count = 0;
    for (size_t bit = 0; bit < BITS; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        sums[count++] = mxp__checksum(bytes, BYTES);
        for (size_t other = bit + 1; other < BITS; other++) {
            bytes[other / 8] ^= (unsigned char)(1 << other % 8);
            sums[count++] = mxp__checksum(bytes, BYTES);
            bytes[other / 8] ^= (unsigned char)(1 << other % 8);
        }
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t size = 0; size < BYTES; size++) {
        sums[count++] = mxp__checksum(bytes, size);
    }
    assert_int_equal(count, SUMS);
    qsort(sums, count, sizeof *sums, by_value);
    for (size_t i = 1; i < count; i++) {
        assert_true(sums[i] != sums[i - 1]);
    }
    free(sums);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_data_has_known_sums),
        cmocka_unit_test(all_lengths_and_alignments_agree),
        cmocka_unit_test(pieces_give_the_sum_of_the_whole),
        cmocka_unit_test(damage_changes_the_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
