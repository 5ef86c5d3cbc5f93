// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/reduce_whole.h"

#include <assert.h>

#define TEMPLATE "runtime/op/kernels/reduce_whole_kernels.h"
#include "runtime/op/kernels/each_whole.h"

#define ROWS_OF(type)                                   \
    {                                                   \
        sum_##type, prod_##type, max_##type, min_##type \
    }

const mxn_reduce_whole_kernels MXN_WIDE(mxn__reduce_whole) = {
    .rows =
        {
            [MXN_UINT8] = ROWS_OF(uint8),
            [MXN_INT8] = ROWS_OF(int8),
            [MXN_INT16] = ROWS_OF(int16),
            [MXN_UINT16] = ROWS_OF(uint16),
            [MXN_INT32] = ROWS_OF(int32),
            [MXN_UINT32] = ROWS_OF(uint32),
            [MXN_INT64] = ROWS_OF(int64),
            [MXN_UINT64] = ROWS_OF(uint64),
            // A truth is a byte of 0 or 1.
            [MXN_BOOL] = {max_uint8, min_uint8, max_uint8, min_uint8},
        },
};
