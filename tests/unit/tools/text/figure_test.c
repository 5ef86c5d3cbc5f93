// SPDX-License-Identifier: Apache-2.0
#include "text/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "random.h"
#include "text/label.h"

static const mxp_screen ascii = {.columns = 80}, utf8 = {.columns = 80, .is_utf8 = true};

static const char *text_of(mxp_strbuf *out)
{
    static char text[64];
    snprintf(text, sizeof text, "%s", mxp__strbuf_text(out));
    mxp__strbuf_fini(out);
    return text;
}

static const char *duration(const mxp_screen *screen, double ns)
{
    mxp_strbuf out = {0};
    mxp__put_duration(screen, ns, &out);
    return text_of(&out);
}

static void durations_have_three_digits_and_a_unit_that_fits(void **state)
{
    (void)state;
    static const struct {
        double ns;
        const char *text;
    } cases[] = {
        {0.004, "0 ns"},      {-0.004, "0 ns"},     {-0.5, "-0.50 ns"},
        {0, "0 ns"},          {1, "1 ns"},          {459, "459 ns"},
        {24.3, "24.3 ns"},    {0.42, "0.42 ns"},    {999, "999 ns"},
        {999.4, "999 ns"},    {999.5, "1.00 us"},   {1000, "1.00 us"},
        {56800, "56.8 us"},   {944000, "944 us"},   {999499, "999 us"},
        {999600, "1.00 ms"},  {3374999, "3.37 ms"}, {9994999, "9.99 ms"},
        {9996000, "10.0 ms"}, {99960000, "100 ms"}, {17.04e6, "17.0 ms"},
        {1.2e9, "1.20 s"},    {1234e9, "1234 s"},   {9999.4e9, "9999 s"},
        {10000e9, "2.78 h"},  {3.6e15, "41.7 d"},   {1.8446744073709552e19, ">584 y"},
        {-944000, "-944 us"}, {NAN, "-"},           {INFINITY, "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(duration(&ascii, cases[i].ns), cases[i].text);
    }
    assert_string_equal(duration(&utf8, 56800), "56.8 \302\265s");
    assert_string_equal(duration(&utf8, 5.22e6), "5.22 ms");
}

// The figure read back is within half of its third digit.
static void
no_duration_has_more_than_four_characters_or_is_off_by_more_than_its_digits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double size;
    } units[] = {{"ns", 1},     {"us", 1e3},    {"ms", 1e6},      {"s", 1e9},
                 {"h", 3600e9}, {"d", 86400e9}, {"y", 31557600e9}};
    uint64_t seed = 26;
    for (int i = 0; i < 100000; i++) {
        const uint64_t ns = random_next(&seed) >> (random_next(&seed) % 64);
        char figure[16], unit[8];
        assert_int_equal(sscanf(duration(&ascii, (double)ns), "%15s %7s", figure, unit), 2);
        assert_in_range(strlen(figure), 1, 4);
        double size = 0;
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
            size = strcmp(units[u].name, unit) == 0 ? units[u].size : size;
        }
        const double read = strtod(figure, NULL) * size;
        assert_true(fabs(read - (double)ns) <= 0.00502 * (double)ns);
    }
}

static void one_unit_can_be_asked_for(void **state)
{
    (void)state;
    const mxp_screen ms = {.unit = MXP_TIME_MS}, ns = {.unit = MXP_TIME_NS},
                     s = {.unit = MXP_TIME_S}, us = {.unit = MXP_TIME_US};
    assert_string_equal(mxp__unit_words[MXP_TIME_FITTING], "auto");
    assert_string_equal(mxp__unit_words[MXP_TIME_MS], "ms");
    assert_null(mxp__unit_words[MXP_TIME_S + 1]);
    assert_string_equal(duration(&ms, 56800), "0.057 ms");
    assert_string_equal(duration(&ms, 5.22e6), "5.22 ms");
    assert_string_equal(duration(&ms, 12345e6), "12345 ms");
    assert_string_equal(duration(&ms, 0), "0 ms");
    assert_string_equal(duration(&s, 1), "<0.001 s");
    assert_string_equal(duration(&ns, 12345), "12345 ns");
    assert_string_equal(duration(&us, 999.96), "1.00 us");
}

static void other_figures(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    const struct {
        double value;
        const char *text;
    } sizes[] = {{0, "0 B"},         {512, "512 B"},      {999, "999 B"},      {1000, "1.00 kB"},
                 {400000, "400 kB"}, {27.6e6, "27.6 MB"}, {999.6e6, "1.00 GB"}},
      counts[] = {{1, "1"},       {1.5, "1.50"},    {60, "60"},
                  {9999, "9999"}, {10000, "10.0k"}, {1234567, "1.23M"}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        mxp__put_bytes(sizes[i].value, &out);
        assert_string_equal(text_of(&out), sizes[i].text);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        mxp__put_count(counts[i].value, &out);
        assert_string_equal(text_of(&out), counts[i].text);
    }
    mxp__put_grouped(18047, &out);
    mxp__put_grouped(7, &out);
    mxp__put_grouped(1000000, &out);
    assert_string_equal(text_of(&out), "18,04771,000,000");
    static const struct {
        double number;
        const char *text;
    } exact[] = {{0.1, "0.1"},
                 {0.1000000001, "0.1000000001"},
                 {1700000000.25, "1700000000.25"},
                 {123456789, "123456789"},
                 {-1.0 / 3, "-0.3333333333333333"},
                 {INFINITY, "inf"}};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        mxp__put_exact(exact[i].number, &out);
        assert_string_equal(text_of(&out), exact[i].text);
    }
    mxp__put_percent(0.3456, &out);
    assert_string_equal(text_of(&out), "34.6%");
    mxp__put_percent(1.5, &out);
    assert_string_equal(text_of(&out), "150.0%");
    mxp__put_tenths(1000, &out);
    assert_string_equal(text_of(&out), "100.0%");
    mxp__put_tenths(5, &out);
    assert_string_equal(text_of(&out), "0.5%");
}

static void changes_have_a_sign(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    mxp__put_duration_change(&ascii, 660000, &out);
    assert_string_equal(text_of(&out), "+660 us");
    mxp__put_duration_change(&ascii, -1.5e6, &out);
    assert_string_equal(text_of(&out), "-1.50 ms");
    mxp__put_duration_change(&ascii, 0, &out);
    assert_string_equal(text_of(&out), "0 ns");
    mxp__put_percent_change(0.11, &out);
    assert_string_equal(text_of(&out), "+11.0%");
    mxp__put_percent_change(-0.0001, &out);
    assert_string_equal(text_of(&out), "0.0%");
    mxp__put_bytes_change(-2048, &out);
    assert_string_equal(text_of(&out), "-2.05 kB");
}

static void bars_are_in_eighths(void **state)
{
    (void)state;
    mxp_strbuf out = {0};
    assert_int_equal(mxp__put_bar(&utf8, 0.346, 8, &out), 3);
    assert_string_equal(text_of(&out), "\u2588\u2588\u258a");
    assert_int_equal(mxp__put_bar(&utf8, 1.7, 4, &out), 4);
    assert_string_equal(text_of(&out), "\u2588\u2588\u2588\u2588");
    assert_int_equal(mxp__put_bar(&utf8, 0.001, 8, &out), 1);
    assert_string_equal(text_of(&out), "\u258f");
    assert_int_equal(mxp__put_bar(&utf8, 0, 8, &out), 0);
    assert_int_equal(mxp__put_bar(&utf8, NAN, 8, &out), 0);
    assert_int_equal(mxp__put_bar(&ascii, 0.346, 8, &out), 3);
    assert_string_equal(text_of(&out), "###");
    assert_int_equal(mxp__put_bar(&ascii, 0.001, 8, &out), 0);
    assert_string_equal(text_of(&out), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_three_digits_and_a_unit_that_fits),
        cmocka_unit_test(
            no_duration_has_more_than_four_characters_or_is_off_by_more_than_its_digits),
        cmocka_unit_test(one_unit_can_be_asked_for),
        cmocka_unit_test(other_figures),
        cmocka_unit_test(changes_have_a_sign),
        cmocka_unit_test(bars_are_in_eighths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
