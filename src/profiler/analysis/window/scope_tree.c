// SPDX-License-Identifier: Apache-2.0
// See scope_tree.h. Names come after those around them, so one pass in their order suffices.
#include "profiler/analysis/window/scope_tree.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { DEPTH_MAX = 64 };  // deeper ones belong to the one at this depth

typedef struct known_node {
    uint64_t key;  // parent and text, + 1
    uint32_t node;
} known_node;

static int add_node(mxp_scope_tree *tree, mxp_scope_node node, uint32_t *number)
{
    if (mxp__grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes) != MXP_OK) {
        return mxp__fail_memory("scopes");
    }
    *number = (uint32_t)tree->count;
    tree->nodes[tree->count++] = node;
    return MXP_OK;
}

static int add_root(mxp_scope_tree *tree)
{
    uint32_t none;
    int error = tree->count > 0 ? MXP_OK : mxp__texts_number(&tree->texts, "", 0, &none);
    return error == MXP_OK && tree->count == 0 ? add_node(tree, (mxp_scope_node){0}, &none) : error;
}

static int path_of(mxp_scope_tree *tree, uint32_t parent, const char *text, size_t length,
                   char between, uint32_t *path)
{
    mxp_strbuf whole = {0};
    size_t around_length;
    const char *around = mxp__scope_tree_path(tree, parent, &around_length);
    mxp__strbuf_append(&whole, around, around_length);
    if (parent != 0) {
        mxp__strbuf_putc(&whole, between);
    }
    mxp__strbuf_append(&whole, text, length);
    int error = whole.failed
                    ? mxp__fail_memory("scopes")
                    : mxp__texts_number(&tree->texts, mxp__strbuf_text(&whole), whole.length, path);
    mxp__strbuf_fini(&whole);
    return error;
}

// The child of *node with this text, made if there is none; *node is that child afterwards.
static int enter(mxp_scope_tree *tree, const char *text, size_t length, char between,
                 uint32_t *node)
{
    const uint32_t parent = *node;
    mxp_scope_node child = {.parent = parent, .depth = tree->nodes[parent].depth + 1};
    if (child.depth > DEPTH_MAX) {
        return MXP_OK;
    }
    int error = mxp__texts_number(&tree->texts, text, length, &child.text);
    if (error != MXP_OK) {
        return error;
    }
    const uint64_t key = ((uint64_t)parent << 32 | child.text) + 1;
    known_node *known = mxp__id_map_find(&tree->known, key);
    if (known != NULL) {
        *node = known->node;
        return MXP_OK;
    }
    error = path_of(tree, parent, text, length, between, &child.path);
    if (error == MXP_OK) {
        error = add_node(tree, child, node);
    }
    known = error == MXP_OK ? mxp__id_map_add(&tree->known, key) : NULL;
    if (known == NULL) {
        return error != MXP_OK ? error : mxp__fail_memory("scopes");
    }
    known->node = *node;
    return MXP_OK;
}

// "lenet:conv0:" and not "std::vector": parts between colons, the last one is at the end.
static bool carries_its_place(const mxp_name_view *view)
{
    return view->length > 1 && view->text[view->length - 1] == ':' && view->text[0] != ':';
}

static int enter_parts(mxp_scope_tree *tree, const mxp_name_view *view, uint32_t *node)
{
    // What is around it may carry the same begin.
    size_t around_length, at = 0;
    const char *around = mxp__scope_tree_path(tree, *node, &around_length);
    if (around_length > 0 && around_length < view->length &&
        memcmp(around, view->text, around_length) == 0 && view->text[around_length] == ':') {
        at = around_length + 1;
    }
    int error = MXP_OK;
    while (at < view->length && error == MXP_OK) {
        const char *end = memchr(view->text + at, ':', view->length - at);
        const size_t length = end == NULL ? view->length - at : (size_t)(end - view->text) - at;
        if (length > 0) {
            error = enter(tree, view->text + at, length, ':', node);
        }
        at += length + 1;
    }
    return error;
}

static int add_scope(mxp_scope_tree *tree, const mxp_source *process, uint32_t id,
                     uint32_t *node_of)
{
    const mxp_name_view view = process->name(process, id);
    uint32_t node = view.category < id ? node_of[view.category] : 0;
    int error = carries_its_place(&view) ? enter_parts(tree, &view, &node)
                                         : enter(tree, view.text, view.length, '/', &node);
    node_of[id] = node;
    return error;
}

int mxp__scope_tree_add(mxp_scope_tree *tree, const mxp_source *process, uint32_t **node_of)
{
    tree->known.entry_bytes = sizeof(known_node);
    const size_t bytes = process->name_count * sizeof **node_of;
    *node_of = mxp__alloc(bytes);
    int error = *node_of == NULL && bytes > 0 ? mxp__fail_memory("scopes") : add_root(tree);
    for (uint32_t id = 0; id < process->name_count && error == MXP_OK; id++) {
        if (process->name(process, id).style == MXP_STYLE_SCOPE) {
            error = add_scope(tree, process, id, *node_of);
        }
    }
    if (error != MXP_OK) {
        mxp__free(*node_of, bytes);
        *node_of = NULL;
    }
    return error;
}

uint32_t mxp__scope_tree_up(const mxp_scope_tree *tree, uint32_t node, uint32_t depth)
{
    while (tree->nodes[node].depth > depth) {
        node = tree->nodes[node].parent;
    }
    return node;
}

bool mxp__scope_tree_within(const mxp_scope_tree *tree, uint32_t node, uint32_t around)
{
    return mxp__scope_tree_up(tree, node, tree->nodes[around].depth) == around;
}

const char *mxp__scope_tree_text(const mxp_scope_tree *tree, uint32_t node, size_t *length)
{
    return mxp__texts_at(&tree->texts, tree->nodes[node].text, length);
}

const char *mxp__scope_tree_path(const mxp_scope_tree *tree, uint32_t node, size_t *length)
{
    return mxp__texts_at(&tree->texts, tree->nodes[node].path, length);
}

void mxp__scope_tree_fini(mxp_scope_tree *tree)
{
    mxp__texts_fini(&tree->texts);
    mxp__free(tree->nodes, tree->capacity * sizeof *tree->nodes);
    mxp__id_map_fini(&tree->known);
    *tree = (mxp_scope_tree){0};
}
