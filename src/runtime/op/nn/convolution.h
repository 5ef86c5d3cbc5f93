// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/nn: layers of networks and their losses.
//
// Convolutions as kernels see them. Convolution and Deconvolution and the gradients of both are
// made of three products of images and filters; a kernel computes those, the operators' file does
// the rest. Private to op/ and its backends.
//
//   FORWARD     result = data * weight (+ bias of each filter)
//   TO_DATA     data from result and weight
//   TO_WEIGHT   weight from data and result (and bias: the sum of each filter's results)
#ifndef MXN_OP_NN_CONVOLUTION_H
#define MXN_OP_NN_CONVOLUTION_H

#include "runtime/op/kernels/convolution.h"

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
int mxn__conv_reference(mxn_job *job, const mxn_conv *conv, int kind);

// MXN_BIAS_* of `channels` planes of `size` an image (op/kernels/convolution.h).
void mxn__conv_bias(const mxn_conv *conv, int what, void *images, int64_t channels, int64_t size,
                    void *bias);

#endif
