// SPDX-License-Identifier: Apache-2.0
// Poolings, as the operator and the backends see them, and the reference. Private to op/.
#ifndef MXN_OP_POOLING_KERNELS_H
#define MXN_OP_POOLING_KERNELS_H

#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/window.h"

enum { MXN_POOL_MAX, MXN_POOL_AVG, MXN_POOL_SUM, MXN_POOL_LP };

typedef struct mxn_pool {
    mxn_window window;
    int64_t images, channels;
    int kind;  // MXN_POOL_*
    int power;  // of LP
    bool counts_pad;  // AVG: what the window covers of the pad counts
    bool adaptive;  // the window's sizes follow from those of the images
    bool channels_last;
    int32_t dtype;
} mxn_pool;

// Forward if `g` is null: `out` of `in`; else `back` gets the gradient `g` of `out` added.
typedef struct mxn_pool_kernels {  // of float, of double
    void (*all[2])(const mxn_pool *pool, const void *in, const void *g, void *out, void *back);
} mxn_pool_kernels;

MXN_EACH_WIDTH(mxn_pool_kernels, mxn__pooling);

#endif
