// SPDX-License-Identifier: Apache-2.0
// Backward: head gradients, then the nodes of the plan from the newest on. A node's gradients are
// summed when all contributions are there, its calls run, and what they give goes to the nodes
// before it; a variable's gradient is written where it belongs, directly by the call that gives it
// if that is the only one.
#include <stdio.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/bulk_limit.h"
#include "runtime/autograd/other_arrays.h"
#include "runtime/autograd/plan_run.h"
#include "runtime/imperative/thread_mode.h"

// ---- variables --------------------------------------------------------------------------------
// What the request asks for: a reference on the gradient, or zeros.
static int give_result(const mxn_backward *backward, mxn_diff_visit *visit, uint32_t index,
                       mxn_array **result)
{
    const mxn_node *node = visit->node;
    mxn_diff_pending *pending = &visit->pending[index];
    int error = mxn__plan_settle(backward, pending, 0);
    if (error == MXP_OK && pending->count == 0) {
        return mxn__plan_zeros(&node->outputs[index], 0, result);
    }
    if (error == MXP_OK) {
        *result = pending->items[0];
        mxn_array_retain(*result);
    }
    return error;
}

static int give_results(const mxn_backward *backward, mxn_diff_visit *visit)
{
    const mxn_backward_request *request = backward->request;
    const uint32_t outputs = visit->params == NULL ? 1 : visit->params->output_count;
    int error = MXP_OK;
    for (uint32_t i = visit->asked - 1, given = 0;
         error == MXP_OK && i < request->variable_count && given < outputs; i++) {
        mxn_entry entry = mxn__entry_of(request->variables[i]);
        if (entry.node == visit->node) {
            error = give_result(backward, visit, entry.index, &request->gradients[i]);
            given++;
        }
    }
    return error;
}

static int write_gradient(mxn_node *variable, const mxn_diff_pending *pending)
{
    mxn_array *target = variable->gradient;
    mxp_atomic_store(&variable->fresh, true);
    if (pending->count == 0) {
        return variable->request == MXN_ADD ? MXP_OK
                                            : mxn__plan_zeros(&variable->outputs[0], 0, &target);
    }
    if (pending->count > 1) {
        return mxn__plan_add_up(pending, 0, variable->request, &target);
    }
    // It may be there already.
    return pending->items[0] == target
               ? MXP_OK
               : mxn__plan_run("_copy", 0, NULL, NULL, (mxn_array *const *)pending->items, 1,
                               variable->request, 0, &target);
}

// The array of a gradient holds values without a graph.
static int write_unrecorded(mxn_node *variable, const mxn_diff_pending *pending)
{
    const bool recording = mxn__mode.recording;
    mxn__mode.recording = false;
    int error = write_gradient(variable, pending);
    mxn__mode.recording = recording;
    return error;
}

// Gradients that are wanted here, of a variable or of outputs that have variables beside them.
static int finish_outputs(const mxn_backward *backward, mxn_diff_visit *visit)
{
    if (backward->request->variable_count > 0) {
        return visit->asked != 0 ? give_results(backward, visit) : MXP_OK;
    }
    mxn_node *node = visit->node;
    if (node->params == NULL) {
        return write_unrecorded(node, &visit->pending[0]);
    }
    int error = MXP_OK;
    for (mxn_node *at = node->beside; error == MXP_OK && at != NULL; at = at->beside) {
        error = at->request == MXN_NULL ? MXP_OK
                                        : write_unrecorded(at, &visit->pending[at->beside_index]);
    }
    return error;
}

// ---- nodes ------------------------------------------------------------------------------------
// With create_graph the values a node keeps stand for where they came from while its calls run.
static void note_values(const mxn_node *node)
{
    for (uint32_t i = 0; i < node->params->input_count; i++) {
        if (node->inputs[i].array != NULL && node->inputs[i].from.node != NULL) {
            mxn__entry_note(node->inputs[i].array, node->inputs[i].from.node,
                            node->inputs[i].from.index);
        }
    }
    for (uint32_t i = 0; i < node->params->output_count; i++) {
        if (node->outputs[i].array != NULL) {
            mxn__entry_note(node->outputs[i].array, node->outputs[i].self.node, i);
        }
    }
}

static void forget_values(const mxn_node *node)
{
    for (uint32_t i = 0; i < node->params->input_count + node->params->output_count; i++) {
        if (node->kept[i].array != NULL) {
            mxn__entry_forget(node->kept[i].array);
        }
    }
}

static int run_operator(mxn_backward *backward, mxn_diff_visit *visit)
{
    const mxn_node *node = visit->node;
    uint32_t outputs = node->params->output_count;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < outputs; i++) {
        error = mxn__plan_settle(backward, &visit->pending[i], node->scope);
    }
    if (error == MXP_OK) {
        error = finish_outputs(backward, visit);
    }
    if (error == MXP_OK && visit->passes && visit->live && visit->gradient->count > 0) {
        if (backward->request->create_graph) {
            note_values(node);
        }
        error = mxn__plan_run_calls(backward, visit);
        if (backward->request->create_graph) {
            forget_values(node);
        }
    }
    // Gradients that have done their work go now, not at the end.
    mxn_diff_release(&backward->plan, visit);
    return error;
}

static int run_plan(mxn_backward *backward)
{
    const mxn_diff_plan *plan = &backward->plan;
    int error = MXP_OK;
    for (size_t at = 0; error == MXP_OK && at < plan->count; at++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        if (!visit->wanted) {
            continue;
        }
        error =
            visit->params == NULL ? finish_outputs(backward, visit) : run_operator(backward, visit);
    }
    return error;
}

// MXNet's bulks begin behind the head gradients.
static int run_bulked(mxn_backward *backward, int bulk_size)
{
    int before = bulk_size > 1 ? mxn_bulk_size_set(bulk_size) : 0;
    int error = run_plan(backward);
    if (bulk_size > 1) {
        int flush_error = mxn_bulk_flush();
        mxn_bulk_size_set(before);
        error = error != MXP_OK ? error : flush_error;
    }
    return error;
}

// ---- head gradients ---------------------------------------------------------------------------
static int make_ones(const mxn_array *output, const mxn_entry *entry, mxn_array **ones)
{
    char text[128];
    const char *name = entry->node->params == NULL ? "variable" : entry->node->params->op->name;
    snprintf(text, sizeof(text), "%s_head_grad", name);
    const mxn_tag tag = {mxp_string(text), entry->node->scope, MXN_MEMORY_GRADIENT};
    int error =
        mxn_array_new(&output->shape, output->dtype, mxn_array_context(output), &tag, true, ones);
    if (error == MXP_OK) {
        const mxn_push_options options = {.scope = entry->node->scope};
        error = mxn_array_fill(*ones, 1.0, &options);
        if (error != MXP_OK) {
            mxn_array_release(*ones);
        }
    }
    return error;
}

// The gradient that was given, of the output's type; a reference.
static int take_head(const mxn_array *output, mxn_array *given, uint32_t index, mxn_array **head)
{
    char first[MXN_SHAPE_TEXT], second[MXN_SHAPE_TEXT];
    if (!mxn_shape_equal(&output->shape, &given->shape)) {
        return mxp__fail(MXP_EINVAL,
                         "The gradient given for output %u is %s%s and the output is %s%s", index,
                         mxn_dtype_name(given->dtype), mxn_shape_tuple(&given->shape, first),
                         mxn_dtype_name(output->dtype), mxn_shape_tuple(&output->shape, second));
    }
    *head = NULL;
    if (output->dtype != given->dtype) {
        const char *const key = "dtype", *const value = mxn_dtype_name(output->dtype);
        return mxn__plan_run("Cast", 1, &key, &value, &given, 1, MXN_WRITE, 0, head);
    }
    mxn_array_retain(given);
    *head = given;
    return MXP_OK;
}

static int run_heads(mxn_backward *backward)
{
    const mxn_backward_request *request = backward->request;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < request->output_count; i++) {
        const mxn_array *output = request->outputs[i];
        mxn_entry entry = mxn__entry_of(output);
        mxn_array *gradient = request->head_gradients == NULL ? NULL : request->head_gradients[i];
        if (gradient != NULL) {
            error = take_head(output, gradient, i, &gradient);
        } else {
            error = make_ones(output, &entry, &gradient);
        }
        if (error == MXP_OK) {
            mxn_diff_contribute(mxn_diff_plan_visit(&backward->plan, entry.node), entry.index,
                                gradient);
        }
    }
    return error;
}

// ---- all of it --------------------------------------------------------------------------------
static void forget_graph(const mxn_diff_plan *plan)
{
    mxn__others_forget();
    for (size_t at = 0; at < plan->count; at++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(plan, at);
        if (visit->params != NULL) {
            mxn__node_clear(visit->node);
        }
    }
}

static void release_results(const mxn_backward_request *request)
{
    for (uint32_t i = 0; i < request->variable_count; i++) {
        mxn_array_release(request->gradients[i]);
        request->gradients[i] = NULL;
    }
}

int mxn_autograd_backward(const mxn_backward_request *request)
{
    int bulk_size = 0;
    int error = mxn__bulk_limit_backward(&bulk_size);
    for (uint32_t i = 0; i < request->variable_count; i++) {
        request->gradients[i] = NULL;
    }
    mxn_backward backward;
    if (error == MXP_OK) {
        error = mxn__backward_init(request, &backward);
    }
    if (error != MXP_OK) {
        return error;
    }
    bool recording = mxn_autograd_recording_set(request->create_graph);
    bool training = mxn_autograd_training_set(request->training);
    uint32_t phase = mxn_phase_set(MXP_PHASE_BACKWARD);
    error = run_heads(&backward);
    if (error == MXP_OK) {
        error = run_bulked(&backward, bulk_size);
    }
    mxn_autograd_recording_set(recording);
    mxn_autograd_training_set(training);
    mxn_phase_set(phase);
    if (error == MXP_OK && !request->retain_graph && !request->create_graph) {
        forget_graph(&backward.plan);
    }
    mxn__backward_fini(&backward);
    if (error != MXP_OK) {
        release_results(request);
    }
    return error;
}
