// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "random.h"

// ---- integers ---------------------------------------------------------------------------------

static void check_u64(uint64_t value)
{
    char expected[32], got[32] = {0};
    snprintf(expected, sizeof expected, "%" PRIu64, value);
    char *end = mxp__write_u64(got, value);
    assert_string_equal(got, expected);
    assert_ptr_equal(end, got + strlen(expected));

    memset(got, 0, sizeof got);
    snprintf(expected, sizeof expected, "%" PRIx64, value);
    end = mxp__write_hex(got, value);
    assert_string_equal(got, expected);
    assert_ptr_equal(end, got + strlen(expected));
}

static void check_us(int64_t ns)
{
    char expected[32], got[32] = {0};
    int64_t shown = ns < 0 ? 0 : ns;
    snprintf(expected, sizeof expected, "%" PRId64 ".%03" PRId64, shown / 1000, shown % 1000);
    char *end = mxp__write_us(got, ns);
    assert_string_equal(got, expected);
    assert_ptr_equal(end, got + strlen(expected));
    assert_true(strlen(got) <= MXP__US_CHARS);
    // The same from a writer that knows nothing, one that knows this time, and one near by.
    mxp_us_writer writer = {0};
    for (int round = 0; round < 3; round++) {
        end = mxp__write_us_near(&writer, got, ns);
        assert_ptr_equal(end, got + strlen(expected));
        *end = '\0';
        assert_string_equal(got, expected);
        mxp__write_us_near(&writer, got, round == 0 ? ns : ns / 2 + 12345678);
    }
}

static void numbers_are_written_as_printf_does(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 20000; value++) {
        check_u64(value);
        check_us((int64_t)value);
    }
    uint64_t power = 1;
    for (int digits = 0; digits < 20; digits++, power *= 10) {
        for (int off = -2; off <= 2; off++) {
            check_u64(power + (uint64_t)(int64_t)off);
            check_us((int64_t)(power / 10) + off);
        }
    }
    for (int bit = 0; bit < 64; bit++) {
        check_u64((UINT64_C(1) << bit) - 1);
        check_u64(UINT64_C(1) << bit);
        check_u64(~(UINT64_C(1) << bit));
    }
    check_u64(UINT64_MAX);
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t value = random_size(&random);
        check_u64(value);
        check_us((int64_t)value);
    }
}

static void negative_times_are_zero(void **state)
{
    (void)state;
    check_us(-1);
    check_us(INT64_MIN);
    check_us(INT64_MAX);
    char text[32] = {0};
    mxp__write_us(text, 1234567);
    assert_string_equal(text, "1234.567");
}

// ---- JSON strings -----------------------------------------------------------------------------

#define BAD "\xef\xbf\xbd"

typedef struct string_case {
    const char *text;
    size_t length;
    const char *json;
} string_case;

#define CASE(text, json)             \
    {                                \
        text, sizeof(text) - 1, json \
    }

static const string_case cases[] = {
    CASE("", ""),
    CASE("plain", "plain"),
    CASE("a\"b\\c/d", "a\\\"b\\\\c/d"),
    CASE("\b\f\n\r\t", "\\b\\f\\n\\r\\t"),
    CASE("\0\x01\x1f\x7f", "\\u0000\\u0001\\u001f\\u007f"),
    CASE("1234567\x7f 12345678\x7f", "1234567\\u007f 12345678\\u007f"),
    CASE("1234567\"", "1234567\\\""),
    CASE("12345678\n", "12345678\\n"),
    CASE("12345678901234567890\n1234567890", "12345678901234567890\\n1234567890"),
    // Well-formed: smallest and largest of each length, and the borders of the surrogates.
    CASE("\xc2\x80 \xc2\x9b \xc2\x9f", "\\u0080 \\u009b \\u009f"),
    CASE("\xc2\xa0 \xdf\xbf", "\xc2\xa0 \xdf\xbf"),
    CASE("\xe0\xa0\x80 \xef\xbf\xbf", "\xe0\xa0\x80 \xef\xbf\xbf"),
    CASE("\xed\x9f\xbf \xee\x80\x80", "\xed\x9f\xbf \xee\x80\x80"),
    CASE("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"),
    CASE("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"),
    CASE("\xe2\x80\xa8\xe2\x80\xa9", "\xe2\x80\xa8\xe2\x80\xa9"),
    // Lonely continuation bytes and bytes that never occur.
    CASE("\x80", BAD),
    CASE("a\xbf\xbf"
         "b",
         "a" BAD BAD "b"),
    CASE("\xfe\xff", BAD BAD),
    CASE("\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD),
    // Overlong forms.
    CASE("\xc0\xaf", BAD BAD),
    CASE("\xc1\xbf", BAD BAD),
    CASE("\xe0\x80\xaf", BAD BAD BAD),
    CASE("\xe0\x9f\xbf", BAD BAD BAD),
    CASE("\xf0\x80\x80\xaf", BAD BAD BAD BAD),
    CASE("\xf0\x8f\xbf\xbf", BAD BAD BAD BAD),
    // Surrogates, and what is beyond U+10FFFF.
    CASE("\xed\xa0\x80", BAD BAD BAD),
    CASE("\xed\xbf\xbf", BAD BAD BAD),
    CASE("\xf4\x90\x80\x80", BAD BAD BAD BAD),
    CASE("\xf5\x80\x80\x80", BAD BAD BAD BAD),
    // Cut off, at the end and before something else: one replacement for what was begun.
    CASE("\xc3", BAD),
    CASE("\xe2\x82", BAD),
    CASE("\xf0\x9f\x98", BAD),
    CASE("\xe2\x82"
         "x",
         BAD "x"),
    CASE("\xf0\x9f\x98\"", BAD "\\\""),
    CASE("\xf0\x9f\xe2\x82\xac", BAD "\xe2\x82\xac"),
    CASE("\xc3\xc3\xa9", BAD "\xc3\xa9"),
    CASE("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64",
         "a" BAD BAD BAD "b" BAD "c" BAD BAD "d"),
};

static void strings_are_escaped_and_made_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *expected;
        assert_true(asprintf(&expected, "[\"%s\"", cases[i].json) > 0);
        mxp_strbuf buffer = {0};
        mxp__strbuf_putc(&buffer, '[');
        // In memory of exactly this size, so that reading beyond the end is seen.
        char *text = malloc(cases[i].length + 1);
        memcpy(text, cases[i].text, cases[i].length);
        text = realloc(text, cases[i].length == 0 ? 1 : cases[i].length);
        mxp__json_string(&buffer, text, cases[i].length);
        assert_string_equal(mxp__strbuf_text(&buffer), expected);
        assert_int_equal(buffer.length, strlen(expected));
        mxp__strbuf_fini(&buffer);
        free(text);
        free(expected);
    }
}

// A second decoder, written from the definition: code points by arithmetic, then what is allowed.
static size_t reference_sequence(const unsigned char *s, size_t available)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80       ? 1
                    : s[0] >> 5 == 6  ? 2
                    : s[0] >> 4 == 14 ? 3
                    : s[0] >> 3 == 30 ? 4
                                      : 0;
    if (length == 0 || length > available) {
        return 0;
    }
    uint32_t code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (s[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (s[i] & 0x3f);
    }
    bool valid = code >= smallest[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
    return valid ? length : 0;
}

// How many bytes one replacement stands for: the longest beginning of a well-formed sequence.
// Whether one can be completed is decided by its first two bytes, so 0x80 will do for the rest.
static size_t reference_beginning(const unsigned char *s, size_t available)
{
    for (size_t length = available < 3 ? available : 3; length > 1; length--) {
        unsigned char completed[4] = {0x80, 0x80, 0x80, 0x80};
        memcpy(completed, s, length);
        if (reference_sequence(completed, 4) > length) {
            return length;
        }
    }
    return 1;
}

static void check_random_string(const unsigned char *text, size_t length)
{
    mxp_strbuf expected = {0}, buffer = {0};
    mxp__strbuf_putc(&expected, '"');
    for (size_t i = 0; i < length;) {
        size_t sequence = reference_sequence(text + i, length - i);
        const unsigned char last = sequence == 0 ? 0 : text[i + sequence - 1];
        if ((sequence == 1 && last == 0x7f) || (sequence == 2 && text[i] == 0xc2 && last < 0xa0)) {
            mxp__strbuf_printf(&expected, "\\u00%02x", last);
            i += sequence;
        } else if (sequence != 0) {
            mxp__strbuf_append(&expected, (const char *)text + i, sequence);
            i += sequence;
        } else {
            mxp__strbuf_puts(&expected, BAD);
            i += reference_beginning(text + i, length - i);
        }
    }
    mxp__strbuf_putc(&expected, '"');
    mxp__json_string(&buffer, (const char *)text, length);
    assert_int_equal(buffer.length, expected.length);
    assert_memory_equal(buffer.data, expected.data, expected.length);
    mxp__strbuf_fini(&buffer);
    mxp__strbuf_fini(&expected);
}

static void random_bytes_become_valid_utf8(void **state)
{
    (void)state;
    static const unsigned char alphabet[] = {'a',  'z',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                             0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xee,
                                             0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    uint64_t random = 2;
    for (int i = 0; i < 50000; i++) {
        unsigned char text[24];
        size_t length = random_below(&random, sizeof text + 1);
        for (size_t j = 0; j < length; j++) {
            text[j] = alphabet[random_below(&random, sizeof alphabet)];
        }
        check_random_string(text, length);
    }
}

static void every_position_of_a_special_byte_is_found(void **state)
{
    (void)state;
    static const unsigned char specials[] = {0, 0x1f, '"', '\\', 0x80, 0xff};
    for (size_t length = 1; length < 40; length++) {
        for (size_t at = 0; at < length; at++) {
            for (size_t which = 0; which < sizeof specials; which++) {
                char text[40];
                memset(text, which % 2 ? ' ' : '~', length);
                text[at] = (char)specials[which];
                mxp_strbuf buffer = {0};
                mxp__json_string(&buffer, text, length);
                assert_true(buffer.length > length + 2);
                assert_memory_equal(buffer.data + 1, text, at);
                assert_memory_equal(buffer.data + buffer.length - (length - at), text + at + 1,
                                    length - at - 1);
                mxp__strbuf_fini(&buffer);
            }
        }
    }
}

static void a_string_of_ten_megabytes_is_whole(void **state)
{
    (void)state;
    const size_t length = 10000000;
    char *text = malloc(length);
    memset(text, 'n', length);
    text[length / 2] = '\n';
    mxp_strbuf buffer = {0};
    mxp__json_string(&buffer, text, length);
    assert_int_equal(buffer.length, length + 3);
    assert_memory_equal(buffer.data + 1 + length / 2, "\\n", 2);
    mxp__strbuf_fini(&buffer);
    free(text);
}

static void lack_of_memory_marks_the_buffer(void **state)
{
    (void)state;
    static const char text[] =
        "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14";
    for (size_t count = 0;; count++) {
        mxp_strbuf buffer = {0};
        fake_alloc_fail_after(count);
        mxp__json_string(&buffer, text, sizeof text - 1);
        mxp__json_double(&buffer, 0.1);
        mxp__csv_string(&buffer, text, sizeof text - 1);
        bool refused = fake_alloc_failed() != 0;
        fake_alloc_fail_never();
        assert_int_equal(buffer.failed, refused);
        mxp__strbuf_fini(&buffer);
        if (!refused) {
            assert_true(count >= 2);
            break;
        }
    }
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

// ---- doubles and CSV --------------------------------------------------------------------------

static void check_double(double value, const char *expected)
{
    mxp_strbuf buffer = {0};
    mxp__json_double(&buffer, value);
    if (expected != NULL) {
        assert_string_equal(mxp__strbuf_text(&buffer), expected);
    }
    double back = strtod(mxp__strbuf_text(&buffer), NULL);
    assert_memory_equal(&back, &value, sizeof value);
    assert_true(buffer.length <= 25);
    mxp__strbuf_fini(&buffer);
}

static void doubles_are_short_and_read_back(void **state)
{
    (void)state;
    check_double(0, "0");
    check_double(-0.0, "-0");
    check_double(1, "1");
    check_double(-42, "-42");
    check_double(0.1, "0.1");
    check_double(-2.5, "-2.5");
    check_double(1.0 / 3, "0.3333333333333333");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(9007199254740991.0, "9007199254740991");
    check_double(1e22, "1e+22");
    check_double(1e300, "1e+300");
    check_double(1.5e-7, "1.5e-07");
    check_double(5e-324, "5e-324");
    check_double(1.7976931348623157e308, "1.7976931348623157e+308");
    check_double(2.2250738585072014e-308, "2.2250738585072014e-308");
    uint64_t random = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_next(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            check_double(value, NULL);
        }
        check_double((double)(int64_t)random_size(&random) / 1000, NULL);
    }
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    const double values[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        mxp_strbuf buffer = {0};
        mxp__json_double(&buffer, values[i]);
        assert_string_equal(mxp__strbuf_text(&buffer), "null");
        mxp__strbuf_fini(&buffer);
    }
}

static void the_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++) {
        found = setlocale(LC_ALL, names[i]) != NULL;
    }
    if (!found) {
        skip();
    }
    mxp_strbuf buffer = {0};
    mxp__json_double(&buffer, 1234567.25);
    assert_string_equal(mxp__strbuf_text(&buffer), "1234567.25");
    mxp__strbuf_fini(&buffer);
    setlocale(LC_ALL, "C");
}

static void csv_fields_are_quoted(void **state)
{
    (void)state;
    const char *pairs[][2] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a,b\nc", "\"a,b\nc\""},
        {"\"", "\"\"\"\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"\"\"", "\"\"\"\"\"\""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        mxp_strbuf buffer = {0};
        mxp__csv_string(&buffer, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(mxp__strbuf_text(&buffer), pairs[i][1]);
        mxp__strbuf_fini(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(negative_times_are_zero),
        cmocka_unit_test(strings_are_escaped_and_made_valid),
        cmocka_unit_test(random_bytes_become_valid_utf8),
        cmocka_unit_test(every_position_of_a_special_byte_is_found),
        cmocka_unit_test(a_string_of_ten_megabytes_is_whole),
        cmocka_unit_test(lack_of_memory_marks_the_buffer),
        cmocka_unit_test(doubles_are_short_and_read_back),
        cmocka_unit_test(what_is_no_number_is_null),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(csv_fields_are_quoted),
    };
    fake_alloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
