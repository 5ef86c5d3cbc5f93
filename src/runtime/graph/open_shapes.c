// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/open_shapes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/graph/node.h"

typedef struct told {
    struct told *next;
    mxn_cached_op *op;
    uint32_t count;
    mxn_shape shapes[];  // of the inputs
} told;

struct mxn_open_shapes {
    const mxn_symbol *symbol;
    mxp_lock lock;  // over the list
    told *list;
};

// ---- which operators ----------------------------------------------------------------------------
static bool is_open(const mxn_graph_node *node)
{
    mxn_shape shape = {.ndim = -1};
    mxn_shape *output = &shape;
    int32_t type = MXN_DTYPE_NONE;
    bool complete = true;
    if (node->op == NULL || node->input_count != 0 || node->params->output_count != 1 ||
        mxn__attributes_get(&node->attributes, "shape") == NULL) {
        return false;
    }
    return mxn_op_infer(node->params, NULL, NULL, &output, &type, &complete) == MXP_OK &&
           !mxn_shape_known(&shape);
}

static int has_open(const mxn_symbol *symbol, bool *has)
{
    mxn_walk walk;
    *has = false;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < walk.count && !*has; i++) {
        *has = is_open(walk.nodes[i]);
    }
    mxn__walk_fini(&walk);
    return MXP_OK;
}

int mxn__open_shapes_new(const mxn_symbol *symbol, mxn_open_shapes **open)
{
    bool has;
    *open = NULL;
    int error = has_open(symbol, &has);
    if (error != MXP_OK || !has) {
        return error;
    }
    *open = mxp__alloc(sizeof **open);
    if (*open == NULL) {
        return mxp__fail_memory("a cached operator");
    }
    **open = (mxn_open_shapes){.symbol = symbol, .lock = MXP__LOCK_INIT};
    return MXP_OK;
}

static size_t told_bytes(uint32_t count)
{
    return sizeof(told) + count * sizeof(mxn_shape);
}

void mxn__open_shapes_free(mxn_open_shapes *open)
{
    if (open == NULL) {
        return;
    }
    for (told *at = open->list; at != NULL;) {
        told *next = at->next;
        mxn_cached_op_free(at->op);
        mxp__free(at, told_bytes(at->count));
        at = next;
    }
    mxp__free(open, sizeof *open);
}

// ---- telling ------------------------------------------------------------------------------------
// Arguments only: what operators write is as large as they say.
static int infer(const mxn_symbol *all, const told *from, mxn_inferred *inferred)
{
    mxn_walk walk;
    int error = mxn__walk_make(all->outputs, all->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    const size_t bytes = from->count * sizeof(mxn_shape) + walk.count + 1;
    mxn_shape *shapes = mxp__alloc(bytes);
    bool *is_argument = (bool *)(shapes + from->count);
    error = shapes == NULL ? mxp__fail_memory("the shapes of a graph")
                           : mxn__variables(&walk, MXN_LIST_ARGUMENTS, is_argument);
    uint32_t input = 0, count = 0;
    for (size_t i = 0; error == MXP_OK && i < walk.count; i++) {
        if (is_argument[i]) {
            mxn_shape_copy(&shapes[count++], &from->shapes[input]);
        }
        input += walk.nodes[i]->op == NULL;
    }
    if (error == MXP_OK) {
        error = mxn_symbol_infer(all, &(mxn_known){.count = count, .shapes = shapes}, inferred);
    }
    mxp__free(shapes, bytes);
    mxn__walk_fini(&walk);
    return error;
}

static int tell_node(mxn_graph_node *node, const mxn_shape *shape)
{
    char text[MXN_SHAPE_TEXT];
    int error = mxn__attributes_set(&node->attributes, "shape", mxn_shape_tuple(shape, text));
    return error != MXP_OK ? error : mxn__graph_node_parse(node, 0);
}

// The nodes of `symbol` are its own.
static int tell_all(const mxn_symbol *symbol, const told *from)
{
    mxn_symbol *all = NULL;
    mxn_inferred inferred = {0};
    int error = mxn_symbol_internals(symbol, &all);
    if (error == MXP_OK) {
        error = infer(all, from, &inferred);
    }
    for (uint32_t i = 0; error == MXP_OK && i < all->count; i++) {
        const mxn_shape *shape = &inferred.shapes[inferred.arguments + i];
        if (mxn_shape_known(shape) && is_open(all->outputs[i].node)) {
            error = tell_node(all->outputs[i].node, shape);
        }
    }
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(all);
    return error;
}

static int tell(const mxn_open_shapes *open, told *made, mxn_open_shapes_maker make,
                const void *context)
{
    mxn_symbol *symbol = NULL;
    int error = mxn_symbol_copy(open->symbol, &symbol);
    if (error == MXP_OK) {
        error = tell_all(symbol, made);
    }
    if (error == MXP_OK) {
        error = make(symbol, context, &made->op);
    }
    mxn_symbol_free(symbol);
    return error;
}

// ---- asking -------------------------------------------------------------------------------------
static bool is_for(const told *of, mxn_array *const *inputs, uint32_t count)
{
    bool is = of->count == count;
    for (uint32_t i = 0; is && i < count; i++) {
        is = mxn_shape_equal(&of->shapes[i], &inputs[i]->shape);
    }
    return is;
}

static int add(mxn_open_shapes *open, mxn_array *const *inputs, uint32_t count,
               mxn_open_shapes_maker make, const void *context)
{
    told *made = mxp__alloc(told_bytes(count));
    if (made == NULL) {
        return mxp__fail_memory("a cached operator");
    }
    *made = (told){.next = open->list, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        mxn_shape_copy(&made->shapes[i], &inputs[i]->shape);
    }
    int error = tell(open, made, make, context);
    if (error == MXP_OK) {
        open->list = made;
    } else {
        mxp__free(made, told_bytes(count));
    }
    return error;
}

int mxn__open_shapes_told(mxn_open_shapes *open, mxn_array *const *inputs, uint32_t count,
                          mxn_open_shapes_maker make, const void *context, mxn_cached_op **op)
{
    int error = MXP_OK;
    mxp__lock(&open->lock);
    told *at = open->list;
    while (at != NULL && !is_for(at, inputs, count)) {
        at = at->next;
    }
    if (at == NULL) {
        error = add(open, inputs, count, make, context);
        at = open->list;
    }
    *op = error == MXP_OK ? at->op : NULL;
    mxp__unlock(&open->lock);
    return error;
}
