// SPDX-License-Identifier: Apache-2.0
// The table of our own kernels.
#include "runtime/op/backend/cpu/cpu_kernels.h"

#define CONVOLUTION(op)                                                       \
    {                                                                         \
        op, mxn__planar_convolution_takes, mxn__planar_convolution_workspace, \
            mxn__planar_convolution_run                                       \
    }
#define PRODUCT(op, workspace, run)            \
    {                                          \
        op, mxn__product_takes, workspace, run \
    }
#define DOT(name) PRODUCT(name, mxn__product_workspace_transposing, mxn__product_dot)
#define DOT_BACK(name) PRODUCT(name, mxn__product_workspace_transposing, mxn__product_dot_back)

static const mxn_kernel_entry entries[] = {
    {"Activation", mxn__relu_takes, NULL, mxn__relu},
    {"_backward_Activation", mxn__relu_takes, NULL, mxn__relu_back},
    {"relu", mxn__relu_row_takes, NULL, mxn__relu},
    {"_npx_relu", mxn__relu_row_takes, NULL, mxn__relu},
    {"_backward_relu", mxn__relu_row_takes, NULL, mxn__relu_row_back},
    {"BatchNorm", mxn__batch_norm_takes, NULL, mxn__batch_norm_run},
    {"_backward_BatchNorm", mxn__batch_norm_takes, NULL, mxn__batch_norm_run_back},
    CONVOLUTION("Convolution"),
    CONVOLUTION("_backward_Convolution"),
    CONVOLUTION("Deconvolution"),
    CONVOLUTION("_backward_Deconvolution"),
    PRODUCT("FullyConnected", mxn__product_workspace, mxn__product_fully_connected),
    PRODUCT("_backward_FullyConnected", mxn__product_workspace_transposing,
            mxn__product_fully_connected_back),
    PRODUCT("batch_dot", mxn__product_workspace, mxn__product_batch_dot),
    DOT("dot"),
    DOT_BACK("_backward_dot"),
    DOT("_np_dot"),
    DOT_BACK("_backward_np_dot"),
    DOT("_npi_dot"),
    DOT_BACK("_backward_npi_dot"),
    DOT("_npi_matmul"),
    DOT_BACK("_backward_np_matmul"),
    {"Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window},
    {"_backward_Pooling", mxn__largest_of_window_takes, NULL, mxn__largest_of_window_back},
    {"RNN", mxn__rnn_takes, mxn__product_workspace_rnn, mxn__product_rnn},
    {"_backward_RNN", mxn__rnn_takes, mxn__product_workspace_rnn_back, mxn__product_rnn_back},
    {"multi_sgd_update", mxn__sgd_takes, NULL, mxn__sgd},
    {"sgd_update", mxn__sgd_takes, NULL, mxn__sgd},
};

const mxn_kernel_table mxn__kernels_own = {entries, sizeof entries / sizeof *entries};
