// SPDX-License-Identifier: Apache-2.0
// Conversions of all pairs of types against a second implementation, which works with wide integers
// and long doubles and finds narrow floats by searching among all of them.
#include "cmocka_all.h"

#include <float.h>
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "runtime/tensor/dtype.h"

_Static_assert(LDBL_MANT_DIG >= 64, "a long double holds every 64-bit integer");
__extension__ typedef __int128 wide;

// ---- the second implementation ----------------------------------------------------------------
// The value of a narrow float of `fraction_bits` and 16 bits in all; infinities and NaNs included.
static double narrow_value(uint16_t bits, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits;
    int exponent_max = (1 << exponent_bits) - 1;
    int bias = exponent_max / 2;
    int exponent = bits >> fraction_bits & exponent_max;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double magnitude =
        exponent == exponent_max ? (fraction != 0 ? NAN : INFINITY)
        : exponent == 0          ? ldexp(fraction, 1 - bias - fraction_bits)
                        : ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The nearest one, by bisection over the magnitudes; the one with the even bits of two.
static uint16_t nearest_narrow(long double value, int fraction_bits)
{
    uint16_t infinity = (uint16_t)(0x8000 - (1 << fraction_bits));
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    long double magnitude = fabsl(value);
    uint16_t below = 0, above = infinity;
    while (above - below > 1) {
        uint16_t middle = (uint16_t)((below + above) / 2);
        if ((long double)narrow_value(middle, fraction_bits) <= magnitude) {
            below = middle;
        } else {
            above = middle;
        }
    }
    // Infinity is where the next number would be.
    long double low = narrow_value(below, fraction_bits);
    long double high = above == infinity
                           ? low + (low - (long double)narrow_value(below - 1, fraction_bits))
                           : (long double)narrow_value(above, fraction_bits);
    bool up = magnitude - low > high - magnitude ||
              (magnitude - low == high - magnitude && (below & 1) != 0);
    return (uint16_t)(sign | (magnitude == low ? below : up ? above : below));
}

typedef union element {
    float f32;
    double f64;
    uint16_t u16;
    int16_t i16;
    uint8_t u8;
    int8_t i8;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    unsigned char bytes[8];
} element;

static long double read_element(const element *from, int dtype)
{
    switch (dtype) {
    case MXN_FLOAT32:
        return (long double)from->f32;
    case MXN_FLOAT64:
        return (long double)from->f64;
    case MXN_FLOAT16:
        return (long double)narrow_value(from->u16, 10);
    case MXN_BFLOAT16:
        return (long double)narrow_value(from->u16, 7);
    case MXN_UINT8:
    case MXN_BOOL:
        return from->u8;
    case MXN_INT8:
        return from->i8;
    case MXN_INT16:
        return from->i16;
    case MXN_UINT16:
        return from->u16;
    case MXN_INT32:
        return from->i32;
    case MXN_UINT32:
        return from->u32;
    case MXN_INT64:
        return (long double)from->i64;
    default:
        return (long double)from->u64;
    }
}

static const int integer_bits[MXN_DTYPE_COUNT] = {
    [MXN_UINT8] = 8,  [MXN_INT8] = 8,    [MXN_INT16] = 16, [MXN_UINT16] = 16,
    [MXN_INT32] = 32, [MXN_UINT32] = 32, [MXN_INT64] = 64, [MXN_UINT64] = 64};

// Integers keep their low bits; floats go through the register the processor has for it.
static uint64_t integer_of(long double value, int from_dtype, int to_dtype)
{
    if (!mxn_dtype_is_float(from_dtype)) {
        return (uint64_t)(wide)value;
    }
    bool narrow = integer_bits[to_dtype] <= 32 && to_dtype != MXN_UINT32;
    long double limit = narrow ? 0x1p31L : 0x1p63L;
    long double whole = isfinite(value) ? truncl(value) : NAN;
    if (to_dtype == MXN_UINT64 && whole >= limit) {
        return whole < 0x1p64L ? (uint64_t)whole : UINT64_C(1) << 63;
    }
    if (isnan(whole) || whole < -limit || whole >= limit) {
        return narrow ? (uint64_t)(int64_t)INT32_MIN : (uint64_t)INT64_MIN;
    }
    return (uint64_t)(wide)whole;
}

static void convert(element *to, int to_dtype, const element *from, int from_dtype)
{
    long double value = read_element(from, from_dtype);
    memset(to, 0, sizeof *to);
    switch (to_dtype) {
    case MXN_FLOAT32:
        to->f32 = (float)value;
        break;
    case MXN_FLOAT64:
        to->f64 = (double)value;
        break;
    case MXN_FLOAT16:
        to->u16 = isnan(value) ? 0x7e00 : nearest_narrow(value, 10);
        break;
    case MXN_BFLOAT16:
        to->u16 = isnan(value) ? 0x7fc0 : nearest_narrow(value, 7);
        break;
    case MXN_BOOL:
        to->u8 = isnan(value) || value != 0;
        break;
    default:
        to->u64 = integer_of(value, from_dtype, to_dtype);
        if (integer_bits[to_dtype] < 64) {
            to->u64 &= (UINT64_C(1) << integer_bits[to_dtype]) - 1;
        }
        break;
    }
}

// ---- tests ------------------------------------------------------------------------------------
static bool is_nan(const element *value, int dtype)
{
    return mxn_dtype_is_float(dtype) && isnan(read_element(value, dtype));
}

static void check(const element *from, int from_dtype, int to_dtype)
{
    element expected, found;
    convert(&expected, to_dtype, from, from_dtype);
    memset(&found, 0, sizeof found);
    mxn_cast(&found, to_dtype, from, from_dtype, 1);
    bool same = memcmp(&found, &expected, sizeof found) == 0;
    if (from_dtype == to_dtype) {
        same = memcmp(&found, from, mxn_dtype_size(to_dtype)) == 0;
    }
    if (!same && !(is_nan(&found, to_dtype) && is_nan(&expected, to_dtype))) {
        fail_msg("%s %Lg (%016llx) to %s: %016llx, expected %016llx", mxn_dtype_name(from_dtype),
                 read_element(from, from_dtype), (unsigned long long)from->u64,
                 mxn_dtype_name(to_dtype), (unsigned long long)found.u64,
                 (unsigned long long)expected.u64);
    }
}

static element special(size_t n, int dtype)
{
    static const double values[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.5,
                                    -0.5,
                                    1.5,
                                    127,
                                    128,
                                    -128,
                                    -129,
                                    255,
                                    256,
                                    300,
                                    32767,
                                    32768,
                                    -32768,
                                    -32769,
                                    65504,
                                    65519.9,
                                    65520,
                                    65535,
                                    65536,
                                    0x1p31,
                                    -0x1p31,
                                    0x1p32,
                                    0x1p53,
                                    0x1p63,
                                    -0x1p63,
                                    0x1p64,
                                    1e300,
                                    -1e300,
                                    1e-300,
                                    0x1p-24,
                                    0x1p-25,
                                    0x1.8p-25,
                                    0x1p-14,
                                    0x1.ffcp-15,
                                    3.3e38,
                                    3.4e38,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    2147483647.5,
                                    -2147483648.5,
                                    -2147483649.0,
                                    0x1.01p0,
                                    0x1.03p0,
                                    0x1.0100000001p0,
                                    0x1.002p0,
                                    0x1.006p0,
                                    0x1.0020000000001p0,
                                    0x1.fffffffffffffp63};
    element value = {.u64 = 0};
    double number = values[n % (sizeof values / sizeof values[0])];
    mxn_cast(&value, dtype, &number, MXN_FLOAT64, 1);
    return value;
}

static void every_pair_of_types_converts_alike(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int from = 0; from < MXN_DTYPE_COUNT; from++) {
        for (int i = 0; i < 3000; i++) {
            element value = {.u64 = 0};
            if (i < 60) {
                value = special((size_t)i, from);
            } else {
                uint64_t bits = i % 2 == 0 ? random_next(&random) : random_size(&random);
                bits = i % 3 == 0 ? 0 - bits : bits;
                memcpy(&value, &bits, mxn_dtype_size(from));
                value.u8 = from == MXN_BOOL ? value.u8 & 1 : value.u8;
            }
            for (int to = 0; to < MXN_DTYPE_COUNT; to++) {
                check(&value, from, to);
            }
        }
    }
}

static void all_narrow_floats_come_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        mxn_half half = {(uint16_t)bits};
        mxn_bfloat bfloat = {(uint16_t)bits};
        double value = narrow_value((uint16_t)bits, 10);
        if (isnan(value)) {
            assert_true(isnan(mxn_half_to_float(half)));
            assert_true(isnan(mxn_half_to_float(mxn_half_from_float(NAN))));
        } else {
            assert_true((double)mxn_half_to_float(half) == value);
            assert_int_equal(mxn_half_from_float((float)value).bits, bits);
            assert_int_equal(mxn_half_from_double(value).bits, bits);
        }
        value = narrow_value((uint16_t)bits, 7);
        if (!isnan(value)) {
            assert_true((double)mxn_bfloat_to_float(bfloat) == value);
            assert_int_equal(mxn_bfloat_from_float((float)value).bits, bits);
            assert_int_equal(mxn_bfloat_from_double(value).bits, bits);
        }
    }
}

// Between two neighbours, and one step of the wider type to each side of the middle.
static void halves_round_at_every_midpoint(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        double low = narrow_value((uint16_t)bits, 10);
        double high = bits == 0x7bff ? 65536 : narrow_value((uint16_t)(bits + 1), 10);
        double middle = (low + high) / 2;
        uint16_t even = (uint16_t)(bits + (bits & 1));
        assert_int_equal(mxn_half_from_double(middle).bits, even);
        assert_int_equal(mxn_half_from_float((float)middle).bits, even);
        assert_int_equal(mxn_half_from_double(nextafter(middle, 0)).bits, bits);
        assert_int_equal(mxn_half_from_double(nextafter(middle, INFINITY)).bits, bits + 1);
        assert_int_equal(mxn_half_from_float(nextafterf((float)middle, 0)).bits, bits);
        assert_int_equal(mxn_half_from_float(nextafterf((float)middle, INFINITY)).bits, bits + 1);
        assert_int_equal(mxn_half_from_double(-middle).bits, even | 0x8000);
    }
}

static void wide_integers_round_once_to_narrow_floats(void **state)
{
    (void)state;
    // Just above the middle of two bfloat16 numbers: through a double it would be the middle.
    int64_t above = (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1;
    mxn_bfloat result;
    mxn_cast(&result, MXN_BFLOAT16, &above, MXN_INT64, 1);
    assert_true(mxn_bfloat_to_float(result) == 0x1.02p60f);
    above = -above;
    mxn_cast(&result, MXN_BFLOAT16, &above, MXN_INT64, 1);
    assert_true(mxn_bfloat_to_float(result) == -0x1.02p60f);
}

static void arrays_convert_element_by_element(void **state)
{
    (void)state;
    float from[1000];
    int32_t to[1000];
    for (int i = 0; i < 1000; i++) {
        from[i] = (float)i - 500.25f;
    }
    mxn_cast(to, MXN_INT32, from, MXN_FLOAT32, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(to[i], (int32_t)from[i]);
    }
    mxn_cast(to, MXN_INT32, from, MXN_FLOAT32, 0);
    mxn_cast(NULL, MXN_INT32, NULL, MXN_FLOAT32, 0);
}

static void fill_sets_every_element_of_every_type(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < MXN_DTYPE_COUNT; dtype++) {
        element buffer[9], expected = {.u64 = 0};
        double value = 3;
        memset(buffer, 0xee, sizeof buffer);
        mxn_cast(&expected, dtype, &value, MXN_FLOAT64, 1);
        mxn_fill(buffer, dtype, value, 7);
        size_t size = mxn_dtype_size(dtype);
        for (size_t i = 0; i < 7; i++) {
            assert_memory_equal((char *)buffer + i * size, &expected, size);
        }
        assert_int_equal(((unsigned char *)buffer)[7 * size], 0xee);
    }
}

static void names_and_numbers(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < MXN_DTYPE_COUNT; dtype++) {
        assert_int_equal(mxn_dtype_of_name(mxn_dtype_name(dtype)), dtype);
        assert_int_equal(mxn_dtype_check(dtype), MXP_OK);
    }
    assert_string_equal(mxn_dtype_name(-1), "none");
    assert_int_equal(mxn_dtype_of_name("float31"), MXN_DTYPE_NONE);
    assert_int_equal(mxn_dtype_check(13), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "unknown dtype 13"));
    assert_int_equal(mxn_dtype_check(-1), MXP_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_types_converts_alike),
        cmocka_unit_test(all_narrow_floats_come_back),
        cmocka_unit_test(halves_round_at_every_midpoint),
        cmocka_unit_test(wide_integers_round_once_to_narrow_floats),
        cmocka_unit_test(arrays_convert_element_by_element),
        cmocka_unit_test(fill_sets_every_element_of_every_type),
        cmocka_unit_test(names_and_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
