// SPDX-License-Identifier: Apache-2.0
// Backward on arrays: head gradients, then the plan (diff/run.h), whose operators the engine joins
// into bulks.
#include <stdio.h>

#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/autograd/backward_steps.h"
#include "runtime/autograd/bulk_limit.h"
#include "runtime/autograd/other_arrays.h"

// ---- the plan ---------------------------------------------------------------------------------
// MXNet's bulks begin after the head gradients.
static int run_bulked(mxn_backward *backward, int bulk_size)
{
    const int before = mxn_bulk_size_set(bulk_size);
    backward->bulk_size = bulk_size;
    backward->bulk_now = bulk_size;
    int error = mxn_diff_run_plan(&backward->run);
    int flush_error = mxn_bulk_flush();
    mxn_bulk_size_set(before);
    return error != MXP_OK ? error : flush_error;
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
static int take_head(const mxn_backward *backward, const mxn_array *output, mxn_array *given,
                     uint32_t index, mxn_array **head)
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
        void *const from = given;
        void *cast = NULL;
        int error = mxn_diff_run_operator(&backward->run, NULL, "Cast", 1, &key, &value, &from, 1,
                                          MXN_WRITE, &cast);
        *head = cast;
        return error;
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
            error = take_head(backward, output, gradient, i, &gradient);
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
    int error = mxn_bulk_limit_backward(&bulk_size);
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
