// SPDX-License-Identifier: Apache-2.0
// Scopes as a tree. A scope that was made inside of another is a child of it; and MXNet's layers
// carry their place in their name: "lenet:conv0:relu0:" is relu0 in conv0 in lenet. Trees of
// several processes are one: equal paths are one node.
#ifndef MXP_ANALYSIS_SCOPE_TREE_H
#define MXP_ANALYSIS_SCOPE_TREE_H

#include <stdbool.h>

#include "base/id_map.h"
#include "profiler/analysis/window/texts.h"
#include "profiler/trace/source.h"

typedef struct mxp_scope_node {
    uint32_t
        parent;  // node 0 is the root: no scope. Parents have lower numbers than their children
    uint32_t depth;  // 0: the root; 1: outermost scopes
    uint32_t text;  // of itself, in `texts`
    uint32_t path;  // of all of them, "lenet:conv0:relu0", "net/conv1", in `texts`
} mxp_scope_node;

// Begins as zeros.
typedef struct mxp_scope_tree {
    mxp_texts texts;
    mxp_scope_node *nodes;
    size_t count, capacity;
    mxp_id_map known;
} mxp_scope_tree;

// Adds the scopes of a process. *node_of: the node of each of its name ids, 0 for what is no scope;
// free it with mxp__free(node_of, process->name_count * sizeof *node_of). MXP_ENOMEM.
int mxp__scope_tree_add(mxp_scope_tree *tree, const mxp_source *process, uint32_t **node_of);
// Its ancestor, or itself, that is not deeper than `depth`.
uint32_t mxp__scope_tree_up(const mxp_scope_tree *tree, uint32_t node, uint32_t depth);
// Whether `node` is `around` or inside of it.
bool mxp__scope_tree_within(const mxp_scope_tree *tree, uint32_t node, uint32_t around);
// "" of the root. Valid until the next mxp__scope_tree_add.
const char *mxp__scope_tree_text(const mxp_scope_tree *tree, uint32_t node, size_t *length);
const char *mxp__scope_tree_path(const mxp_scope_tree *tree, uint32_t node, size_t *length);
void mxp__scope_tree_fini(mxp_scope_tree *tree);

#endif
