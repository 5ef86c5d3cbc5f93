// SPDX-License-Identifier: Apache-2.0
// What is packed is read back by zlib, to the byte: nothing, what repeats, what does not.
#include "compression/gzip.h"

#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>

#include "cmocka_all.h"

#ifdef MXP_WITH_ZLIB
#include <zlib.h>

enum { MOST_BYTES = 300000, WINDOW_BITS_GZIP = 15 + 16, MEMBERS = 2 };

// Reads the member at `packed`; how many bytes of that it takes.
static size_t check_member(const char *packed, size_t packed_bytes, const uint8_t *data,
                           size_t size_bytes)
{
    uint8_t *back = malloc(size_bytes + 1);
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)packed,
                       .avail_in = (unsigned)packed_bytes,
                       .next_out = back,
                       .avail_out = (unsigned)size_bytes + 1};
    assert_int_equal(inflateInit2(&stream, WINDOW_BITS_GZIP), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size_bytes);
    assert_memory_equal(back, data, size_bytes);
    inflateEnd(&stream);
    free(back);
    return stream.total_in;
}

// Two members, one behind the other, as sections of a page are.
static void check(const uint8_t *data, size_t size_bytes, int level)
{
    mxp_strbuf packed = {0};
    size_t at = 0;
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(mxp__gzip_pack(data, size_bytes, level, &packed), MXP_OK);
    }
    for (int i = 0; i < MEMBERS; i++) {
        at += check_member(packed.data + at, packed.length - at, data, size_bytes);
    }
    assert_int_equal(at, packed.length);
    mxp__strbuf_fini(&packed);
}

static void each_level_gives_back_what_it_got(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 255, 4096, 65535, 65536, MOST_BYTES};
    uint8_t *zeros = calloc(MOST_BYTES, 1), *noise = malloc(MOST_BYTES),
            *steps = malloc(MOST_BYTES);
    uint32_t random = 1;
    for (size_t i = 0; i < MOST_BYTES; i++) {
        random = random * 1664525 + 1013904223;
        noise[i] = (uint8_t)(random >> 24);
        steps[i] = (uint8_t)(i % 251 ^ i % 7);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int level = 1; level <= 9; level++) {
            check(zeros, sizes[i], level);
            check(noise, sizes[i], level);
            check(steps, sizes[i], level);
        }
    }
    free(zeros);
    free(noise);
    free(steps);
}

static void what_repeats_becomes_shorter(void **state)
{
    (void)state;
    uint8_t *zeros = calloc(MOST_BYTES, 1);
    mxp_strbuf packed = {0};
    assert_int_equal(mxp__gzip_pack(zeros, MOST_BYTES, 1, &packed), MXP_OK);
    assert_true(packed.length < MOST_BYTES / 100);
    mxp__strbuf_fini(&packed);
    free(zeros);
}
#else
static void without_a_library_it_is_refused(void **state)
{
    (void)state;
    mxp_strbuf packed = {0};
    assert_int_equal(mxp__gzip_pack("", 0, 1, &packed), MXP_ENOTSUP);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef MXP_WITH_ZLIB
        cmocka_unit_test(each_level_gives_back_what_it_got),
        cmocka_unit_test(what_repeats_becomes_shorter),
#else
        cmocka_unit_test(without_a_library_it_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
