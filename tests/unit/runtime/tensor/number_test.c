// SPDX-License-Identifier: Apache-2.0
// Numbers read from text and written to arrays of every type.
#include "runtime/tensor/number.h"

#include <string.h>

#include "cmocka_all.h"
#include "runtime/tensor/dtype.h"

static mxn_number read_all(const char *text)
{
    const char *end;
    mxn_number number = mxn_number_read(text, &end);
    assert_string_equal(end, "");
    return number;
}

static void whole_numbers_keep_64_bits(void **state)
{
    (void)state;
    mxn_number number = read_all("9007199254740993");
    assert_int_equal(number.dtype, MXN_INT64);
    assert_int_equal(number.bits, 9007199254740993);
    number = read_all("-9223372036854775808");
    assert_int_equal(number.dtype, MXN_INT64);
    assert_true(number.bits == 1ull << 63 && number.real == -0x1p63);
    number = read_all("18446744073709551615");
    assert_int_equal(number.dtype, MXN_UINT64);
    assert_true(number.bits == UINT64_MAX && number.real == 0x1p64);
}

static void other_numbers_are_doubles(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"1.5", 1.5},
                 {"3e2", 300},
                 {"2.", 2},
                 {"0x10", 16},
                 {"18446744073709551616", 0x1p64},
                 {"-9223372036854775809", -0x1p63}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxn_number number = read_all(cases[i].text);
        assert_int_equal(number.dtype, MXN_FLOAT64);
        assert_true(number.real == cases[i].value);
    }
    const char *text = "x1", *end;
    mxn_number_read(text, &end);
    assert_ptr_equal(end, text);
}

static void whole_numbers_fill_arrays_with_their_low_bits(void **state)
{
    (void)state;
    mxn_number number = read_all("9007199254740993");
    int64_t wide[5] = {0};
    mxn_number_fill(wide, MXN_INT64, &number, 4);
    assert_true(wide[0] == 9007199254740993 && wide[3] == wide[0] && wide[4] == 0);
    uint16_t narrow[7] = {0};
    number = mxn_number_of_whole(-1);
    mxn_number_fill(narrow, MXN_UINT16, &number, 7);
    assert_true(narrow[0] == 65535 && narrow[6] == 65535);
    float reals[3];
    mxn_number_fill(reals, MXN_FLOAT32, &number, 3);
    assert_true(reals[0] == -1 && reals[2] == -1);
    bool truth = false;
    number = read_all("256");
    mxn_number_fill(&truth, MXN_BOOL, &number, 1);
    assert_true(truth);
    number = mxn_number_of_double(2.75);
    mxn_number_fill(wide, MXN_INT64, &number, 5);
    assert_true(wide[0] == 2 && wide[4] == 2);
    mxn_number_fill(NULL, MXN_INT64, &number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_keep_64_bits),
        cmocka_unit_test(other_numbers_are_doubles),
        cmocka_unit_test(whole_numbers_fill_arrays_with_their_low_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
