// SPDX-License-Identifier: Apache-2.0
// Steps of a backward as invocations: operands are arrays, saved values those that nodes keep.
#include "runtime/autograd/backward_steps.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"

// ---- operators --------------------------------------------------------------------------------
// With create_graph a call is recorded: while it runs, the values that the node keeps are the
// outputs that they were.
static void attach_values(const mxn_node *node)
{
    for (uint32_t i = 0; i < node->params->input_count; i++) {
        if (node->inputs[i].array != NULL && node->inputs[i].from.node != NULL) {
            mxn__entry_attach(node->inputs[i].array, node->inputs[i].from.node,
                              node->inputs[i].from.index);
        }
    }
    for (uint32_t i = 0; i < node->params->output_count; i++) {
        if (node->outputs[i].array != NULL) {
            mxn__entry_attach(node->outputs[i].array, node->outputs[i].self.node, i);
        }
    }
}

static void detach_values(const mxn_node *node)
{
    for (uint32_t i = 0; i < node->params->input_count + node->params->output_count; i++) {
        if (node->saved[i].array != NULL) {
            mxn__entry_detach(node->saved[i].array);
        }
    }
}

static int invoke(const mxn_diff_step *step, const mxn_tensor_type *known_outputs,
                  mxn_call_state **state)
{
    const mxn_node *node = step->visit == NULL ? NULL : step->visit->node;
    const mxn_invocation in = {.params = step->params,
                               .inputs = (mxn_array *const *)step->inputs,
                               .outputs = (mxn_array **)step->outputs,
                               .requests = step->requests,
                               .known_outputs = known_outputs,
                               .state = state,
                               .overwrites = true,
                               .scope = node == NULL ? 0 : node->scope,
                               .category = MXN_MEMORY_GRADIENT};
    return mxn_autograd_invoke(&in);
}

// `known_outputs`: space for one of each output.
static int invoke_call(const mxn_diff_step *step, mxn_tensor_type *known_outputs)
{
    const mxn_node *node = step->visit->node;
    for (uint32_t i = 0; i < step->params->output_count; i++) {
        const int32_t given = step->call->gives[i];
        const mxn_saved *input = given < 0 ? NULL : &node->inputs[given];
        known_outputs[i] = input == NULL ? (mxn_tensor_type){NULL, MXN_DTYPE_NONE}
                                         : (mxn_tensor_type){&input->shape, input->dtype};
    }
    mxn_call_state *state = node->state;
    return invoke(step, known_outputs, state == NULL ? NULL : &state);
}

static int run_call(const mxn_diff_step *step)
{
    enum { FEW = 8 };  // without an allocation
    const uint32_t outputs = step->params->output_count;
    if (outputs <= FEW) {
        mxn_tensor_type few[FEW];
        return invoke_call(step, few);
    }
    mxn_tensor_type *many = mxp__alloc(outputs * sizeof *many);
    if (many == NULL) {
        return mxp__fail_memory("a step of backward");
    }
    int error = invoke_call(step, many);
    mxp__free(many, outputs * sizeof *many);
    return error;
}

// Gradients of a prepared call are in bulks of the call's size. A variable is of no call.
static void choose_bulk(mxn_backward *backward, const mxn_diff_step *step)
{
    const mxn_node *node = step->visit == NULL ? NULL : step->visit->node;
    if (node == NULL || node->params == NULL) {
        return;
    }
    const int32_t size =
        node->bulk_size == MXN_BULK_DEFAULT ? backward->bulk_size : node->bulk_size;
    if (size != backward->bulk_now) {
        mxn_bulk_size_set(size);
        backward->bulk_now = size;
    }
}

static int run_step(void *context, const mxn_diff_step *step)
{
    mxn_backward *backward = context;
    choose_bulk(backward, step);
    if (step->call == NULL) {
        return invoke(step, NULL, NULL);
    }
    if (!backward->request->create_graph) {
        return run_call(step);
    }
    attach_values(step->visit->node);
    int error = run_call(step);
    detach_values(step->visit->node);
    return error;
}

// ---- values -----------------------------------------------------------------------------------
int mxn__backward_zeros(const mxn_backward *backward, const mxn_diff_visit *visit,
                        const mxn_saved *like, void **array)
{
    char shape[MXN_SHAPE_TEXT], context[32], dtype[16];
    snprintf(dtype, sizeof(dtype), "%d", like->dtype);
    const char *const keys[] = {"shape", "dtype", "ctx"};
    const char *const values[] = {mxn_shape_tuple(&like->shape, shape), dtype,
                                  mxn_context_text(like->context, context)};
    return mxn_diff_run_operator(&backward->run, visit, "_zeros_without_dtype", 3, keys, values,
                                 NULL, 0, MXN_WRITE, array);
}

// An operator whose gradient is one call that can do without is given none. A recorded call cannot.
static int make_zeros(void *context, const mxn_diff_visit *visit, uint32_t output, void **value)
{
    const mxn_backward *backward = context;
    const mxn_node *node = visit->node;
    const uint32_t flags = visit->gradient->calls[0].params->op->flags;
    if ((flags & MXN_OP_SPARSE_HEADS) != 0 && !backward->request->create_graph) {
        *value = NULL;
        return MXP_OK;
    }
    return mxn__backward_zeros(context, visit, &node->outputs[output], value);
}

static void *saved_value(void *context, const mxn_diff_visit *visit, const mxn_source *value)
{
    (void)context;
    const mxn_node *node = visit->node;
    return value->kind == MXN_FROM_INPUT ? node->inputs[value->index].array
                                         : node->outputs[value->index].array;
}

// The array of a variable's gradient, which the program has given.
static void *target_of(void *context, const mxn_diff_visit *visit, uint32_t output,
                       uint32_t *request)
{
    (void)output;
    const mxn_backward *backward = context;
    if (visit->params != NULL || visit->asked != 0 || backward->request->create_graph) {
        return NULL;
    }
    const mxn_node *variable = visit->node;
    *request = variable->request;
    return variable->gradient;
}

static void retain_array(void *array)
{
    mxn_array_retain(array);
}

const mxn_diff_actions mxn__backward_actions = {.run = run_step,
                                                .zeros = make_zeros,
                                                .saved = saved_value,
                                                .target = target_of,
                                                .reach = mxn__backward_reach,
                                                .retain = retain_array};
