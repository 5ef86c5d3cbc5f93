// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/deferred.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"
#include "runtime/graph/node.h"
#include "runtime/imperative/thread_mode.h"

enum { REASON_CHARS = 400 };

static _Thread_local char reason[REASON_CHARS];  // why there is no graph; "": there is one
static _Thread_local uint32_t node_count;  // in this graph

static void give_up(const char *why)
{
    if (reason[0] == '\0') {
        snprintf(reason, sizeof reason, "%s", why);
    }
}

// ---- what arrays carry ------------------------------------------------------------------------
typedef struct entry {
    mxn_graph_node *node;  // a reference
    uint32_t index;
} entry;

static void entry_free(void *data)
{
    entry *e = data;
    mxn__graph_node_release(e->node);
    mxp__free(e, sizeof *e);
}

static const entry *entry_of(const mxn_array *array)
{
    return array->attachments[MXN_ATTACHMENT_DEFERRED].data;
}

void mxn_deferred_clear(mxn_array *array)
{
    mxn_attachment *attachment = &array->attachments[MXN_ATTACHMENT_DEFERRED];
    if (attachment->data != NULL) {
        attachment->release(attachment->data);
        *attachment = (mxn_attachment){0};
    }
}

static int attach(mxn_array *array, mxn_graph_node *node, uint32_t index)
{
    entry *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a graph");
    }
    mxp__refs_take(&node->refs);
    *made = (entry){node, index};
    mxn_deferred_clear(array);
    array->attachments[MXN_ATTACHMENT_DEFERRED] = (mxn_attachment){made, entry_free};
    return MXP_OK;
}

int mxn_deferred_variable(mxn_array *array, const mxn_symbol *variable)
{
    mxn_graph_node *node = mxn__only_node(variable);
    if (node == NULL || node->op != NULL) {
        return mxp__fail(MXP_EINVAL, "an array can be a variable only, not the symbol %s",
                         node == NULL ? "of several outputs" : node->name);
    }
    return attach(array, node, 0);
}

// ---- operators --------------------------------------------------------------------------------
static int set_attributes(mxn_graph_node *node, const mxn_params *params)
{
    const char *at = params->pairs;
    int error = MXP_OK;
    for (uint32_t i = 0; i < params->pair_count && error == MXP_OK; i++) {
        const char *value = at + strlen(at) + 1;
        error = mxn__attributes_set(&node->attributes, at, value);
        at = value + strlen(value) + 1;
    }
    const uint32_t scope = mxp_scope_current();
    if (error == MXP_OK && scope != 0) {
        error = mxn__attributes_set(&node->attributes, "__profiler_scope__", mxp_name_text(scope));
    }
    return error;
}

static int set_inputs(mxn_graph_node *node, const mxn_params *params, mxn_array *const *inputs)
{
    const uint32_t count = params->input_count;
    mxn_graph_output *from = mxp__alloc(count * sizeof *from + 1);
    if (from == NULL) {
        return mxp__fail_memory("a graph");
    }
    for (uint32_t i = 0; i < count; i++) {
        const entry *e = entry_of(inputs[i]);
        from[i] = (mxn_graph_output){e->node, e->index, e->node->version};
        if (e->node->op == NULL && mxn_params_mutates(params, i)) {
            from[i].version = ++e->node->version;
        }
    }
    int error = mxn__graph_node_set_inputs(node, from, count);
    mxp__free(from, count * sizeof *from + 1);
    return error;
}

static int add_node(const mxn_params *params, mxn_array *const *inputs, mxn_array *const *outputs)
{
    char name[32];
    snprintf(name, sizeof name, "node_%u", node_count++);
    mxn_graph_node *node = mxn__graph_node_new(params->op, name);
    int error = node == NULL ? MXP_ENOMEM : set_attributes(node, params);
    if (error == MXP_OK) {
        error = mxn__graph_node_parse(node, params->input_count);
    }
    if (error == MXP_OK) {
        error = set_inputs(node, params, inputs);
    }
    for (uint32_t i = 0; i < params->output_count && error == MXP_OK; i++) {
        error = outputs[i] != NULL ? attach(outputs[i], node, i) : MXP_OK;
    }
    mxn__graph_node_release(node);
    return error;
}

static bool is_known(const mxn_params *params, mxn_array *const *inputs)
{
    for (uint32_t i = 0; i < params->input_count; i++) {
        if (entry_of(inputs[i]) == NULL) {
            char buffer[64], why[REASON_CHARS];
            snprintf(
                why, sizeof why,
                "operator %s takes an array (%s) that is neither data nor a parameter nor made "
                "by an operator of the network",
                params->op->name, mxn_params_input_name(params, i, buffer));
            give_up(why);
            return false;
        }
    }
    return true;
}

static void watch(const mxn_params *params, mxn_array *const *inputs, mxn_array *const *outputs,
                  bool writes)
{
    char why[REASON_CHARS];
    if (reason[0] != '\0') {
        return;
    }
    if (writes || (params->op->flags & MXN_OP_NOT_EAGER) != 0) {
        snprintf(why, sizeof why,
                 writes ? "operator %s writes into an array that was there before"
                        : "%s is a function of the program",
                 params->op->name);
        give_up(why);
    } else if (is_known(params, inputs) && add_node(params, inputs, outputs) != MXP_OK) {
        snprintf(why, sizeof why, "operator %s: %s", params->op->name, mxp_last_error());
        give_up(why);
    }
}

void mxn_deferred_touch(const mxn_array *array, const char *what)
{
    if (mxn_deferred() && entry_of(array) != NULL) {
        char why[REASON_CHARS];
        snprintf(why, sizeof why, "the program %s of an array, on which the rest may depend", what);
        give_up(why);
    }
}

// ---- the switch -------------------------------------------------------------------------------
bool mxn_deferred(void)
{
    return mxn__mode.deferred;
}

bool mxn_deferred_set(bool on)
{
    const bool before = mxn__mode.deferred;
    mxn_autograd_watch(on ? watch : NULL);
    return before;
}

void mxn_deferred_forget(void)
{
    reason[0] = '\0';
    node_count = 0;
}

static int take_symbol(uint32_t count, mxn_array *const *arrays, mxn_symbol **symbol)
{
    if (reason[0] != '\0') {
        return mxp__fail(MXP_ESTATE, "There is no graph: %s", reason);
    }
    if (count == 0) {
        return mxp__fail(MXP_EINVAL, "There is no graph: of no arrays");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (entry_of(arrays[i]) == NULL) {
            return mxp__fail(MXP_ESTATE,
                             "There is no graph: array %u is neither data nor a parameter nor made "
                             "by an operator of the network",
                             i);
        }
    }
    mxn_symbol *made = mxn__symbol_new(count);
    if (made == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const entry *e = entry_of(arrays[i]);
        mxn__symbol_add(made, e->node, e->index);
    }
    *symbol = made;
    return MXP_OK;
}

int mxn_deferred_symbol(uint32_t count, mxn_array *const *arrays, mxn_symbol **symbol)
{
    int error = take_symbol(count, arrays, symbol);
    mxn_deferred_forget();
    return error;
}
