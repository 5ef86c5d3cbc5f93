// SPDX-License-Identifier: Apache-2.0
// Making symbols, and parts of them.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

static size_t bytes_of(size_t count)
{
    return sizeof(mxn_symbol) + count * sizeof(mxn_graph_output);
}

mxn_symbol *mxn__symbol_new(size_t capacity)
{
    mxn_symbol *symbol = capacity > UINT32_MAX ? NULL : mxp__alloc(bytes_of(capacity));
    if (symbol == NULL) {
        mxp__fail_memory("a symbol");
        return NULL;
    }
    symbol->capacity = (uint32_t)capacity;
    return symbol;
}

void mxn__symbol_add(mxn_symbol *symbol, mxn_graph_node *node, uint32_t index)
{
    assert(symbol->count < symbol->capacity && "a symbol has no space for this output");
    mxp__refs_take(&node->refs);
    symbol->outputs[symbol->count++] = (mxn_graph_output){node, index, 0};
}

void mxn_symbol_free(mxn_symbol *symbol)
{
    if (symbol == NULL) {
        return;
    }
    for (uint32_t i = 0; i < symbol->count; i++) {
        mxn__graph_node_release(symbol->outputs[i].node);
    }
    mxp__free(symbol, bytes_of(symbol->capacity));
}

mxn_graph_node *mxn__only_node(const mxn_symbol *symbol)
{
    mxn_graph_node *node = symbol->count > 0 ? symbol->outputs[0].node : NULL;
    for (uint32_t i = 1; i < symbol->count; i++) {
        node = symbol->outputs[i].node == node ? node : NULL;
    }
    return node;
}

// ---- making -----------------------------------------------------------------------------------
// The visible outputs of a node, whose reference is taken over.
static int symbol_of(mxn_graph_node *node, mxn_symbol **symbol)
{
    const uint32_t count = mxn__graph_node_visible(node);
    *symbol = mxn__symbol_new(count);
    for (uint32_t i = 0; *symbol != NULL && i < count; i++) {
        mxn__symbol_add(*symbol, node, i);
    }
    mxn__graph_node_release(node);
    return *symbol != NULL ? MXP_OK : MXP_ENOMEM;
}

int mxn_symbol_variable(const char *name, mxn_symbol **symbol)
{
    *symbol = NULL;
    mxn_graph_node *node = mxn__graph_node_new(NULL, name);
    return node != NULL ? symbol_of(node, symbol) : MXP_ENOMEM;
}

// "weight_lr_mult": once meant for the variable that is made for an input.
static int check_key(const char *key, const char *value)
{
    const size_t length = strlen(key);
    static const char *const endings[] = {"_lr_mult", "_wd_mult", "_ctx_group"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && key[0] != '_' && strcmp(key + length - ending, endings[i]) == 0) {
            return mxp__fail(MXP_EINVAL,
                             "setting variable attributes with %s is deprecated; instead use\n"
                             "w = Variable(%s=%s)\nsym = YourSymbolName(%.*s=w)",
                             key, endings[i] + 1, value, (int)(length - ending), key);
        }
    }
    return MXP_OK;
}

static int set_key(mxn_attributes *attributes, const char *key, const char *value)
{
    char hidden[MXN_HIDDEN_KEY_BYTES + 4];
    key = mxn__is_hidden_key(key) ? mxn__hidden_key(key, hidden) : key;
    return mxn__attributes_set(attributes, key, value);
}

int mxn_symbol_operator(const mxn_op *op, uint32_t count, const char *const *keys,
                        const char *const *values, mxn_symbol **symbol)
{
    *symbol = NULL;
    mxn_graph_node *node = mxn__graph_node_new(op, "");
    int error = node != NULL ? MXP_OK : MXP_ENOMEM;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = check_key(keys[i], values[i]);
        if (error == MXP_OK) {
            error = set_key(&node->attributes, keys[i], values[i]);
        }
    }
    if (error == MXP_OK) {
        error = mxn__graph_node_parse(node, MXN_INPUTS_UNKNOWN);
    }
    if (error != MXP_OK) {
        mxn__graph_node_release(node);
        return error;
    }
    return symbol_of(node, symbol);
}

int mxn_symbol_group(uint32_t count, mxn_symbol *const *symbols, mxn_symbol **group)
{
    size_t outputs = 0;
    for (uint32_t i = 0; i < count; i++) {
        outputs += symbols[i]->count;
    }
    *group = mxn__symbol_new(outputs);
    if (*group == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < symbols[i]->count; j++) {
            mxn__symbol_add(*group, symbols[i]->outputs[j].node, symbols[i]->outputs[j].index);
        }
    }
    return MXP_OK;
}

// ---- copies -----------------------------------------------------------------------------------
// A node whose inputs are the copies of its inputs, which come before it.
static int copy_node(const mxn_walk *walk, mxn_graph_node **copies, size_t place)
{
    const mxn_graph_node *node = walk->nodes[place];
    mxn_graph_node *copy = copies[place] = mxn__graph_node_new(node->op, node->name);
    if (copy == NULL) {
        return MXP_ENOMEM;
    }
    if (node->params != NULL) {
        mxn_params_retain(node->params);
        copy->params = node->params;
    }
    copy->version = node->version;
    int error = mxn__attributes_copy(&copy->attributes, &node->attributes);
    if (error == MXP_OK) {
        error = mxn__graph_node_set_inputs(copy, node->inputs, node->input_count);
    }
    for (uint32_t i = 0; i < copy->input_count && error == MXP_OK; i++) {
        mxn_graph_node *input = copies[mxn__walk_place(walk, copy->inputs[i].node)];
        mxp__refs_take(&input->refs);
        mxn__graph_node_release(copy->inputs[i].node);
        copy->inputs[i].node = input;
    }
    return error;
}

static int copy_outputs(const mxn_symbol *symbol, const mxn_walk *walk, mxn_graph_node **copies,
                        mxn_symbol **copy)
{
    int error = MXP_OK;
    for (size_t i = 0; i < walk->count && error == MXP_OK; i++) {
        error = copy_node(walk, copies, i);
    }
    *copy = error == MXP_OK ? mxn__symbol_new(symbol->count) : NULL;
    for (uint32_t i = 0; *copy != NULL && i < symbol->count; i++) {
        mxn__symbol_add(*copy, copies[mxn__walk_place(walk, symbol->outputs[i].node)],
                        symbol->outputs[i].index);
    }
    return error == MXP_OK && *copy == NULL ? MXP_ENOMEM : error;
}

int mxn_symbol_copy(const mxn_symbol *symbol, mxn_symbol **copy)
{
    mxn_walk walk;
    *copy = NULL;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    mxn_graph_node **copies = mxp__alloc((walk.count + 1) * sizeof(mxn_graph_node *));
    error = copies == NULL ? mxp__fail_memory("a copy of a symbol")
                           : copy_outputs(symbol, &walk, copies, copy);
    for (size_t i = 0; copies != NULL && i < walk.count; i++) {
        mxn__graph_node_release(copies[i]);
    }
    mxp__free(copies, (walk.count + 1) * sizeof(mxn_graph_node *));
    mxn__walk_fini(&walk);
    return error;
}

// ---- parts ------------------------------------------------------------------------------------
int mxn_symbol_output(const mxn_symbol *symbol, uint32_t index, mxn_symbol **output)
{
    *output = NULL;
    if (index >= symbol->count) {
        return mxp__fail(MXP_EINVAL, "output %u is asked for of a symbol that has %u", index,
                         symbol->count);
    }
    *output = mxn__symbol_new(1);
    if (*output == NULL) {
        return MXP_ENOMEM;
    }
    mxn__symbol_add(*output, symbol->outputs[index].node, symbol->outputs[index].index);
    return MXP_OK;
}

int mxn_symbol_internals(const mxn_symbol *symbol, mxn_symbol **internals)
{
    mxn_walk walk;
    *internals = NULL;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    size_t count = 0;
    for (size_t i = 0; i < walk.count; i++) {
        count += mxn__graph_node_visible(walk.nodes[i]);
    }
    *internals = mxn__symbol_new(count);
    for (size_t i = 0; *internals != NULL && i < walk.count; i++) {
        for (uint32_t j = 0; j < mxn__graph_node_visible(walk.nodes[i]); j++) {
            mxn__symbol_add(*internals, walk.nodes[i], j);
        }
    }
    mxn__walk_fini(&walk);
    return *internals != NULL ? MXP_OK : MXP_ENOMEM;
}

// The outputs of a symbol whose nodes stand for the first time, in order.
static int first_of_nodes(const mxn_symbol *symbol, mxn_symbol **first)
{
    mxp_id_map seen = {.entry_bytes = sizeof(uint64_t)};
    int error = MXP_OK;
    *first = mxn__symbol_new(symbol->count);
    if (*first == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < symbol->count && error == MXP_OK; i++) {
        const mxn_graph_output *output = &symbol->outputs[i];
        const size_t before = seen.count;
        if (mxp__id_map_add(&seen, (uint64_t)(uintptr_t)output->node) == NULL) {
            error = mxp__fail_memory("the nodes of a symbol");
        } else if (seen.count > before) {
            mxn__symbol_add(*first, output->node, output->index);
        }
    }
    mxp__id_map_fini(&seen);
    if (error != MXP_OK) {
        mxn_symbol_free(*first);
    }
    return error;
}

static int inputs_of(const mxn_symbol *symbol, mxn_symbol **children)
{
    size_t count = 0;
    for (uint32_t i = 0; i < symbol->count; i++) {
        count += symbol->outputs[i].node->input_count;
    }
    *children = count > 0 ? mxn__symbol_new(count) : NULL;
    for (uint32_t i = 0; *children != NULL && i < symbol->count; i++) {
        const mxn_graph_node *node = symbol->outputs[i].node;
        for (uint32_t j = 0; j < node->input_count; j++) {
            mxn__symbol_add(*children, node->inputs[j].node, node->inputs[j].index);
        }
    }
    return count > 0 && *children == NULL ? MXP_ENOMEM : MXP_OK;
}

int mxn_symbol_children(const mxn_symbol *symbol, mxn_symbol **children)
{
    mxn_symbol *first = NULL;
    *children = NULL;
    int error = first_of_nodes(symbol, &first);
    if (error == MXP_OK) {
        error = inputs_of(first, children);
        mxn_symbol_free(first);
    }
    return error;
}
