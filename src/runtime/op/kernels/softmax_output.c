// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/softmax_output.h"

#define TEMPLATE "runtime/op/kernels/softmax_output_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_softmax_output_kernels MXN_WIDE(mxn__softmax_output) = {
    .backward = {backward_float, backward_double},
    .difference = {difference_float, difference_double},
    .scale = {scale_float, scale_double},
};
