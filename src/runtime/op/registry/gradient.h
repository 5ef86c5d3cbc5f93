// SPDX-License-Identifier: Apache-2.0
// Private to op/: what parameters.c and gradient.c need of each other.
#ifndef MXN_OP_REGISTRY_GRADIENT_H
#define MXN_OP_REGISTRY_GRADIENT_H

#include "runtime/op/op.h"

// The parameters of another operator with the same struct, which has `inputs` inputs; `adjust`, if
// there, changes them before anything follows from them.
int mxn__params_share(const mxn_params *forward, const mxn_op *op, uint32_t inputs,
                      void (*adjust)(void *values), mxn_params **params);
// The parameters whose struct is `values`.
int mxn__params_of(const mxn_op *op, const void *values, uint32_t inputs, bool numpy_shape,
                   mxn_params **params);
void mxn__gradient_free(mxn_gradient *gradient);  // null does nothing

#endif
