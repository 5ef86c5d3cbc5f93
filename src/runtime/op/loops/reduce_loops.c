// SPDX-License-Identifier: Apache-2.0
// The loops are compiled with the compiler's vectors (cmake/Kernels.cmake).
#include "runtime/op/loops/reduce_loops.h"

#include <assert.h>

#include "runtime/op/loops/loops.h"

// X(NAME, type, as which it is added and multiplied, least, greatest)
#define TYPES(X)                                      \
    X(UINT8, uint8_t, uint32_t, 0, UINT8_MAX)         \
    X(INT8, int8_t, uint32_t, INT8_MIN, INT8_MAX)     \
    X(INT16, int16_t, uint32_t, INT16_MIN, INT16_MAX) \
    X(UINT16, uint16_t, uint32_t, 0, UINT16_MAX)      \
    X(INT32, int32_t, uint32_t, INT32_MIN, INT32_MAX) \
    X(UINT32, uint32_t, uint32_t, 0, UINT32_MAX)      \
    X(INT64, int64_t, uint64_t, INT64_MIN, INT64_MAX) \
    X(UINT64, uint64_t, uint64_t, 0, UINT64_MAX)

#define ROW(kind, type, expression)                                                          \
    static void kind##_##type(const void *source, void *target, int64_t step, int64_t count) \
    {                                                                                        \
        const type *from = source;                                                           \
        type *to = target;                                                                   \
        if (step == 0) {                                                                     \
            type a = *to;                                                                    \
            for (int64_t i = 0; i < count; i++) {                                            \
                const type b = from[i];                                                      \
                a = (type)(expression);                                                      \
            }                                                                                \
            *to = a;                                                                         \
            return;                                                                          \
        }                                                                                    \
        assert(step == 1);                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                \
            const type a = to[i], b = from[i];                                               \
            to[i] = (type)(expression);                                                      \
        }                                                                                    \
    }
#define ROWS(name, type, wide, least, greatest) \
    ROW(sum, type, (wide)a + (wide)b)           \
    ROW(prod, type, (wide)a *(wide)b)           \
    ROW(max, type, a > b ? a : b)               \
    ROW(min, type, a < b ? a : b)
TYPES(ROWS)

typedef void (*row_function)(const void *from, void *to, int64_t step, int64_t count);

static const row_function rows[MXN_DTYPE_COUNT][MXN_REDUCE_COUNT] = {
#define ENTRY(name, type, wide, least, greatest) \
    [MXN_##name] = {sum_##type, prod_##type, max_##type, min_##type},
    TYPES(ENTRY)
#undef ENTRY
        // A truth is a byte of 0 or 1.
        [MXN_BOOL] = {max_uint8_t, min_uint8_t, max_uint8_t, min_uint8_t},
};

void mxn__reduce_begin(int kind, int32_t dtype, void *to, size_t count)
{
    static const struct {
        int64_t least;
        uint64_t greatest;
    } limits[MXN_DTYPE_COUNT] = {
#define ENTRY(name, type, wide, least, greatest) [MXN_##name] = {least, greatest},
        TYPES(ENTRY)
#undef ENTRY
            [MXN_BOOL] = {0, 1},
    };
    mxn_number number = mxn_number_of_whole(kind == MXN_REDUCE_PROD  ? 1
                                            : kind == MXN_REDUCE_MAX ? limits[dtype].least
                                                                     : 0);
    if (kind == MXN_REDUCE_MIN) {
        number = (mxn_number){.bits = limits[dtype].greatest, .dtype = MXN_UINT64};
    }
    mxn_number_fill(to, dtype, &number, count);
}

void mxn__reduce_row(int kind, int32_t dtype, const void *from, void *to, int64_t step,
                     int64_t count)
{
    rows[dtype][kind](from, to, step, count);
}
