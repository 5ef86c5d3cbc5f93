// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/rnn_cells.h"

#include <math.h>

#include "runtime/op/kernels/exponentials.h"

#define TEMPLATE "runtime/op/kernels/rnn_cells_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_rnn_kernels MXN_WIDE(mxn__rnn) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
    .fill = {fill_float, fill_double},
    .sum = {sum_float, sum_double},
    .add = {add_float, add_double},
    .scale = {scale_float, scale_double},
};
