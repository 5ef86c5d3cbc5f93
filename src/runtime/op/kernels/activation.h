// SPDX-License-Identifier: Apache-2.0
// Functions of each element. Private to op/.
#ifndef MXN_OP_KERNELS_ACTIVATION_H
#define MXN_OP_KERNELS_ACTIVATION_H

#include "runtime/op/kernels/kernels.h"

enum {
    MXN_ACT_RELU,
    MXN_ACT_SIGMOID,
    MXN_ACT_TANH,
    MXN_ACT_SOFTRELU,
    MXN_ACT_SOFTSIGN,
    MXN_ACT_LOG_SIGMOID,
    MXN_ACT_MISH
};

// `to` may be any of the inputs; x: the function's input, y: its output, g: the gradient of that.
typedef struct mxn_activation_kernels {  // of float, of double
    void (*forward[2])(int function, const void *x, void *to, size_t count);
    void (*backward[2])(int function, const void *g, const void *y, const void *x, void *to,
                        size_t count);
} mxn_activation_kernels;

MXN_EACH_WIDTH(mxn_activation_kernels, mxn__activation);

#endif
