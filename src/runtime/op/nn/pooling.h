// SPDX-License-Identifier: Apache-2.0
// Poolings as kernels see them. Private to op/ and its backends.
#ifndef MXN_OP_POOLING_H
#define MXN_OP_POOLING_H

#include "runtime/op/kernels/pooling.h"

// Of a job of Pooling or _backward_Pooling (inputs: gradient, data, result).
int mxn__pool_describe(const mxn_job *job, mxn_pool *pool);

#endif
