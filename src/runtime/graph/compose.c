// SPDX-License-Identifier: Apache-2.0
// Composition: an operator gets its inputs, or variables of a network are replaced.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

static int check_single(const mxn_inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        const uint32_t count = inputs->symbols[i]->count;
        if (count == 1) {
            continue;
        }
        if (inputs->keys != NULL) {
            return mxp__fail(MXP_EINVAL,
                             "Keyword Argument %s is a tuple, single value is required: it has %u "
                             "outputs",
                             inputs->keys[i], count);
        }
        return mxp__fail(MXP_EINVAL,
                         "Argument %u is a tuple, single value is required: it has %u outputs", i,
                         count);
    }
    return MXP_OK;
}

// ---- an operator ------------------------------------------------------------------------------
// What is being made. On failure nothing of it has reached the node.
typedef struct composition {
    mxn_graph_node *node;
    const char *name;
    uint32_t count;  // of inputs
    mxn_graph_output *inputs;
    mxn_graph_node **made;  // variables for missing inputs; null for the others
    uint32_t taken;  // of those that were given
} composition;

static int find_named(const mxn_inputs *inputs, const char *name)
{
    int found = -1;
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (strcmp(inputs->keys[i], name) == 0) {
            found = found < 0 ? (int)i : -2;
        }
    }
    return found;
}

static int make_variable(composition *made, uint32_t input, const char *input_name)
{
    mxp_strbuf name = {0};
    if (made->name[0] != '\0') {
        mxp__strbuf_printf(&name, "%s_", made->name);
    }
    mxp__strbuf_puts(&name, input_name);
    mxn_graph_node *variable =
        name.failed ? NULL : mxn__graph_node_new(NULL, mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    made->made[input] = variable;
    made->inputs[input].node = variable;
    return variable == NULL ? mxp__fail_memory("a variable for an input")
                            : mxn__attributes_copy(&variable->attributes, &made->node->attributes);
}

static int take_input(composition *made, const mxn_inputs *inputs, uint32_t input)
{
    char buffer[64];
    const char *name = mxn__input_name(made->node->params, input, buffer);
    int from = inputs->keys != NULL ? find_named(inputs, name) : -1;
    if (inputs->keys == NULL && input < inputs->count) {
        from = (int)input;
    }
    if (from == -2) {
        return mxp__fail(MXP_EINVAL, "Operator %s: input '%s' is given twice", made->node->op->name,
                         name);
    }
    if (from < 0) {
        return make_variable(made, input, name);
    }
    made->inputs[input] = inputs->symbols[from]->outputs[0];
    made->taken++;
    return MXP_OK;
}

static int fail_unknown(const composition *made, const mxn_inputs *inputs)
{
    const mxn_params *params = made->node->params;
    if (inputs->keys == NULL) {
        return mxp__fail(MXP_EINVAL, "Operator %s takes %u inputs, %u are given", params->op->name,
                         params->input_count, inputs->count);
    }
    for (uint32_t i = 0; i < inputs->count; i++) {
        bool known = false;
        char buffer[64];
        for (uint32_t j = 0; j < made->count && !known; j++) {
            known = strcmp(mxn__input_name(params, j, buffer), inputs->keys[i]) == 0;
        }
        if (!known) {
            return mxp__fail(MXP_EINVAL, "Operator %s: keyword argument name %s not found",
                             params->op->name, inputs->keys[i]);
        }
    }
    return mxp__fail(MXP_EINVAL, "Operator %s: an input is given twice", params->op->name);
}

// What lies behind the inputs.
static int walk_inputs(const mxn_inputs *inputs, mxn_walk *walk)
{
    mxn_symbol *all = NULL;
    int error = mxn_symbol_group(inputs->count, inputs->symbols, &all);
    if (error == MXP_OK) {
        error = mxn__walk_make(all->outputs, all->count, walk);
        mxn_symbol_free(all);
    }
    return error;
}

static int fail_cycle(const mxn_graph_node *node)
{
    return mxp__fail(MXP_EINVAL, "'%s' would be an input of itself", node->name);
}

// A node that nobody but the symbol refers to is behind none of the inputs: composing a long chain
// must not walk through it again and again.
static int check_cycle(const mxn_symbol *symbol, const mxn_inputs *inputs)
{
    const mxn_graph_node *node = symbol->outputs[0].node;
    if (mxp_atomic_load_acquire(&node->refs.count) == symbol->count) {
        return MXP_OK;
    }
    mxn_walk walk;
    int error = walk_inputs(inputs, &walk);
    if (error != MXP_OK) {
        return error;
    }
    error = mxn__walk_has(&walk, node) ? fail_cycle(node) : MXP_OK;
    mxn__walk_fini(&walk);
    return error;
}

// Whoever reads a variable says after which of the operators that write it.
static void count_versions(mxn_graph_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        mxn_graph_output *input = &node->inputs[i];
        if (input->node->op == NULL) {
            input->node->version += mxn_params_mutates(node->params, i);
            input->version = input->node->version;
        }
    }
}

// Variables that have not been told what to begin with are told by the operator.
static int set_inits(const composition *made)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < made->count && error == MXP_OK; i++) {
        mxn_graph_node *variable = made->inputs[i].node;
        const char *init = mxn_params_input_init(made->node->params, i);
        if (init != NULL && variable->op == NULL &&
            mxn__attributes_get(&variable->attributes, "__init__") == NULL) {
            error = mxn__attributes_set(&variable->attributes, "__init__", init);
        }
    }
    return error;
}

static int take_inputs(composition *made, const mxn_inputs *inputs)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < made->count && error == MXP_OK; i++) {
        error = take_input(made, inputs, i);
    }
    if (error == MXP_OK && made->taken < inputs->count) {
        error = fail_unknown(made, inputs);
    }
    if (error == MXP_OK) {
        error = set_inits(made);
    }
    if (error == MXP_OK) {
        error = mxn__graph_node_rename(made->node, made->name);
    }
    if (error == MXP_OK) {
        error = mxn__graph_node_set_inputs(made->node, made->inputs, made->count);
    }
    if (error == MXP_OK) {
        count_versions(made->node);
    }
    return error;
}

static int complete(mxn_graph_node *node, const char *name, const mxn_inputs *inputs)
{
    composition made = {.node = node, .name = name, .count = node->params->input_count};
    made.inputs = mxp__alloc(made.count * sizeof(mxn_graph_output) + 1);
    made.made = mxp__alloc(made.count * sizeof(mxn_graph_node *) + 1);
    int error = made.inputs == NULL || made.made == NULL
                    ? mxp__fail_memory("the inputs of an operator")
                    : take_inputs(&made, inputs);
    for (uint32_t i = 0; made.made != NULL && i < made.count; i++) {
        mxn__graph_node_release(made.made[i]);
    }
    mxp__free(made.inputs, made.count * sizeof(mxn_graph_output) + 1);
    mxp__free(made.made, made.count * sizeof(mxn_graph_node *) + 1);
    return error;
}

static int compose_operator(mxn_symbol *symbol, const char *name, const mxn_inputs *inputs)
{
    mxn_graph_node *node = symbol->outputs[0].node;
    int error = check_cycle(symbol, inputs);
    if (error == MXP_OK) {
        error = mxn__graph_node_parse(node, inputs->count);
    }
    return error == MXP_OK ? complete(node, name, inputs) : error;
}

// ---- a network --------------------------------------------------------------------------------
// The variables of a symbol that are to be replaced, by which of the inputs.
static const mxn_graph_output *replacement(const mxn_graph_node *node, const mxn_inputs *inputs)
{
    for (uint32_t i = 0; node->op == NULL && i < inputs->count; i++) {
        if (strcmp(node->name, inputs->keys[i]) == 0) {
            return &inputs->symbols[i]->outputs[0];
        }
    }
    return NULL;
}

static int fail_candidates(const mxn_walk *walk, const char *key)
{
    mxp_strbuf names = {0};
    unsigned count = 0;
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->nodes[i]->op == NULL) {
            mxp__strbuf_printf(&names, "\t[%u]%s\n", count++, walk->nodes[i]->name);
        }
    }
    int error = mxp__fail(MXP_EINVAL,
                          "Symbol.ComposeKeyword argument name %s not found.\nCandidate "
                          "arguments:\n%s",
                          key, mxp__strbuf_text(&names));
    mxp__strbuf_fini(&names);
    return error;
}

static int check_names(const mxn_walk *walk, const mxn_inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->count; i++) {
        bool found = false;
        for (size_t j = 0; j < walk->count && !found; j++) {
            found =
                walk->nodes[j]->op == NULL && strcmp(walk->nodes[j]->name, inputs->keys[i]) == 0;
        }
        if (!found) {
            return fail_candidates(walk, inputs->keys[i]);
        }
    }
    return MXP_OK;
}

static bool changes(const mxn_graph_node *node, const mxn_inputs *inputs)
{
    bool found = false;
    for (uint32_t i = 0; i < node->input_count && !found; i++) {
        found = replacement(node->inputs[i].node, inputs) != NULL;
    }
    return found;
}

// A node that gets a new input may not lie behind any.
static int check_cycles(const mxn_walk *walk, const mxn_inputs *inputs)
{
    mxn_walk behind;
    int error = walk_inputs(inputs, &behind);
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < walk->count && error == MXP_OK; i++) {
        const mxn_graph_node *node = walk->nodes[i];
        if (changes(node, inputs) && mxn__walk_has(&behind, node)) {
            error = fail_cycle(node);
        }
    }
    mxn__walk_fini(&behind);
    return error;
}

static void replace_inputs(mxn_graph_node *node, const mxn_inputs *inputs)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        mxn_graph_node *before = node->inputs[i].node;
        const mxn_graph_output *output = replacement(before, inputs);
        if (output != NULL) {
            mxp__refs_take(&output->node->refs);
            node->inputs[i] = *output;
            mxn__graph_node_release(before);
        }
    }
}

static int compose_network(mxn_symbol *symbol, const char *name, const mxn_inputs *inputs)
{
    if (inputs->keys == NULL && inputs->count > 0) {
        return mxp__fail(MXP_EINVAL,
                         "General composition only support kwargs for now: %u inputs are given by "
                         "position",
                         inputs->count);
    }
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    error = check_names(&walk, inputs);
    if (error == MXP_OK) {
        error = check_cycles(&walk, inputs);
    }
    if (error == MXP_OK && name[0] != '\0' && symbol->count > 0) {
        error = mxn__graph_node_rename(symbol->outputs[0].node, name);
    }
    for (size_t i = 0; i < walk.count && error == MXP_OK; i++) {
        replace_inputs(walk.nodes[i], inputs);
    }
    mxn__walk_fini(&walk);
    return error;
}

int mxn_symbol_compose(mxn_symbol *symbol, const char *name, const mxn_inputs *inputs)
{
    mxn_graph_node *node = mxn__only_node(symbol);
    int error = check_single(inputs);
    if (error != MXP_OK) {
        return error;
    }
    if (node != NULL && node->op != NULL && node->inputs == NULL && node->name[0] == '\0') {
        return compose_operator(symbol, name != NULL ? name : "", inputs);
    }
    return compose_network(symbol, name != NULL ? name : "", inputs);
}
