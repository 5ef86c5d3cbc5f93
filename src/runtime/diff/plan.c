// SPDX-License-Identifier: Apache-2.0
// Making the plan: collect the nodes that the heads are made from, newest first; find from the
// oldest on what leads to a wanted gradient; then count, from the newest on, what each gradient is
// summed from.
#include "runtime/diff/diff.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/diff/collect.h"

// ---- what is wanted ---------------------------------------------------------------------------
static int want_asked(mxn_diff_plan *plan, const mxn_diff_request *request, uint32_t index)
{
    const mxn_diff_entry *asked = &request->asked[index];
    mxn_diff_visit *visit = asked->node == NULL ? NULL : mxn_diff_plan_visit(plan, asked->node);
    if (visit == NULL) {
        return mxp__fail(MXP_EINVAL,
                         "Cannot differentiate with respect to the %u-th variable because it "
                         "does not require gradient.",
                         index + 1);
    }
    for (uint32_t i = visit->asked; i > 0 && i <= index; i++) {
        if (request->asked[i - 1].node == asked->node &&
            request->asked[i - 1].index == asked->index) {
            return mxp__fail(MXP_EINVAL, "variables %u and %u are the same", i, index + 1);
        }
    }
    visit->wanted = true;
    visit->asked = visit->asked == 0 ? index + 1 : visit->asked;
    return MXP_OK;
}

static int want_all_asked(mxn_diff_plan *plan, const mxn_diff_request *request)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < request->asked_count; i++) {
        error = want_asked(plan, request, i);
    }
    return error;
}

// Nothing goes back through an operator whose gradients are all zero, such as a comparison: what
// takes its truths is not asked for gradients of them.
static bool is_flat(const mxn_diff_visit *visit)
{
    const mxn_gradient *gradient;
    return mxn_params_gradient(visit->params, &gradient) == MXP_OK && gradient->count == 0;
}

static int want(mxn_diff_plan *plan, const mxn_diff_request *request)
{
    bool (*is_target)(const void *) = request->asked_count == 0 ? plan->nodes->is_target : NULL;
    bool any = false;
    int error = want_all_asked(plan, request);
    for (size_t at = plan->count; error == MXP_OK && at-- > 0;) {
        mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        for (uint32_t i = 0; i < mxn__diff_input_count(visit) && !visit->passes; i++) {
            visit->passes = mxn_diff_input_wanted(plan, visit, i) != NULL;
        }
        visit->passes = visit->passes && !is_flat(visit);
        visit->wanted =
            visit->wanted || visit->passes || (is_target != NULL && is_target(visit->node));
        any = any || visit->wanted;
    }
    if (error == MXP_OK && !any) {
        error = mxp__fail(MXP_EINVAL,
                          "There are no inputs in computation graph that require gradients.");
    }
    return error;
}

// ---- what is needed of a node's calls ---------------------------------------------------------
bool mxn_diff_result_taken(const mxn_diff_visit *visit, uint32_t call, uint32_t result)
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

// Whether what a call gives at `output` goes to a wanted input or to a later call.
static bool is_used(const mxn_diff_plan *plan, const mxn_diff_visit *visit, uint32_t call,
                    uint32_t first_result, uint32_t output)
{
    int32_t given = visit->gradient->calls[call].gives[output];
    return (given >= 0 && mxn_diff_input_wanted(plan, visit, (uint32_t)given) != NULL) ||
           mxn_diff_result_taken(visit, call, first_result + output);
}

static void need_calls(const mxn_diff_plan *plan, mxn_diff_visit *visit)
{
    const mxn_gradient *gradient = visit->gradient;
    uint32_t first_result = 0;
    for (uint32_t i = 0; i < gradient->count; i++) {
        first_result += gradient->calls[i].params->output_count;
    }
    for (uint32_t i = gradient->count; i-- > 0;) {
        uint32_t outputs = gradient->calls[i].params->output_count;
        first_result -= outputs;
        for (uint32_t j = 0; j < outputs && !visit->needed[i]; j++) {
            visit->needed[i] = is_used(plan, visit, i, first_result, j);
        }
    }
}

// ---- counting ---------------------------------------------------------------------------------
static void expect(mxn_diff_visit *visit, uint32_t index)
{
    visit->pending[index].expected++;
    visit->live = true;
}

static void expect_from(const mxn_diff_plan *plan, const mxn_diff_visit *visit)
{
    for (uint32_t i = 0; i < visit->gradient->count; i++) {
        const mxn_gradient_call *call = &visit->gradient->calls[i];
        for (uint32_t j = 0; visit->needed[i] && j < call->params->output_count; j++) {
            const uint32_t input = (uint32_t)call->gives[j];
            mxn_diff_visit *from =
                call->gives[j] < 0 ? NULL : mxn_diff_input_wanted(plan, visit, input);
            if (from != NULL) {
                expect(from, mxn_diff_input_index(plan, visit, input));
            }
        }
    }
}

static int take_gradients(mxn_diff_plan *plan)
{
    for (size_t at = 0; at < plan->count; at++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        if (visit->passes) {
            int error = mxn_params_gradient(visit->params, &visit->gradient);
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

static int place_items(mxn_diff_plan *plan)
{
    size_t items = 0;
    for (size_t i = 0; i < plan->pending_count; i++) {
        items += plan->pending[i].expected + 1;
    }
    plan->items = mxp__alloc(items * sizeof(void *));
    if (plan->items == NULL) {
        return mxp__fail_memory("the plan of backward");
    }
    plan->item_count = items;
    void **next = plan->items;
    for (size_t i = 0; i < plan->pending_count; i++) {
        plan->pending[i].items = next;
        next += plan->pending[i].expected + 1;
    }
    return MXP_OK;
}

static int count(mxn_diff_plan *plan, const mxn_diff_request *request)
{
    int error = take_gradients(plan);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < request->head_count; i++) {
        expect(mxn_diff_plan_visit(plan, request->heads[i].node), request->heads[i].index);
    }
    bool *next = plan->needed;
    for (size_t at = 0; at < plan->count; at++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        if (visit->gradient != NULL && visit->gradient->count > 0) {
            visit->needed = next;
            next += visit->gradient->count;
        }
        if (visit->needed != NULL && visit->live) {
            need_calls(plan, visit);
            expect_from(plan, visit);
        }
    }
    return place_items(plan);
}

// ---- values -----------------------------------------------------------------------------------
// What is computed for nobody may come from anything.
static bool is_read(const mxn_diff_plan *plan, const mxn_diff_visit *visit, uint32_t call,
                    uint32_t first_result, uint32_t input)
{
    const mxn_params *params = visit->gradient->calls[call].params;
    bool read = false;
    for (uint32_t i = 0; i < params->output_count && !read; i++) {
        read = is_used(plan, visit, call, first_result, i) && mxn_params_reads(params, i, input);
    }
    return read;
}

int mxn_diff_check_values(const mxn_diff_plan *plan, const mxn_diff_visit *visit, uint32_t call,
                          uint32_t first_result)
{
    const mxn_gradient_call *at = &visit->gradient->calls[call];
    const uint32_t inputs = plan->nodes->check_value == NULL ? 0 : at->params->input_count;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < inputs; i++) {
        const mxn_source *value = &at->takes[i];
        if ((value->kind == MXN_FROM_INPUT || value->kind == MXN_FROM_OUTPUT) &&
            is_read(plan, visit, call, first_result, i)) {
            error = plan->nodes->check_value(visit->node, value);
        }
    }
    return error;
}

// Before anything is pushed, so that a backward that is refused has written no gradient.
static int check_values(const mxn_diff_plan *plan)
{
    int error = MXP_OK;
    for (size_t at = 0; error == MXP_OK && at < plan->count; at++) {
        const mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        uint32_t calls = visit->live && visit->needed != NULL ? visit->gradient->count : 0;
        for (uint32_t i = 0, first = 0; error == MXP_OK && i < calls; i++) {
            error = visit->needed[i] ? mxn_diff_check_values(plan, visit, i, first) : MXP_OK;
            first += visit->gradient->calls[i].params->output_count;
        }
    }
    return error;
}

// ---- contributions ----------------------------------------------------------------------------
void mxn_diff_contribute(mxn_diff_visit *visit, uint32_t index, void *value)
{
    mxn_diff_pending *pending = &visit->pending[index];
    assert(pending->count < pending->expected);
    pending->items[pending->count++] = value;
}

void mxn_diff_settle(const mxn_diff_plan *plan, mxn_diff_pending *pending, void *sum)
{
    for (uint32_t i = 0; i < pending->count; i++) {
        plan->nodes->release(pending->items[i]);
        pending->items[i] = NULL;
    }
    pending->items[0] = sum;
    pending->count = 1;
}

void mxn_diff_release(const mxn_diff_plan *plan, mxn_diff_visit *visit)
{
    const uint32_t outputs = mxn__diff_output_count(visit);
    for (uint32_t i = 0; i < outputs; i++) {
        for (uint32_t j = 0; j < visit->pending[i].count; j++) {
            plan->nodes->release(visit->pending[i].items[j]);
            visit->pending[i].items[j] = NULL;
        }
    }
}

// ---- all of it --------------------------------------------------------------------------------
void mxn_diff_plan_fini(mxn_diff_plan *plan)
{
    for (size_t i = 0; i < plan->item_count; i++) {
        if (plan->items[i] != NULL) {
            plan->nodes->release(plan->items[i]);
        }
    }
    mxp__free(plan->items, plan->item_count * sizeof(void *));
    mxp__free(plan->needed, plan->needed_count * sizeof(bool));
    mxn__diff_free_places(plan);
    mxp__free(plan->order, plan->count * sizeof(mxn_diff_place) +
                               plan->pending_count * sizeof(mxn_diff_pending));
    mxp__free(plan->inputs, plan->input_capacity * sizeof(mxn_diff_from));
    mxp__free(plan->visits, plan->capacity * sizeof(mxn_diff_visit));
    *plan = (mxn_diff_plan){0};
}

int mxn_diff_plan_make(const mxn_diff_request *request, mxn_diff_plan *plan)
{
    *plan = (mxn_diff_plan){.nodes = request->nodes};
    int error = mxn__diff_collect(plan, request->heads, request->head_count);
    if (error == MXP_OK) {
        error = want(plan, request);
    }
    if (error == MXP_OK) {
        error = count(plan, request);
    }
    if (error == MXP_OK) {
        error = check_values(plan);
    }
    if (error != MXP_OK) {
        mxn_diff_plan_fini(plan);
    }
    return error;
}
