// SPDX-License-Identifier: Apache-2.0
// The table of our own kernels.
#include "op/cpu/cpu_kernels.h"

static const mxn_kernel_entry entries[] = {
    {"Activation", mxn__relu_takes, NULL, mxn__relu},
    {"_backward_Activation", mxn__relu_takes, NULL, mxn__relu_back},
    {"Convolution", mxn__planar_convolution_takes, mxn__planar_convolution_workspace,
     mxn__planar_convolution_run},
    {"_backward_Convolution", mxn__planar_convolution_takes, mxn__planar_convolution_workspace,
     mxn__planar_convolution_run},
    {"Deconvolution", mxn__planar_convolution_takes, mxn__planar_convolution_workspace,
     mxn__planar_convolution_run},
    {"_backward_Deconvolution", mxn__planar_convolution_takes, mxn__planar_convolution_workspace,
     mxn__planar_convolution_run},
    {"Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window},
    {"_backward_Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window_back},
    {"sgd_update", mxn__sgd_takes, NULL, mxn__sgd},
};

const mxn_kernel_table mxn__kernels_own = {entries, sizeof entries / sizeof *entries};
