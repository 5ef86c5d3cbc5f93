// SPDX-License-Identifier: Apache-2.0
// Loops of functions of two numbers. Floats and whole numbers of every width have loops of their
// own, which the compiler makes vectors of; mixtures are converted to the type of both, in pieces
// that stay in the cache. Whole numbers never become floats unless the function makes floats of
// them.
#include "op/binary_loops.h"

#include <math.h>
#include <string.h>

#include "op/loops.h"
#include "op/type_of_two.h"

__extension__ typedef __int128 wide;  // holds int64 and uint64

// ---- functions ----------------------------------------------------------------------------------
// Of whole numbers x / 0 and x % 0 are 0; the remainder has the divisor's sign.
static inline int64_t divide_signed(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t remainder_signed(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) {
        return 0;
    }
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static inline int64_t floor_signed(int64_t a, int64_t b)
{
    int64_t quotient = divide_signed(a, b);
    return b != 0 && b != -1 && quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static inline uint64_t power_unsigned(uint64_t a, uint64_t b)
{
    uint64_t result = 1;
    for (; b != 0; b >>= 1, a *= a) {
        result *= (b & 1) != 0 ? a : 1;
    }
    return result;
}

// To a negative power: what is left of the fraction without its digits.
static inline int64_t power_signed(int64_t a, int64_t b)
{
    if (b >= 0) {
        return (int64_t)power_unsigned((uint64_t)a, (uint64_t)b);
    }
    return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
}

// As MXNet's own operators have it: 0 where the divisor is.
static double old_remainder(double a, double b)
{
    if (b == 0) {
        return 0;
    }
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// numpy's: a is the quotient times b, plus the remainder. The quotient is made of the remainder,
// because the rounded a / b may be a whole number that the exact one is below.
#define DIVISION(type, suffix)                                                               \
    static type remainder_##type(type a, type b)                                             \
    {                                                                                        \
        type rest = fmod##suffix(a, b);                                                      \
        if (b == 0 || rest != rest) {                                                        \
            return rest;                                                                     \
        }                                                                                    \
        return rest == 0 ? copysign##suffix(0, b) : (rest < 0) != (b < 0) ? rest + b : rest; \
    }                                                                                        \
    static type floor_divide_##type(type a, type b)                                          \
    {                                                                                        \
        if (b == 0) {                                                                        \
            return a / b;                                                                    \
        }                                                                                    \
        type rest = fmod##suffix(a, b), quotient = (a - rest) / b;                           \
        quotient -= rest != 0 && (rest < 0) != (b < 0);                                      \
        if (quotient == 0) {                                                                 \
            return copysign##suffix(0, a / b);                                               \
        }                                                                                    \
        type below = floor##suffix(quotient);                                                \
        return quotient - below > (type)0.5 ? below + 1 : below;                             \
    }
DIVISION(float, f)
DIVISION(double, )

static double log_add_exp(double a, double b)
{
    double most = a > b ? a : b;
    return isinf(most) ? most : most + log1p(exp(-fabs(a - b)));
}

// ---- loops --------------------------------------------------------------------------------------
// An output may be exactly an input's memory, which no iteration but its own reads.
#define ROW(name, suffix, type, result, expression)                                           \
    static void name##_##suffix(const void *left, const void *right, void *to, int64_t count) \
    {                                                                                         \
        const type *lhs = left, *rhs = right;                                                 \
        result *out = to;                                                                     \
        LOOP for (int64_t i = 0; i < count; i++)                                              \
        {                                                                                     \
            const type a = lhs[i], b = rhs[i];                                                \
            out[i] = (result)(expression);                                                    \
        }                                                                                     \
    }
#if defined(__clang__)
#define LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LOOP _Pragma("GCC ivdep")
#endif

#define FLOAT_ROWS(name, of_float, of_double) \
    ROW(name, float, float, float, of_float)  \
    ROW(name, double, double, double, of_double)
#define UNSIGNED_ROWS(name, expression)               \
    ROW(name, uint8, uint8_t, uint8_t, expression)    \
    ROW(name, uint16, uint16_t, uint16_t, expression) \
    ROW(name, uint32, uint32_t, uint32_t, expression) \
    ROW(name, uint64, uint64_t, uint64_t, expression)
#define SIGNED_ROWS(name, expression)              \
    ROW(name, int8, int8_t, int8_t, expression)    \
    ROW(name, int16, int16_t, int16_t, expression) \
    ROW(name, int32, int32_t, int32_t, expression) \
    ROW(name, int64, int64_t, int64_t, expression)

#define WRAPS(name, of_float, of_whole) \
    FLOAT_ROWS(name, of_float, of_float) UNSIGNED_ROWS(name, of_whole)
#define NUMBER(name, of_float, of_double, of_signed, of_unsigned) \
    FLOAT_ROWS(name, of_float, of_double)                         \
    SIGNED_ROWS(name, of_signed) UNSIGNED_ROWS(name, of_unsigned)
#define REAL(name, of_float, of_double) FLOAT_ROWS(name, of_float, of_double)
#define BITS(name, expression) UNSIGNED_ROWS(name, expression)
#define TRUTH(name, expression)                   \
    ROW(name, float, float, bool, expression)     \
    ROW(name, double, double, bool, expression)   \
    ROW(name, uint8, uint8_t, bool, expression)   \
    ROW(name, uint16, uint16_t, bool, expression) \
    ROW(name, uint32, uint32_t, bool, expression) \
    ROW(name, uint64, uint64_t, bool, expression) \
    ROW(name, int8, int8_t, bool, expression)     \
    ROW(name, int16, int16_t, bool, expression)   \
    ROW(name, int32, int32_t, bool, expression)   \
    ROW(name, int64, int64_t, bool, expression)   \
    ROW(name, wide, wide, bool, expression)
#include "op/binary_functions.def"
#undef WRAPS
#undef NUMBER
#undef REAL
#undef BITS
#undef TRUTH

typedef void (*row_function)(const void *left, const void *right, void *to, int64_t count);

typedef struct function_rows {
    row_function of[MXN_DTYPE_COUNT];  // by the type it is computed in; null: there is none
    row_function of_wide;  // of int64 and uint64 together; null unless it makes truths
} function_rows;

#define FLOATS_OF(name) [MXN_FLOAT32] = name##_float, [MXN_FLOAT64] = name##_double
#define UNSIGNED_OF(name)                                                                   \
    [MXN_UINT8] = name##_uint8, [MXN_UINT16] = name##_uint16, [MXN_UINT32] = name##_uint32, \
    [MXN_UINT64] = name##_uint64
#define SIGNED_OF(name, suffix)                                         \
    [MXN_INT8] = name##_##suffix##8, [MXN_INT16] = name##_##suffix##16, \
    [MXN_INT32] = name##_##suffix##32, [MXN_INT64] = name##_##suffix##64

static const function_rows functions[MXN_BINARY_COUNT] = {
#define WRAPS(name, of_float, of_whole) \
    [MXN_##name##_OF] = {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, uint)}, NULL},
#define NUMBER(name, of_float, of_double, of_signed, of_unsigned) \
    [MXN_##name##_OF] = {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, int)}, NULL},
#define REAL(name, of_float, of_double) [MXN_##name##_OF] = {{FLOATS_OF(name)}, NULL},
#define BITS(name, expression) \
    [MXN_##name##_OF] = {{UNSIGNED_OF(name), SIGNED_OF(name, uint)}, NULL},
#define TRUTH(name, expression) \
    [MXN_##name##_OF] = {{FLOATS_OF(name), UNSIGNED_OF(name), SIGNED_OF(name, int)}, name##_wide},
#include "op/binary_functions.def"
};

// ---- rows of any types --------------------------------------------------------------------------
enum { PIECE_BYTES = 4096, WIDE = -1 };  // WIDE: a type beside those of dtype.h

// The type in which a row is computed.
static int32_t computed_as(const function_rows *rows, int32_t a, int32_t b, int32_t to)
{
    if (mxn_dtype_is_float(a) || mxn_dtype_is_float(b)) {
        return a == b ? a : MXN_FLOAT64;
    }
    if (rows->of[MXN_UINT8] == NULL || mxn_dtype_is_float(to)) {
        return MXN_FLOAT64;
    }
    int32_t type = mxn__type_of_two(a, b);
    return type == MXN_BOOL                               ? MXN_UINT8
           : type == MXN_FLOAT64 && rows->of_wide != NULL ? WIDE
                                                          : type;
}

static size_t size_of(int32_t type)
{
    return type == WIDE ? sizeof(wide) : mxn_dtype_size(type);
}

// `count` elements, `step` apart, one after the other.
static void gather(void *to, const char *from, int64_t step, int64_t count, size_t size)
{
#define GATHER(type)                                                    \
    for (int64_t i = 0; i < count; i++) {                               \
        ((type *)to)[i] = ((const type *)(const void *)from)[i * step]; \
    }                                                                   \
    break;
    switch (size) {
    case 1:
        GATHER(uint8_t)
    case 2:
        GATHER(uint16_t)
    case 4:
        GATHER(uint32_t)
    default:
        GATHER(uint64_t)
    }
#undef GATHER
}

static void widen(wide *to, const void *from, int32_t dtype, int64_t count)
{
    uint64_t whole[PIECE_BYTES / sizeof(wide)];
    bool is_unsigned = dtype == MXN_UINT64;
    mxn_cast(whole, is_unsigned ? MXN_UINT64 : MXN_INT64, from, dtype, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        to[i] = is_unsigned ? (wide)whole[i] : (wide)(int64_t)whole[i];
    }
}

static void convert(void *to, int32_t type, const void *from, int32_t dtype, int64_t count)
{
    if (type == WIDE) {
        widen(to, from, dtype, count);
    } else {
        mxn_cast(to, type, from, dtype, (size_t)count);
    }
}

// One of the operands, as the function takes it: where it is, or converted to `buffer`.
typedef struct side {
    const mxn_row *row;
    int32_t type;
    bool direct;
    char *buffer;
} side;

static void begin_side(side *s, const mxn_row *row, int32_t type, char *buffer, int64_t piece)
{
    *s = (side){row, type, row->step == 1 && row->dtype == type, buffer};
    if (row->step != 0) {
        return;
    }
    size_t size = size_of(type);
    convert(buffer, type, row->data, row->dtype, 1);
    for (int64_t done = 1; done < piece; done *= 2) {  // what is there, doubled
        int64_t more = done <= piece - done ? done : piece - done;
        memcpy(buffer + (size_t)done * size, buffer, (size_t)more * size);
    }
}

// Elements from `done` on; `room` is free until then.
static const void *load(const side *s, int64_t done, int64_t count, void *room)
{
    const mxn_row *row = s->row;
    size_t size = mxn_dtype_size(row->dtype);
    const char *from = (const char *)row->data + (size_t)(done * row->step) * size;
    if (s->direct) {
        return from;
    }
    if (row->step == 1) {
        convert(s->buffer, s->type, from, row->dtype, count);
    } else if (row->step != 0 && row->dtype == s->type) {
        gather(s->buffer, from, row->step, count, size);
    } else if (row->step != 0) {
        gather(room, from, row->step, count, size);
        convert(s->buffer, s->type, room, row->dtype, count);
    }
    return s->buffer;
}

void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count)
{
    const function_rows *rows = &functions[function];
    int32_t type = computed_as(rows, a->dtype, b->dtype, to_dtype);
    row_function run = type == WIDE ? rows->of_wide : rows->of[type];
    int32_t result = rows->of_wide != NULL ? MXN_BOOL : type;
    if (a->step == 1 && b->step == 1 && a->dtype == type && b->dtype == type &&
        result == to_dtype) {
        run(a->data, b->data, to, count);
        return;
    }
    _Alignas(wide) char left_buffer[PIECE_BYTES], right_buffer[PIECE_BYTES], room[PIECE_BYTES];
    int64_t piece = (int64_t)(PIECE_BYTES / size_of(type));
    piece = count < piece ? count : piece;
    side left, right;
    begin_side(&left, a, type, left_buffer, piece);
    begin_side(&right, b, type, right_buffer, piece);
    for (int64_t done = 0; done < count; done += piece) {
        int64_t n = count - done < piece ? count - done : piece;
        char *at = (char *)to + (size_t)done * mxn_dtype_size(to_dtype);
        const void *lhs = load(&left, done, n, room), *rhs = load(&right, done, n, room);
        run(lhs, rhs, result == to_dtype ? at : room, n);
        if (result != to_dtype) {
            mxn_cast(at, to_dtype, room, result, (size_t)n);
        }
    }
}
