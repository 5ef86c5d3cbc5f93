// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/reduce/reduce_loops.h"

#include "runtime/op/loops/loops.h"

void mxn__reduce_begin(int kind, int32_t dtype, void *to, size_t count)
{
    static const struct {
        int64_t least;
        uint64_t greatest;
    } limits[MXN_DTYPE_COUNT] = {
        [MXN_UINT8] = {0, UINT8_MAX},
        [MXN_INT8] = {INT8_MIN, INT8_MAX},
        [MXN_INT16] = {INT16_MIN, INT16_MAX},
        [MXN_UINT16] = {0, UINT16_MAX},
        [MXN_INT32] = {INT32_MIN, INT32_MAX},
        [MXN_UINT32] = {0, UINT32_MAX},
        [MXN_INT64] = {INT64_MIN, INT64_MAX},
        [MXN_UINT64] = {0, UINT64_MAX},
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
    MXN_WIDEST(mxn__reduce_whole)->rows[dtype][kind](from, to, step, count);
}
