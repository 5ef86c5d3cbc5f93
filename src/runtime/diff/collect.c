// SPDX-License-Identifier: Apache-2.0
// Collects the nodes that the heads are made from and sorts them. Visits never move within their
// list, so an input is known by a position as soon as it is seen, and no node is looked up twice.
#include "runtime/diff/collect.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

static int fail_memory(void)
{
    return mxp__fail_memory("the plan of backward");
}

// ---- places -----------------------------------------------------------------------------------
// Nodes of one graph were numbered one after the other, so their places hardly collide.
static void set_place(mxn_diff_plan *plan, uint64_t number, size_t position)
{
    size_t mask = plan->place_count - 1, at = number & mask;
    while (plan->places[at] != 0) {
        at = (at + 1) & mask;
    }
    plan->places[at] = (uint32_t)position + 1;
}

void mxn__diff_free_places(mxn_diff_plan *plan)
{
    if (plan->places != plan->few_places) {
        mxp__free(plan->places, plan->place_count * sizeof *plan->places);
    }
}

static int grow_places(mxn_diff_plan *plan)
{
    const bool first = plan->place_count == 0;
    size_t wanted = first ? MXN_DIFF_FEW_PLACES : 2 * plan->place_count;
    uint32_t *places = first ? plan->few_places : mxp__alloc(wanted * sizeof *places);
    if (places == NULL) {
        return fail_memory();
    }
    mxn__diff_free_places(plan);
    plan->places = places;
    plan->place_count = wanted;
    for (size_t at = 0; at < plan->count; at++) {
        set_place(plan, plan->visits[at].number, at);
    }
    return MXP_OK;
}

// Counted from 1; 0: there is none.
static uint32_t find(const mxn_diff_plan *plan, const void *node, uint64_t number)
{
    size_t mask = plan->place_count - 1;
    for (size_t at = number & mask; plan->place_count > 0 && plan->places[at] != 0;
         at = (at + 1) & mask) {
        if (plan->visits[plan->places[at] - 1].node == node) {
            return plan->places[at];
        }
    }
    return 0;
}

mxn_diff_visit *mxn_diff_plan_visit(const mxn_diff_plan *plan, const void *node)
{
    uint32_t place = find(plan, node, plan->nodes->number(node));
    return place == 0 ? NULL : &plan->visits[place - 1];
}

// ---- visits -----------------------------------------------------------------------------------
// *place: of the node's visit, which is made if there is none yet.
static int find_or_add(mxn_diff_plan *plan, void *node, uint32_t *place)
{
    const uint64_t number = plan->nodes->number(node);
    *place = find(plan, node, number);
    if (*place != 0) {
        return MXP_OK;
    }
    if (plan->count == plan->capacity && mxp__grow(&plan->visits, &plan->capacity, plan->count + 1,
                                                   sizeof(mxn_diff_visit)) != MXP_OK) {
        return fail_memory();
    }
    int error = 2 * (plan->count + 1) > plan->place_count ? grow_places(plan) : MXP_OK;
    if (error == MXP_OK) {
        plan->visits[plan->count] =
            (mxn_diff_visit){.node = node, .number = number, .params = plan->nodes->params(node)};
        *place = (uint32_t)++plan->count;
        set_place(plan, number, *place - 1);
    }
    return error;
}

static int add_inputs(mxn_diff_plan *plan, size_t at)
{
    void *node = plan->visits[at].node;
    const mxn_params *params = plan->visits[at].params;
    const uint32_t count = params == NULL ? 0 : params->input_count;
    const size_t first = plan->input_count;
    plan->visits[at].first_input = (uint32_t)first;
    if (first + count > plan->input_capacity &&
        mxp__grow(&plan->inputs, &plan->input_capacity, first + count, sizeof(mxn_diff_from)) !=
            MXP_OK) {
        return fail_memory();
    }
    plan->input_count += count;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < count; i++) {
        const mxn_diff_entry from = plan->nodes->input(node, i);
        plan->inputs[first + i] = (mxn_diff_from){.index = from.index};
        if (from.node != NULL) {
            error = find_or_add(plan, from.node, &plan->inputs[first + i].visit);
        }
    }
    return error;
}

// ---- order ------------------------------------------------------------------------------------
static int newest_first(const void *a, const void *b)
{
    const uint64_t first = ((const mxn_diff_place *)a)->number;
    const uint64_t second = ((const mxn_diff_place *)b)->number;
    return first > second ? -1 : first < second;
}

// The order, and after it what is pending of each output.
static int place_pending(mxn_diff_plan *plan)
{
    size_t outputs = 0;
    for (size_t at = 0; at < plan->count; at++) {
        outputs += mxn__diff_output_count(&plan->visits[at]);
    }
    const size_t order_bytes = plan->count * sizeof(mxn_diff_place);
    plan->order = mxp__alloc(order_bytes + outputs * sizeof(mxn_diff_pending));
    if (plan->order == NULL) {
        return fail_memory();
    }
    plan->pending = (mxn_diff_pending *)(plan->order + plan->count);
    plan->pending_count = outputs;
    mxn_diff_pending *next = plan->pending;
    for (size_t at = 0; at < plan->count; at++) {
        plan->visits[at].pending = next;
        next += mxn__diff_output_count(&plan->visits[at]);
    }
    return MXP_OK;
}

// A chain is found in its order already.
static void sort(mxn_diff_plan *plan)
{
    bool sorted = true;
    for (size_t at = 0; at < plan->count; at++) {
        plan->order[at] = (mxn_diff_place){plan->visits[at].number, (uint32_t)at};
        sorted = sorted && (at == 0 || plan->order[at].number < plan->order[at - 1].number);
    }
    if (!sorted) {
        qsort(plan->order, plan->count, sizeof *plan->order, newest_first);
    }
}

int mxn__diff_collect(mxn_diff_plan *plan, const mxn_diff_entry *heads, uint32_t head_count)
{
    int error = MXP_OK;
    uint32_t place;
    for (uint32_t i = 0; error == MXP_OK && i < head_count; i++) {
        error = find_or_add(plan, heads[i].node, &place);
    }
    // The list grows while it is walked.
    for (size_t at = 0; error == MXP_OK && at < plan->count; at++) {
        error = add_inputs(plan, at);
    }
    if (error == MXP_OK) {
        error = place_pending(plan);
    }
    if (error == MXP_OK) {
        sort(plan);
    }
    return error;
}
