// SPDX-License-Identifier: Apache-2.0
// Rows of two numbers of any types. Floats and whole numbers of every width have loops of their
// own (op/backend/cpu/simd_rows.h); mixtures are converted to the type of both, in pieces
// that stay in the cache. Whole numbers never become floats unless the function makes floats of
// them.
#include "runtime/op/loops/binary_loops.h"

#include <string.h>

#include "runtime/op/backend/cpu/simd.h"
#include "runtime/op/loops/loops.h"
#include "runtime/op/loops/type_promotion.h"

// ---- rows of any types --------------------------------------------------------------------------
enum { PIECE_BYTES = 4096, WIDE = -1 };  // WIDE: a type beside those of dtype.h

// The type in which a row is computed.
static int32_t computed_as(const mxn_function_rows *rows, int32_t a, int32_t b, int32_t to)
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
    return type == WIDE ? sizeof(mxn_wide) : mxn_dtype_size(type);
}

// `size` is a constant where this is called: a copy is one load and one store.
__attribute__((always_inline)) static inline void
gather_each(char *to, const char *from, int64_t step, int64_t count, size_t size)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + i * (int64_t)size, from + i * step * (int64_t)size, size);
    }
}

// `count` elements, `step` apart, one after the other.
static void gather(void *to, const char *from, int64_t step, int64_t count, size_t size)
{
    switch (size) {
    case 1:
        gather_each(to, from, step, count, 1);
        break;
    case 2:
        gather_each(to, from, step, count, 2);
        break;
    case 4:
        gather_each(to, from, step, count, 4);
        break;
    default:
        gather_each(to, from, step, count, 8);
    }
}

static void widen(mxn_wide *to, const void *from, int32_t dtype, int64_t count)
{
    uint64_t whole[PIECE_BYTES / sizeof(mxn_wide)];
    bool is_unsigned = dtype == MXN_UINT64;
    mxn_cast(whole, is_unsigned ? MXN_UINT64 : MXN_INT64, from, dtype, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        to[i] = is_unsigned ? (mxn_wide)whole[i] : (mxn_wide)(int64_t)whole[i];
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

// Elements from `done` on; `scratch` is free until then.
static const void *load(const side *s, int64_t done, int64_t count, void *scratch)
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
        gather(scratch, from, row->step, count, size);
        convert(s->buffer, s->type, scratch, row->dtype, count);
    }
    return s->buffer;
}

void mxn__binary_row(int function, const mxn_row *a, const mxn_row *b, void *to, int32_t to_dtype,
                     int64_t count)
{
    const mxn_function_rows *rows = &mxn__vector()->function_rows[function];
    int32_t type = computed_as(rows, a->dtype, b->dtype, to_dtype);
    mxn_row_function run = type == WIDE ? rows->of_wide : rows->of[type];
    int32_t result = rows->of_wide != NULL ? MXN_BOOL : type;
    if (a->step == 1 && b->step == 1 && a->dtype == type && b->dtype == type &&
        result == to_dtype) {
        run(a->data, b->data, to, count);
        return;
    }
    _Alignas(mxn_wide) char left_buffer[PIECE_BYTES], right_buffer[PIECE_BYTES],
        scratch[PIECE_BYTES];
    int64_t piece = (int64_t)(PIECE_BYTES / size_of(type));
    piece = count < piece ? count : piece;
    side left, right;
    begin_side(&left, a, type, left_buffer, piece);
    begin_side(&right, b, type, right_buffer, piece);
    for (int64_t done = 0; done < count; done += piece) {
        int64_t n = count - done < piece ? count - done : piece;
        char *at = (char *)to + (size_t)done * mxn_dtype_size(to_dtype);
        const void *lhs = load(&left, done, n, scratch), *rhs = load(&right, done, n, scratch);
        run(lhs, rhs, result == to_dtype ? at : scratch, n);
        if (result != to_dtype) {
            mxn_cast(at, to_dtype, scratch, result, (size_t)n);
        }
    }
}
