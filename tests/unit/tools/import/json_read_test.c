// SPDX-License-Identifier: Apache-2.0
#include "import/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct opened {
    mxp_json_bytes *bytes;
    mxp_json_reader reader;
} opened;

static opened open_text(const char *text, size_t length)
{
    opened of;
    assert_int_equal(mxp__json_bytes_open_memory(text, length, &of.bytes), 0);
    assert_int_equal(mxp__json_reader_open(&of.reader, of.bytes), 0);
    return of;
}

static void close_text(opened *of)
{
    mxp__json_reader_close(&of->reader);
    mxp__json_bytes_close(of->bytes);
}

// `before` blanks, then the text.
static char *behind_blanks(size_t before, const char *text)
{
    size_t length = strlen(text);
    char *all = malloc(before + length + 1);
    assert_non_null(all);
    memset(all, ' ', before);
    memcpy(all + before, text, length + 1);
    return all;
}

static void tokens_are_whole_wherever_the_window_ends(void **state)
{
    (void)state;
    static const char text[] = "[\"a\\\"b\\\\\", -12.5e3 ,{\"k\":[1,\"]\\\"\"]},true]";
    for (size_t back = 0; back <= sizeof text; back++) {
        size_t before = MXP__JSON_WINDOW - back;
        char *all = behind_blanks(before, text);
        opened of = open_text(all, before + strlen(text));
        mxp_json_text token;
        assert_true(mxp__json_take(&of.reader, '['));
        assert_int_equal(mxp__json_peek(&of.reader), '"');
        assert_true(mxp__json_read_text(&of.reader, &token));
        assert_int_equal(token.length, 6);
        assert_memory_equal(token.text, "a\\\"b\\\\", 6);
        assert_true(token.has_escapes);
        assert_true(mxp__json_take(&of.reader, ','));
        assert_int_equal(mxp__json_peek(&of.reader), '-');
        assert_true(mxp__json_scalar(&of.reader, &token));
        assert_int_equal(token.length, 7);
        assert_memory_equal(token.text, "-12.5e3", 7);
        assert_true(mxp__json_take(&of.reader, ','));
        assert_true(mxp__json_raw(&of.reader, &token));
        assert_int_equal(token.length, 15);
        assert_memory_equal(token.text, "{\"k\":[1,\"]\\\"\"]}", 15);
        assert_true(mxp__json_take(&of.reader, ','));
        assert_true(mxp__json_skip(&of.reader));
        assert_true(mxp__json_take(&of.reader, ']'));
        assert_int_equal(mxp__json_peek(&of.reader), -1);
        assert_int_equal(mxp__json_offset(&of.reader), before + strlen(text));
        assert_null(of.reader.damage);
        close_text(&of);
        free(all);
    }
}

static void a_string_longer_than_the_window_is_cut_and_its_end_is_found(void **state)
{
    (void)state;
    for (size_t backslashes = 0; backslashes < 4; backslashes++) {
        size_t length = 3 * MXP__JSON_WINDOW;
        char *all = malloc(length);
        assert_non_null(all);
        memset(all, 'x', length);
        all[0] = '"';
        // Escapes lie where the window ends.
        memset(all + MXP__JSON_WINDOW - 1, '\\', 2 * backslashes);
        all[length - 2] = '"';
        all[length - 1] = ',';
        opened of = open_text(all, length);
        mxp_json_text token;
        assert_int_equal(mxp__json_peek(&of.reader), '"');
        assert_true(mxp__json_read_text(&of.reader, &token));
        assert_true(token.is_cut);
        assert_true(token.length <= MXP__JSON_WINDOW);
        assert_true(mxp__json_take(&of.reader, ','));
        assert_int_equal(mxp__json_peek(&of.reader), -1);
        close_text(&of);
        free(all);
    }
}

static void a_value_longer_than_the_window_is_skipped_and_has_no_text(void **state)
{
    (void)state;
    size_t length = 2 * MXP__JSON_WINDOW;
    char *all = malloc(length);
    assert_non_null(all);
    memset(all, '1', length);
    memcpy(all, "[[", 2);
    memcpy(all + length - 3, "]]7", 3);
    opened of = open_text(all, length);
    mxp_json_text token;
    assert_false(mxp__json_raw(&of.reader, &token));
    assert_null(of.reader.damage);
    assert_int_equal(mxp__json_peek(&of.reader), '7');
    close_text(&of);
    free(all);
}

static void what_ends_early_is_told_with_its_offset(void **state)
{
    (void)state;
    static const char *const texts[] = {"\"abc", "\"abc\\\"", "[1,[2]", "{\"a\":\"", "\"\\"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        opened of = open_text(texts[i], strlen(texts[i]));
        assert_int_equal(mxp__json_peek(&of.reader), texts[i][0]);
        assert_false(mxp__json_skip(&of.reader));
        assert_string_equal(of.reader.damage, "the text is cut short");
        assert_int_equal(of.reader.damage_offset, strlen(texts[i]));
        close_text(&of);
    }
}

static void escapes_become_what_they_stand_for(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        unsigned met;
    } cases[] = {
        {"plain \xc3\xa4", "plain \xc3\xa4", 0},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", 0},
        {"\\u0041\\u00e4\\u20AC\\ud83d\\ude00", "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 0},
        {"\\ud800x", "\xef\xbf\xbdx", MXP__JSON_SURROGATES},
        {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", MXP__JSON_SURROGATES},
        {"\\ud83d\\u0041",
         "\xef\xbf\xbd"
         "A",
         MXP__JSON_SURROGATES},
        {"\\u12",
         "\xef\xbf\xbd"
         "12",
         MXP__JSON_CONTROLS},
        {"\\u0000", "\xef\xbf\xbd", 0},
        {"a\tb", "a\tb", MXP__JSON_CONTROLS},
        {"\\q\\\xc3\xa4\\", "q\\\xc3\xa4\\", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_json_text from = {.text = cases[i].from, .length = strlen(cases[i].from)};
        char to[64];
        size_t length;
        assert_int_equal(mxp__json_unescape(&from, to, sizeof to, &length), cases[i].met);
        assert_int_equal(length, strlen(cases[i].to));
        assert_memory_equal(to, cases[i].to, length);
    }
}

static void a_text_without_room_is_cut_between_characters(void **state)
{
    (void)state;
    mxp_json_text from = {.text = "ab\\u20ac", .length = 8};
    char to[4];
    size_t length;
    assert_int_equal(mxp__json_unescape(&from, to, sizeof to, &length), MXP__JSON_CUT);
    assert_int_equal(length, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_whole_wherever_the_window_ends),
        cmocka_unit_test(a_string_longer_than_the_window_is_cut_and_its_end_is_found),
        cmocka_unit_test(a_value_longer_than_the_window_is_skipped_and_has_no_text),
        cmocka_unit_test(what_ends_early_is_told_with_its_offset),
        cmocka_unit_test(escapes_become_what_they_stand_for),
        cmocka_unit_test(a_text_without_room_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
