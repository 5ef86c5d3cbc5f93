// SPDX-License-Identifier: Apache-2.0
// The wire format, byte by byte.
#include <string.h>

#include "cmocka_all.h"
#include "profiler/export/perfetto/perfetto_wire.h"

static void assert_bytes(const mxp_strbuf *out, const char *bytes, size_t count)
{
    assert_false(out->failed);
    assert_int_equal(out->length, count);
    assert_memory_equal(out->data, bytes, count);
}

static void numbers_are_varints(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    mxp__wire_u64(&out, 1, 0);
    mxp__wire_u64(&out, 15, 127);
    mxp__wire_u64(&out, 16, 128);
    mxp__wire_u64(&out, 2, UINT64_MAX);
    assert_bytes(
        &out, "\x08\x00\x78\x7f\x80\x01\x80\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 19);
    mxp__strbuf_fini(&out);
}

static void fixed_numbers_are_little_endian(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    mxp__wire_fixed64(&out, 47, UINT64_C(0x0807060504030201));
    mxp__wire_double(&out, 5, 1.5);
    assert_bytes(
        &out, "\xf9\x02\x01\x02\x03\x04\x05\x06\x07\x08\x29\x00\x00\x00\x00\x00\x00\xf8\x3f", 19);
    mxp__strbuf_fini(&out);
}

static void texts_are_utf_8(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    mxp__wire_text(&out, 2, "a\xff", 2);
    mxp__wire_bytes(&out, 2, "a\xff", 2);
    mxp__wire_string(&out, 2, "");
    assert_bytes(&out, "\x12\x04\x61\xef\xbf\xbd\x12\x02\x61\xff\x12\x00", 12);
    mxp__strbuf_fini(&out);
}

// 127 bytes of content have a length of one byte, 128 of two, 16384 of three.
static void messages_of_any_length_nest(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 123, 124, 125, 126, 127, 128, 16380, 16381, 16384, 40000};
    static char content[40000];
    memset(content, 'x', sizeof content);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        mxp_strbuf nested = {0}, whole = {0}, inner = {0};
        size_t outer = mxp__wire_begin(&nested, 1);
        mxp__wire_u64(&nested, 3, 5);
        size_t middle = mxp__wire_begin(&nested, 2);
        mxp__strbuf_append(&nested, content, lengths[i]);
        mxp__wire_end(&nested, middle);
        mxp__wire_end(&nested, outer);
        mxp__wire_u64(&inner, 3, 5);
        mxp__wire_bytes(&inner, 2, content, lengths[i]);
        mxp__wire_bytes(&whole, 1, inner.data, inner.length);
        assert_bytes(&nested, whole.data, whole.length);
        mxp__strbuf_fini(&inner);
        mxp__strbuf_fini(&whole);
        mxp__strbuf_fini(&nested);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_varints),
        cmocka_unit_test(fixed_numbers_are_little_endian),
        cmocka_unit_test(texts_are_utf_8),
        cmocka_unit_test(messages_of_any_length_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
