// SPDX-License-Identifier: Apache-2.0
// What a plan asks of recorded nodes, and the request of a backward in the plan's terms.
#include "runtime/autograd/tape_plan.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/backward_steps.h"

// ---- the tape as a graph ----------------------------------------------------------------------
static uint64_t number_of(const void *node)
{
    return ((const mxn_node *)node)->number;
}

static mxn_params *params_of(const void *node)
{
    return ((const mxn_node *)node)->params;
}

static mxn_diff_entry entry_of(mxn_entry entry)
{
    return (mxn_diff_entry){entry.node, entry.index};
}

static mxn_diff_entry input_of(const void *node, uint32_t index)
{
    const mxn_entry from = ((const mxn_node *)node)->inputs[index].from;
    return from.node == NULL || from.node->cleared ? (mxn_diff_entry){0} : entry_of(from);
}

// Whether its gradient, or that of a variable beside it, has an array to go to.
static bool has_target(const void *of)
{
    const mxn_node *node = of;
    bool has = node->params == NULL && node->request != MXN_NULL;
    for (const mxn_node *at = node->params == NULL ? NULL : node->beside; at != NULL && !has;
         at = at->beside) {
        has = at->request != MXN_NULL;
    }
    return has;
}

static void release_array(void *array)
{
    mxn_array_release(array);
}

static const mxn_diff_nodes tape = {.number = number_of,
                                    .params = params_of,
                                    .input = input_of,
                                    .is_target = has_target,
                                    .check_value = mxn__tape_check_value,
                                    .release = release_array};

// ---- the request ------------------------------------------------------------------------------
static int find_heads(const mxn_backward_request *request, mxn_diff_entry *heads)
{
    if (request->output_count == 0) {
        return mxp__fail(MXP_EINVAL, "There are no inputs in computation graph that require "
                                     "gradients: no outputs were given.");
    }
    for (uint32_t i = 0; i < request->output_count; i++) {
        heads[i] = entry_of(mxn__entry_of(request->outputs[i]));
        if (heads[i].node == NULL) {
            return mxp__fail(MXP_EINVAL,
                             "Cannot differentiate node because it is not in a computational graph "
                             "(output %u). You need to set is_recording to true or use "
                             "autograd.record() to save computational graphs for backward. If you "
                             "want to differentiate the same graph twice, you need to pass "
                             "retain_graph=True to backward.",
                             i);
        }
    }
    return MXP_OK;
}

// An output of the graph beside which no variable stands is none: its entry is left null.
static void find_variables(const mxn_backward_request *request, mxn_diff_entry *variables)
{
    for (uint32_t i = 0; i < request->variable_count; i++) {
        if (mxn__variable_of(request->variables[i]) != NULL) {
            variables[i] = entry_of(mxn__entry_of(request->variables[i]));
        }
    }
}

// `entries`: space for one of each output and variable, null.
static int init_with(mxn_backward *backward, mxn_diff_entry *entries)
{
    const mxn_backward_request *request = backward->request;
    int error = find_heads(request, entries);
    if (error == MXP_OK) {
        find_variables(request, entries + request->output_count);
        const mxn_diff_request plan = {.nodes = &tape,
                                       .heads = entries,
                                       .head_count = request->output_count,
                                       .asked = entries + request->output_count,
                                       .asked_count = request->variable_count};
        error = mxn_diff_plan_make(&plan, &backward->plan);
    }
    for (size_t at = 0; error == MXP_OK && at < backward->plan.count; at++) {
        mxn__node_retain(backward->plan.visits[at].node);
    }
    return error;
}

int mxn__backward_init(const mxn_backward_request *request, mxn_backward *backward)
{
    enum { FEW = 8 };  // without an allocation
    *backward = (mxn_backward){.request = request};
    backward->run = (mxn_diff_run){&backward->plan, &mxn__backward_actions, backward};
    const size_t count = (size_t)request->output_count + request->variable_count;
    if (count <= FEW) {
        mxn_diff_entry few[FEW] = {0};
        return init_with(backward, few);
    }
    mxn_diff_entry *many = mxp__alloc(count * sizeof *many);
    if (many == NULL) {
        return mxp__fail_memory("the plan of backward");
    }
    int error = init_with(backward, many);
    mxp__free(many, count * sizeof *many);
    return error;
}

void mxn__backward_fini(mxn_backward *backward)
{
    for (size_t at = 0; at < backward->plan.count; at++) {
        mxn__node_release(backward->plan.visits[at].node);
    }
    mxn_diff_plan_fini(&backward->plan);
}
