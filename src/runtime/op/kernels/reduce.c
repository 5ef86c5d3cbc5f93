// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/reduce.h"

#define TEMPLATE "runtime/op/kernels/reduce_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_reduce_kernels MXN_WIDE(mxn__reduce) = {
    .sum_row = {sum_row_float, sum_row_double},
    .squares_row = {squares_row_float, squares_row_double},
};
