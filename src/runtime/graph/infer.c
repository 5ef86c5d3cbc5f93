// SPDX-License-Identifier: Apache-2.0
// Shapes and types of a whole network, from what is known of its variables.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

// All outputs of all nodes, node by node.
typedef struct inference {
    const mxn_walk *walk;
    size_t *first;  // of each node: its first output
    size_t count;
    mxn_shape *shapes;
    int32_t *types;
    mxn_shape **pointers;  // to the shapes of one node's inputs and outputs
    int32_t *input_types;
    size_t most;  // inputs and outputs of one node
    bool changed;
} inference;

static size_t place_of(const inference *of, const mxn_graph_output *output)
{
    return of->first[mxn__walk_place(of->walk, output->node)] + output->index;
}

// ---- memory -----------------------------------------------------------------------------------
static void count_outputs(inference *of)
{
    for (size_t i = 0; i < of->walk->count; i++) {
        const mxn_graph_node *node = of->walk->nodes[i];
        const size_t outputs = mxn__graph_node_outputs(node);
        const size_t both = outputs + node->input_count;
        of->first[i] = of->count;
        of->count += outputs;
        of->most = both > of->most ? both : of->most;
    }
}

static void inference_fini(inference *of)
{
    mxp__free(of->first, (of->walk->count + 1) * sizeof *of->first);
    mxp__free(of->shapes, of->count * sizeof *of->shapes);
    mxp__free(of->types, of->count * sizeof *of->types);
    mxp__free(of->pointers, of->most * sizeof(mxn_shape *));
    mxp__free(of->input_types, of->most * sizeof *of->input_types);
}

static int inference_init(inference *of, const mxn_walk *walk)
{
    *of = (inference){.walk = walk};
    of->first = mxp__alloc((walk->count + 1) * sizeof *of->first);
    if (of->first == NULL) {
        return mxp__fail_memory("the shapes of a graph");
    }
    count_outputs(of);
    of->shapes = mxp__alloc(of->count * sizeof *of->shapes);
    of->types = mxp__alloc(of->count * sizeof *of->types);
    of->pointers = mxp__alloc(of->most * sizeof(mxn_shape *));
    of->input_types = mxp__alloc(of->most * sizeof *of->input_types);
    if (of->count > 0 && (of->shapes == NULL || of->types == NULL || of->pointers == NULL ||
                          of->input_types == NULL)) {
        inference_fini(of);
        return mxp__fail_memory("the shapes of a graph");
    }
    for (size_t i = 0; i < of->count; i++) {
        of->shapes[i].ndim = -1;
        of->types[i] = MXN_DTYPE_NONE;
    }
    return MXP_OK;
}

// ---- what is known ----------------------------------------------------------------------------
// "(2, 0, 3)": a size of 0 is unknown, as it is wherever symbols say shapes.
static int parse_shape(const mxn_graph_node *node, const char *text, mxn_shape *shape)
{
    const char *at = text + strspn(text, " ([");
    shape->ndim = 0;
    while (*at != '\0' && strchr(")] ", *at) == NULL) {
        char *end;
        const long long size = strtoll(at, &end, 10);
        if (end == at || shape->ndim == MXN_DIMS_MAX) {
            return mxp__fail(MXP_EINVAL, "variable '%s': its shape is '%s'", node->name, text);
        }
        shape->dims[shape->ndim++] = size <= 0 ? -1 : size;
        at = end + strspn(end, ", L");
    }
    if (!mxn_shape_countable(shape)) {
        return mxp__fail(MXP_EINVAL, "variable '%s': its shape '%s' has too many elements",
                         node->name, text);
    }
    shape->ndim = shape->ndim == 0 ? -1 : shape->ndim;
    return MXP_OK;
}

static int take_attributes(inference *of, size_t place)
{
    const mxn_graph_node *node = of->walk->nodes[place];
    const char *shape = mxn__attributes_get(&node->attributes, "__shape__");
    const char *type = mxn__attributes_get(&node->attributes, "__dtype__");
    if (node->op != NULL) {
        return MXP_OK;
    }
    if (type != NULL && strspn(type, "0123456789") == strlen(type) && type[0] != '\0') {
        of->types[of->first[place]] = atoi(type);
    }
    return shape != NULL ? parse_shape(node, shape, &of->shapes[of->first[place]]) : MXP_OK;
}

static void take_known(inference *of, size_t place, const mxn_known *known, uint32_t i)
{
    if (known->shapes != NULL && known->shapes[i].ndim >= 0) {
        mxn_shape_copy(&of->shapes[of->first[place]], &known->shapes[i]);
    }
    if (known->types != NULL && known->types[i] != MXN_DTYPE_NONE) {
        of->types[of->first[place]] = known->types[i];
    }
}

static int fail_name(const inference *of, const bool *arguments, const char *key)
{
    mxp_strbuf names = {0};
    unsigned count = 0;
    for (size_t i = 0; i < of->walk->count; i++) {
        if (arguments[i]) {
            mxp__strbuf_printf(&names, "\t[%u]%s\n", count++, of->walk->nodes[i]->name);
        }
    }
    int error = mxp__fail(MXP_EINVAL,
                          "InferShapeKeyword argument name %s not found.\nCandidate "
                          "arguments:\n%s",
                          key, mxp__strbuf_text(&names));
    mxp__strbuf_fini(&names);
    return error;
}

// All variables of a name get what is told of it.
static int take_named(inference *of, const bool *arguments, const mxn_known *known, uint32_t i)
{
    bool found = false;
    for (size_t place = 0; place < of->walk->count; place++) {
        if (arguments[place] && strcmp(of->walk->nodes[place]->name, known->keys[i]) == 0) {
            take_known(of, place, known, i);
            found = true;
        }
    }
    return found ? MXP_OK : fail_name(of, arguments, known->keys[i]);
}

static int take_positions(inference *of, const bool *arguments, const mxn_known *known)
{
    uint32_t taken = 0;
    for (size_t place = 0; place < of->walk->count && taken < known->count; place++) {
        if (arguments[place]) {
            take_known(of, place, known, taken++);
        }
    }
    return taken == known->count
               ? MXP_OK
               : mxp__fail(MXP_EINVAL,
                           "%u shapes or types are given by position, the symbol has "
                           "%u arguments",
                           known->count, taken);
}

static int take_all(inference *of, const bool *arguments, const mxn_known *known)
{
    int error = MXP_OK;
    for (size_t i = 0; i < of->walk->count && error == MXP_OK; i++) {
        error = take_attributes(of, i);
    }
    if (known->keys == NULL) {
        return error == MXP_OK ? take_positions(of, arguments, known) : error;
    }
    for (uint32_t i = 0; i < known->count && error == MXP_OK; i++) {
        error = take_named(of, arguments, known, i);
    }
    return error;
}

// ---- inference --------------------------------------------------------------------------------
// How much is known: it only grows.
static uint64_t known_of(const mxn_shape *shape, int32_t type)
{
    uint64_t known = type != MXN_DTYPE_NONE;
    for (int32_t i = 0; i < shape->ndim; i++) {
        known += shape->dims[i] >= 0;
    }
    return known + (shape->ndim >= 0);
}

static uint64_t known_around(const inference *of, const mxn_graph_node *node, size_t first)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const size_t place = place_of(of, &node->inputs[i]);
        known += known_of(&of->shapes[place], of->types[place]);
    }
    for (uint32_t i = 0; i < mxn__graph_node_outputs(node); i++) {
        known += known_of(&of->shapes[first + i], of->types[first + i]);
    }
    return known;
}

static int infer_node(inference *of, size_t place)
{
    const mxn_graph_node *node = of->walk->nodes[place];
    const size_t first = of->first[place];
    bool complete;
    if (node->op == NULL) {
        return MXP_OK;
    }
    const uint64_t before = known_around(of, node, first);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const size_t input = place_of(of, &node->inputs[i]);
        of->pointers[i] = &of->shapes[input];
        of->input_types[i] = of->types[input];
    }
    for (uint32_t i = 0; i < mxn__graph_node_outputs(node); i++) {
        of->pointers[node->input_count + i] = &of->shapes[first + i];
    }
    int error = mxn_op_infer(node->params, of->pointers, of->input_types,
                             of->pointers + node->input_count, of->types + first, &complete);
    if (error != MXP_OK) {
        return mxn__graph_node_fail(node, error);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        of->types[place_of(of, &node->inputs[i])] = of->input_types[i];
    }
    of->changed = of->changed || known_around(of, node, first) > before;
    return MXP_OK;
}

static int infer_all(inference *of)
{
    int error = MXP_OK;
    const size_t count = of->walk->count;
    do {
        of->changed = false;
        for (size_t i = 0; i < count && error == MXP_OK; i++) {
            error = infer_node(of, i);
        }
        for (size_t i = count; i > 0 && error == MXP_OK; i--) {
            error = infer_node(of, i - 1);
        }
    } while (of->changed && error == MXP_OK);
    return error;
}

// ---- the answer -------------------------------------------------------------------------------
static void give(mxn_inferred *to, uint32_t at, const inference *of, size_t place)
{
    mxn_shape_copy(&to->shapes[at], &of->shapes[place]);
    to->types[at] = of->types[place];
}

static void give_all(mxn_inferred *to, const mxn_symbol *symbol, const inference *of,
                     const bool *arguments, const bool *auxiliary)
{
    uint32_t argument = 0, state = to->arguments + to->outputs;
    for (size_t i = 0; i < of->walk->count; i++) {
        if (arguments[i] || auxiliary[i]) {
            give(to, arguments[i] ? argument++ : state++, of, of->first[i]);
        }
    }
    for (uint32_t i = 0; i < symbol->count; i++) {
        give(to, to->arguments + i, of, place_of(of, &symbol->outputs[i]));
    }
    to->shapes_complete = to->types_complete = true;
    for (size_t i = 0; i < of->count; i++) {
        to->shapes_complete = to->shapes_complete && mxn_shape_known(&of->shapes[i]);
        to->types_complete = to->types_complete && of->types[i] != MXN_DTYPE_NONE;
    }
}

static uint32_t count_true(const bool *marks, size_t count)
{
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += marks[i];
    }
    return found;
}

static int answer(mxn_inferred *to, const mxn_symbol *symbol, const inference *of,
                  const bool *arguments, const bool *auxiliary)
{
    to->arguments = count_true(arguments, of->walk->count);
    to->auxiliary = count_true(auxiliary, of->walk->count);
    to->outputs = symbol->count;
    const size_t all = (size_t)to->arguments + to->outputs + to->auxiliary;
    to->shapes = mxp__alloc(all * sizeof *to->shapes);
    to->types = mxp__alloc(all * sizeof *to->types);
    if (all > 0 && (to->shapes == NULL || to->types == NULL)) {
        mxn_inferred_fini(to);
        return mxp__fail_memory("the shapes of a graph");
    }
    give_all(to, symbol, of, arguments, auxiliary);
    return MXP_OK;
}

void mxn_inferred_fini(mxn_inferred *inferred)
{
    const size_t all = (size_t)inferred->arguments + inferred->outputs + inferred->auxiliary;
    mxp__free(inferred->shapes, all * sizeof *inferred->shapes);
    mxp__free(inferred->types, all * sizeof *inferred->types);
    *inferred = (mxn_inferred){0};
}

static int infer_marked(const mxn_symbol *symbol, const mxn_walk *walk, const mxn_known *known,
                        bool *marks, mxn_inferred *inferred)
{
    inference of;
    bool *auxiliary = marks + walk->count;
    int error = mxn__variables(walk, MXN_LIST_ARGUMENTS, marks);
    if (error == MXP_OK) {
        error = mxn__variables(walk, MXN_LIST_AUXILIARY, auxiliary);
    }
    if (error == MXP_OK) {
        error = inference_init(&of, walk);
    }
    if (error != MXP_OK) {
        return error;
    }
    error = take_all(&of, marks, known);
    if (error == MXP_OK) {
        error = infer_all(&of);
    }
    if (error == MXP_OK) {
        error = answer(inferred, symbol, &of, marks, auxiliary);
    }
    inference_fini(&of);
    return error;
}

int mxn_symbol_infer(const mxn_symbol *symbol, const mxn_known *known, mxn_inferred *inferred)
{
    mxn_walk walk;
    *inferred = (mxn_inferred){0};
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    const size_t bytes = 2 * walk.count + 1;
    bool *marks = mxp__alloc(bytes);
    error = marks != NULL ? infer_marked(symbol, &walk, known, marks, inferred)
                          : mxp__fail_memory("the variables of a symbol");
    mxp__free(marks, bytes);
    mxn__walk_fini(&walk);
    return error;
}
