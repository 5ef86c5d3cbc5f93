// SPDX-License-Identifier: Apache-2.0
#include "text/label.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"

static const mxp_screen ascii = {.columns = 80}, utf8 = {.columns = 80, .is_utf8 = true};

static const char *text_of(mxp_strbuf *out)
{
    static char text[256];
    snprintf(text, sizeof text, "%s", mxp__strbuf_text(out));
    mxp__strbuf_fini(out);
    return text;
}

static const char *label(const mxp_screen *screen, const char *text, size_t length)
{
    mxp_strbuf out = {0};
    mxp__put_label(screen, text, length, &out);
    return text_of(&out);
}

static const char *shortened(const mxp_screen *screen, const char *text, size_t columns)
{
    mxp_strbuf out = {0};
    mxp__put_shortened(screen, text, strlen(text), columns, &out);
    return text_of(&out);
}

static void names_do_not_reach_the_terminal_as_commands(void **state)
{
    (void)state;
    assert_string_equal(label(&utf8, "a\033[31mb", 7), "a [31mb");
    assert_string_equal(label(&utf8, "a\nb\tc\177", 6), "a b c ");
    assert_string_equal(label(&utf8, "a\0b", 3), "a b");
    assert_string_equal(label(&utf8, "a\302\233b", 4), "a b");  // the one-character CSI
    assert_string_equal(label(&utf8, "a\u202eb", 5), "a b");  // writes from right to left
    assert_string_equal(label(&utf8, "a\377b", 3), "a\ufffdb");
    assert_string_equal(label(&ascii, "f\u00fcr \u5c42", 8), "f?r ?");
}

static void wide_characters_take_two_columns(void **state)
{
    (void)state;
    assert_int_equal(mxp__label_columns("abc", 3), 3);
    assert_int_equal(mxp__label_columns("f\u00fcr", 4), 3);
    assert_int_equal(mxp__label_columns("\u5c42", 3), 2);
    assert_int_equal(mxp__label_columns("e\u0301", 3), 1);
    assert_int_equal(mxp__label_columns("\U0001f600", 4), 2);
}

static void names_are_shortened_in_the_middle(void **state)
{
    (void)state;
    assert_string_equal(shortened(&utf8, "Convolution", 11), "Convolution");
    assert_string_equal(shortened(&utf8, "_backward_Convolution", 11), "_back\u2026ution");
    assert_string_equal(shortened(&ascii, "_backward_Convolution", 11), "_back..tion");
    assert_string_equal(shortened(&utf8, "    _backward_Convolution", 14), "    _back\u2026tion");
    assert_string_equal(shortened(&utf8, "\u5c42\u5c42\u5c42\u5c42\u5c42", 6),
                        "\u5c42\u2026\u5c42");
}

// Whatever the text and the room, it fits.
static void what_is_shortened_fits(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "        ",
                                        "          x",
                                        "\u5c42a\u5c42b\u5c42c\u5c42d",
                                        "  \u5c42\u5c42\u5c42\u5c42\u5c42\u5c42",
                                        "abcdefghijklmnop"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t columns = 3; columns < 20; columns++) {
            const char *got = shortened(&utf8, texts[i], columns);
            assert_in_range(mxp__label_columns(got, strlen(got)), 0, columns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_do_not_reach_the_terminal_as_commands),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(names_are_shortened_in_the_middle),
        cmocka_unit_test(what_is_shortened_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
