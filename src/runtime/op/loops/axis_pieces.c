// SPDX-License-Identifier: Apache-2.0
// The large array is gone through row by row, a row piece by piece.
#include "runtime/op/loops/axis_pieces.h"

#include <string.h>

#include "runtime/op/loops/loops.h"

enum { KEPT = 32 };

typedef struct rows {
    const mxn_axis_pieces *pieces;
    int64_t count;  // elements of a row; a scalar is a row of one
    int64_t total;  // rows
    int64_t steps[MXN_DIMS_MAX];  // of the small array
    int64_t index[MXN_DIMS_MAX];  // of the outer dimensions
    int32_t kept;  // pieces of a row, 0 if there are more than are kept
    mxn_piece row[KEPT];
} rows;

static mxn_piece piece_at(const rows *r, int64_t i, const mxn_piece *before)
{
    const mxn_axis_pieces *pieces = r->pieces;
    int32_t last = pieces->ndim - 1;
    return last < 0 ? (mxn_piece){0, 0, 1} : pieces->piece(pieces->layout, last, i, before);
}

// All rows have the same pieces, so that few are found out once.
static void keep_pieces(rows *r)
{
    int32_t kept = 0;
    for (int64_t i = 0; i < r->count && kept < KEPT; i += r->row[kept++].count) {
        r->row[kept] = piece_at(r, i, kept > 0 ? &r->row[kept - 1] : NULL);
        if (kept == KEPT - 1 && i + r->row[kept].count < r->count) {
            return;
        }
    }
    r->kept = kept;
}

static void rows_init(rows *r, const mxn_axis_pieces *pieces)
{
    int32_t last = pieces->ndim - 1;
    int64_t step = 1;
    memset(r, 0, sizeof *r);
    r->pieces = pieces;
    r->count = last < 0 ? 1 : pieces->count[last];
    r->total = r->count > 0;
    for (int32_t i = last; i >= 0; i--) {
        r->steps[i] = step;
        step *= pieces->small[i];
        r->total *= i < last ? pieces->count[i] : 1;
    }
    keep_pieces(r);
}

// The piece of a row that begins at element `i` and is number `index`.
static mxn_piece next_piece(const rows *r, int32_t index, int64_t i, const mxn_piece *before)
{
    return r->kept > 0 ? r->row[index] : piece_at(r, i, i > 0 ? before : NULL);
}

// Where in the small array the next row's places are counted from; MXN_NOWHERE if all of it is
// constant.
static int64_t next_row(rows *r)
{
    const mxn_axis_pieces *pieces = r->pieces;
    int64_t at = 0;
    int32_t outer = pieces->ndim - 1;
    for (int32_t i = 0; i < outer; i++) {
        int64_t place = pieces->piece(pieces->layout, i, r->index[i], NULL).place;
        at = place == MXN_NOWHERE || at == MXN_NOWHERE ? MXN_NOWHERE : at + place * r->steps[i];
    }
    for (int32_t i = outer - 1; i >= 0 && ++r->index[i] == pieces->count[i]; i--) {
        r->index[i] = 0;
    }
    return at;
}

// ---- copying ------------------------------------------------------------------------------------
// `size` is a constant where this is called: a copy is one load and one store.
__attribute__((always_inline)) static inline void copy_each(const char *from, int64_t step,
                                                            int64_t count, char *to, size_t size)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + i * (int64_t)size, from + i * step * (int64_t)size, size);
    }
}

static void copy_piece(const char *from, int64_t step, int64_t count, char *to, size_t size)
{
    if (step == 1 && count > 8) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    switch (size) {
    case 1:
        copy_each(from, step, count, to, 1);
        break;
    case 2:
        copy_each(from, step, count, to, 2);
        break;
    case 4:
        copy_each(from, step, count, to, 4);
        break;
    default:
        copy_each(from, step, count, to, 8);
    }
}

void mxn__pieces_copy(const mxn_axis_pieces *pieces, const mxn_operand *small,
                      const mxn_operand *large, const mxn_number *constant)
{
    size_t size = mxn_dtype_size(large->dtype);
    int64_t value;
    rows r;
    rows_init(&r, pieces);
    mxn_number_fill(&value, large->dtype, constant, 1);
    char *to = large->data;
    for (int64_t row = 0; row < r.total; row++) {
        int64_t at = next_row(&r);
        if (at == MXN_NOWHERE) {
            copy_piece((const char *)&value, 0, r.count, to, size);
            to += (size_t)r.count * size;
            continue;
        }
        const char *from = (const char *)small->data + (size_t)at * size;
        mxn_piece p = {0};
        int32_t index = 0;
        for (int64_t i = 0; i < r.count; i += p.count, to += (size_t)p.count * size) {
            p = next_piece(&r, index++, i, &p);
            const char *source =
                p.place == MXN_NOWHERE ? (const char *)&value : from + (size_t)p.place * size;
            copy_piece(source, p.step, p.count, to, size);
        }
    }
}

// ---- adding -------------------------------------------------------------------------------------
#define SUM T
#define TEMPLATE "runtime/op/loops/axis_pieces_kernels.h"
#include "runtime/op/kernels/each_real.h"
#undef SUM
#define SUM uint64_t
#define TEMPLATE "runtime/op/loops/axis_pieces_kernels.h"
#include "runtime/op/kernels/each_whole.h"
#define T bool
#define NAME(x) x##_bool
#include "runtime/op/loops/axis_pieces_kernels.h"
#undef T
#undef NAME
#undef SUM

typedef void (*add_function)(rows *r, const void *large, void *small);

static const add_function adds[MXN_DTYPE_COUNT] = {
    MXN_OF_NUMBERS(add_rows),
    [MXN_BOOL] = add_rows_bool,
};

int mxn__pieces_add(const mxn_job *job, const mxn_axis_pieces *pieces, const mxn_operand *large,
                    const mxn_operand *small)
{
    rows r;
    rows_init(&r, pieces);
    memset(small->data, 0, mxn_shape_size(small->shape) * mxn_dtype_size(small->dtype));
    if (adds[small->dtype] == NULL) {
        return mxn__type_refused(job, small->dtype);
    }
    adds[small->dtype](&r, large->data, small->data);
    return 0;
}
