// SPDX-License-Identifier: Apache-2.0
// Making the plan: collect the nodes behind the outputs, newest first; find from the oldest on what
// leads to a wanted variable; then count, from the newest on, what each gradient is summed from.
#include "runtime/autograd/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// ---- collecting -------------------------------------------------------------------------------
// Nodes of one graph were numbered one after the other, so their places hardly collide.
static void set_place(mxn_plan *plan, size_t position)
{
    size_t mask = plan->place_count - 1, at = plan->visits[position].node->number & mask;
    while (plan->places[at] != 0) {
        at = (at + 1) & mask;
    }
    plan->places[at] = (uint32_t)position + 1;
}

static void set_places(mxn_plan *plan)
{
    memset(plan->places, 0, plan->place_count * sizeof *plan->places);
    for (size_t at = 0; at < plan->count; at++) {
        set_place(plan, at);
    }
}

static int grow_places(mxn_plan *plan)
{
    enum { FIRST_PLACES = 64 };
    size_t wanted = plan->place_count == 0 ? FIRST_PLACES : 2 * plan->place_count;
    uint32_t *places = mxp__alloc(wanted * sizeof *places);
    if (places == NULL) {
        return mxp__fail_memory("the plan of backward");
    }
    mxp__free(plan->places, plan->place_count * sizeof *places);
    plan->places = places;
    plan->place_count = wanted;
    set_places(plan);
    return MXP_OK;
}

static int add_visit(mxn_plan *plan, mxn_node *node)
{
    if (mxn__plan_visit(plan, node) != NULL) {
        return MXP_OK;
    }
    if (mxp__grow(&plan->visits, &plan->capacity, plan->count + 1, sizeof(mxn_visit)) != MXP_OK) {
        return mxp__fail_memory("the plan of backward");
    }
    int error = 2 * (plan->count + 1) > plan->place_count ? grow_places(plan) : MXP_OK;
    if (error == MXP_OK) {
        mxn__node_retain(node);
        plan->visits[plan->count] = (mxn_visit){.node = node};
        set_place(plan, plan->count++);
    }
    return error;
}

static uint32_t input_count(const mxn_node *node)
{
    return node->params == NULL ? 0 : node->params->input_count;
}

static uint32_t output_count(const mxn_node *node)
{
    return node->params == NULL ? 1 : node->params->output_count;
}

static int newest_first(const void *a, const void *b)
{
    uint64_t first = ((const mxn_visit *)a)->node->number;
    uint64_t second = ((const mxn_visit *)b)->node->number;
    return first > second ? -1 : first < second;
}

static int collect(mxn_plan *plan)
{
    const mxn_backward_request *request = plan->request;
    for (uint32_t i = 0; i < request->output_count; i++) {
        mxn_entry head = mxn__entry_of(request->outputs[i]);
        if (head.node == NULL) {
            return mxp__fail(MXP_EINVAL,
                             "Cannot differentiate node because it is not in a computational graph "
                             "(output %u). You need to set is_recording to true or use "
                             "autograd.record() to save computational graphs for backward. If you "
                             "want to differentiate the same graph twice, you need to pass "
                             "retain_graph=True to backward.",
                             i);
        }
        int error = add_visit(plan, head.node);
        if (error != MXP_OK) {
            return error;
        }
    }
    // The list grows while it is walked.
    for (size_t at = 0; at < plan->count; at++) {
        const mxn_node *node = plan->visits[at].node;
        for (uint32_t i = 0; i < input_count(node); i++) {
            mxn_node *from = node->inputs[i].from.node;
            int error = from == NULL || from->cleared ? MXP_OK : add_visit(plan, from);
            if (error != MXP_OK) {
                return error;
            }
        }
    }
    qsort(plan->visits, plan->count, sizeof(mxn_visit), newest_first);
    set_places(plan);
    return MXP_OK;
}

// ---- what is wanted ---------------------------------------------------------------------------
static bool same_entry(mxn_entry a, mxn_entry b)
{
    return a.node == b.node && a.index == b.index;
}

static int want_variable(mxn_plan *plan, uint32_t index)
{
    mxn_array *const *variables = plan->request->variables;
    mxn_entry entry = mxn__entry_of(variables[index]);
    mxn_visit *visit = entry.node == NULL ? NULL : mxn__plan_visit(plan, entry.node);
    if (visit == NULL || mxn__variable_of(variables[index]) == NULL) {
        return mxp__fail(MXP_EINVAL,
                         "Cannot differentiate with respect to the %u-th variable because it "
                         "does not require gradient.",
                         index + 1);
    }
    for (uint32_t i = visit->asked; i > 0 && i <= index; i++) {
        if (same_entry(mxn__entry_of(variables[i - 1]), entry)) {
            return mxp__fail(MXP_EINVAL, "variables %u and %u are the same", i, index + 1);
        }
    }
    visit->wanted = true;
    visit->asked = visit->asked == 0 ? index + 1 : visit->asked;
    return MXP_OK;
}

static int want_variables(mxn_plan *plan)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < plan->request->variable_count; i++) {
        error = want_variable(plan, i);
    }
    return error;
}

// Nothing goes back through an operator whose gradients are all zero, such as a comparison: what
// takes its truths is not asked for gradients of them.
static bool is_flat(const mxn_node *node)
{
    const mxn_gradient *gradient;
    return node->params != NULL && mxn_params_gradient(node->params, &gradient) == MXP_OK &&
           gradient->count == 0;
}

// Whether its gradient, or that of a variable beside it, has an array to go to.
static bool has_target(const mxn_node *node)
{
    bool has = node->params == NULL && node->request != MXN_NULL;
    for (const mxn_node *at = node->params == NULL ? NULL : node->beside; at != NULL && !has;
         at = at->beside) {
        has = at->request != MXN_NULL;
    }
    return has;
}

static int want(mxn_plan *plan)
{
    bool any = false;
    int error = want_variables(plan);
    for (size_t at = plan->count; error == MXP_OK && at-- > 0;) {
        mxn_visit *visit = &plan->visits[at];
        const mxn_node *node = visit->node;
        for (uint32_t i = 0; i < input_count(node) && !visit->passes; i++) {
            visit->passes = mxn__plan_wants(plan, node->inputs[i].from);
        }
        visit->passes = visit->passes && !is_flat(node);
        visit->wanted = visit->wanted || visit->passes ||
                        (plan->request->variable_count == 0 && has_target(node));
        any = any || visit->wanted;
    }
    if (error == MXP_OK && !any) {
        error = mxp__fail(MXP_EINVAL,
                          "There are no inputs in computation graph that require gradients.");
    }
    return error;
}

// ---- what is needed of a node's calls ---------------------------------------------------------
bool mxn__plan_result_taken(const mxn_visit *visit, uint32_t call, uint32_t result)
{
    const mxn_gradient *gradient = visit->gradient;
    for (uint32_t later = call + 1; later < gradient->count; later++) {
        const mxn_gradient_call *taker = &gradient->calls[later];
        for (uint32_t i = 0; visit->needed[later] && i < taker->params->input_count; i++) {
            if (taker->takes[i].kind == MXN_FROM_RESULT && taker->takes[i].index == result) {
                return true;
            }
        }
    }
    return false;
}

static void need_calls(const mxn_plan *plan, mxn_visit *visit)
{
    const mxn_gradient *gradient = visit->gradient;
    uint32_t first_result = 0;
    for (uint32_t i = 0; i < gradient->count; i++) {
        first_result += gradient->calls[i].params->output_count;
    }
    for (uint32_t i = gradient->count; i-- > 0;) {
        const mxn_gradient_call *call = &gradient->calls[i];
        uint32_t outputs = call->params->output_count;
        first_result -= outputs;
        for (uint32_t j = 0; j < outputs && !visit->needed[i]; j++) {
            int32_t given = call->gives[j];
            visit->needed[i] =
                (given >= 0 && mxn__plan_wants(plan, visit->node->inputs[given].from)) ||
                mxn__plan_result_taken(visit, i, first_result + j);
        }
    }
}

// ---- counting ---------------------------------------------------------------------------------
static void expect(const mxn_plan *plan, mxn_entry to)
{
    mxn_visit *visit = mxn__plan_visit(plan, to.node);
    visit->pending[to.index].expected++;
    visit->live = true;
}

static void expect_from(const mxn_plan *plan, const mxn_visit *visit)
{
    for (uint32_t i = 0; i < visit->gradient->count; i++) {
        const mxn_gradient_call *call = &visit->gradient->calls[i];
        for (uint32_t j = 0; visit->needed[i] && j < call->params->output_count; j++) {
            if (call->gives[j] >= 0 &&
                mxn__plan_wants(plan, visit->node->inputs[call->gives[j]].from)) {
                expect(plan, visit->node->inputs[call->gives[j]].from);
            }
        }
    }
}

static int place_pending(mxn_plan *plan)
{
    for (size_t at = 0; at < plan->count; at++) {
        plan->pending_count += output_count(plan->visits[at].node);
    }
    plan->pending = mxp__alloc(plan->pending_count * sizeof(mxn_pending));
    if (plan->pending == NULL) {
        return mxp__fail_memory("the plan of backward");
    }
    mxn_pending *next = plan->pending;
    for (size_t at = 0; at < plan->count; at++) {
        plan->visits[at].pending = next;
        next += output_count(plan->visits[at].node);
    }
    return MXP_OK;
}

static int take_gradients(mxn_plan *plan)
{
    for (size_t at = 0; at < plan->count; at++) {
        mxn_visit *visit = &plan->visits[at];
        if (visit->passes) {
            int error = mxn_params_gradient(visit->node->params, &visit->gradient);
            if (error != MXP_OK) {
                return error;
            }
            plan->needed_count += visit->gradient->count;
        }
    }
    if (plan->needed_count == 0) {
        return MXP_OK;
    }
    plan->needed = mxp__alloc(plan->needed_count * sizeof(bool));
    return plan->needed == NULL ? mxp__fail_memory("the plan of backward") : MXP_OK;
}

static int place_items(mxn_plan *plan)
{
    for (size_t i = 0; i < plan->pending_count; i++) {
        plan->item_count += plan->pending[i].expected + 1;
    }
    plan->items = mxp__alloc(plan->item_count * sizeof(mxn_array *));
    if (plan->items == NULL) {
        return mxp__fail_memory("the plan of backward");
    }
    mxn_array **next = plan->items;
    for (size_t i = 0; i < plan->pending_count; i++) {
        plan->pending[i].items = next;
        next += plan->pending[i].expected + 1;
    }
    return MXP_OK;
}

static int count(mxn_plan *plan)
{
    int error = place_pending(plan);
    if (error == MXP_OK) {
        error = take_gradients(plan);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < plan->request->output_count; i++) {
        expect(plan, mxn__entry_of(plan->request->outputs[i]));
    }
    bool *next = plan->needed;
    for (size_t at = 0; at < plan->count; at++) {
        mxn_visit *visit = &plan->visits[at];
        if (visit->gradient != NULL && visit->gradient->count > 0) {
            visit->needed = next;
            next += visit->gradient->count;
        }
        if (visit->gradient != NULL && visit->gradient->count > 0 && visit->live) {
            need_calls(plan, visit);
            expect_from(plan, visit);
        }
    }
    return place_items(plan);
}

// ---- values -----------------------------------------------------------------------------------
// Before anything is pushed, so that a backward that is refused has written no gradient.
static int check_values(const mxn_plan *plan)
{
    int error = MXP_OK;
    for (size_t at = 0; at < plan->count; at++) {
        const mxn_visit *visit = &plan->visits[at];
        uint32_t calls = visit->live && visit->needed != NULL ? visit->gradient->count : 0;
        for (uint32_t i = 0, first = 0; error == MXP_OK && i < calls; i++) {
            error = visit->needed[i] ? mxn__plan_check_values(plan, visit, i, first) : MXP_OK;
            first += visit->gradient->calls[i].params->output_count;
        }
    }
    return error;
}

// ---- all of it --------------------------------------------------------------------------------
void mxn__plan_fini(mxn_plan *plan)
{
    for (size_t i = 0; i < plan->item_count; i++) {
        mxn_array_release(plan->items[i]);
    }
    for (size_t at = 0; at < plan->count; at++) {
        mxn__node_release(plan->visits[at].node);
    }
    mxp__free(plan->items, plan->item_count * sizeof(mxn_array *));
    mxp__free(plan->pending, plan->pending_count * sizeof(mxn_pending));
    mxp__free(plan->needed, plan->needed_count * sizeof(bool));
    mxp__free(plan->places, plan->place_count * sizeof(uint32_t));
    mxp__free(plan->visits, plan->capacity * sizeof(mxn_visit));
    *plan = (mxn_plan){0};
}

int mxn__plan_make(const mxn_backward_request *request, mxn_plan *plan)
{
    *plan = (mxn_plan){.request = request};
    int error = collect(plan);
    if (error == MXP_OK) {
        error = want(plan);
    }
    if (error == MXP_OK) {
        error = count(plan);
    }
    if (error == MXP_OK) {
        error = check_values(plan);
    }
    if (error != MXP_OK) {
        if (plan->items == NULL) {
            plan->item_count = 0;
        }
        mxn__plan_fini(plan);
    }
    return error;
}
