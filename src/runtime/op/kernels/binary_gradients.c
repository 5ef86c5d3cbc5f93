// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/kernels/binary_gradients.h"

#include <math.h>

#define TEMPLATE "runtime/op/kernels/binary_gradients_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_binary_gradient_kernels MXN_WIDE(mxn__binary_gradients) = {
    .rows =
        {
#define GRADIENT(name, of_left, of_right)                         \
    [MXN_##name##_OF] = {{name##_LEFT_float, name##_LEFT_double}, \
                         {name##_RIGHT_float, name##_RIGHT_double}},
#include "runtime/op/kernels/binary_gradients.def"
#undef GRADIENT
        },
};
