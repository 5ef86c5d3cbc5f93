// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"

static void an_empty_buffer_is_empty_text(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    assert_string_equal(mxp__strbuf_text(&buffer), "");
    mxp__strbuf_append(&buffer, NULL, 0);
    assert_string_equal(mxp__strbuf_text(&buffer), "");
    mxp__strbuf_clear(&buffer);
    mxp__strbuf_fini(&buffer);
    mxp__strbuf_fini(&buffer);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void appends_of_all_kinds_join(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    mxp__strbuf_puts(&buffer, "one ");
    mxp__strbuf_append(&buffer, "two!", 3);
    mxp__strbuf_putc(&buffer, ' ');
    mxp__strbuf_printf(&buffer, "%d%%", 33);
    assert_string_equal(buffer.data, "one two 33%");
    assert_int_equal(buffer.length, 11);
    mxp__strbuf_clear(&buffer);
    assert_string_equal(mxp__strbuf_text(&buffer), "");
    mxp__strbuf_puts(&buffer, "again");
    assert_string_equal(mxp__strbuf_text(&buffer), "again");
    mxp__strbuf_fini(&buffer);
}

static void printf_of_every_length_is_whole(void **state)
{
    (void)state;
    static char text[5001];
    memset(text, 'y', sizeof text - 1);
    for (int before = 0; before < 70; before += 23) {
        for (int length = 0; length <= 5000; length += length < 140 ? 1 : 811) {
            mxp_strbuf buffer = {0};
            mxp__strbuf_append(&buffer, text, (size_t)before);
            mxp__strbuf_printf(&buffer, "%.*s|", length, text);
            assert_int_equal(buffer.length, before + length + 1);
            assert_int_equal(strlen(mxp__strbuf_text(&buffer)), buffer.length);
            assert_int_equal(buffer.data[buffer.length - 1], '|');
            mxp__strbuf_fini(&buffer);
        }
    }
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void reserved_room_is_the_callers(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    for (size_t i = 1; i < 3000; i += 7) {
        char *at = mxp__strbuf_reserve(&buffer, i);
        assert_non_null(at);
        assert_ptr_equal(at, buffer.data + buffer.length);
        assert_true(buffer.capacity > buffer.length + i);
        memset(at, 'a' + (int)(i % 26), i);
        buffer.length += i;
        assert_int_equal(strlen(mxp__strbuf_text(&buffer)), buffer.length);
    }
    mxp__strbuf_fini(&buffer);
}

static void lack_of_memory_sticks_until_cleared(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    mxp__strbuf_puts(&buffer, "start");
    fake_alloc_fail_after(0);
    assert_null(mxp__strbuf_reserve(&buffer, 1000));
    fake_alloc_fail_never();
    assert_true(buffer.failed);
    mxp__strbuf_puts(&buffer, "x");
    mxp__strbuf_putc(&buffer, 'y');
    mxp__strbuf_printf(&buffer, "%d", 5);
    assert_null(mxp__strbuf_reserve(&buffer, 1));
    assert_int_equal(buffer.length, 5);
    assert_string_equal(mxp__strbuf_text(&buffer), "");
    mxp__strbuf_clear(&buffer);
    mxp__strbuf_puts(&buffer, "fresh");
    assert_string_equal(mxp__strbuf_text(&buffer), "fresh");
    assert_false(buffer.failed);
    mxp__strbuf_fini(&buffer);
}

static void printf_without_memory_appends_nothing(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    mxp__strbuf_puts(&buffer, "ab");
    mxp__strbuf_reserve(&buffer, 100);
    fake_alloc_fail_after(0);
    mxp__strbuf_printf(&buffer, "%0500d", 1);
    fake_alloc_fail_never();
    assert_true(buffer.failed);
    assert_int_equal(buffer.length, 2);
    assert_string_equal(buffer.data, "ab");
    mxp__strbuf_fini(&buffer);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    mxp_strbuf buffer = {0};
    mxp__strbuf_puts(&buffer, "ab");
    assert_null(mxp__strbuf_reserve(&buffer, SIZE_MAX));
    assert_true(buffer.failed);
    mxp__strbuf_clear(&buffer);
    assert_null(mxp__strbuf_reserve(&buffer, SIZE_MAX - 2));
    mxp__strbuf_fini(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_is_empty_text),
        cmocka_unit_test(appends_of_all_kinds_join),
        cmocka_unit_test(printf_of_every_length_is_whole),
        cmocka_unit_test(reserved_room_is_the_callers),
        cmocka_unit_test(lack_of_memory_sticks_until_cleared),
        cmocka_unit_test(printf_without_memory_appends_nothing),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    fake_alloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
