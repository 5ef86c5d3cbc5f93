// SPDX-License-Identifier: Apache-2.0
// What updates of one weight and of several share. Private to this folder.
#ifndef MXN_OP_OPTIMIZER_UPDATE_PARAMS_H
#define MXN_OP_OPTIMIZER_UPDATE_PARAMS_H

#include "runtime/op/kernels/update.h"
#include "runtime/op/registry/declare.h"

// An operator's fields are some of these; the others are 0.
typedef struct mxn_update_params {
    float lr, momentum, beta1, beta2, rho, epsilon, wd, rescale_grad, clip_gradient, clip_weights;
    float beta, lamda1, wd_lh, lower_bound, upper_bound;
    double wide_epsilon;  // of the one operator whose epsilon is documented as a double
    int32_t t;
    bool lazy_update, bias_correction;
    mxn_floats lrs, wds;  // of several weights; none: they come as arrays
    mxn_floats step_count;  // numbers of their steps, whole ones
    int32_t num_weights;
} mxn_update_params;

// Of a weight, with its gradient and states after it among the `count` inputs, into `to`.
mxn_update mxn__update_of(const mxn_update_params *params, const mxn_operand *in, uint32_t count,
                          const mxn_operand *to);
// A member whose field has another name.
#define MXN_UPDATE_FIELD(name_, member, kind_, value_)                                        \
    .name = #name_, .kind = MXN_FIELD_##kind_, .offset = offsetof(mxn_update_params, member), \
    .value = (value_)

// By the rule that is the operator's variant. MXP_EINVAL: the type is none of float32, float64.
int mxn__update_run(const mxn_job *job, const mxn_update *update, int32_t dtype);
// On weight number `index` with its float32 copy after its states, among `count` inputs that come
// as float32; the copy is updated and goes to the weight.
int mxn__update_master(const mxn_job *job, const mxn_update *update, const mxn_operand *in,
                       uint32_t count, const mxn_operand *to);

#endif
