// SPDX-License-Identifier: Apache-2.0
// Element types: the one list, their sizes and conversions. Narrow floats (float16, bfloat16) round
// to nearest, ties to even, from every source type with a single rounding. Numbers that do not fit
// an integer type become what the x86 processor makes of them (int32 and narrower: the low bits of
// the 32-bit conversion, whose answer is INT32_MIN out of range; int64 alike with 64 bits), the
// same on every machine. To bool: anything but zero is true, NaN too.
#ifndef MXN_TENSOR_DTYPE_H
#define MXN_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxn_half {
    uint16_t bits;
} mxn_half;
typedef struct mxn_bfloat {
    uint16_t bits;
} mxn_bfloat;

// MXNet's numbers. X(NAME, number, text, C type, size)
#define MXN_DTYPES(X)                     \
    X(FLOAT32, 0, "float32", float, 4)    \
    X(FLOAT64, 1, "float64", double, 8)   \
    X(FLOAT16, 2, "float16", mxn_half, 2) \
    X(UINT8, 3, "uint8", uint8_t, 1)      \
    X(INT32, 4, "int32", int32_t, 4)      \
    X(INT8, 5, "int8", int8_t, 1)         \
    X(INT64, 6, "int64", int64_t, 8)      \
    X(BOOL, 7, "bool", bool, 1)           \
    X(INT16, 8, "int16", int16_t, 2)      \
    X(UINT16, 9, "uint16", uint16_t, 2)   \
    X(UINT32, 10, "uint32", uint32_t, 4)  \
    X(UINT64, 11, "uint64", uint64_t, 8)  \
    X(BFLOAT16, 12, "bfloat16", mxn_bfloat, 2)

enum {
    MXN_DTYPE_NONE = -1,
#define MXN_DTYPE_ENUM(name, number, text, type, size) MXN_##name = number,
    MXN_DTYPES(MXN_DTYPE_ENUM)
#undef MXN_DTYPE_ENUM
        MXN_DTYPE_COUNT = 13
};

static inline bool mxn_dtype_known(int dtype)
{
    return dtype >= 0 && dtype < MXN_DTYPE_COUNT;
}

extern const uint8_t mxn_dtype_sizes[MXN_DTYPE_COUNT];

// Bytes of an element; `dtype` must be known.
static inline size_t mxn_dtype_size(int dtype)
{
    return mxn_dtype_sizes[dtype];
}

const char *mxn_dtype_name(int dtype);  // "none" for -1, "unknown" for a number not in the list
// The number of a name, MXN_DTYPE_NONE if there is none.
int mxn_dtype_of_name(const char *name);
// 0, or MXP_EINVAL with a line that lists the valid ones.
int mxn_dtype_check(int dtype);
bool mxn_dtype_is_float(int dtype);  // float16, bfloat16, float32, float64

// Converts `count` elements. The same type is a copy. The ranges must not overlap, unless they are
// the same type and the same address.
void mxn_cast(void *to, int to_dtype, const void *from, int from_dtype, size_t count);
// Sets `count` elements to `value`, converted once.
void mxn_fill(void *to, int dtype, double value, size_t count);

// ---- single numbers ---------------------------------------------------------------------------
float mxn_half_to_float(mxn_half value);
mxn_half mxn_half_from_float(float value);
mxn_half mxn_half_from_double(double value);

static inline float mxn_bfloat_to_float(mxn_bfloat value)
{
    union {
        uint32_t bits;
        float number;
    } wide = {(uint32_t)value.bits << 16};
    return wide.number;
}

static inline mxn_bfloat mxn_bfloat_from_float(float value)
{
    union {
        float number;
        uint32_t bits;
    } wide = {value};
    if ((wide.bits & 0x7fffffffu) > 0x7f800000u) {  // a NaN stays one, whatever its low bits
        return (mxn_bfloat){(uint16_t)(wide.bits >> 16 | 0x40u)};
    }
    return (mxn_bfloat){(uint16_t)((wide.bits + 0x7fffu + (wide.bits >> 16 & 1u)) >> 16)};
}

mxn_bfloat mxn_bfloat_from_double(double value);

#endif
