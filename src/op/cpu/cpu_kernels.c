// SPDX-License-Identifier: Apache-2.0
// The table of our own kernels.
#include "op/cpu/cpu_kernels.h"

#define CONVOLUTION(op)                                                       \
    {                                                                         \
        op, mxn__planar_convolution_takes, mxn__planar_convolution_workspace, \
            mxn__planar_convolution_run                                       \
    }
#define PRODUCT(op, run)                                    \
    {                                                       \
        op, mxn__product_takes, mxn__product_workspace, run \
    }

static const mxn_kernel_entry entries[] = {
    {"Activation", mxn__relu_takes, NULL, mxn__relu},
    {"_backward_Activation", mxn__relu_takes, NULL, mxn__relu_back},
    CONVOLUTION("Convolution"),
    CONVOLUTION("_backward_Convolution"),
    CONVOLUTION("Deconvolution"),
    CONVOLUTION("_backward_Deconvolution"),
    PRODUCT("FullyConnected", mxn__product_fully_connected),
    PRODUCT("_backward_FullyConnected", mxn__product_fully_connected_back),
    PRODUCT("batch_dot", mxn__product_batch_dot),
    PRODUCT("dot", mxn__product_dot),
    PRODUCT("_backward_dot", mxn__product_dot_back),
    PRODUCT("_np_dot", mxn__product_dot),
    PRODUCT("_backward_np_dot", mxn__product_dot_back),
    PRODUCT("_npi_dot", mxn__product_dot),
    PRODUCT("_backward_npi_dot", mxn__product_dot_back),
    PRODUCT("_npi_matmul", mxn__product_dot),
    PRODUCT("_backward_np_matmul", mxn__product_dot_back),
    {"Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window},
    {"_backward_Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window_back},
    {"sgd_update", mxn__sgd_takes, NULL, mxn__sgd},
};

const mxn_kernel_table mxn__kernels_own = {entries, sizeof entries / sizeof *entries};
