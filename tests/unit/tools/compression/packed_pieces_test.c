// SPDX-License-Identifier: Apache-2.0
// What is packed in pieces is read again by zlib, which knows nothing of how it was written.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "compression/gunzip.h"
#include "compression/gzip.h"
#include "compression/prefix_code.h"

#ifdef MXP_WITH_ZLIB
static uint64_t drawn(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance;
}

// Packs the pieces, and sees that all of them come back. How many bytes they took.
static size_t check_pieces(const mxp_gzip_piece *pieces, size_t count)
{
    static const char before[] = "before";
    mxp_strbuf packed = {0};
    mxp_gunzip *gunzip;
    size_t bytes = 0, at = 0;
    mxp__strbuf_puts(&packed, before);
    const size_t begin = packed.length;
    assert_int_equal(mxp__gzip_pack_pieces(pieces, count, 4, &packed), MXP_OK);
    assert_memory_equal(packed.data, before, begin);
    for (size_t i = 0; i < count; i++) {
        bytes += pieces[i].size_bytes;
    }
    char *text = malloc(bytes + 1);
    assert_int_equal(mxp__gunzip_open(&gunzip), MXP_OK);
    mxp_gunzip_piece piece = {.in = (const unsigned char *)packed.data + begin,
                              .in_bytes = packed.length - begin,
                              .out = text,
                              .out_bytes = bytes + 1};
    assert_int_equal(mxp__gunzip_step(gunzip, &piece), MXP_GUNZIP_END);
    assert_int_equal(piece.in_bytes, 0);
    assert_int_equal(piece.out_bytes, 1);
    for (size_t i = 0; i < count; at += pieces[i++].size_bytes) {
        assert_memory_equal(text + at, pieces[i].data, pieces[i].size_bytes);
    }
    const size_t took = packed.length - begin;
    mxp__gunzip_close(gunzip);
    free(text);
    mxp__strbuf_fini(&packed);
    return took;
}

static size_t check_bytes(const uint8_t *data, size_t size_bytes)
{
    const mxp_gzip_piece all = {.data = data, .size_bytes = size_bytes};
    return check_pieces(&all, 1);
}

static void runs_of_all_lengths_come_back(void **state)
{
    (void)state;
    enum { MOST = 1100 };
    uint8_t data[MOST + 2];
    for (size_t run = 0; run <= MOST; run++) {
        memset(data, 7, run);
        data[run] = 9;
        data[run + 1] = 7;
        check_bytes(data, run);
        check_bytes(data, run + 2);
    }
}

// Of one value, of two, of few, of all, evenly or not, over the bounds of blocks.
static void all_kinds_of_bytes_come_back(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    static const size_t sizes[] = {1, 2, 255, 16384, 32767, 32768, 32769, 65535, 65536, BYTES};
    uint64_t chance = 88172645463325252u;
    uint8_t *data = malloc(BYTES);
    for (unsigned values = 1; values <= 256; values = values * 2 + (values == 2)) {
        for (int uneven = 0; uneven < 2; uneven++) {
            for (size_t i = 0; i < BYTES; i++) {
                const uint64_t any = drawn(&chance) % values;
                data[i] = (uint8_t)(uneven ? any * (drawn(&chance) % values) / values : any);
            }
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                const size_t took = check_bytes(data, sizes[i]);
                assert_true(took <= sizes[i] + sizes[i] / 1000 + 64);
            }
        }
    }
    free(data);
}

// The rarest would take more bits than deflate has: each value as often as the two before it.
static void codes_that_would_be_too_long_are_cut(void **state)
{
    (void)state;
    enum { BYTES = 1 << 15 };
    static uint8_t data[BYTES];
    size_t count = 0, one = 1, two = 1;
    for (unsigned value = 0; value < 256 && count < BYTES; value++) {
        for (size_t i = 0; i < one && count < BYTES; i++) {
            data[count++] = (uint8_t)value;
        }
        const size_t next = one + two;
        one = two;
        two = next;
    }
    for (size_t i = 0; i + 1 < count; i += 2) {  // no runs
        const uint8_t kept = data[i];
        data[i] = data[count - 1 - i];
        data[count - 1 - i] = kept;
    }
    check_bytes(data, count);
}

static void pieces_that_repeat_stand_between_others(void **state)
{
    (void)state;
    enum { BYTES = 50000 };
    uint64_t chance = 1181783497276652981u;
    uint8_t *repeats = malloc(BYTES), *others = malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++) {
        repeats[i] = (uint8_t)(i % 251 ^ i % 7);
        others[i] = (uint8_t)(drawn(&chance) % 20);
    }
    for (unsigned which = 0; which < 32; which++) {
        mxp_gzip_piece pieces[5];
        for (unsigned i = 0; i < 5; i++) {
            const bool is_one = (which >> i & 1) != 0;
            pieces[i] = (mxp_gzip_piece){.data = is_one ? repeats : others,
                                         .size_bytes = i == 3 ? 0 : BYTES / (i + 1),
                                         .repeats = is_one};
        }
        check_pieces(pieces, 5);
    }
    const mxp_gzip_piece all = {.data = repeats, .size_bytes = BYTES, .repeats = true};
    assert_true(check_pieces(&all, 1) < BYTES / 10);
    free(repeats);
    free(others);
}
#endif

// What the tree of Huffman takes: the sum of all that is joined.
static uint64_t least_bits(const uint32_t *counts, size_t count)
{
    uint64_t left[MXP_PREFIX_SYMBOLS_MAX], bits = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (counts[i] > 0) {
            left[used++] = counts[i];
        }
    }
    while (used > 1) {
        for (size_t k = 0; k < 2; k++) {  // the two rarest to the front
            for (size_t i = k + 1; i < used; i++) {
                if (left[i] < left[k]) {
                    const uint64_t kept = left[i];
                    left[i] = left[k];
                    left[k] = kept;
                }
            }
        }
        left[0] += left[1];
        bits += left[0];
        left[1] = left[--used];
    }
    return bits;
}

static void lengths_are_those_of_the_shortest_code(void **state)
{
    (void)state;
    uint32_t counts[MXP_PREFIX_SYMBOLS_MAX];
    uint8_t lengths[MXP_PREFIX_SYMBOLS_MAX];
    uint32_t chance = 1;
    for (size_t count = 2; count <= MXP_PREFIX_SYMBOLS_MAX; count++) {
        uint64_t bits = 0, room = 0;
        for (size_t i = 0; i < count; i++) {
            chance = chance * 1103515245 + 12345;
            counts[i] = i < 2 ? 1 : chance >> 16 & 127;
        }
        mxp__prefix_lengths(counts, count, MXP_PREFIX_BITS_MAX, lengths);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(lengths[i] > 0, counts[i] > 0);
            bits += (uint64_t)counts[i] * lengths[i];
            room += lengths[i] > 0 ? UINT64_C(1) << (MXP_PREFIX_BITS_MAX - lengths[i]) : 0;
        }
        assert_int_equal(bits, least_bits(counts, count));
        assert_int_equal(room, UINT64_C(1) << MXP_PREFIX_BITS_MAX);
    }
}

static void no_length_is_above_the_limit(void **state)
{
    (void)state;
    uint32_t counts[19];
    uint8_t lengths[19];
    for (size_t i = 0; i < 19; i++) {
        counts[i] = UINT32_C(1) << i;
    }
    for (unsigned limit = 5; limit <= MXP_PREFIX_BITS_MAX; limit++) {
        uint64_t room = 0;
        mxp__prefix_lengths(counts, 19, limit, lengths);
        for (size_t i = 0; i < 19; i++) {
            assert_in_range(lengths[i], 1, limit);
            assert_true(i == 0 || lengths[i] <= lengths[i - 1]);
            room += UINT64_C(1) << (limit - lengths[i]);
        }
        assert_true(room <= UINT64_C(1) << limit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef MXP_WITH_ZLIB
        cmocka_unit_test(runs_of_all_lengths_come_back),
        cmocka_unit_test(all_kinds_of_bytes_come_back),
        cmocka_unit_test(codes_that_would_be_too_long_are_cut),
        cmocka_unit_test(pieces_that_repeat_stand_between_others),
#endif
        cmocka_unit_test(lengths_are_those_of_the_shortest_code),
        cmocka_unit_test(no_length_is_above_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
