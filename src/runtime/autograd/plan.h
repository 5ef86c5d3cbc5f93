// SPDX-License-Identifier: Apache-2.0
// The plan of one backward: the nodes it visits, which of their gradients are wanted, and how many
// contributions each output of a node waits for. Private to autograd/.
#ifndef MXN_AUTOGRAD_PLAN_H
#define MXN_AUTOGRAD_PLAN_H

#include "runtime/autograd/autograd.h"
#include "runtime/autograd/tape.h"

// The gradient of one output of a node while it comes together.
typedef struct mxn_pending {
    uint32_t expected, count;
    mxn_array **items;  // references; room for one more than expected: zeros where nothing comes
} mxn_pending;

typedef struct mxn_visit {
    mxn_node *node;
    bool wanted;  // it or what lies behind it has a wanted gradient
    bool passes;  // of an operator: what lies behind it has
    bool live;  // some gradient reaches it
    const mxn_gradient *gradient;  // of a wanted and live operator
    bool *needed;  // of each of its calls
    mxn_pending *pending;  // of each output
    uint32_t asked;  // position in the request, from 1, of the first variable that it makes, or 0
} mxn_visit;

typedef struct mxn_plan {
    const mxn_backward_request *request;
    mxn_visit *visits;  // newest first; each holds a reference on its node
    size_t count, capacity;
    uint32_t *places;  // by number of the node: position among the visits, counted from 1
    size_t place_count;  // a power of two, at least twice as many as visits
    mxn_pending *pending;
    size_t pending_count;
    mxn_array **items;
    size_t item_count;
    bool *needed;
    size_t needed_count;
} mxn_plan;

// Everything up to the first push. On failure the plan is empty.
int mxn__plan_make(const mxn_backward_request *request, mxn_plan *plan);
void mxn__plan_fini(mxn_plan *plan);

// Null: the plan does not visit the node. Plans of several threads, or one inside of another, may
// have nodes in common, so nothing of this is kept in a node.
static inline mxn_visit *mxn__plan_visit(const mxn_plan *plan, const mxn_node *node)
{
    size_t mask = plan->place_count - 1;
    for (size_t at = node->number & mask; plan->place_count > 0 && plan->places[at] != 0;
         at = (at + 1) & mask) {
        mxn_visit *visit = &plan->visits[plan->places[at] - 1];
        if (visit->node == node) {
            return visit;
        }
    }
    return NULL;
}
// Whether a contribution to this input is wanted.
static inline bool mxn__plan_wants(const mxn_plan *plan, mxn_entry from)
{
    const mxn_visit *visit = from.node == NULL ? NULL : mxn__plan_visit(plan, from.node);
    return visit != NULL && visit->wanted;
}

// Whether the values that needed results of a call are computed from are those that were recorded.
// MXP_ESTATE names operator and operand. `first_result` counts the results of the calls before.
int mxn__plan_check_values(const mxn_plan *plan, const mxn_visit *visit, uint32_t call,
                           uint32_t first_result);

// ---- results of a call within a node ----------------------------------------------------------
// Whether a needed call after number `call` takes the result of this number, counted over all
// calls.
bool mxn__plan_result_taken(const mxn_visit *visit, uint32_t call, uint32_t result);

#endif
