// SPDX-License-Identifier: Apache-2.0
// Conversion between any two element types: one loop for each pair, made from how a type is read
// (as float, double, int32, int64 or uint64, whichever holds all its values) and how it is written
// from each of those.
#include <string.h>

#include "runtime/tensor/dtype.h"

// ---- reading ----------------------------------------------------------------------------------
#define READ_FLOAT32(x) (x)
#define READ_FLOAT64(x) (x)
#define READ_FLOAT16(x) mxn_half_to_float(x)
#define READ_UINT8(x) ((int32_t)(x))
#define READ_INT32(x) (x)
#define READ_INT8(x) ((int32_t)(x))
#define READ_INT64(x) (x)
#define READ_BOOL(x) ((int32_t)((x) != 0))
#define READ_INT16(x) ((int32_t)(x))
#define READ_UINT16(x) ((int32_t)(x))
#define READ_UINT32(x) ((int64_t)(x))
#define READ_UINT64(x) (x)
#define READ_BFLOAT16(x) mxn_bfloat_to_float(x)

// ---- floats to integers -----------------------------------------------------------------------
static inline int32_t float_i32(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}
static inline int32_t double_i32(double x)
{
    return x > -0x1.00000002p31 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}
static inline int64_t double_i64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
static inline int64_t float_i64(float x)
{
    return double_i64((double)x);
}
static inline uint64_t double_u64(double x)
{
    if (x >= 0x1p63) {
        return x < 0x1p64 ? (uint64_t)(int64_t)(x - 0x1p63) + (UINT64_C(1) << 63)
                          : UINT64_C(1) << 63;
    }
    return (uint64_t)double_i64(x);
}
static inline uint64_t float_u64(float x)
{
    return double_u64((double)x);
}
static inline int32_t same_i32(int32_t x)
{
    return x;
}
static inline int32_t i64_i32(int64_t x)
{
    return (int32_t)(uint32_t)(uint64_t)x;
}
static inline int32_t u64_i32(uint64_t x)
{
    return (int32_t)(uint32_t)x;
}
static inline int64_t i32_i64(int32_t x)
{
    return x;
}
static inline int64_t same_i64(int64_t x)
{
    return x;
}
static inline int64_t u64_i64(uint64_t x)
{
    return (int64_t)x;
}
static inline uint64_t i32_u64(int32_t x)
{
    return (uint64_t)(int64_t)x;
}
static inline uint64_t i64_u64(int64_t x)
{
    return (uint64_t)x;
}
static inline uint64_t same_u64(uint64_t x)
{
    return x;
}

#define TO_I32(x)                  \
    _Generic((x), float            \
             : float_i32, double   \
             : double_i32, int32_t \
             : same_i32, int64_t   \
             : i64_i32, uint64_t   \
             : u64_i32)(x)
#define TO_I64(x)                  \
    _Generic((x), float            \
             : float_i64, double   \
             : double_i64, int32_t \
             : i32_i64, int64_t    \
             : same_i64, uint64_t  \
             : u64_i64)(x)
#define TO_U64(x)                  \
    _Generic((x), float            \
             : float_u64, double   \
             : double_u64, int32_t \
             : i32_u64, int64_t    \
             : i64_u64, uint64_t   \
             : same_u64)(x)

// ---- integers to narrow floats ----------------------------------------------------------------
// To a double in which rounding again gives what rounding once would: all of the 53 bits, the last
// one set if any below it is.
static inline double u64_odd_double(uint64_t x)
{
    uint64_t low = x & 0x7ff;
    bool inexact = low != 0 && x >> 53 != 0;
    return (double)(inexact ? (x - low) | 0x800 : x);
}
static inline double i64_odd_double(int64_t x)
{
    return x < 0 ? -u64_odd_double(0 - (uint64_t)x) : u64_odd_double((uint64_t)x);
}
static inline mxn_half i32_half(int32_t x)
{
    return mxn_half_from_double((double)x);
}
static inline mxn_half i64_half(int64_t x)
{
    return mxn_half_from_double(i64_odd_double(x));
}
static inline mxn_half u64_half(uint64_t x)
{
    return mxn_half_from_double(u64_odd_double(x));
}
static inline mxn_bfloat i32_bfloat(int32_t x)
{
    return mxn_bfloat_from_double((double)x);
}
static inline mxn_bfloat i64_bfloat(int64_t x)
{
    return mxn_bfloat_from_double(i64_odd_double(x));
}
static inline mxn_bfloat u64_bfloat(uint64_t x)
{
    return mxn_bfloat_from_double(u64_odd_double(x));
}

// ---- writing ----------------------------------------------------------------------------------
#define WRITE_FLOAT32(x) ((float)(x))
#define WRITE_FLOAT64(x) ((double)(x))
#define WRITE_FLOAT16(x)                     \
    _Generic((x), float                      \
             : mxn_half_from_float, double   \
             : mxn_half_from_double, int32_t \
             : i32_half, int64_t             \
             : i64_half, uint64_t            \
             : u64_half)(x)
#define WRITE_BFLOAT16(x)                      \
    _Generic((x), float                        \
             : mxn_bfloat_from_float, double   \
             : mxn_bfloat_from_double, int32_t \
             : i32_bfloat, int64_t             \
             : i64_bfloat, uint64_t            \
             : u64_bfloat)(x)
#define WRITE_UINT8(x) ((uint8_t)TO_I32(x))
#define WRITE_INT32(x) TO_I32(x)
#define WRITE_INT8(x) ((int8_t)TO_I32(x))
#define WRITE_INT64(x) TO_I64(x)
#define WRITE_BOOL(x) ((x) != 0)
#define WRITE_INT16(x) ((int16_t)TO_I32(x))
#define WRITE_UINT16(x) ((uint16_t)TO_I32(x))
#define WRITE_UINT32(x) ((uint32_t)TO_I64(x))
#define WRITE_UINT64(x) TO_U64(x)

// ---- loops ------------------------------------------------------------------------------------
#define TYPEDEF_OF(name, number, text, type, size) typedef type type_##name;
MXN_DTYPES(TYPEDEF_OF)
#undef TYPEDEF_OF

// Written once: it is made anew for every pair of types, and calls nothing.
__attribute__((always_inline)) static inline void cast_each(void (*one)(void *to, const void *from),
                                                            char *to, size_t to_bytes,
                                                            const char *from, size_t from_bytes,
                                                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        one(to + i * to_bytes, from + i * from_bytes);
    }
}

#define CAST(FROM, TO)                                                                         \
    static inline void one_##FROM##_##TO(void *to, const void *from)                           \
    {                                                                                          \
        *(type_##TO *)to = WRITE_##TO(READ_##FROM(*(const type_##FROM *)from));                \
    }                                                                                          \
    static void cast_##FROM##_##TO(void *to, const void *from, size_t count)                   \
    {                                                                                          \
        cast_each(one_##FROM##_##TO, to, sizeof(type_##TO), from, sizeof(type_##FROM), count); \
    }

// The list of dtype.h once more: a macro cannot expand itself.
#define FOR_EACH_TARGET(X, FROM) \
    X(FROM, FLOAT32)             \
    X(FROM, FLOAT64)             \
    X(FROM, FLOAT16)             \
    X(FROM, UINT8)               \
    X(FROM, INT32)               \
    X(FROM, INT8)                \
    X(FROM, INT64)               \
    X(FROM, BOOL) X(FROM, INT16) X(FROM, UINT16) X(FROM, UINT32) X(FROM, UINT64) X(FROM, BFLOAT16)

#define CASTS_FROM(name, number, text, type, size) FOR_EACH_TARGET(CAST, name)
MXN_DTYPES(CASTS_FROM)
#undef CASTS_FROM

typedef void (*cast_loop)(void *to, const void *from, size_t count);

#define CAST_ENTRY(FROM, TO) [MXN_##TO] = cast_##FROM##_##TO,
#define CAST_ROW(name, number, text, type, size) [number] = {FOR_EACH_TARGET(CAST_ENTRY, name)},
static const cast_loop loops[MXN_DTYPE_COUNT][MXN_DTYPE_COUNT] = {MXN_DTYPES(CAST_ROW)};

void mxn_cast(void *to, int to_dtype, const void *from, int from_dtype, size_t count)
{
    if (count == 0) {
        return;
    }
    if (to_dtype == from_dtype) {
        memmove(to, from, count * mxn_dtype_size(to_dtype));
    } else {
        loops[from_dtype][to_dtype](to, from, count);
    }
}
