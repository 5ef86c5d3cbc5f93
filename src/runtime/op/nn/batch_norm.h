// SPDX-License-Identifier: Apache-2.0
// What a job of BatchNorm, or of its gradient, computes. Private to op/.
#ifndef MXN_OP_NN_BATCH_NORM_H
#define MXN_OP_NN_BATCH_NORM_H

#include "runtime/op/kernels/batch_norm.h"
#include "runtime/op/registry/declare.h"

int mxn__batch_norm_describe(const mxn_job *job, mxn_batch_norm *batch);
int mxn__batch_norm_back_describe(const mxn_job *job, mxn_batch_norm_back *batch);

#endif
