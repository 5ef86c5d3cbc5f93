// SPDX-License-Identifier: Apache-2.0
// Windows that slide over 1, 2 or 3 dimensions of images (N, C, ...): what convolution and pooling
// share. Always seen as 3 dimensions; missing leading ones have size 1. Private to op/.
#ifndef MXN_OP_LOOPS_WINDOW_H
#define MXN_OP_LOOPS_WINDOW_H

#include "runtime/op/registry/declare.h"

typedef struct mxn_window {
    int64_t in[3], out[3];  // sizes of the images
    int64_t kernel[3], stride[3], dilate[3], pad[3];
} mxn_window;

// The layouts of the parameter `layout`.
extern const mxn_word mxn__words_layouts[];
enum { MXN_LAYOUT_NONE = -1, MXN_LAYOUT_CHANNELS_FIRST = 0, MXN_LAYOUT_CHANNELS_LAST = 1 };

// Fills in what the parameters say; absent strides and dilations are 1, pads 0. MXP_EINVAL: lengths
// that do not fit each other, zero or negative numbers, more than 3 dimensions.
int mxn__window_init(mxn_window *window, const mxn_op *op, const mxn_tuple *kernel,
                     const mxn_tuple *stride, const mxn_tuple *dilate, const mxn_tuple *pad);
// The images lie along the dimensions from `first` on: 2, or 1 if channels are last.
void mxn__window_images(mxn_window *window, const mxn_shape *in, const mxn_shape *out,
                        int32_t first);

#endif
