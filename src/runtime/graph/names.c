// SPDX-License-Identifier: Apache-2.0
// What a symbol is asked for in words: names and attributes.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

static int end_of(const mxp_strbuf *texts)
{
    return texts->failed ? mxp__fail_memory("the names of a symbol") : MXP_OK;
}

static void add_text(mxp_strbuf *texts, const char *text)
{
    mxp__strbuf_append(texts, text, strlen(text) + 1);
}

// ---- names ------------------------------------------------------------------------------------
const char *mxn_symbol_name(const mxn_symbol *symbol)
{
    const mxn_graph_node *node = mxn__only_node(symbol);
    return node != NULL ? node->name : NULL;
}

const char *mxn__input_name(const mxn_params *params, uint32_t input, char buffer[64])
{
    const mxn_op_doc *doc = mxn_op_document(params->op);
    if (doc == NULL || strcmp(doc->key_var_num_args, "num_args") != 0) {
        return mxn_params_input_name(params, input, buffer);
    }
    snprintf(buffer, 64, "arg%u", input);
    return buffer;
}

// Most operators of one array, which variables call "data", name it to nobody else. These do.
static bool names_its_data(const char *op)
{
    static const char *const all[] = {"Dropout",
                                      "LeakyReLU",
                                      "MakeLoss",
                                      "Pad",
                                      "Pooling",
                                      "SequenceMask",
                                      "SliceChannel",
                                      "SwapAxis",
                                      "_image_to_tensor",
                                      "_np_diag",
                                      "_npi_equal_scalar",
                                      "_npi_flip",
                                      "_npi_greater_equal_scalar",
                                      "_npi_greater_scalar",
                                      "_npi_less_equal_scalar",
                                      "_npi_less_scalar",
                                      "_npi_not_equal_scalar",
                                      "_npi_tril",
                                      "diag",
                                      "log_softmax",
                                      "repeat",
                                      "reverse",
                                      "softmax",
                                      "squeeze",
                                      "tile"};
    bool found = false;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !found; i++) {
        found = strcmp(op, all[i]) == 0;
    }
    return found;
}

const char *mxn__input_told_name(const mxn_params *params, uint32_t input, char buffer[64])
{
    const char *name = mxn__input_name(params, input, buffer);
    bool is_data = params->input_count == 1 && strcmp(name, "data") == 0;
    return is_data && !names_its_data(params->op->name) ? "input0" : name;
}

static int list_outputs(const mxn_symbol *symbol, mxp_strbuf *names, uint32_t *count)
{
    for (uint32_t i = 0; i < symbol->count; i++) {
        mxn__graph_node_output_name(symbol->outputs[i].node, symbol->outputs[i].index, names);
        mxp__strbuf_putc(names, '\0');
    }
    *count = symbol->count;
    return end_of(names);
}

// Marks the variables that an operator writes.
static void mark_auxiliary(const mxn_walk *walk, bool *auxiliary)
{
    for (size_t i = 0; i < walk->count; i++) {
        const mxn_graph_node *node = walk->nodes[i];
        for (uint32_t j = 0; j < node->input_count; j++) {
            if (node->op != NULL && mxn_params_mutates(node->params, j)) {
                auxiliary[mxn__walk_place(walk, node->inputs[j].node)] = true;
            }
        }
    }
}

int mxn__variables(const mxn_walk *walk, int kind, bool *listed)
{
    bool *auxiliary = mxp__alloc(walk->count + 1);
    if (auxiliary == NULL) {
        return mxp__fail_memory("the variables of a symbol");
    }
    mark_auxiliary(walk, auxiliary);
    for (size_t i = 0; i < walk->count; i++) {
        listed[i] = walk->nodes[i]->op == NULL &&
                    (kind == MXN_LIST_INPUTS || auxiliary[i] == (kind == MXN_LIST_AUXILIARY));
    }
    mxp__free(auxiliary, walk->count + 1);
    return MXP_OK;
}

static int list_variables(const mxn_walk *walk, int kind, mxp_strbuf *names, uint32_t *count)
{
    bool *listed = mxp__alloc(walk->count + 1);
    int error = listed != NULL ? mxn__variables(walk, kind, listed)
                               : mxp__fail_memory("the variables of a symbol");
    for (size_t i = 0; i < walk->count && error == MXP_OK; i++) {
        if (listed[i]) {
            add_text(names, walk->nodes[i]->name);
            *count += 1;
        }
    }
    mxp__free(listed, walk->count + 1);
    return error == MXP_OK ? end_of(names) : error;
}

int mxn_symbol_list(const mxn_symbol *symbol, int kind, mxp_strbuf *names, uint32_t *count)
{
    *count = 0;
    if (kind == MXN_LIST_OUTPUTS) {
        return list_outputs(symbol, names, count);
    }
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error == MXP_OK) {
        error = list_variables(&walk, kind, names, count);
        mxn__walk_fini(&walk);
    }
    return error;
}

// ---- attributes -------------------------------------------------------------------------------
const char *mxn_symbol_attribute(const mxn_symbol *symbol, const char *key)
{
    const mxn_graph_node *node = mxn__only_node(symbol);
    const char *value = node != NULL ? mxn__attributes_get(&node->attributes, key) : NULL;
    if (node == NULL || value != NULL || !mxn__is_hidden_key(key)) {
        return value;
    }
    char hidden[MXN_HIDDEN_KEY_BYTES + 4];
    return mxn__attributes_get(&node->attributes, mxn__hidden_key(key, hidden));
}

// Parameters are parsed with the new value before the node has it.
static int set_parameter(mxn_graph_node *node, const char *key, const char *value)
{
    mxn_attributes before = node->attributes;
    node->attributes = (mxn_attributes){0};
    int error = mxn__attributes_copy(&node->attributes, &before);
    if (error == MXP_OK) {
        error = mxn__attributes_set(&node->attributes, key, value);
    }
    if (error == MXP_OK) {
        error = mxn__graph_node_parse(node, node->inputs != NULL ? node->input_count
                                                                 : MXN_INPUTS_UNKNOWN);
    }
    mxn_attributes gone = error == MXP_OK ? before : node->attributes;
    node->attributes = error == MXP_OK ? node->attributes : before;
    mxn__attributes_fini(&gone);
    return error;
}

int mxn_symbol_set_attribute(mxn_symbol *symbol, const char *key, const char *value)
{
    mxn_graph_node *node = mxn__only_node(symbol);
    char hidden[MXN_HIDDEN_KEY_BYTES + 4];
    if (node == NULL) {
        return mxp__fail(
            MXP_EINVAL,
            "Symbol.SetAttrs only works for non-grouped symbol: attribute '%s' cannot be "
            "set, outputs are of several nodes",
            key);
    }
    key = mxn__is_hidden_key(key) ? mxn__hidden_key(key, hidden) : key;
    return node->op == NULL ? mxn__attributes_set(&node->attributes, key, value)
                            : set_parameter(node, key, value);
}

static void add_pair(mxp_strbuf *pairs, const char *before, const char *key, const char *value)
{
    if (before != NULL) {
        mxp__strbuf_puts(pairs, before);
        mxp__strbuf_putc(pairs, '$');
    }
    add_text(pairs, key);
    add_text(pairs, value);
}

static uint32_t add_attributes(const mxn_graph_node *node, const char *before, mxp_strbuf *pairs)
{
    uint32_t count = 0;
    for (size_t i = 0; i < node->attributes.count; i++) {
        const mxn_attribute *item = &node->attributes.items[i];
        char bare[MXN_HIDDEN_KEY_BYTES];
        add_pair(pairs, before, item->key, item->value);
        if (mxn__hidden_key_bare(item->key, bare) != NULL) {
            add_pair(pairs, before, bare, item->value);
            count++;
        }
        count++;
    }
    return count;
}

int mxn_symbol_attributes(const mxn_symbol *symbol, bool deep, mxp_strbuf *pairs, uint32_t *count)
{
    *count = 0;
    if (!deep) {
        *count = symbol->count > 0 ? add_attributes(symbol->outputs[0].node, NULL, pairs) : 0;
        return end_of(pairs);
    }
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    for (size_t i = 0; i < walk.count && error == MXP_OK; i++) {
        *count += add_attributes(walk.nodes[i], walk.nodes[i]->name, pairs);
    }
    mxn__walk_fini(&walk);
    return error == MXP_OK ? end_of(pairs) : error;
}
