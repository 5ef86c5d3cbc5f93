// SPDX-License-Identifier: Apache-2.0
// Where gradients go that have come together: to who has asked for them, or into the arrays of
// variables.
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/autograd/backward_steps.h"
#include "runtime/imperative/thread_mode.h"

// ---- what is asked for ------------------------------------------------------------------------
// A reference on the gradient, or zeros.
static int give_result(const mxn_backward *backward, mxn_diff_visit *visit, uint32_t index,
                       mxn_array **result)
{
    const mxn_node *node = visit->node;
    const mxn_diff_pending *pending = &visit->pending[index];
    int error = mxn_diff_run_settle(&backward->run, visit, index);
    if (error == MXP_OK && pending->count == 0) {
        void *zeros = NULL;
        error = mxn__backward_zeros(backward, NULL, &node->outputs[index], &zeros);
        *result = zeros;
    } else if (error == MXP_OK) {
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

// ---- variables --------------------------------------------------------------------------------
static int write_gradient(const mxn_backward *backward, mxn_node *variable,
                          const mxn_diff_pending *pending)
{
    void *target = variable->gradient;
    mxp_atomic_store(&variable->fresh, true);
    if (pending->count == 0) {
        return variable->request == MXN_ADD
                   ? MXP_OK
                   : mxn__backward_zeros(backward, NULL, &variable->outputs[0], &target);
    }
    if (pending->count > 1) {
        return mxn_diff_run_sum(&backward->run, NULL, pending, variable->request, &target);
    }
    // It may be there already.
    return pending->items[0] == target
               ? MXP_OK
               : mxn_diff_run_operator(&backward->run, NULL, "_copy", 0, NULL, NULL, pending->items,
                                       1, variable->request, &target);
}

// The array of a gradient holds values without a graph.
static int write_unrecorded(const mxn_backward *backward, mxn_node *variable,
                            const mxn_diff_pending *pending)
{
    const bool recording = mxn__mode.recording;
    mxn__mode.recording = false;
    int error = write_gradient(backward, variable, pending);
    mxn__mode.recording = recording;
    return error;
}

// Of a variable itself, or of those beside an operator's outputs.
static int write_gradients(const mxn_backward *backward, const mxn_diff_visit *visit)
{
    mxn_node *node = visit->node;
    if (node->params == NULL) {
        return write_unrecorded(backward, node, &visit->pending[0]);
    }
    int error = MXP_OK;
    for (mxn_node *at = node->beside; error == MXP_OK && at != NULL; at = at->beside) {
        if (at->request != MXN_NULL) {
            error = write_unrecorded(backward, at, &visit->pending[at->beside_index]);
        }
    }
    return error;
}

int mxn__backward_reach(void *context, mxn_diff_visit *visit)
{
    const mxn_backward *backward = context;
    if (backward->request->variable_count == 0) {
        return write_gradients(backward, visit);
    }
    return visit->asked != 0 ? give_results(backward, visit) : MXP_OK;
}
