// SPDX-License-Identifier: Apache-2.0
// With a pseudo-terminal, and with a pipe.
#include "text/screen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmocka_all.h"

static void forget_environment(void)
{
    static const char *const names[] = {"COLUMNS", "NO_COLOR", "TERM",
                                        "LC_ALL",  "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    setenv("TERM", "xterm", 1);
}

static mxp_screen look_at_pipe(void)
{
    int ends[2];
    mxp_screen screen;
    assert_int_equal(pipe(ends), 0);
    mxp__screen_look(ends[1], &screen);
    close(ends[0]);
    close(ends[1]);
    return screen;
}

static mxp_screen look_at_terminal(unsigned short columns)
{
    const struct winsize size = {.ws_row = 24, .ws_col = columns};
    mxp_screen screen;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        skip();
    }
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    mxp__screen_look(terminal, &screen);
    close(terminal);
    close(master);
    return screen;
}

static void a_pipe_is_plain(void **state)
{
    (void)state;
    forget_environment();
    const mxp_screen screen = look_at_pipe();
    assert_int_equal(screen.columns, 80);
    assert_false(screen.is_bounded);
    assert_false(screen.has_colour);
    assert_false(screen.is_utf8);
    assert_int_equal(screen.bar_columns, 0);
    setenv("COLUMNS", "120", 1);
    assert_int_equal(look_at_pipe().columns, 120);
    assert_true(look_at_pipe().is_bounded);
    assert_int_equal(look_at_pipe().bar_columns, 0);
}

static void a_terminal_has_its_width_colour_and_bars(void **state)
{
    (void)state;
    forget_environment();
    const mxp_screen screen = look_at_terminal(200);
    assert_int_equal(screen.columns, 200);
    assert_true(screen.is_bounded);
    assert_true(screen.has_colour);
    assert_int_equal(screen.bar_columns, 40);
    assert_int_equal(look_at_terminal(140).bar_columns, 24);
    assert_int_equal(look_at_terminal(80).bar_columns, 8);
    assert_int_equal(look_at_terminal(20).columns, MXP_SCREEN_COLUMNS_MIN);
    assert_int_equal(look_at_terminal(0).columns, 80);  // as in some containers
}

static void what_the_user_says_comes_first(void **state)
{
    (void)state;
    forget_environment();
    setenv("COLUMNS", "100", 1);
    setenv("NO_COLOR", "1", 1);
    assert_int_equal(look_at_terminal(200).columns, 100);
    assert_false(look_at_terminal(200).has_colour);
    setenv("COLUMNS", "wide", 1);
    setenv("NO_COLOR", "", 1);  // empty is as if it were not there
    assert_int_equal(look_at_terminal(200).columns, 200);
    assert_true(look_at_terminal(200).has_colour);
    setenv("TERM", "dumb", 1);
    assert_false(look_at_terminal(200).has_colour);
}

static void the_locale_says_what_can_be_written(void **state)
{
    (void)state;
    forget_environment();
    setenv("LANG", "de_DE.UTF-8", 1);
    assert_true(look_at_pipe().is_utf8);
    setenv("LC_CTYPE", "C", 1);
    assert_false(look_at_pipe().is_utf8);
    setenv("LC_ALL", "C.utf8", 1);
    assert_true(look_at_pipe().is_utf8);
    setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
    assert_false(look_at_pipe().is_utf8);
}

static void looks_are_escapes_only_where_there_is_colour(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    const mxp_screen plain = {.has_colour = false}, coloured = {.has_colour = true};
    mxp__look_begin(&plain, MXP_LOOK_TOTAL, &out);
    mxp__look_end(&plain, MXP_LOOK_TOTAL, &out);
    mxp__look_begin(&coloured, MXP_LOOK_PLAIN, &out);
    mxp__look_end(&coloured, MXP_LOOK_PLAIN, &out);
    assert_string_equal(mxp__strbuf_text(&out), "");
    mxp__look_begin(&coloured, MXP_LOOK_TOTAL, &out);
    mxp__look_end(&coloured, MXP_LOOK_TOTAL, &out);
    assert_string_equal(mxp__strbuf_text(&out), "\033[1m\033[0m");
    mxp__strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_is_plain),
        cmocka_unit_test(a_terminal_has_its_width_colour_and_bars),
        cmocka_unit_test(what_the_user_says_comes_first),
        cmocka_unit_test(the_locale_says_what_can_be_written),
        cmocka_unit_test(looks_are_escapes_only_where_there_is_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
