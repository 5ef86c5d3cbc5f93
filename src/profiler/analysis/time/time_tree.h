// SPDX-License-Identifier: Apache-2.0
// Time as a tree whose levels add up: operators in their scopes, and what the program's threads
// did, by nesting.
#ifndef MXP_ANALYSIS_TIME_TREE_H
#define MXP_ANALYSIS_TIME_TREE_H

#include "profiler/analysis/time/layers.h"

typedef enum mxp_tree_kind {
    MXP_TREE_ROOT,
    MXP_TREE_SCOPE,
    MXP_TREE_OPERATOR,  // a leaf
    MXP_TREE_THREAD,
    MXP_TREE_SPAN,
} mxp_tree_kind;

#define MXP_NO_NODE UINT32_MAX

typedef struct mxp_tree_node {
    uint32_t parent, depth;  // node 0 is the root; parents have lower numbers
    uint32_t text;  // in `texts` of the tree
    uint8_t kind;  // MXP_TREE_*
    uint8_t phase;  // of an operator whose name is there in several phases, else MXP_PHASE_NONE
    uint64_t count, self_ns;
    uint64_t total_ns;  // self and all below
    uint64_t waited_ns, queued_ns, path_ns;
    mxp_samples *durations;  // owned by the tree if `owns` of it; null of scopes and threads
    uint32_t first_child, next;  // in the order of the ranking; MXP_NO_NODE
} mxp_tree_node;

// Begins as zeros.
typedef struct mxp_time_tree {
    mxp_tree_node *nodes;
    size_t count, capacity;
    const mxp_texts *texts;
    mxp_texts own_texts;
    mxp_id_map children;  // by parent and text
    mxp_samples **owned;
    size_t owned_count, owned_capacity;
    uint64_t folded;  // spans that were too deep, and count in what is around them
} mxp_time_tree;

// Operators in their scopes. The rows must outlive the tree. MXP_ENOMEM.
int mxp__scope_time_tree(mxp_time_rows *rows, mxp_time_tree *tree);
// Adds the spans of a process below its threads, and the operators inside them. Call it once for
// each, then mxp__time_tree_rank. `label` comes before the names of the threads, "" or "4711 ".
// MXP_ENOMEM, or an error of the source.
int mxp__call_tree_add(mxp_time_tree *tree, mxp_source *process, const mxp_choice *choice,
                       const mxp_filter *filter, const char *label);
// Adds up and orders the children of each node: operators first, then by key. MXP_ENOMEM.
int mxp__time_tree_rank(mxp_time_tree *tree, mxp_time_key key);
const char *mxp__time_tree_text(const mxp_time_tree *tree, uint32_t node, size_t *length);
void mxp__time_tree_fini(mxp_time_tree *tree);

#endif
