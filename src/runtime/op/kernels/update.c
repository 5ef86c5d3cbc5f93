// SPDX-License-Identifier: Apache-2.0
// The rules of updates, element by element, computed as doubles and rounded once.
#include "runtime/op/kernels/update.h"

#include <math.h>

// To -limit .. limit, unless that is negative.
static inline double cut(double value, double limit)
{
    return limit < 0 ? value : value > limit ? limit : value < -limit ? -limit : value;
}

static inline double sign_of(double value)
{
    return value > 0 ? 1 : value < 0 ? -1 : 0;
}

#define TEMPLATE "runtime/op/kernels/update_kernels.h"
#include "runtime/op/kernels/each_real.h"

const mxn_updates MXN_WIDE(mxn__updates) = {{
    [MXN_RULE_SGD] = {sgd_float, sgd_double},
    [MXN_RULE_SGD_MOM] = {sgd_mom_float, sgd_mom_double},
    [MXN_RULE_ADAM] = {adam_float, adam_double},
    [MXN_RULE_NAG] = {nag_float, nag_double},
    [MXN_RULE_SIGNSGD] = {signsgd_float, signsgd_double},
    [MXN_RULE_RMSPROP] = {rmsprop_float, rmsprop_double},
    [MXN_RULE_RMSPROPALEX] = {rmspropalex_float, rmspropalex_double},
    [MXN_RULE_SIGNUM] = {signum_float, signum_double},
    [MXN_RULE_FTRL] = {ftrl_float, ftrl_double},
    [MXN_RULE_FTML] = {ftml_float, ftml_double},
    [MXN_RULE_LAMB] = {lamb_float, lamb_double},
}};
