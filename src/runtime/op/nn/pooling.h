// SPDX-License-Identifier: Apache-2.0
// Poolings as kernels see them. Private to op/ and its backends.
#ifndef MXN_OP_NN_POOLING_H
#define MXN_OP_NN_POOLING_H

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

// Of a job of Pooling or _backward_Pooling (inputs: gradient, data, result).
int mxn__pool_describe(const mxn_job *job, mxn_pool *pool);

// The reference, of float32 and float64. Forward if `g` is null: `out` of `in`; else `back` gets
// the gradient `g` of `out` added.
void mxn__pool_reference(const mxn_pool *pool, const void *in, const void *g, void *out,
                         void *back);

#endif
