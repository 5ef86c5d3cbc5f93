// SPDX-License-Identifier: Apache-2.0
// What a backward does on arrays: the steps of a plan (diff/run.h), and gradients that have come
// together. Private to autograd/.
#ifndef MXN_AUTOGRAD_BACKWARD_STEPS_H
#define MXN_AUTOGRAD_BACKWARD_STEPS_H

#include "runtime/autograd/tape_plan.h"

// Their context is the mxn_backward.
extern const mxn_diff_actions mxn__backward_actions;

// Gradients that are wanted of a visit's outputs: those the request asks for, or those of variables
// that have an array to write to.
int mxn__backward_reach(void *backward, mxn_diff_visit *visit);
// Zeros like an operand. *array null: a new one. `visit`: for whose gradient, or null.
int mxn__backward_zeros(const mxn_backward *backward, const mxn_diff_visit *visit,
                        const mxn_saved *like, void **array);

#endif
