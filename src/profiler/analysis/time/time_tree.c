// SPDX-License-Identifier: Apache-2.0
// What a tree is, whatever is in it. Parents have lower numbers, so one pass backwards adds up.
#include "profiler/analysis/time/time_tree.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "profiler/analysis/time/row_phases.h"

static const char memory_for[] = "the tree";

// ---- operators in their scopes -----------------------------------------------------------------
// Scopes have the numbers that they have in the rows.
static void copy_scopes(const mxp_time_rows *rows, mxp_time_tree *tree)
{
    for (size_t i = 0; i < rows->scopes.count; i++) {
        const mxp_scope_node *scope = &rows->scopes.nodes[i];
        tree->nodes[tree->count++] =
            (mxp_tree_node){.parent = scope->parent,
                            .depth = scope->depth,
                            .text = scope->text,
                            .kind = i == 0 ? MXP_TREE_ROOT : MXP_TREE_SCOPE};
    }
}

static void add_operators(mxp_time_rows *rows, const mxp_id_map *phases, mxp_time_tree *tree)
{
    for (size_t i = 0; i < rows->count; i++) {
        mxp_time_row *row = &rows->rows[i];
        if (!row->is_operator || (row->count == 0 && row->path_ns == 0)) {
            continue;
        }
        tree->nodes[tree->count++] = (mxp_tree_node){
            .parent = row->scope,
            .depth = tree->nodes[row->scope].depth + 1,
            .text = row->name,
            .kind = MXP_TREE_OPERATOR,
            .phase = mxp__row_has_phases(phases, row) ? row->phase : (uint8_t)MXP_PHASE_NONE,
            .count = row->count,
            .self_ns = row->total_ns,
            .waited_ns = row->waited_ns,
            .queued_ns = row->queued_ns,
            .path_ns = row->path_ns,
            .durations = &row->durations};
    }
}

int mxp__scope_time_tree(mxp_time_rows *rows, mxp_time_tree *tree)
{
    const size_t most = rows->scopes.count + rows->count;
    mxp_id_map phases;
    *tree = (mxp_time_tree){.texts = &rows->scopes.texts};
    if (mxp__grow(&tree->nodes, &tree->capacity, most + 1, sizeof *tree->nodes) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    copy_scopes(rows, tree);
    if (tree->count == 0) {
        tree->nodes[tree->count++] = (mxp_tree_node){.kind = MXP_TREE_ROOT};
    }
    int error = mxp__row_phases_make(rows, &phases);
    if (error == MXP_OK) {
        add_operators(rows, &phases, tree);
    }
    mxp__id_map_fini(&phases);
    return error;
}

// ---- order -------------------------------------------------------------------------------------
typedef struct ranked {
    uint64_t key;
    uint32_t parent, node;
    bool is_leaf;
} ranked;

static void add_up(mxp_time_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        tree->nodes[i].total_ns = tree->nodes[i].self_ns;
        tree->nodes[i].first_child = tree->nodes[i].next = MXP_NO_NODE;
    }
    for (size_t i = tree->count; i-- > 1;) {
        const mxp_tree_node *node = &tree->nodes[i];
        mxp_tree_node *parent = &tree->nodes[node->parent];
        mxp__sum_add(&parent->total_ns, node->total_ns);
        parent->path_ns += node->path_ns;
        if (parent->durations == NULL) {  // a scope or a thread: of all that is in it
            parent->count += node->count;
            mxp__sum_add(&parent->waited_ns, node->waited_ns);
            mxp__sum_add(&parent->queued_ns, node->queued_ns);
        }
    }
}

static uint64_t key_of(const mxp_tree_node *node, mxp_time_key key)
{
    bool is_exact;
    switch (key) {
    case MXP_KEY_PATH:
        return node->path_ns;
    case MXP_KEY_SELF:
        return node->self_ns;
    case MXP_KEY_WAITED:
        return node->waited_ns + node->queued_ns;
    case MXP_KEY_P99:
        return node->durations == NULL ? node->total_ns
                                       : mxp__samples_quantile(node->durations, 0.99, &is_exact);
    case MXP_KEY_CALLS:
        return node->count;
    default:
        return node->total_ns;
    }
}

// The last child first, because each is put before those of its parent.
static int compare(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->is_leaf != b->is_leaf) {
        return a->is_leaf ? 1 : -1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    return a->node < b->node ? 1 : -1;
}

int mxp__time_tree_rank(mxp_time_tree *tree, mxp_time_key key)
{
    ranked *order = mxp__alloc(tree->count * sizeof *order);
    size_t kept = 0;
    if (order == NULL) {
        return tree->count == 0 ? MXP_OK : mxp__fail_memory(memory_for);
    }
    add_up(tree);
    for (uint32_t i = 1; i < tree->count; i++) {
        const mxp_tree_node *node = &tree->nodes[i];
        if (node->count > 0 || node->total_ns > 0 || node->path_ns > 0) {
            order[kept++] =
                (ranked){key_of(node, key), node->parent, i, node->kind == MXP_TREE_OPERATOR};
        }
    }
    if (kept > 0) {
        qsort(order, kept, sizeof *order, compare);
    }
    for (size_t i = 0; i < kept; i++) {
        mxp_tree_node *parent = &tree->nodes[order[i].parent];
        tree->nodes[order[i].node].next = parent->first_child;
        parent->first_child = order[i].node;
    }
    mxp__free(order, tree->count * sizeof *order);
    return MXP_OK;
}

const char *mxp__time_tree_text(const mxp_time_tree *tree, uint32_t node, size_t *length)
{
    return mxp__texts_at(tree->texts, tree->nodes[node].text, length);
}

void mxp__time_tree_fini(mxp_time_tree *tree)
{
    for (size_t i = 0; i < tree->owned_count; i++) {
        mxp__samples_fini(tree->owned[i]);
        mxp__free(tree->owned[i], sizeof *tree->owned[i]);
    }
    mxp__free(tree->owned, tree->owned_capacity * sizeof(mxp_samples *));
    mxp__free(tree->nodes, tree->capacity * sizeof *tree->nodes);
    mxp__texts_fini(&tree->own_texts);
    mxp__id_map_fini(&tree->children);
    *tree = (mxp_time_tree){0};
}
