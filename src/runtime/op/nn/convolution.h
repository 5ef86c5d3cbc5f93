// SPDX-License-Identifier: Apache-2.0
// Room runtime/op/nn: layers of networks and their losses.
//
// Convolutions as kernels see them. Convolution and Deconvolution and the gradients of both are
// made of three products of images and filters; a kernel computes those, the operators' file does
// the rest. Private to op/ and its backends.
//
//   FORWARD     result = data * weight (+ bias of each filter)
//   TO_DATA     data from result and weight
//   TO_WEIGHT   weight from data and result (and bias: the sum of each filter's results)
#ifndef MXN_OP_CONVOLUTION_H
#define MXN_OP_CONVOLUTION_H

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
    mxn_place weight_place;  // of a weight that is read
} mxn_conv;

// The products that a job asks for, in their order; also before its operands have addresses.
typedef struct mxn_conv_step {
    int kind;
    bool with_bias;
} mxn_conv_step;
int mxn__conv_steps(const mxn_job *job, mxn_conv_step steps[2]);

typedef int (*mxn_convolver)(mxn_job *job, const mxn_conv *conv, int kind);

// The geometry of a job of one of the four operators, without addresses.
int mxn__conv_describe(const mxn_job *job, mxn_conv *conv);
// Runs such a job: every product goes to `convolve`.
int mxn__conv_run(mxn_job *job, mxn_convolver convolve);

// The reference, of float32 and float64.
int mxn__conv_plainly(mxn_job *job, const mxn_conv *conv, int kind);

// Images of `channels` planes of `size`, and a number for each plane: it is stored all over the
// plane, added to it, or becomes its sum. Null `bias`: zeros.
enum { MXN_BIAS_STORE, MXN_BIAS_ADD, MXN_BIAS_SUM };
void mxn__conv_bias(const mxn_conv *conv, int what, void *images, int64_t channels, int64_t size,
                    void *bias);

#endif
