// SPDX-License-Identifier: Apache-2.0
// The three products of images and filters, as the operators and the backends see them, and their
// reference: for each pair of channels and each place of the kernel, a multiple of a shifted image
// is added; the inner loop runs along a row of the result. Private to op/.
#ifndef MXN_OP_KERNELS_CONVOLUTION_H
#define MXN_OP_KERNELS_CONVOLUTION_H

#include "runtime/op/kernels/kernels.h"
#include "runtime/op/loops/window.h"

enum { MXN_CONV_FORWARD, MXN_CONV_TO_DATA, MXN_CONV_TO_WEIGHT };

typedef struct mxn_conv {
    mxn_window window;  // in: sizes of `data`, out: of `result`
    int64_t images, filters, channels, groups;  // filters: of all groups, channels: of one
    int64_t in_size, out_size, kernel_size;  // elements of one image, one kernel
    bool channels_last;  // data N..C, result N..F, weight F..C; else NC.., NF.., FC..
    int32_t dtype;  // of all
    void *data, *weight, *result;  // one of them is what is computed
    void *bias;  // null: none; never of TO_DATA
    mxn_buffer_ref weight_ref;  // of a weight that is read
} mxn_conv;

// Images of `channels` planes of `size`, and a number for each plane: it is stored all over the
// plane, added to it, or becomes its sum. Null `bias`: zeros.
enum { MXN_BIAS_STORE, MXN_BIAS_ADD, MXN_BIAS_SUM };

typedef struct mxn_conv_kernels {  // of float, of double
    // Added to what is there.
    void (*all[2])(const mxn_conv *c, int kind);
    void (*bias[2])(const mxn_conv *c, int what, void *images, int64_t channels, int64_t size,
                    void *bias);
} mxn_conv_kernels;

MXN_EACH_WIDTH(mxn_conv_kernels, mxn__convolution);

#endif
