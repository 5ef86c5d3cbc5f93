// SPDX-License-Identifier: Apache-2.0
#include "import/json_number.h"

#include <float.h>
#include <mxprof/format.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void times_are_what_their_digits_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
        uint32_t ps;
    } cases[] = {
        {"0", 0, 0},
        {"12.345", 12345, 0},
        {"4493002297306.742", 4493002297306742, 0},
        {"1795225530717665", 1795225530717665000, 0},
        {"1795225530717665.123", 1795225530717665123, 0},
        {"1795225530717665.123456789", 1795225530717665123, 456},
        {"0.0004", 0, 400},
        {"0.0000009", 0, 0},
        {"-5.5", -5500, 0},
        {"-0.0004", -1, 600},
        {"1e3", 1000000, 0},
        {"1.5E-1", 150, 0},
        {"+2", 2000, 0},
        {".5", 500, 0},
        {"5.", 5000, 0},
        {"007", 7000, 0},
        {"0.000000000000000000000000000000000000001e39", 1000, 0},
        {"1000000000000000000000000000000000000000e-39", 1000, 0},
        {"4000000000000000", 4000000000000000000, 0},
        {"0e99999999999", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp_json_time time = {0, 0};
        assert_true(mxp__json_time(cases[i].text, strlen(cases[i].text), &time));
        assert_int_equal(time.ns, cases[i].ns);
        assert_int_equal(time.ps, cases[i].ps);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",    "-",     ".",  "e5",  "NaN", "Infinity",         "1x",
        "1 ",  "1.2.3", "1e", "1e+", "0x1", "4000000000000001", "1e300",
        "true"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mxp_json_time time;
        assert_false(mxp__json_time(texts[i], strlen(texts[i]), &time));
    }
}

static void ends_are_rounded_once(void **state)
{
    (void)state;
    assert_int_equal(mxp__json_time_end((mxp_json_time){0, 400}, (mxp_json_time){0, 400}), 1);
    assert_int_equal(mxp__json_time_end((mxp_json_time){-1, 600}, (mxp_json_time){0, 0}), 0);
    assert_int_equal(mxp__json_time_end((mxp_json_time){5, 0}, (mxp_json_time){7, 499}), 12);
    assert_int_equal(mxp__json_round((mxp_json_time){5, 500}), 6);
}

static void values_keep_their_type_and_all_digits(void **state)
{
    (void)state;
    uint64_t bits;
    double number;
    assert_int_equal(mxp__json_value("18446744073709551615", 20, &bits), MXP_ARG_U64);
    assert_true(bits == UINT64_MAX);
    assert_int_equal(mxp__json_value("-9223372036854775808", 20, &bits), MXP_ARG_I64);
    assert_true((int64_t)bits == INT64_MIN);
    assert_int_equal(mxp__json_value("18446744073709551616", 20, &bits), MXP_ARG_F64);
    assert_int_equal(mxp__json_value("2.5", 3, &bits), MXP_ARG_F64);
    memcpy(&number, &bits, sizeof number);
    assert_true(number == 2.5);
    assert_int_equal(mxp__json_value("1e999", 5, &bits), 0);
    assert_int_equal(mxp__json_value("null", 4, &bits), 0);
}

// As "%f" writes them.
static void long_values_are_as_large_as_they_say(void **state)
{
    (void)state;
    static const double values[] = {DBL_MAX, -DBL_MAX, 1e300, -1e63, 1e-5};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[512];
        uint64_t bits;
        double number;
        int length = snprintf(text, sizeof text, "%.80f", values[i]);
        assert_int_equal(mxp__json_value(text, (size_t)length, &bits), MXP_ARG_F64);
        memcpy(&number, &bits, sizeof number);
        assert_true(number == values[i]);
    }
}

static void whole_numbers_may_be_hexadecimal(void **state)
{
    (void)state;
    uint64_t value;
    assert_true(mxp__json_whole("0x1f", 4, &value) && value == 31);
    assert_true(mxp__json_whole("18446744073709551615", 20, &value) && value == UINT64_MAX);
    assert_false(mxp__json_whole("18446744073709551616", 20, &value));
    assert_false(mxp__json_whole("0x", 2, &value));
    assert_false(mxp__json_whole("-1", 2, &value));
    assert_false(mxp__json_whole("1.0", 3, &value));
    assert_false(mxp__json_whole("", 0, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_what_their_digits_say),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(ends_are_rounded_once),
        cmocka_unit_test(values_keep_their_type_and_all_digits),
        cmocka_unit_test(long_values_are_as_large_as_they_say),
        cmocka_unit_test(whole_numbers_may_be_hexadecimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
