// SPDX-License-Identifier: Apache-2.0
// The gradient program of a forward one: diff/ decides which operators there are and in which
// order, and each becomes a step instead of running.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/diff/run.h"
#include "runtime/graph/fusion.h"

struct making;

// A step of the forward, or a variable of the network.
typedef struct gradient_node {
    struct making *of;
    uint32_t number;  // variables first, then steps
} gradient_node;

typedef struct source {
    uint32_t node, output;  // of the node that gives a value
} source;

typedef struct making {
    const mxn_program *forward;
    const mxn_program_form *form;
    const mxn_gradient_form *gradients;
    mxn_program *program;
    gradient_node *nodes;  // of all variables and steps
    source *sources;  // of each value of the forward
    uint32_t *here;  // of each value of the forward: its number in the backward, or MXN_NO_VALUE
    uint32_t variable_count, output_count;
    mxn_diff_plan plan;
    mxn_diff_run run;
} making;

// Values are numbers: diff/ is given one more, so that none is null.
static void *value_of(uint32_t id)
{
    return (void *)((uintptr_t)id + 1);
}

static uint32_t id_of(const void *value)
{
    return value == NULL ? MXN_NO_VALUE : (uint32_t)((uintptr_t)value - 1);
}

static bool is_variable(const gradient_node *node)
{
    return node->number < node->of->variable_count;
}

// ---- the forward as a graph -------------------------------------------------------------------
static uint64_t number_of(const void *node)
{
    return (uint64_t)((const gradient_node *)node)->number + 1;
}

static size_t step_of(const gradient_node *node)
{
    return node->number - node->of->variable_count;
}

static mxn_params *params_of(const void *of)
{
    const gradient_node *node = of;
    return is_variable(node) ? NULL : node->of->forward->steps[step_of(node)].params;
}

static mxn_diff_entry entry_of(const making *of, uint32_t value)
{
    const source *from = &of->sources[value];
    return (mxn_diff_entry){&of->nodes[from->node], from->output};
}

static mxn_diff_entry input_of(const void *of, uint32_t index)
{
    const gradient_node *node = of;
    return entry_of(node->of, mxn__step_inputs(node->of->forward, step_of(node))[index]);
}

static bool is_target(const void *of)
{
    const gradient_node *node = of;
    return is_variable(node) && node->of->gradients->requests[node->number] != MXN_NULL;
}

// The number in the backward of a value that the forward has.
static int bring(making *of, uint32_t forward_value, uint32_t *id)
{
    *id = of->here[forward_value];
    if (*id != MXN_NO_VALUE) {
        return MXP_OK;
    }
    mxn_program_value value = of->forward->values[forward_value];
    value.kind = MXN_VALUE_FORWARD;
    value.index = forward_value;
    value.is_kept = false;
    int error = mxn__program_add_value(of->program, &value, id);
    of->here[forward_value] = *id;
    return error;
}

static uint32_t operand_of(const gradient_node *node, const mxn_source *value)
{
    const mxn_program *forward = node->of->forward;
    return value->kind == MXN_FROM_INPUT ? mxn__step_inputs(forward, step_of(node))[value->index]
                                         : mxn__step_outputs(forward, step_of(node))[value->index];
}

// Asked of the values that gradients really compute from. What the operator itself has moved on is
// meant to be so.
static int check_value(const void *of, const mxn_source *value)
{
    const gradient_node *node = of;
    uint32_t id;
    int error = bring(node->of, operand_of(node, value), &id);
    const bool is_written =
        value->kind == MXN_FROM_INPUT && mxn_params_mutates(params_of(node), value->index);
    if (error == MXP_OK && !is_written) {
        node->of->program->values[id].is_checked = true;
    }
    return error;
}

static void release(void *value)
{
    (void)value;
}

static const mxn_diff_nodes nodes = {.number = number_of,
                                     .params = params_of,
                                     .input = input_of,
                                     .is_target = is_target,
                                     .check_value = check_value,
                                     .release = release};

// ---- steps ------------------------------------------------------------------------------------
// The step for whose gradient it is, or null.
static const mxn_program_step *forward_step(const making *of, const mxn_diff_visit *visit)
{
    return visit == NULL || visit->params == NULL ? NULL
                                                  : &of->forward->steps[step_of(visit->node)];
}

// `numbers`: space for the operands; `types`: for the outputs.
static int add_step(making *of, const mxn_diff_step *step, uint32_t *numbers,
                    mxn_tensor_type *types)
{
    const mxn_params *params = step->params;
    const mxn_program_step *forward = forward_step(of, step->visit);
    uint32_t *outputs = numbers + params->input_count;
    for (uint32_t i = 0; i < params->input_count; i++) {
        numbers[i] = id_of(step->inputs[i]);
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        const int32_t given = step->call == NULL ? -1 : step->call->gives[i];
        outputs[i] = id_of(step->outputs[i]);
        types[i] = (mxn_tensor_type){NULL, MXN_DTYPE_NONE};
        if (given >= 0) {
            const uint32_t *inputs = mxn__step_inputs(of->forward, step_of(step->visit->node));
            const mxn_program_value *input = &of->forward->values[inputs[given]];
            types[i] = (mxn_tensor_type){&input->shape, input->dtype};
        }
    }
    int error =
        mxn__program_add_step(of->program, of->form,
                              &(mxn_program_call){.params = step->params,
                                                  .node = forward == NULL ? NULL : forward->node,
                                                  .scope = forward == NULL ? 0 : forward->scope,
                                                  .inputs = numbers,
                                                  .outputs = outputs,
                                                  .requests = step->requests,
                                                  .known_outputs = types});
    for (uint32_t i = 0; i < params->output_count && error == MXP_OK; i++) {
        step->outputs[i] = outputs[i] == MXN_NO_VALUE ? NULL : value_of(outputs[i]);
    }
    return error;
}

static int run(void *context, const mxn_diff_step *step)
{
    const size_t outputs = step->params->output_count + 1,
                 all = step->params->input_count + outputs;
    const size_t bytes = outputs * sizeof(mxn_tensor_type) + all * sizeof(uint32_t);
    mxn_tensor_type *types = mxp__alloc(bytes);
    if (types == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    int error = add_step(context, step, (uint32_t *)(types + outputs), types);
    mxp__free(types, bytes);
    return error;
}

static int add_zeros(const making *of, const mxn_diff_visit *visit, const mxn_program_value *like,
                     void **value)
{
    char shape[MXN_SHAPE_TEXT], context[32], dtype[16];
    snprintf(dtype, sizeof(dtype), "%d", like->dtype);
    const char *const keys[] = {"shape", "dtype", "ctx"};
    const char *const values[] = {mxn_shape_tuple(&like->shape, shape), dtype,
                                  mxn_context_text(of->form->context, context)};
    return mxn_diff_run_operator(&of->run, visit, "_zeros_without_dtype", 3, keys, values, NULL, 0,
                                 MXN_WRITE, value);
}

static int zeros(void *context, const mxn_diff_visit *visit, uint32_t output, void **value)
{
    const making *of = context;
    const uint32_t id = mxn__step_outputs(of->forward, step_of(visit->node))[output];
    return add_zeros(of, visit, &of->forward->values[id], value);
}

// `check_value` has brought those that are read; others are there for their shapes.
static void *saved(void *context, const mxn_diff_visit *visit, const mxn_source *value)
{
    making *of = context;
    uint32_t id;
    return bring(of, operand_of(visit->node, value), &id) == MXP_OK ? value_of(id) : NULL;
}

// ---- gradients of the inputs ------------------------------------------------------------------
// Its value, which the program gives an array.
static int gradient_of(making *of, uint32_t variable, uint32_t *id)
{
    mxn_program_value value = of->forward->values[variable];
    value.kind = MXN_VALUE_GRADIENT;
    value.index = variable;
    return mxn__program_add_value(of->program, &value, id);
}

static void *target(void *context, const mxn_diff_visit *visit, uint32_t output, uint32_t *request)
{
    (void)output;
    making *of = context;
    const gradient_node *node = visit->node;
    uint32_t id;
    if (!is_variable(node) || gradient_of(of, node->number, &id) != MXP_OK) {
        return NULL;
    }
    *request = of->gradients->requests[node->number];
    return value_of(id);
}

static bool is_gradient(const making *of, const void *value)
{
    return of->program->values[id_of(value)].kind == MXN_VALUE_GRADIENT;
}

static int reach(void *context, mxn_diff_visit *visit)
{
    making *of = context;
    const gradient_node *node = visit->node;
    const mxn_diff_pending *pending = &visit->pending[0];
    if (!is_variable(node) || (pending->count == 1 && is_gradient(of, pending->items[0]))) {
        return MXP_OK;
    }
    const uint32_t request = of->gradients->requests[node->number];
    if (pending->count == 0 && request == MXN_ADD) {
        return MXP_OK;
    }
    uint32_t id;
    int error = gradient_of(of, node->number, &id);
    void *to = value_of(id);
    if (error != MXP_OK) {
        return error;
    }
    if (pending->count == 0) {
        return add_zeros(of, NULL, &of->forward->values[node->number], &to);
    }
    return pending->count > 1 ? mxn_diff_run_sum(&of->run, NULL, pending, request, &to)
                              : mxn_diff_run_operator(&of->run, NULL, "_copy", 0, NULL, NULL,
                                                      pending->items, 1, request, &to);
}

static void retain(void *value)
{
    (void)value;
}

static const mxn_diff_actions actions = {
    .run = run, .zeros = zeros, .saved = saved, .target = target, .reach = reach, .retain = retain};

// ---- all of it --------------------------------------------------------------------------------
static void note_sources(const making *of)
{
    const mxn_program *forward = of->forward;
    for (uint32_t i = 0; i < of->variable_count; i++) {
        of->sources[i] = (source){i, 0};
    }
    for (uint32_t i = 0; i < forward->step_count; i++) {
        for (uint32_t k = 0; k < forward->steps[i].params->output_count; k++) {
            of->sources[mxn__step_outputs(forward, i)[k]] = (source){of->variable_count + i, k};
        }
    }
    for (uint32_t i = 0; i < of->variable_count + forward->step_count; i++) {
        of->nodes[i] = (gradient_node){(making *)of, i};
    }
    memset(of->here, 0xff, forward->value_count * sizeof *of->here);
}

static bool is_head(const making *of, uint32_t value)
{
    const mxn_program_value *v = &of->forward->values[value];
    return v->kind == MXN_VALUE_OUTPUT && of->gradients->heads[v->index];
}

static int contribute_heads(making *of)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < of->forward->value_count && error == MXP_OK; i++) {
        if (is_head(of, i)) {
            const mxn_diff_entry entry = entry_of(of, i);
            mxn_program_value head = of->forward->values[i];
            uint32_t id;
            head.kind = MXN_VALUE_HEAD;
            error = mxn__program_add_value(of->program, &head, &id);
            if (error == MXP_OK) {
                mxn_diff_contribute(mxn_diff_plan_visit(&of->plan, entry.node), entry.index,
                                    value_of(id));
            }
        }
    }
    return error;
}

static int plan_and_run(making *of, mxn_diff_entry *heads)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->forward->value_count; i++) {
        if (is_head(of, i)) {
            heads[count++] = entry_of(of, i);
        }
    }
    int error = mxn_diff_plan_make(
        &(mxn_diff_request){.nodes = &nodes, .heads = heads, .head_count = count}, &of->plan);
    if (error != MXP_OK) {
        return error;
    }
    of->run = (mxn_diff_run){&of->plan, &actions, of};
    error = contribute_heads(of);
    if (error == MXP_OK) {
        error = mxn_diff_run_plan(&of->run);
    }
    mxn_diff_plan_fini(&of->plan);
    return error;
}

// The forward's tenants and slots come first: what is not kept is free for the backward.
static int take_forward_memory(making *of)
{
    mxn_program *p = of->program;
    const mxn_program *forward = of->forward;
    p->tenant_capacity = forward->tenant_count;
    p->slots.capacity = forward->slots.count;
    p->tenants = mxp__alloc(p->tenant_capacity * sizeof *p->tenants);
    p->slots.bytes = mxp__alloc(p->slots.capacity * sizeof *p->slots.bytes);
    if ((p->tenants == NULL && p->tenant_capacity > 0) ||
        (p->slots.bytes == NULL && p->slots.capacity > 0)) {
        return mxp__fail_memory("the memory plan of a graph");
    }
    if (forward->tenant_count > 0) {
        memcpy(p->tenants, forward->tenants, forward->tenant_count * sizeof *p->tenants);
        memcpy(p->slots.bytes, forward->slots.bytes, forward->slots.count * sizeof(uint64_t));
    }
    p->tenant_count = forward->tenant_count;
    p->slots.count = forward->slots.count;
    return mxn__program_plan_memory(p, (uint32_t)forward->step_count);
}

static int make(making *of, mxn_diff_entry *heads)
{
    note_sources(of);
    int error = plan_and_run(of, heads);
    if (error == MXP_OK) {
        error = mxn__program_fuse(of->program, of->form);
    }
    return error != MXP_OK ? error : take_forward_memory(of);
}

int mxn__program_backward(const mxn_program *forward, const mxn_program_form *form,
                          const mxn_gradient_form *gradients, mxn_program *program)
{
    *program = (mxn_program){0};
    making of = {.forward = forward, .form = form, .gradients = gradients, .program = program};
    while (of.variable_count < forward->value_count &&
           forward->values[of.variable_count].kind == MXN_VALUE_INPUT) {
        of.variable_count++;
    }
    const size_t node_bytes = (of.variable_count + forward->step_count + 1) * sizeof *of.nodes;
    const size_t values = forward->value_count + 1;
    mxn_diff_entry *heads = mxp__alloc(values * sizeof *heads);
    of.nodes = mxp__alloc(node_bytes);
    of.sources = mxp__alloc(values * sizeof *of.sources);
    of.here = mxp__alloc(values * sizeof *of.here);
    const bool has_memory =
        heads != NULL && of.nodes != NULL && of.sources != NULL && of.here != NULL;
    int error = has_memory ? make(&of, heads) : mxp__fail_memory("a prepared graph");
    mxp__free(heads, values * sizeof *heads);
    mxp__free(of.nodes, node_bytes);
    mxp__free(of.sources, values * sizeof *of.sources);
    mxp__free(of.here, values * sizeof *of.here);
    if (error != MXP_OK) {
        mxn__program_fini(program);
    }
    return error;
}
