// SPDX-License-Identifier: Apache-2.0
// The tape as a graph that a plan can be made of, and what a backward asks of it. Private to
// autograd/.
#ifndef MXN_AUTOGRAD_TAPE_PLAN_H
#define MXN_AUTOGRAD_TAPE_PLAN_H

#include "runtime/autograd/autograd.h"
#include "runtime/autograd/tape.h"
#include "runtime/diff/run.h"

typedef struct mxn_backward {
    const mxn_backward_request *request;
    mxn_diff_plan plan;  // holds a reference on each node
    mxn_diff_run run;  // of the plan
    int32_t bulk_size;  // as the environment says
    int32_t bulk_now;  // as the thread has it
} mxn_backward;

// Everything up to the first push. On failure there is nothing to finish.
int mxn__backward_init(const mxn_backward_request *request, mxn_backward *backward);
void mxn__backward_fini(mxn_backward *backward);

// Whether a value that a node keeps is the one that was recorded. MXP_ESTATE names operator and
// operand.
int mxn__tape_check_value(const void *node, const mxn_source *value);

#endif
