// SPDX-License-Identifier: Apache-2.0
// Birth, death and attachments of nodes. A graph can be as deep as a program is long: freeing one
// goes by a list and not by recursion.
#include "runtime/autograd/tape.h"

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/autograd/autograd.h"

static mxp_atomic_u64 numbers;
static _Thread_local int32_t bulk_size_of_thread = MXN_BULK_DEFAULT;

int32_t mxn_autograd_bulk_size_set(int32_t size)
{
    const int32_t before = bulk_size_of_thread;
    bulk_size_of_thread = size;
    return before;
}

uint64_t mxn__node_newest(void)
{
    return mxp_atomic_load(&numbers);
}

mxn_node *mxn__node_new(mxn_params *params)
{
    uint32_t inputs = params == NULL ? 0 : params->input_count;
    uint32_t outputs = params == NULL ? 1 : params->output_count;
    size_t bytes = sizeof(mxn_node) + ((size_t)inputs + outputs) * sizeof(mxn_saved);
    mxn_node *node = mxp__alloc(bytes);
    if (node == NULL) {
        mxp__fail_memory("the recorded graph");
        return NULL;
    }
    node->bytes = bytes;
    mxp__refs_init(&node->refs);
    node->number = mxp_atomic_add(&numbers, 1) + 1;
    node->bulk_size = bulk_size_of_thread;
    node->inputs = node->saved;
    node->outputs = node->saved + inputs;
    for (uint32_t i = 0; i < outputs; i++) {
        node->outputs[i].self = (mxn_entry){node, i};
    }
    if (params != NULL) {
        mxn_params_retain(params);
        node->params = params;
    }
    return node;
}

static bool drop_reference(mxn_node *node)
{
    return node != NULL && mxp__refs_drop(&node->refs);
}

// Drops what the node holds. Nodes without references are put before `dead`.
static mxn_node *let_go(mxn_node *node, mxn_node *dead)
{
    uint32_t inputs = node->params == NULL ? 0 : node->params->input_count;
    uint32_t outputs = node->params == NULL ? 0 : node->params->output_count;
    for (uint32_t i = 0; i < inputs; i++) {
        mxn_node *from = node->inputs[i].from.node;
        node->inputs[i].from.node = NULL;
        mxn_array_release(node->inputs[i].array);
        node->inputs[i].array = NULL;
        if (drop_reference(from)) {
            from->next = dead;
            dead = from;
        }
    }
    for (uint32_t i = 0; i < outputs; i++) {
        mxn_array_release(node->outputs[i].array);
        node->outputs[i].array = NULL;
    }
    mxn_call_state_release(node->state);
    node->state = NULL;
    return dead;
}

static void free_dead(mxn_node *dead)
{
    while (dead != NULL) {
        mxn_node *node = dead;
        dead = let_go(node, node->next);
        if (drop_reference(node->beside)) {
            node->beside->next = dead;
            dead = node->beside;
        }
        mxn_array_release(node->gradient);
        mxn_params_release(node->params);
        mxp__free(node, node->bytes);
    }
}

void mxn__node_release(mxn_node *node)
{
    if (drop_reference(node)) {
        node->next = NULL;
        free_dead(node);
    }
}

void mxn__node_clear(mxn_node *node)
{
    node->cleared = true;
    free_dead(let_go(node, NULL));
}

mxn_node *mxn__node_beside(const mxn_node *node, uint32_t index)
{
    mxn_node *at = node->params == NULL ? NULL : node->beside;
    while (at != NULL && at->beside_index != index) {
        at = at->beside;
    }
    return at;
}

void mxn__node_set_beside(mxn_node *node, uint32_t index, mxn_node *variable)
{
    mxn_node **link = &node->beside;
    while (*link != NULL && (*link)->beside_index != index) {
        link = &(*link)->beside;
    }
    mxn_node *before = *link;
    mxn_node *rest = before == NULL ? NULL : before->beside;
    if (variable != NULL) {
        variable->beside_index = index;
        variable->beside = rest;
        rest = variable;
    }
    *link = rest;
    if (before != NULL) {
        before->beside = NULL;
        mxn__node_release(before);
    }
}

void mxn__saved_describe(mxn_saved *saved, const mxn_array *array)
{
    mxn_shape_copy(&saved->shape, &array->shape);
    saved->dtype = array->dtype;
    saved->context = mxn_array_context(array);
}

// ---- attachments -----------------------------------------------------------------------------
static void attachment_release(void *data)
{
    mxn__node_release(((mxn_entry *)data)->node);
}

mxn_entry mxn__entry_of(const mxn_array *array)
{
    const mxn_entry *entry = array->attachments[MXN_ATTACHMENT_AUTOGRAD].data;
    if (entry == NULL || !entry->node->cleared) {
        return entry == NULL ? (mxn_entry){NULL, 0} : *entry;
    }
    return (mxn_entry){mxn__node_beside(entry->node, entry->index), 0};
}

mxn_node *mxn__variable_of(const mxn_array *array)
{
    const mxn_entry *entry = array->attachments[MXN_ATTACHMENT_AUTOGRAD].data;
    if (entry == NULL) {
        return NULL;
    }
    return entry->node->params == NULL ? entry->node : mxn__node_beside(entry->node, entry->index);
}

void mxn__entry_detach(mxn_array *array)
{
    mxn_attachment *attached = &array->attachments[MXN_ATTACHMENT_AUTOGRAD];
    void *data = attached->data;
    *attached = (mxn_attachment){NULL, NULL};
    if (data != NULL) {
        attachment_release(data);
    }
}

void mxn__entry_attach(mxn_array *array, mxn_node *node, uint32_t index)
{
    mxn__node_retain(node);
    mxn__entry_detach(array);
    array->attachments[MXN_ATTACHMENT_AUTOGRAD] =
        (mxn_attachment){&node->outputs[index].self, attachment_release};
}
