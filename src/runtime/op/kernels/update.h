// SPDX-License-Identifier: Apache-2.0
// How a weight is updated from its gradient and states, by rule. Private to op/.
#ifndef MXN_OP_KERNELS_UPDATE_H
#define MXN_OP_KERNELS_UPDATE_H

#include "runtime/op/kernels/kernels.h"

enum {
    MXN_RULE_SGD,
    MXN_RULE_SGD_MOM,
    MXN_RULE_ADAM,
    MXN_RULE_NAG,
    MXN_RULE_SIGNSGD,
    MXN_RULE_RMSPROP,
    MXN_RULE_RMSPROPALEX,
    MXN_RULE_SIGNUM,
    MXN_RULE_FTRL,
    MXN_RULE_FTML,
    MXN_RULE_LAMB,
    MXN_RULE_COUNT
};

// What the rules read and write. All arrays are of one type and of `count` elements; `to` may be
// the weight. States that a rule has not may be null.
typedef struct mxn_update {
    const void *weight, *gradient;
    void *state, *second_state, *third_state, *to;
    size_t count;
    double lr, wd, momentum, beta1, beta2, rho, epsilon;
    double beta, lamda1;
    double weight_decay;  // of the weight itself, where wd is of what the gradient has of it
    int32_t t;  // number of the step, from 1; 0: first steps are not corrected
    double scale;  // of the gradient
    double clip, weight_clip;  // to -clip .. clip; negative: none
} mxn_update;

typedef struct mxn_updates {
    void (*rules[MXN_RULE_COUNT][2])(const mxn_update *update);  // of float, of double
} mxn_updates;

MXN_EACH_WIDTH(mxn_updates, mxn__updates);

#endif
