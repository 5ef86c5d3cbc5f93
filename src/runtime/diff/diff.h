// SPDX-License-Identifier: Apache-2.0
// Folder runtime/diff: the gradients of any graph: what a backward visits, and what it runs.
//
// A plan says which nodes a backward visits, in which order, which calls of each node's gradient
// are needed, and how many contributions the gradient of each output is summed from. run.h carries
// it out. A graph says what its nodes are by a few functions, and what a gradient is stays its own:
// a tape runs operators on arrays, a graph of symbols makes nodes of them. So there is one
// implementation of gradients.
//
// Order: make the plan; contribute one value to each head; take the visits in their order
// (mxn_diff_run_plan). When the turn of a visit comes, all contributions to its outputs are there.
// Its needed calls contribute what they give to the inputs that are wanted.
//
// Thread rule: a plan belongs to one thread. Nothing of it is kept in a node, so plans of several
// threads, or one inside of another, may have nodes in common. Ownership: nodes and parameters are
// borrowed; whoever makes the plan keeps them for as long. Contributions are references, which the
// plan holds until mxn_diff_release or fini. Once it is made, the plan asks for no inputs any more,
// so that a node may forget them. Errors: 0 or a negative MXP_E code with the detail set.
#ifndef MXN_DIFF_DIFF_H
#define MXN_DIFF_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/op/op.h"

// Output `index` of a node. A null node: nothing to differentiate.
typedef struct mxn_diff_entry {
    void *node;
    uint32_t index;
} mxn_diff_entry;

// What nodes are. None of the functions may change the graph.
typedef struct mxn_diff_nodes {
    // Its own, and larger than those of the nodes before it: the order of a backward.
    uint64_t (*number)(const void *node);
    // Borrowed. Null: a variable, which has one output and no inputs.
    mxn_params *(*params)(const void *node);
    // Where an input comes from, of params->input_count.
    mxn_diff_entry (*input)(const void *node, uint32_t index);
    // Whether gradients of its outputs are wanted where nobody asks for certain ones. May be null.
    bool (*is_target)(const void *node);
    // Whether a saved value (MXN_FROM_INPUT, MXN_FROM_OUTPUT) is still what the gradient needs; an
    // error ends the plan. May be null.
    int (*check_value)(const void *node, const mxn_source *value);
    void (*release)(void *value);  // of a contribution
} mxn_diff_nodes;

typedef struct mxn_diff_request {
    const mxn_diff_nodes *nodes;
    const mxn_diff_entry *heads;  // whose gradients are given
    uint32_t head_count;
    const mxn_diff_entry *asked;  // whose gradients are wanted; none: those of the targets
    uint32_t asked_count;
} mxn_diff_request;

// The gradient of one output of a node while it comes together.
typedef struct mxn_diff_pending {
    uint32_t expected, count;
    void **items;  // references; space for one more than expected: zeros where nothing comes
} mxn_diff_pending;

typedef struct mxn_diff_visit {
    void *node;
    uint64_t number;  // of the node
    mxn_params *params;  // of the node; null: a variable
    uint32_t first_input;  // its inputs in the plan's list
    uint32_t asked;  // position in the request, from 1, of the first that asks for it, or 0
    bool wanted;  // it or what it is made from has a wanted gradient
    bool passes;  // of an operator: what it is made from has
    bool live;  // some gradient reaches it
    const mxn_gradient *gradient;  // of an operator that passes
    bool *needed;  // of each of its calls, null if there are none; all false unless it is live
    mxn_diff_pending *pending;  // of each output
} mxn_diff_visit;

// Where an input comes from: a visit counted from 1, or 0.
typedef struct mxn_diff_from {
    uint32_t visit, index;
} mxn_diff_from;

typedef struct mxn_diff_place {
    uint64_t number;
    uint32_t visit;
} mxn_diff_place;

enum { MXN_DIFF_FEW_PLACES = 64 };

// Must not move.
typedef struct mxn_diff_plan {
    const mxn_diff_nodes *nodes;
    mxn_diff_visit *visits;  // as they were found
    size_t count, capacity;
    mxn_diff_place *order;  // newest first; `pending` is in the same memory
    mxn_diff_from *inputs;  // of all visits
    size_t input_count, input_capacity;
    uint32_t *places;  // by number of the node: a visit, counted from 1
    size_t place_count;  // a power of two, at least twice as many as visits
    uint32_t few_places[MXN_DIFF_FEW_PLACES];  // of a small graph
    mxn_diff_pending *pending;
    size_t pending_count;
    void **items;
    size_t item_count;
    bool *needed;
    size_t needed_count;
} mxn_diff_plan;

// ---- the plan ---------------------------------------------------------------------------------
// The request is read only here; its `nodes` must outlive the plan. On failure the plan is empty.
// MXP_EINVAL: a gradient is asked for that no head depends on, or twice, or none is wanted at all.
// MXP_ENOTSUP: an operator on the way has no gradient. Whatever `check_value` returns.
int mxn_diff_plan_make(const mxn_diff_request *request, mxn_diff_plan *plan);
// Releases the contributions that are still there. An empty plan is fine.
void mxn_diff_plan_fini(mxn_diff_plan *plan);

// The visit of this place in the order, below plan->count: newest first. Those that are not
// `wanted` are passed over.
static inline mxn_diff_visit *mxn_diff_plan_at(const mxn_diff_plan *plan, size_t place)
{
    return &plan->visits[plan->order[place].visit];
}

// Null: the plan does not visit the node, which is not null.
mxn_diff_visit *mxn_diff_plan_visit(const mxn_diff_plan *plan, const void *node);

// ---- what of a node is needed -----------------------------------------------------------------
// The visit that an input comes from if a contribution to it is wanted, else null; the output is
// told by mxn_diff_input_index.
static inline mxn_diff_visit *mxn_diff_input_wanted(const mxn_diff_plan *plan,
                                                    const mxn_diff_visit *visit, uint32_t input)
{
    const uint32_t from = plan->inputs[visit->first_input + input].visit;
    mxn_diff_visit *source = from == 0 ? NULL : &plan->visits[from - 1];
    return source != NULL && source->wanted ? source : NULL;
}

static inline uint32_t mxn_diff_input_index(const mxn_diff_plan *plan, const mxn_diff_visit *visit,
                                            uint32_t input)
{
    return plan->inputs[visit->first_input + input].index;
}

// Whether a needed call after number `call` takes the result of this number, counted over all
// calls.
bool mxn_diff_result_taken(const mxn_diff_visit *visit, uint32_t call, uint32_t result);

// Asks `check_value` of the saved values that needed results of a call are computed from. The plan
// has asked when it was made. `first_result` counts the results of the calls before.
int mxn_diff_check_values(const mxn_diff_plan *plan, const mxn_diff_visit *visit, uint32_t call,
                          uint32_t first_result);

// ---- contributions ----------------------------------------------------------------------------
// One more value for an output's gradient, at most as many as it expects; takes the reference.
void mxn_diff_contribute(mxn_diff_visit *visit, uint32_t index, void *value);
// One value instead of all that have come, whose references go; takes its reference.
void mxn_diff_settle(const mxn_diff_plan *plan, mxn_diff_pending *pending, void *sum);
// The gradients of the visit have done their work.
void mxn_diff_release(const mxn_diff_plan *plan, mxn_diff_visit *visit);

#endif
