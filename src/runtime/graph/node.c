// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/node.h"

#include <assert.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/imperative/thread_mode.h"

mxn_graph_node *mxn__graph_node_new(const mxn_op *op, const char *name)
{
    mxn_graph_node *node = mxp__alloc(sizeof *node);
    char *text = mxp__strdup(name);
    if (node == NULL || text == NULL) {
        mxp__free(node, sizeof *node);
        mxp__strfree(text);
        mxp__fail_memory("a node of a graph");
        return NULL;
    }
    mxp__refs_init(&node->refs);
    node->op = op;
    node->name = text;
    return node;
}

static void drop_inputs(mxn_graph_node *node, mxn_graph_node **freed)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        mxn_graph_node *input = node->inputs[i].node;
        if (mxp__refs_drop(&input->refs)) {
            input->next = *freed;
            *freed = input;
        }
    }
    mxp__free(node->inputs, node->input_count * sizeof *node->inputs);
    node->inputs = NULL;
    node->input_count = 0;
}

// A list instead of a recursion: a chain may have a million nodes.
void mxn__graph_node_release(mxn_graph_node *node)
{
    if (node == NULL || !mxp__refs_drop(&node->refs)) {
        return;
    }
    node->next = NULL;
    for (mxn_graph_node *freed = node; freed != NULL;) {
        mxn_graph_node *one = freed;
        freed = one->next;
        drop_inputs(one, &freed);
        mxn__attributes_fini(&one->attributes);
        mxn_params_release(one->params);
        mxp__strfree(one->name);
        mxp__free(one, sizeof *one);
    }
}

int mxn__graph_node_rename(mxn_graph_node *node, const char *name)
{
    char *text = mxp__strdup(name);
    if (text == NULL) {
        return mxp__fail_memory("the name of a node");
    }
    mxp__strfree(node->name);
    node->name = text;
    return MXP_OK;
}

int mxn__graph_node_set_inputs(mxn_graph_node *node, const mxn_graph_output *inputs, uint32_t count)
{
    assert(node->inputs == NULL && "a node gets its inputs once");
    if (count == 0) {
        return MXP_OK;
    }
    node->inputs = mxp__alloc(count * sizeof *inputs);
    if (node->inputs == NULL) {
        return mxp__fail_memory("the inputs of a node");
    }
    memcpy(node->inputs, inputs, count * sizeof *inputs);
    node->input_count = count;
    for (uint32_t i = 0; i < count; i++) {
        mxp__refs_take(&inputs[i].node->refs);
    }
    return MXP_OK;
}

// ---- parameters -------------------------------------------------------------------------------
int mxn__graph_node_fail(const mxn_graph_node *node, int error)
{
    assert(error != MXP_OK && "what has not failed has no place");
    if (node->name[0] == '\0') {
        return error;
    }
    char *why = mxp__strdup(mxp_last_error());
    if (why != NULL) {
        mxp__fail(error, "Error in operator %s: %s", node->name, why);
    }
    mxp__strfree(why);
    return error;
}

uint32_t mxn__graph_node_id(const mxn_graph_node *node)
{
    return node == NULL || node->name[0] == '\0' ? 0 : mxp_string(node->name);
}

int mxn__graph_node_parse(mxn_graph_node *node, uint32_t inputs)
{
    const size_t count = node->attributes.count;
    const char **texts = mxp__alloc((2 * count + 1) * sizeof *texts);
    if (texts == NULL) {
        return mxp__fail_memory("the parameters of an operator");
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = node->attributes.items[i].key;
        texts[count + i] = node->attributes.items[i].value;
    }
    mxn_params *params = NULL;
    int error = mxn_params_parse(node->op, (uint32_t)count, texts, texts + count, inputs,
                                 mxn_numpy_shape(), &params);
    mxp__free(texts, (2 * count + 1) * sizeof *texts);
    if (error != MXP_OK) {
        return mxn__graph_node_fail(node, error);
    }
    mxn_params_release(node->params);
    node->params = params;
    return MXP_OK;
}

uint32_t mxn__graph_node_visible(const mxn_graph_node *node)
{
    return node->op == NULL ? 1 : node->params->visible_count;
}

void mxn__graph_node_output_name(const mxn_graph_node *node, uint32_t index, mxp_strbuf *name)
{
    mxp__strbuf_puts(name, node->name);
    if (node->op != NULL) {
        char buffer[64];
        mxp__strbuf_putc(name, '_');
        mxp__strbuf_puts(name, mxn_params_output_name(node->params, index, buffer));
    }
}

// ---- walks ------------------------------------------------------------------------------------
typedef struct step {
    mxn_graph_node *node;
    uint32_t input;  // the next one to go to
} step;

typedef struct path {
    step *steps;
    size_t count, capacity;
} path;

typedef struct place {
    uint64_t node;  // its address
    uint64_t place;  // from 1; 0: on the way
} place;

static place *place_of(const mxn_walk *walk, const mxn_graph_node *node)
{
    return mxp__id_map_find(&walk->places, (uint64_t)(uintptr_t)node);
}

// A node that was seen already is passed by.
static int go_to(mxn_walk *walk, path *way, mxn_graph_node *node)
{
    if (place_of(walk, node) != NULL) {
        return MXP_OK;
    }
    if (mxp__id_map_add(&walk->places, (uint64_t)(uintptr_t)node) == NULL ||
        mxp__grow(&way->steps, &way->capacity, way->count + 1, sizeof(step)) != MXP_OK) {
        return mxp__fail_memory("a walk through a graph");
    }
    way->steps[way->count++] = (step){node, 0};
    return MXP_OK;
}

static int leave(mxn_walk *walk, path *way)
{
    mxn_graph_node *node = way->steps[--way->count].node;
    if (mxp__grow(&walk->nodes, &walk->capacity, walk->count + 1, sizeof node) != MXP_OK) {
        return mxp__fail_memory("a walk through a graph");
    }
    walk->nodes[walk->count++] = node;
    place_of(walk, node)->place = walk->count;
    return MXP_OK;
}

static int walk_from(mxn_walk *walk, path *way, mxn_graph_node *node)
{
    int error = go_to(walk, way, node);
    while (way->count > 0 && error == MXP_OK) {
        step *last = &way->steps[way->count - 1];
        error = last->input < last->node->input_count
                    ? go_to(walk, way, last->node->inputs[last->input++].node)
                    : leave(walk, way);
    }
    return error;
}

int mxn__walk_make(const mxn_graph_output *outputs, uint32_t count, mxn_walk *walk)
{
    *walk = (mxn_walk){.places = {.entry_bytes = sizeof(place)}};
    path way = {0};
    int error = MXP_OK;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = walk_from(walk, &way, outputs[i].node);
    }
    mxp__free(way.steps, way.capacity * sizeof(step));
    if (error != MXP_OK) {
        mxn__walk_fini(walk);
    }
    return error;
}

void mxn__walk_fini(mxn_walk *walk)
{
    mxp__free(walk->nodes, walk->capacity * sizeof(mxn_graph_node *));
    mxp__id_map_fini(&walk->places);
    *walk = (mxn_walk){0};
}

bool mxn__walk_has(const mxn_walk *walk, const mxn_graph_node *node)
{
    return place_of(walk, node) != NULL;
}

uint32_t mxn__walk_place(const mxn_walk *walk, const mxn_graph_node *node)
{
    const place *found = place_of(walk, node);
    assert(found != NULL && found->place != 0 && "the node is behind none of the outputs");
    return (uint32_t)(found->place - 1);
}
