// SPDX-License-Identifier: Apache-2.0
// The calls that make up the gradient of one node: where their operands come from and where their
// results go.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/diff/run.h"

// Operands of one call and what all calls of the node have given so far.
typedef struct node_run {
    const mxn_diff_run *run;
    mxn_diff_visit *visit;
    void **inputs, **outputs, **results;
    uint32_t *requests;
    bool *borrowed;  // of outputs: the target of its gradient
    uint32_t result_count;  // of all calls
    size_t bytes;
    void *memory;
} node_run;

static int node_run_init(node_run *n, const mxn_diff_run *run, mxn_diff_visit *visit)
{
    *n = (node_run){.run = run, .visit = visit};
    size_t inputs = 0, outputs = 0, results = 0;
    for (uint32_t i = 0; i < visit->gradient->count; i++) {
        const mxn_params *params = visit->gradient->calls[i].params;
        inputs = params->input_count > inputs ? params->input_count : inputs;
        outputs = params->output_count > outputs ? params->output_count : outputs;
        results += params->output_count;
    }
    n->result_count = (uint32_t)results;
    n->bytes = (inputs + outputs + results + 1) * sizeof(void *) +
               outputs * (sizeof(uint32_t) + sizeof(bool));
    n->memory = mxp__alloc(n->bytes);
    if (n->memory == NULL) {
        return mxp__fail_memory("a step of backward");
    }
    n->inputs = n->memory;
    n->outputs = n->inputs + inputs;
    n->results = n->outputs + outputs;
    n->requests = (uint32_t *)(n->results + results + 1);
    n->borrowed = (bool *)(n->requests + outputs);
    return MXP_OK;
}

static void node_run_fini(node_run *n)
{
    for (uint32_t i = 0; n->memory != NULL && i < n->result_count; i++) {
        if (n->results[i] != NULL) {
            n->run->plan->nodes->release(n->results[i]);
        }
    }
    mxp__free(n->memory, n->bytes);
}

// ---- operands ---------------------------------------------------------------------------------
// The gradient of an output: zeros where nothing has come.
static int gradient_of_output(const node_run *n, uint32_t index, void **value)
{
    mxn_diff_pending *pending = &n->visit->pending[index];
    int error = MXP_OK;
    if (pending->count == 0) {
        void *zeros = NULL;
        error = n->run->actions->zeros(n->run->context, n->visit, index, &zeros);
        pending->items[0] = zeros;
        pending->count = error == MXP_OK;
    }
    *value = pending->items[0];
    return error;
}

static int take_inputs(node_run *n, const mxn_gradient_call *call)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < call->params->input_count; i++) {
        const mxn_source *from = &call->takes[i];
        if (from->kind == MXN_FROM_GRADIENT) {
            error = gradient_of_output(n, from->index, &n->inputs[i]);
        } else if (from->kind == MXN_FROM_RESULT) {
            n->inputs[i] = n->results[from->index];
        } else {
            n->inputs[i] = n->run->actions->saved(n->run->context, n->visit, from);
        }
    }
    return error;
}

// Where the gradient of an input is wanted, or null.
static mxn_diff_visit *wanted_input(const node_run *n, int32_t input)
{
    return input < 0 ? NULL : mxn_diff_input_wanted(n->run->plan, n->visit, (uint32_t)input);
}

// Whether output `index` is the only contribution to an input's gradient and may be written at
// once to where that belongs.
static void aim_output(node_run *n, const mxn_diff_visit *to, uint32_t input, uint32_t index)
{
    const mxn_diff_actions *actions = n->run->actions;
    const uint32_t output = mxn_diff_input_index(n->run->plan, n->visit, input);
    uint32_t request = MXN_WRITE;
    if (actions->target != NULL && to->pending[output].expected == 1) {
        n->outputs[index] = actions->target(n->run->context, to, output, &request);
    }
    n->borrowed[index] = n->outputs[index] != NULL;
    if (n->borrowed[index]) {
        n->requests[index] = request;
    }
}

// Where output `index` of a call goes.
static void prepare_output(node_run *n, uint32_t call, uint32_t first_result, uint32_t index)
{
    const int32_t given = n->visit->gradient->calls[call].gives[index];
    const bool taken = mxn_diff_result_taken(n->visit, call, first_result + index);
    const mxn_diff_visit *to = wanted_input(n, given);
    n->requests[index] = to != NULL || taken ? MXN_WRITE : MXN_NULL;
    n->outputs[index] = NULL;
    n->borrowed[index] = false;
    if (to != NULL && !taken) {
        aim_output(n, to, (uint32_t)given, index);
    }
}

// ---- results ----------------------------------------------------------------------------------
// Hands the outputs on: to the nodes before, and to later calls.
static void give_outputs(node_run *n, const mxn_gradient_call *call, uint32_t first_result)
{
    const mxn_diff_plan *plan = n->run->plan;
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        if (n->requests[i] == MXN_NULL) {
            continue;
        }
        mxn_diff_visit *to = wanted_input(n, call->gives[i]);
        if (to != NULL) {
            const uint32_t input = (uint32_t)call->gives[i];
            n->run->actions->retain(n->outputs[i]);
            mxn_diff_contribute(to, mxn_diff_input_index(plan, n->visit, input), n->outputs[i]);
        }
        if (!n->borrowed[i]) {
            n->results[first_result + i] = n->outputs[i];
        }
    }
}

static int run_call(node_run *n, uint32_t index, uint32_t first_result)
{
    const mxn_gradient_call *call = &n->visit->gradient->calls[index];
    int error = mxn_diff_check_values(n->run->plan, n->visit, index, first_result);
    if (error == MXP_OK) {
        error = take_inputs(n, call);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        prepare_output(n, index, first_result, i);
    }
    const mxn_diff_step step = {.params = call->params,
                                .visit = n->visit,
                                .call = call,
                                .inputs = n->inputs,
                                .outputs = n->outputs,
                                .requests = n->requests};
    error = n->run->actions->run(n->run->context, &step);
    if (error == MXP_OK) {
        give_outputs(n, call, first_result);
    }
    return error;
}

int mxn__diff_run_calls(const mxn_diff_run *run, mxn_diff_visit *visit)
{
    node_run n;
    int error = node_run_init(&n, run, visit);
    uint32_t first_result = 0;
    for (uint32_t i = 0; error == MXP_OK && i < visit->gradient->count; i++) {
        if (visit->needed[i]) {
            error = run_call(&n, i, first_result);
        }
        first_result += visit->gradient->calls[i].params->output_count;
    }
    node_run_fini(&n);
    return error;
}
