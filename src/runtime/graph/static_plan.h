// SPDX-License-Identifier: Apache-2.0
// The programs of a network for one form of its arguments, and the memory they run in. Private to
// graph/.
//
// Thread rule: one thread at a time, of those that call the network. Ownership: a plan has its
// runs; one that a tape holds is given back before the plan goes.
#ifndef MXN_GRAPH_STATIC_PLAN_H
#define MXN_GRAPH_STATIC_PLAN_H

#include "runtime/graph/cached_flags.h"
#include "runtime/graph/program_run.h"

// A backward, for one choice of gradients.
typedef struct mxn_static_backward {
    struct mxn_static_backward *next;
    uint32_t *requests;  // of each input
    bool *heads;  // of each output
    bool training;
    mxn_program program;
} mxn_static_backward;

// What of a run belongs to one backward.
typedef struct mxn_backward_run {
    struct mxn_backward_run *next;
    const mxn_static_backward *of;
    mxn_program_run run;
} mxn_backward_run;

typedef struct mxn_static_run {
    mxn_call_state state;  // first: what a tape holds
    struct mxn_static_plan *plan;
    struct mxn_static_run *next;  // of the plan's idle ones
    mxn_program_run forward;
    mxn_backward_run *backwards;
    mxn_values *values;  // of bound values, as the forward left them
} mxn_static_run;

typedef struct mxn_static_plan {
    struct mxn_static_plan *next;
    void *owner;  // the static op
    mxn_shape *shapes;  // of inputs
    int32_t *types;
    uint32_t input_count, output_count;
    mxn_program_form form;  // but for inputs
    mxn_program forward;
    mxn_static_backward *backwards;
    mxn_static_run *idle;
} mxn_static_plan;

// MXP_ENOTSUP: an operator cannot be prepared.
int mxn__static_plan_new(const mxn_schedule *schedule, const mxn_program_form *form,
                         mxn_static_plan **plan);
void mxn__static_plan_free(mxn_static_plan *plan);  // with its idle runs; null does nothing

// Whether the plan is for calls like this.
bool mxn__static_plan_fits(const mxn_static_plan *plan, const mxn_program_form *form);

// An idle run, or a new one.
int mxn__static_plan_take(mxn_static_plan *plan, mxn_static_run **run);
// It is idle from now on; arrays of the program that are not expected again are let go.
void mxn__static_plan_give(mxn_static_run *run);

// The part of a run for a backward like this.
int mxn__static_run_backward(mxn_static_run *run, const mxn_gradient_form *gradients, bool training,
                             mxn_backward_run **backward);

// After the push of a recorded forward: which values the program's arrays have.
void mxn__static_run_note_values(mxn_static_run *run);
// MXP_ESTATE: an array that the backward takes was changed since.
int mxn__static_run_check_values(const mxn_static_run *run, const mxn_program *backward);

#endif
