// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/losses.h"

#include <math.h>

#define TEMPLATE "runtime/op/kernels/losses_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_loss_kernels MXN_WIDE(mxn__losses) = {
    .logistic = {logistic_float, logistic_double},
    .distance = {distance_float, distance_double},
    .distance_sign = {distance_sign_float, distance_sign_double},
    .smooth = {smooth_float, smooth_double},
    .smooth_back = {smooth_back_float, smooth_back_double},
    .entropy = {entropy_float, entropy_double},
    .entropy_back = {entropy_back_float, entropy_back_double},
};
