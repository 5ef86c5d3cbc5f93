// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/optimizer: updates of weights.
//
// What kernels elsewhere must know of updates. Private to op/ and its backends.
#ifndef MXN_OP_OPTIMIZER_OPTIMIZER_H
#define MXN_OP_OPTIMIZER_OPTIMIZER_H

#include "runtime/op/registry/declare.h"

// weight (1 - lr wd) - lr cut(scale gradient), where cut is to -clip .. clip unless clip is
// negative.
typedef struct mxn_sgd_rates {
    double lr, wd, scale, clip;
} mxn_sgd_rates;

// Of sgd_update, and of weight number `index` of multi_sgd_update.
void mxn__sgd_rates(const mxn_params *params, uint32_t index, mxn_sgd_rates *rates);

#endif
