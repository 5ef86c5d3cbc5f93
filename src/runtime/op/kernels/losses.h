// SPDX-License-Identifier: Apache-2.0
// Loops of losses and of layers that end a network. Private to op/.
#ifndef MXN_OP_KERNELS_LOSSES_H
#define MXN_OP_KERNELS_LOSSES_H

#include "runtime/op/kernels/kernels.h"

typedef struct mxn_loss_kernels {  // each of float, of double
    void (*logistic[2])(const void *x, void *to, size_t count);
    // scale times the distance to the label, or times its sign: 1 or -1.
    void (*distance[2])(const void *y, const void *label, void *to, double scale, size_t count);
    void (*distance_sign[2])(const void *y, const void *label, void *to, double scale,
                             size_t count);
    // With s: (s x)^2 / 2 within 1 / s^2 of 0, beyond it |x| - 1 / (2 s^2).
    void (*smooth[2])(const void *x, void *to, double s, size_t count);
    void (*smooth_back[2])(const void *g, const void *x, void *to, double s, size_t count);
    // The cross entropy of a row of scores and its label, and its gradient times g[0].
    double (*entropy[2])(const void *x, int64_t count, int64_t label);
    void (*entropy_back[2])(const void *g, const void *x, void *to, int64_t count, int64_t label);
} mxn_loss_kernels;

MXN_EACH_WIDTH(mxn_loss_kernels, mxn__losses);

#endif
