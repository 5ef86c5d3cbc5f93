// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/layer_norm.h"

#include <math.h>

#define TEMPLATE "runtime/op/kernels/layer_norm_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_layer_norm_kernels MXN_WIDE(mxn__layer_norm) = {
    .forward = {forward_float, forward_double},
    .backward = {backward_float, backward_double},
};
