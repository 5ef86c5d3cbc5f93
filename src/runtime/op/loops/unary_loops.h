// SPDX-License-Identifier: Apache-2.0
// Kernels of functions of one number: which one is the operator's variant. Private to op/.
#ifndef MXN_OP_UNARY_LOOPS_H
#define MXN_OP_UNARY_LOOPS_H

#include "runtime/op/registry/declare.h"

#define REAL(name, of_float, of_double) MXN_UNARY_##name,
#define ROUNDING(name, of_float, of_double) MXN_UNARY_##name,
#define WHOLE(name, of_real, of_whole) MXN_UNARY_##name,
#define PRODUCT(name) MXN_UNARY_##name,
#define GRADIENT(name, expression)
enum {
#include "runtime/op/loops/unary_functions.def"
    MXN_UNARY_COUNT
};
#undef REAL
#undef ROUNDING
#undef WHOLE
#undef PRODUCT
#undef GRADIENT

int mxn__unary_forward(mxn_job *job);  // any type to any type
int mxn__square_forward(mxn_job *job);
int mxn__unary_backward(mxn_job *job);  // inputs: gradient, input or output of the function

#endif
