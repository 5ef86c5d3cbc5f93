// SPDX-License-Identifier: Apache-2.0
// The large array is gone through row by row.
#include "op/axis_lists.h"

#include <string.h>

#include "op/loops.h"

typedef struct rows {
    const mxn_axis_lists *lists;
    const int64_t *places;  // of the last dimension; a scalar is a row of one
    int64_t count;  // of them
    int64_t total;  // of the rows
    bool straight;  // place i is the first one's place + i
    int64_t steps[MXN_DIMS_MAX];  // of the small array
    int64_t index[MXN_DIMS_MAX];  // of the outer dimensions
} rows;

static bool is_straight(const int64_t *places, int64_t count)
{
    bool straight = count > 0 && places[0] != MXN_NOWHERE;
    for (int64_t i = 1; i < count; i++) {
        straight = straight && places[i] == places[0] + i;
    }
    return straight;
}

static void rows_init(rows *r, const mxn_axis_lists *lists)
{
    static const int64_t only = 0;
    int32_t last = lists->ndim - 1;
    int64_t step = 1;
    *r = (rows){.lists = lists,
                .places = last < 0 ? &only : lists->places[last],
                .count = last < 0 ? 1 : lists->count[last]};
    r->straight = is_straight(r->places, r->count);
    r->total = r->count > 0;
    for (int32_t i = last; i >= 0; i--) {
        r->steps[i] = step;
        step *= lists->small[i];
        r->total *= i < last ? lists->count[i] : 1;
    }
}

// Where in the small array the next row's places are counted from; MXN_NOWHERE if all of it is
// constant.
static int64_t next_row(rows *r)
{
    int64_t at = 0;
    int32_t outer = r->lists->ndim - 1;
    for (int32_t i = 0; i < outer; i++) {
        int64_t place = r->lists->places[i][r->index[i]];
        at = place == MXN_NOWHERE || at == MXN_NOWHERE ? MXN_NOWHERE : at + place * r->steps[i];
    }
    for (int32_t i = outer - 1; i >= 0 && ++r->index[i] == r->lists->count[i]; i--) {
        r->index[i] = 0;
    }
    return at;
}

#define COPY_ROW(bytes)                                                                \
    for (int64_t i = 0; i < count; i++) {                                              \
        const char *source =                                                           \
            places[i] == MXN_NOWHERE ? constant : from + places[i] * (int64_t)(bytes); \
        memcpy(to + i * (int64_t)(bytes), source, (bytes));                            \
    }                                                                                  \
    break;

static void copy_row(const int64_t *places, int64_t count, const char *from, const char *constant,
                     char *to, size_t size)
{
    switch (size) {
    case 1:
        COPY_ROW(1)
    case 2:
        COPY_ROW(2)
    case 4:
        COPY_ROW(4)
    default:
        COPY_ROW(8)
    }
}

void mxn__lists_copy(const mxn_axis_lists *lists, const mxn_operand *small,
                     const mxn_operand *large, double constant)
{
    size_t size = mxn_dtype_size(large->dtype);
    int64_t value;
    rows r;
    rows_init(&r, lists);
    mxn_cast(&value, large->dtype, &constant, MXN_FLOAT64, 1);
    for (int64_t row = 0; row < r.total; row++) {
        char *to = (char *)large->data + (size_t)(row * r.count) * size;
        int64_t at = next_row(&r);
        const char *from = (const char *)small->data + (at == MXN_NOWHERE ? 0 : at) * (int64_t)size;
        if (at == MXN_NOWHERE) {
            mxn_fill(to, large->dtype, constant, (size_t)r.count);
        } else if (r.straight) {
            memcpy(to, from + r.places[0] * (int64_t)size, (size_t)r.count * size);
        } else {
            copy_row(r.places, r.count, from, (const char *)&value, to, size);
        }
    }
}

#define ADD_ROW(type)                                                                         \
    static void add_row_##type(const type *g, const int64_t *places, int64_t count, type *to) \
    {                                                                                         \
        for (int64_t i = 0; i < count; i++) {                                                 \
            if (places[i] != MXN_NOWHERE) {                                                   \
                to[places[i]] += g[i];                                                        \
            }                                                                                 \
        }                                                                                     \
    }
ADD_ROW(float)
ADD_ROW(double)

void mxn__lists_add(const mxn_axis_lists *lists, const mxn_operand *large, const mxn_operand *small)
{
    rows r;
    rows_init(&r, lists);
    memset(small->data, 0, mxn_shape_size(small->shape) * mxn_dtype_size(small->dtype));
    for (int64_t row = 0; row < r.total; row++) {
        int64_t at = next_row(&r), first = row * r.count;
        if (at != MXN_NOWHERE && small->dtype == MXN_FLOAT32) {
            add_row_float((const float *)large->data + first, r.places, r.count,
                          (float *)small->data + at);
        } else if (at != MXN_NOWHERE) {
            add_row_double((const double *)large->data + first, r.places, r.count,
                           (double *)small->data + at);
        }
    }
}
