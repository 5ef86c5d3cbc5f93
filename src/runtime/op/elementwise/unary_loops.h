// SPDX-License-Identifier: Apache-2.0
// Kernels of functions of one number: which one is the operator's variant. Private to op/.
#ifndef MXN_OP_ELEMENTWISE_UNARY_LOOPS_H
#define MXN_OP_ELEMENTWISE_UNARY_LOOPS_H

#include "runtime/op/kernels/unary.h"
#include "runtime/op/registry/declare.h"

int mxn__unary_forward(mxn_job *job);  // any type to any type
int mxn__square_forward(mxn_job *job);
int mxn__unary_backward(mxn_job *job);  // inputs: gradient, input or output of the function

#endif
