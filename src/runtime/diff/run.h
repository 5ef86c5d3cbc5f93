// SPDX-License-Identifier: Apache-2.0
// Carrying out a plan (diff.h): the walk over its visits, sums of contributions, and the calls of
// each node's gradient.
//
// What a value is, is the graph's own. A tape and an executor run operators on arrays; a graph of
// symbols adds a node for each operator. Both say so by a few functions; which operators there are,
// in which order, from which operands and to where, is decided here.
//
// Thread rule: a run belongs to one thread, as its plan does. Ownership: values are references as
// in a plan; what a function gives back is a reference unless it says that it is borrowed. Errors:
// the first one of a function ends the run and is returned; what was contributed until then goes
// with the plan.
#ifndef MXN_DIFF_RUN_H
#define MXN_DIFF_RUN_H

#include "runtime/diff/diff.h"

// One operator of a backward.
typedef struct mxn_diff_step {
    mxn_params *params;
    const mxn_diff_visit *visit;  // for whose gradient; null: for none
    // Null: the operator is no call of the gradient of `visit` (a sum, zeros, a copy). Else output
    // i has the shape and type of the visit's input call->gives[i], if that is not -1.
    const mxn_gradient_call *call;
    void *const *inputs;  // borrowed; of params->input_count
    void **outputs;  // of params->output_count; null ones are filled in with a reference
    const uint32_t *requests;  // of outputs; one of MXN_NULL stays null
} mxn_diff_step;

// What a graph does. `context` is the run's.
typedef struct mxn_diff_actions {
    int (*run)(void *context, const mxn_diff_step *step);
    // The gradient of an output to which nothing contributes.
    int (*zeros)(void *context, const mxn_diff_visit *visit, uint32_t output, void **value);
    // The value of an input or output of the forward, of which a gradient says that it takes it.
    // Borrowed.
    void *(*saved)(void *context, const mxn_diff_visit *visit, const mxn_source *value);
    // Where the only contribution to an output may be written at once, and how (MXN_WRITE,
    // MXN_ADD). Borrowed; null: it is a value of its own. May be null.
    void *(*target)(void *context, const mxn_diff_visit *visit, uint32_t output, uint32_t *request);
    // The turn of a wanted visit has come: all its contributions are there, those to outputs of an
    // operator summed. Takes what is wanted here.
    int (*reach)(void *context, mxn_diff_visit *visit);
    void (*retain)(void *value);
} mxn_diff_actions;

typedef struct mxn_diff_run {
    const mxn_diff_plan *plan;
    const mxn_diff_actions *actions;
    void *context;
} mxn_diff_run;

// All visits in their order, once the heads have their contributions.
int mxn_diff_run_plan(const mxn_diff_run *run);

// An operator that no graph names, on `inputs`. *output null: a value of its own; else it is
// written as `request` says. `visit` may be null.
int mxn_diff_run_operator(const mxn_diff_run *run, const mxn_diff_visit *visit, const char *name,
                          uint32_t count, const char *const *keys, const char *const *values,
                          void *const *inputs, uint32_t input_count, uint32_t request,
                          void **output);

// The sum of at least two contributions; *sum as `output` above.
int mxn_diff_run_sum(const mxn_diff_run *run, const mxn_diff_visit *visit,
                     const mxn_diff_pending *pending, uint32_t request, void **sum);
// Afterwards the gradient of the output is one value, or none at all.
int mxn_diff_run_settle(const mxn_diff_run *run, mxn_diff_visit *visit, uint32_t output);

// The needed calls of the visit's gradient, whose results go to the nodes before. Private to diff/.
int mxn__diff_run_calls(const mxn_diff_run *run, mxn_diff_visit *visit);

#endif
