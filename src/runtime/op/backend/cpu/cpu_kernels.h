// SPDX-License-Identifier: Apache-2.0
// Our own kernels, one declaration group a file. Private to op/backend/cpu.
#ifndef MXN_OP_BACKEND_CPU_CPU_KERNELS_H
#define MXN_OP_BACKEND_CPU_CPU_KERNELS_H

#include "runtime/op/execute/kernel_choice.h"

bool mxn__planar_convolution_takes(const mxn_job *job);
uint64_t mxn__planar_convolution_workspace(const mxn_job *job);
int mxn__planar_convolution_run(mxn_job *job);

bool mxn__product_takes(const mxn_job *job);
uint64_t mxn__product_workspace(const mxn_job *job);
uint64_t mxn__product_workspace_transposing(const mxn_job *job);
int mxn__product_dot(mxn_job *job);
int mxn__product_dot_back(mxn_job *job);
int mxn__product_batch_dot(mxn_job *job);
bool mxn__rnn_takes(const mxn_job *job);
uint64_t mxn__product_workspace_rnn(const mxn_job *job);
uint64_t mxn__product_workspace_rnn_back(const mxn_job *job);
int mxn__product_rnn(mxn_job *job);
int mxn__product_rnn_back(mxn_job *job);
int mxn__product_fully_connected(mxn_job *job);
int mxn__product_fully_connected_back(mxn_job *job);

bool mxn__largest_of_window_takes(const mxn_job *job);
int mxn__largest_of_window(mxn_job *job);
int mxn__largest_of_window_back(mxn_job *job);

bool mxn__relu_takes(const mxn_job *job);
int mxn__relu(mxn_job *job);
int mxn__relu_back(mxn_job *job);
bool mxn__relu_row_takes(const mxn_job *job);
int mxn__relu_row_back(mxn_job *job);

bool mxn__batch_norm_takes(const mxn_job *job);
int mxn__batch_norm_run(mxn_job *job);
int mxn__batch_norm_run_back(mxn_job *job);

bool mxn__sgd_takes(const mxn_job *job);
int mxn__sgd(mxn_job *job);

#endif
