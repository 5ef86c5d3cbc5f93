// SPDX-License-Identifier: Apache-2.0
// The calls that make up the gradient of one node: where their operands come from and where their
// results go.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/plan_run.h"

// Whether the only contribution may be written by whoever gives it.
static bool written_directly(const mxn_backward *backward, const mxn_diff_visit *to)
{
    return to->params == NULL && to->asked == 0 && to->pending[0].expected == 1 &&
           !backward->request->create_graph;
}

// Operands of one call and what all calls of the node have given so far.
typedef struct node_run {
    mxn_backward *backward;
    mxn_diff_visit *visit;
    mxn_array **inputs, **outputs, **results;
    uint32_t *requests;
    mxn_like *likes;
    uint32_t result_count;  // of all calls
    size_t bytes;
    void *memory;
} node_run;

static int node_run_init(node_run *run, mxn_backward *backward, mxn_diff_visit *visit)
{
    *run = (node_run){.backward = backward, .visit = visit};
    size_t inputs = 0, outputs = 0, results = 0;
    for (uint32_t i = 0; i < visit->gradient->count; i++) {
        const mxn_params *params = visit->gradient->calls[i].params;
        inputs = params->input_count > inputs ? params->input_count : inputs;
        outputs = params->output_count > outputs ? params->output_count : outputs;
        results += params->output_count;
    }
    run->result_count = (uint32_t)results;
    run->bytes = (inputs + outputs + results + 1) * sizeof(mxn_array *) +
                 outputs * (sizeof(mxn_like) + sizeof(uint32_t));
    run->memory = mxp__alloc(run->bytes);
    if (run->memory == NULL) {
        return mxp__fail_memory("a step of backward");
    }
    run->inputs = run->memory;
    run->outputs = run->inputs + inputs;
    run->results = run->outputs + outputs;
    run->likes = (mxn_like *)(run->results + results + 1);
    run->requests = (uint32_t *)(run->likes + outputs);
    return MXP_OK;
}

static void node_run_fini(node_run *run)
{
    for (uint32_t i = 0; run->memory != NULL && i < run->result_count; i++) {
        mxn_array_release(run->results[i]);
    }
    mxp__free(run->memory, run->bytes);
}

// The gradient of an output: zeros where nothing has come.
static int gradient_of_output(const node_run *run, uint32_t index, mxn_array **array)
{
    mxn_diff_pending *pending = &run->visit->pending[index];
    const mxn_node *node = run->visit->node;
    int error = MXP_OK;
    if (pending->count == 0) {
        mxn_array *zeros = NULL;
        error = mxn__plan_zeros(&node->outputs[index], node->scope, &zeros);
        pending->items[0] = zeros;
        pending->count = error == MXP_OK;
    }
    *array = pending->items[0];
    return error;
}

static int take_inputs(node_run *run, const mxn_gradient_call *call)
{
    const mxn_node *node = run->visit->node;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < call->params->input_count; i++) {
        uint32_t index = call->takes[i].index;
        switch (call->takes[i].kind) {
        case MXN_FROM_GRADIENT:
            error = gradient_of_output(run, index, &run->inputs[i]);
            break;
        case MXN_FROM_INPUT:
            run->inputs[i] = node->inputs[index].array;
            break;
        case MXN_FROM_OUTPUT:
            run->inputs[i] = node->outputs[index].array;
            break;
        default:
            run->inputs[i] = run->results[index];
            break;
        }
    }
    return error;
}

// Where the gradient of an input is wanted, or null.
static mxn_diff_visit *wanted_input(const node_run *run, int32_t input)
{
    return input < 0 ? NULL
                     : mxn_diff_input_wanted(&run->backward->plan, run->visit, (uint32_t)input);
}

// Where output `index` of a call goes and what is known of it. A variable's own array is borrowed.
static void prepare_output(node_run *run, uint32_t call_index, uint32_t first_result,
                           uint32_t index)
{
    const mxn_node *node = run->visit->node;
    const mxn_gradient_call *call = &run->visit->gradient->calls[call_index];
    bool taken = mxn_diff_result_taken(run->visit, call_index, first_result + index);
    int32_t given = call->gives[index];
    const mxn_diff_visit *to = wanted_input(run, given);
    run->outputs[index] = NULL;
    run->requests[index] = to != NULL || taken ? MXN_WRITE : MXN_NULL;
    run->likes[index] = (mxn_like){NULL, MXN_DTYPE_NONE};
    if (given < 0) {
        return;
    }
    const mxn_kept *input = &node->inputs[given];
    run->likes[index] = (mxn_like){&input->shape, input->dtype};
    if (to != NULL && !taken && written_directly(run->backward, to)) {
        const mxn_node *variable = to->node;
        run->outputs[index] = variable->gradient;
        run->requests[index] = variable->request;
    }
}

// Hands the outputs on: to the nodes before, and to later calls.
static void give_outputs(node_run *run, const mxn_gradient_call *call, uint32_t first_result)
{
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        if (run->requests[i] == MXN_NULL) {
            continue;
        }
        int32_t given = call->gives[i];
        mxn_array *array = run->outputs[i];
        mxn_diff_visit *to = wanted_input(run, given);
        if (to != NULL) {
            const mxn_diff_plan *plan = &run->backward->plan;
            mxn_array_retain(array);
            mxn_diff_contribute(to, mxn_diff_input_index(plan, run->visit, (uint32_t)given), array);
            if (array == ((const mxn_node *)to->node)->gradient) {
                continue;
            }
        }
        run->results[first_result + i] = array;
    }
}

static int run_call(node_run *run, uint32_t index, uint32_t first_result)
{
    const mxn_gradient_call *call = &run->visit->gradient->calls[index];
    int error = mxn_diff_check_values(&run->backward->plan, run->visit, index, first_result);
    if (error == MXP_OK) {
        error = take_inputs(run, call);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        prepare_output(run, index, first_result, i);
    }
    const mxn_node *node = run->visit->node;
    mxn_call_state *state = node->state;
    const mxn_invocation in = {.params = call->params,
                               .inputs = run->inputs,
                               .outputs = run->outputs,
                               .requests = run->requests,
                               .likes = run->likes,
                               .state = state == NULL ? NULL : &state,
                               .scope = node->scope,
                               .category = MXN_MEMORY_GRADIENT};
    error = mxn_autograd_invoke(&in);
    if (error == MXP_OK) {
        give_outputs(run, call, first_result);
    }
    return error;
}

int mxn__plan_run_calls(mxn_backward *backward, mxn_diff_visit *visit)
{
    node_run run;
    int error = node_run_init(&run, backward, visit);
    uint32_t first_result = 0;
    for (uint32_t i = 0; error == MXP_OK && i < visit->gradient->count; i++) {
        if (visit->needed[i]) {
            error = run_call(&run, i, first_result);
        }
        first_result += visit->gradient->calls[i].params->output_count;
    }
    node_run_fini(&run);
    return error;
}
