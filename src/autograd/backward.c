// SPDX-License-Identifier: Apache-2.0
// Backward: head gradients, then the nodes of the plan from the newest on. A node's gradients are
// summed when all contributions are there, its calls run, and what they give goes to the nodes
// before it; a variable's gradient is written where it belongs, directly by the call that gives it
// if that is the only one.
#include <stdio.h>

#include "autograd/autograd.h"
#include "autograd/bulk_limit.h"
#include "autograd/plan.h"
#include "base/alloc.h"
#include "base/fail.h"

// ---- single operators -------------------------------------------------------------------------
// Runs an operator that the graph itself does not name, on `inputs`. *output null: it is made.
static int run_by_name(const char *name, uint32_t count, const char *const *keys,
                       const char *const *values, mxn_array *const *inputs, uint32_t input_count,
                       uint32_t request, uint32_t scope, mxn_array **output)
{
    const mxn_op *op = NULL;
    mxn_params *params = NULL;
    int error = mxn_op_require(name, &op);
    if (error == MXP_OK) {
        error = mxn_params_parse(op, count, keys, values, input_count, &params);
    }
    if (error == MXP_OK) {
        const mxn_invocation in = {.params = params,
                                   .inputs = inputs,
                                   .outputs = output,
                                   .requests = &request,
                                   .phase = MXP_PHASE_BACKWARD,
                                   .scope = scope,
                                   .category = MXN_MEMORY_GRADIENT};
        error = mxn_autograd_invoke(&in);
    }
    mxn_params_release(params);
    return error;
}

// *array null: a new one.
static int run_zeros(const mxn_kept *like, uint32_t scope, mxn_array **array)
{
    char shape[MXN_SHAPE_TEXT], context[32], dtype[16];
    snprintf(dtype, sizeof(dtype), "%d", like->dtype);
    const char *const keys[] = {"shape", "dtype", "ctx"};
    const char *const values[] = {mxn_shape_tuple(&like->shape, shape), dtype,
                                  mxn_context_text(like->context, context)};
    return run_by_name("_zeros_without_dtype", 3, keys, values, NULL, 0, MXN_WRITE, scope, array);
}

// ---- contributions ----------------------------------------------------------------------------
// Takes the reference over.
static void contribute(mxn_plan *plan, mxn_entry to, mxn_array *array)
{
    mxn_pending *pending = &mxn__plan_visit(plan, to.node)->pending[to.index];
    pending->items[pending->count++] = array;
}

// One operator after the other: *sum null makes a new array, else it is written as `request` says.
static int add_one_by_one(const mxn_pending *pending, uint32_t scope, uint32_t request,
                          mxn_array **sum)
{
    mxn_array *partial = NULL;
    int error = MXP_OK;
    for (uint32_t i = 1; error == MXP_OK && i < pending->count; i++) {
        bool last = i + 1 == pending->count;
        mxn_array *pair[] = {partial == NULL ? pending->items[0] : partial, pending->items[i]};
        mxn_array *next = NULL;
        error = run_by_name("_grad_add", 0, NULL, NULL, pair, 2, last ? request : MXN_WRITE, scope,
                            last ? sum : &next);
        mxn_array_release(partial);
        partial = next;
    }
    return error;
}

// The same at once. MXNet does so below MXNET_EXEC_INPLACE_GRAD_SUM_CAP's default.
static int add_up(const mxn_pending *pending, uint32_t scope, uint32_t request, mxn_array **sum)
{
    enum { AT_ONCE_BELOW = 8 };
    if (pending->count >= AT_ONCE_BELOW) {
        return add_one_by_one(pending, scope, request, sum);
    }
    char number[16];
    snprintf(number, sizeof(number), "%u", pending->count);
    const char *const key = "num_args", *const value = number;
    return run_by_name("add_n", 1, &key, &value, pending->items, pending->count, request, scope,
                       sum);
}

// Afterwards the gradient is one array, or none at all.
static int settle(mxn_pending *pending, uint32_t scope)
{
    if (pending->count < 2) {
        return MXP_OK;
    }
    mxn_array *sum = NULL;
    int error = add_up(pending, scope, MXN_WRITE, &sum);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < pending->count; i++) {
        mxn_array_release(pending->items[i]);
        pending->items[i] = NULL;
    }
    pending->items[0] = sum;
    pending->count = 1;
    return MXP_OK;
}

// ---- variables --------------------------------------------------------------------------------
// Whether the only contribution may be written by whoever gives it.
static bool written_directly(const mxn_plan *plan, mxn_entry to)
{
    const mxn_visit *visit = mxn__plan_visit(plan, to.node);
    return to.node->params == NULL && visit->result == NULL && visit->pending[0].expected == 1 &&
           !plan->request->create_graph;
}

static int finish_variable(mxn_visit *visit)
{
    mxn_node *node = visit->node;
    mxn_pending *pending = &visit->pending[0];
    if (visit->result != NULL) {
        int error = settle(pending, 0);
        if (error == MXP_OK && pending->count == 0) {
            return run_zeros(&node->outputs[0], 0, visit->result);
        }
        if (error == MXP_OK) {
            *visit->result = pending->items[0];
            pending->items[0] = NULL;
        }
        return error;
    }
    mxn_array *target = node->gradient;
    node->fresh = true;
    if (pending->count == 0) {
        return node->request == MXN_ADD ? MXP_OK : run_zeros(&node->outputs[0], 0, &target);
    }
    if (pending->count > 1) {
        return add_up(pending, 0, node->request, &target);
    }
    // It may be there already.
    return pending->items[0] == target
               ? MXP_OK
               : run_by_name("_copy", 0, NULL, NULL, pending->items, 1, node->request, 0, &target);
}

// ---- the calls of a node ----------------------------------------------------------------------
// Operands of one call and what all calls of the node have given so far.
typedef struct node_run {
    mxn_plan *plan;
    mxn_visit *visit;
    mxn_array **inputs, **outputs, **results;
    uint32_t *requests;
    mxn_like *likes;
    uint32_t result_count;  // of all calls
    size_t bytes;
    void *memory;
} node_run;

static int node_run_init(node_run *run, mxn_plan *plan, mxn_visit *visit)
{
    *run = (node_run){.plan = plan, .visit = visit};
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
    mxn_pending *pending = &run->visit->pending[index];
    const mxn_node *node = run->visit->node;
    int error = MXP_OK;
    if (pending->count == 0) {
        error = run_zeros(&node->outputs[index], node->scope, &pending->items[0]);
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

// Where output `index` of a call goes and what is known of it. A variable's own array is borrowed.
static void prepare_output(node_run *run, uint32_t call_index, uint32_t first_result,
                           uint32_t index)
{
    const mxn_node *node = run->visit->node;
    const mxn_gradient_call *call = &run->visit->gradient->calls[call_index];
    bool taken = mxn__plan_result_taken(run->visit, call_index, first_result + index);
    int32_t given = call->gives[index];
    bool wanted = given >= 0 && mxn__plan_wants(run->plan, node->inputs[given].from);
    run->outputs[index] = NULL;
    run->requests[index] = wanted || taken ? MXN_WRITE : MXN_NULL;
    run->likes[index] = (mxn_like){NULL, MXN_DTYPE_NONE};
    if (given < 0) {
        return;
    }
    const mxn_kept *input = &node->inputs[given];
    run->likes[index] = (mxn_like){&input->shape, input->dtype};
    if (wanted && !taken && written_directly(run->plan, input->from)) {
        run->outputs[index] = input->from.node->gradient;
        run->requests[index] = input->from.node->request;
    }
}

// Hands the outputs on: to the nodes before, and to later calls.
static void give_outputs(node_run *run, const mxn_gradient_call *call, uint32_t first_result)
{
    const mxn_node *node = run->visit->node;
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        if (run->requests[i] == MXN_NULL) {
            continue;
        }
        int32_t given = call->gives[i];
        mxn_array *array = run->outputs[i];
        if (given >= 0 && mxn__plan_wants(run->plan, node->inputs[given].from)) {
            mxn_array_retain(array);
            contribute(run->plan, node->inputs[given].from, array);
            if (array == node->inputs[given].from.node->gradient) {
                continue;
            }
        }
        run->results[first_result + i] = array;
    }
}

static int run_call(node_run *run, uint32_t index, uint32_t first_result)
{
    const mxn_gradient_call *call = &run->visit->gradient->calls[index];
    int error = take_inputs(run, call);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        prepare_output(run, index, first_result, i);
    }
    const mxn_invocation in = {.params = call->params,
                               .inputs = run->inputs,
                               .outputs = run->outputs,
                               .requests = run->requests,
                               .likes = run->likes,
                               .phase = MXP_PHASE_BACKWARD,
                               .scope = run->visit->node->scope,
                               .category = MXN_MEMORY_GRADIENT};
    error = mxn_autograd_invoke(&in);
    if (error == MXP_OK) {
        give_outputs(run, call, first_result);
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

static int run_calls(mxn_plan *plan, mxn_visit *visit)
{
    node_run run;
    int error = node_run_init(&run, plan, visit);
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

static int run_operator(mxn_plan *plan, mxn_visit *visit)
{
    const mxn_node *node = visit->node;
    uint32_t outputs = node->params->output_count;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < outputs; i++) {
        error = settle(&visit->pending[i], node->scope);
    }
    if (error == MXP_OK) {
        if (plan->request->create_graph) {
            note_values(node);
        }
        error = run_calls(plan, visit);
        if (plan->request->create_graph) {
            forget_values(node);
        }
    }
    // Gradients that have done their work go now, not at the end.
    for (uint32_t i = 0; i < outputs; i++) {
        for (uint32_t j = 0; j < visit->pending[i].count; j++) {
            mxn_array_release(visit->pending[i].items[j]);
            visit->pending[i].items[j] = NULL;
        }
    }
    return error;
}

static int run_plan(mxn_plan *plan)
{
    int error = MXP_OK;
    for (size_t at = 0; error == MXP_OK && at < plan->count; at++) {
        mxn_visit *visit = &plan->visits[at];
        if (!visit->wanted) {
            continue;
        }
        if (visit->node->params == NULL) {
            error = finish_variable(visit);
        } else if (visit->live && visit->gradient->count > 0) {
            error = run_operator(plan, visit);
        }
    }
    return error;
}

// MXNet's bulks begin behind the head gradients.
static int run_bulked(mxn_plan *plan, int bulk_size)
{
    int before = bulk_size > 1 ? mxn_bulk_size_set(bulk_size) : 0;
    int error = run_plan(plan);
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
        const mxn_push_options options = {.flags = MXP_PHASE_BACKWARD, .scope = entry->node->scope};
        error = mxn_array_fill(*ones, 1.0, &options);
        if (error != MXP_OK) {
            mxn_array_release(*ones);
        }
    }
    return error;
}

static int check_head(const mxn_array *output, const mxn_array *gradient, uint32_t index)
{
    if (mxn_shape_equal(&output->shape, &gradient->shape) && output->dtype == gradient->dtype) {
        return MXP_OK;
    }
    char first[MXN_SHAPE_TEXT], second[MXN_SHAPE_TEXT];
    return mxp__fail(MXP_EINVAL, "The gradient given for output %u is %s%s and the output is %s%s",
                     index, mxn_dtype_name(gradient->dtype),
                     mxn_shape_tuple(&gradient->shape, first), mxn_dtype_name(output->dtype),
                     mxn_shape_tuple(&output->shape, second));
}

static int run_heads(mxn_plan *plan)
{
    const mxn_backward_request *request = plan->request;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < request->output_count; i++) {
        const mxn_array *output = request->outputs[i];
        mxn_entry entry = mxn__entry_of(output);
        mxn_array *gradient = request->head_gradients == NULL ? NULL : request->head_gradients[i];
        if (gradient != NULL) {
            error = check_head(output, gradient, i);
            if (error == MXP_OK) {
                mxn_array_retain(gradient);
            }
        } else {
            error = make_ones(output, &entry, &gradient);
        }
        if (error == MXP_OK) {
            contribute(plan, entry, gradient);
        }
    }
    return error;
}

// ---- all of it --------------------------------------------------------------------------------
static void forget_graph(const mxn_plan *plan)
{
    for (size_t at = 0; at < plan->count; at++) {
        mxn__node_retain(plan->visits[at].node);
    }
    for (size_t at = 0; at < plan->count; at++) {
        if (plan->visits[at].node->params != NULL) {
            mxn__node_clear(plan->visits[at].node);
        }
    }
}

// Lets go of the nodes that forget_graph has kept alive.
static void release_nodes(mxn_plan *plan)
{
    for (size_t at = 0; at < plan->count; at++) {
        mxn_node *node = plan->visits[at].node;
        node->mark = 0;
        mxn__node_release(node);
    }
    plan->count = 0;
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
    mxn_plan plan;
    if (error == MXP_OK) {
        error = mxn__plan_make(request, &plan);
    }
    if (error != MXP_OK) {
        return error;
    }
    bool recording = mxn_autograd_recording_set(request->create_graph);
    bool training = mxn_autograd_training_set(request->training);
    error = run_heads(&plan);
    if (error == MXP_OK) {
        error = run_bulked(&plan, bulk_size);
    }
    mxn_autograd_recording_set(recording);
    mxn_autograd_training_set(training);
    bool forget = error == MXP_OK && !request->retain_graph && !request->create_graph;
    if (forget) {
        forget_graph(&plan);
        release_nodes(&plan);
    }
    mxn__plan_fini(&plan);
    if (error != MXP_OK) {
        release_results(request);
    }
    return error;
}
