// SPDX-License-Identifier: Apache-2.0
// Steps of carrying out a backward. Private to autograd/.
#ifndef MXN_AUTOGRAD_PLAN_RUN_H
#define MXN_AUTOGRAD_PLAN_RUN_H

#include "runtime/autograd/tape_plan.h"

// ---- single operators: *output null makes a new array -----------------------------------------
int mxn__plan_run(const char *name, uint32_t count, const char *const *keys,
                  const char *const *values, mxn_array *const *inputs, uint32_t input_count,
                  uint32_t request, uint32_t scope, mxn_array **output);
int mxn__plan_zeros(const mxn_kept *like, uint32_t scope, mxn_array **array);

// ---- contributions ----------------------------------------------------------------------------
int mxn__plan_add_up(const mxn_diff_pending *pending, uint32_t scope, uint32_t request,
                     mxn_array **sum);
// Afterwards the gradient is one array, or none at all.
int mxn__plan_settle(const mxn_backward *backward, mxn_diff_pending *pending, uint32_t scope);

// ---- the calls of a node ----------------------------------------------------------------------
// Those of the gradient's calls that are needed; their results go to the nodes before.
int mxn__plan_run_calls(mxn_backward *backward, mxn_diff_visit *visit);

#endif
