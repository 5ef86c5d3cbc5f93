// SPDX-License-Identifier: Apache-2.0
// Element types: names, sizes, conversions of single numbers and fills. cast.c has the loops.
#include "runtime/tensor/dtype.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

const uint8_t mxn_dtype_sizes[MXN_DTYPE_COUNT] = {
#define DTYPE_SIZE(name, number, text, type, size) [number] = size,
    MXN_DTYPES(DTYPE_SIZE)
#undef DTYPE_SIZE
};

#define DTYPE_ASSERT(name, number, text, type, size) \
    _Static_assert(sizeof(type) == (size), "size of " text);
MXN_DTYPES(DTYPE_ASSERT)
#undef DTYPE_ASSERT

static const char *const names[MXN_DTYPE_COUNT] = {
#define DTYPE_NAME(name, number, text, type, size) [number] = text,
    MXN_DTYPES(DTYPE_NAME)
#undef DTYPE_NAME
};

const char *mxn_dtype_name(int dtype)
{
    return mxn_dtype_known(dtype) ? names[dtype] : dtype == MXN_DTYPE_NONE ? "none" : "unknown";
}

int mxn_dtype_of_name(const char *name)
{
    for (int i = 0; i < MXN_DTYPE_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return MXN_DTYPE_NONE;
}

int mxn_dtype_check(int dtype)
{
    if (mxn_dtype_known(dtype)) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EINVAL,
                     "unknown dtype %d: valid are 0 float32, 1 float64, 2 float16, 3 uint8, "
                     "4 int32, 5 int8, 6 int64, 7 bool, 8 int16, 9 uint16, 10 uint32, 11 uint64, "
                     "12 bfloat16",
                     dtype);
}

bool mxn_dtype_is_float(int dtype)
{
    return dtype == MXN_FLOAT32 || dtype == MXN_FLOAT64 || dtype == MXN_FLOAT16 ||
           dtype == MXN_BFLOAT16;
}

// ---- narrow floats ----------------------------------------------------------------------------
static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

float mxn_half_to_float(mxn_half value)
{
    uint32_t sign = (uint32_t)(value.bits & 0x8000u) << 16;
    uint32_t exponent = value.bits >> 10 & 0x1fu;
    uint32_t fraction = value.bits & 0x3ffu;
    if (exponent == 0) {  // in units of 2^-24; no denormal float is touched, so modes do not matter
        float magnitude = (float)fraction * 0x1p-24f;
        return float_of(bits_of(magnitude) | sign);
    }
    uint32_t wide = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
    return float_of(sign | wide << 23 | fraction << 13);
}

// `magnitude` is below 2^-14: what is left counts in units of 2^-24.
static uint32_t round_denormal(uint32_t magnitude)
{
    uint32_t exponent = magnitude >> 23;
    if (exponent < 102) {  // below 2^-25
        return 0;
    }
    uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t shift = 126 - exponent;
    uint32_t kept = fraction >> shift;
    uint32_t rest = fraction & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1u) != 0));
}

mxn_half mxn_half_from_float(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t result;
    if (magnitude > 0x7f800000u) {  // a NaN stays one, whatever its low bits
        result = 0x7e00u | (magnitude >> 13 & 0x1ffu);
    } else if (magnitude >= 0x47800000u) {  // 65536
        result = 0x7c00u;
    } else if (magnitude >= 0x38800000u) {  // 2^-14; a carry may reach infinity, as it should
        uint32_t rebased = magnitude - 0x38000000u;
        result = (rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13;
    } else {
        result = round_denormal(magnitude);
    }
    return (mxn_half){(uint16_t)(sign | result)};
}

// Rounding twice is right if the first time is to odd: cut off, and the last bit set if anything
// was.
static float round_to_odd(double value)
{
    float nearest = (float)value;
    if (isinf(nearest) || isnan(nearest) || (double)nearest == value) {
        return nearest;
    }
    uint32_t bits = bits_of(nearest);
    bits -= fabs((double)nearest) > fabs(value);
    return float_of(bits | 1u);
}

mxn_half mxn_half_from_double(double value)
{
    return mxn_half_from_float(round_to_odd(value));
}

mxn_bfloat mxn_bfloat_from_double(double value)
{
    return mxn_bfloat_from_float(round_to_odd(value));
}

// ---- fill -------------------------------------------------------------------------------------
static void fill16(uint16_t *to, uint16_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = value;
    }
}

static void fill32(uint32_t *to, uint32_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = value;
    }
}

static void fill64(uint64_t *to, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = value;
    }
}

void mxn_fill(void *to, int dtype, double value, size_t count)
{
    union {
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } element = {.u64 = 0};
    if (count == 0) {
        return;
    }
    mxn_cast(&element, dtype, &value, MXN_FLOAT64, 1);
    switch (mxn_dtype_size(dtype)) {
    case 1:
        memset(to, element.u8, count);
        break;
    case 2:
        fill16(to, element.u16, count);
        break;
    case 4:
        fill32(to, element.u32, count);
        break;
    default:
        fill64(to, element.u64, count);
        break;
    }
}
