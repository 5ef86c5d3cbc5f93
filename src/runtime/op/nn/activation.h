// SPDX-License-Identifier: Apache-2.0
// What kernels elsewhere must know of Activation. Private to op/ and its backends.
#ifndef MXN_OP_NN_ACTIVATION_H
#define MXN_OP_NN_ACTIVATION_H

#include "runtime/op/registry/declare.h"

// Of Activation and its gradient.
bool mxn__activation_is_relu(const mxn_params *params);

#endif
