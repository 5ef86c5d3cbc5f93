// SPDX-License-Identifier: Apache-2.0
// The icicle: where the time of the usual window went, as a tree: scopes, in each its phases, in
// these the operators. Of a trace without operators: what its threads did, by nesting.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "page/columns.h"
#include "view/view.h"

// A tree of more nodes loses those below a ten-thousandth of all.
enum { NODES_WHOLE = 20000, COLUMNS = 6 };

static const char memory_for[] = "the icicle of the page";

typedef struct icicle_node {
    uint32_t parent, text;
    uint8_t phase;
    uint64_t self_ns, total_ns, count;
} icicle_node;

typedef struct icicle {
    icicle_node *nodes;  // parents before their children
    size_t count, capacity;
    mxp_id_map known;  // by parent, text and phase
    mxp_texts texts;
} icicle;

typedef struct known_node {
    uint64_t key;
    uint32_t node;
} known_node;

// ---- making ------------------------------------------------------------------------------------
static int add_node(icicle *tree, uint32_t parent, uint32_t text, uint8_t phase, uint32_t *node)
{
    const uint64_t key = ((uint64_t)parent << 32 | text) * 8 + phase + 1;
    known_node *known = mxp__id_map_add(&tree->known, key);
    if (known == NULL ||
        mxp__grow(&tree->nodes, &tree->capacity, tree->count + 1, sizeof *tree->nodes) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    if (known->node == 0) {
        tree->nodes[tree->count++] = (icicle_node){.parent = parent, .text = text, .phase = phase};
        known->node = (uint32_t)tree->count;
    }
    *node = known->node - 1;
    return MXP_OK;
}

static int add_named(icicle *tree, uint32_t parent, const char *name, size_t length, uint8_t phase,
                     uint32_t *node)
{
    uint32_t text;
    const int error = mxp__texts_number(&tree->texts, name, length, &text);
    return error == MXP_OK ? add_node(tree, parent, text, phase, node) : error;
}

static int add_scope(icicle *tree, const mxp_scope_tree *scopes, uint32_t scope, uint32_t *node)
{
    size_t length;
    *node = 0;
    if (scope == 0) {
        return MXP_OK;
    }
    const int error = add_scope(tree, scopes, scopes->nodes[scope].parent, node);
    const char *text = mxp__scope_tree_text(scopes, scope, &length);
    return error == MXP_OK ? add_named(tree, *node, text, length, 0, node) : error;
}

static int add_row(icicle *tree, const mxp_time_rows *rows, const mxp_time_row *row)
{
    static const char *const phases[MXP_PHASES] = {"no phase", "forward", "backward", "update",
                                                   "communication"};
    const uint8_t phase = row->phase < MXP_PHASES ? row->phase : 0;
    uint32_t node;
    size_t length;
    const char *name = mxp__time_row_name(rows, row, &length);
    int error = add_scope(tree, &rows->scopes, row->scope, &node);
    if (error == MXP_OK) {
        error = add_named(tree, node, phases[phase], strlen(phases[phase]), phase, &node);
    }
    error = error == MXP_OK ? add_named(tree, node, name, length, phase, &node) : error;
    if (error == MXP_OK) {
        mxp__sum_add(&tree->nodes[node].self_ns, row->self_ns);
        tree->nodes[node].count += row->count;
    }
    return error;
}

static int take_rows(icicle *tree, const mxp_time_rows *rows)
{
    int error = MXP_OK;
    for (size_t i = 0; i < rows->count && error == MXP_OK; i++) {
        if (rows->rows[i].is_operator && rows->rows[i].count > 0) {
            error = add_row(tree, rows, &rows->rows[i]);
        }
    }
    return error;
}

// The nodes of the tree of calls, of which node 0 is the root as well.
static int take_calls(icicle *tree, mxp_time_report *report)
{
    mxp_time_tree calls;
    int error = mxp__report_call_tree(report, &calls);
    for (uint32_t i = 1; i < calls.count && error == MXP_OK; i++) {
        const mxp_tree_node *of = &calls.nodes[i];
        size_t length;
        uint32_t text;
        const char *name = mxp__time_tree_text(&calls, i, &length);
        error = mxp__texts_number(&tree->texts, name, length, &text);
        if (error == MXP_OK && mxp__grow(&tree->nodes, &tree->capacity, tree->count + 1,
                                         sizeof *tree->nodes) != MXP_OK) {
            error = mxp__fail_memory(memory_for);
        }
        if (error == MXP_OK) {
            tree->nodes[tree->count++] = (icicle_node){
                .parent = of->parent, .text = text, .self_ns = of->self_ns, .count = of->count};
        }
    }
    mxp__time_tree_fini(&calls);
    return error;
}

static void add_up(icicle *tree)
{
    for (size_t i = tree->count; i-- > 0;) {
        icicle_node *node = &tree->nodes[i];
        mxp__sum_add(&node->total_ns, node->self_ns);
        if (i > 0) {
            mxp__sum_add(&tree->nodes[node->parent].total_ns, node->total_ns);
        }
    }
}

// ---- the section -------------------------------------------------------------------------------
// Leaves out what is below `least_ns`, and with it all inside, which is no larger.
static int keep_larger(icicle *tree, uint64_t least_ns)
{
    const size_t bytes = tree->count * sizeof(uint32_t);
    uint32_t *now = mxp__alloc(bytes);
    size_t count = 0;
    if (now == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < tree->count; i++) {
        icicle_node node = tree->nodes[i];
        if (i > 0 && node.total_ns < least_ns) {
            continue;
        }
        now[i] = (uint32_t)count;
        node.parent = now[node.parent];
        tree->nodes[count++] = node;
    }
    tree->count = count;
    mxp__free(now, bytes);
    return MXP_OK;
}

static void put_texts(const mxp_texts *texts, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_list(&json, NULL);
    for (uint32_t i = 0; i < texts->count; i++) {
        size_t length;
        const char *text = mxp__texts_at(texts, i, &length);
        mxp__json_bytes(&json, NULL, text, length < MXP_PAGE_NAME_MAX ? length : MXP_PAGE_NAME_MAX);
    }
    mxp__json_end(&json);
}

static int put_section(mxp_view *view, icicle *tree)
{
    mxp_strbuf columns[COLUMNS] = {{0}};
    for (size_t i = 0; i < tree->count; i++) {
        const icicle_node *node = &tree->nodes[i];
        mxp__column_put(&columns[0], i - node->parent);
        mxp__column_put(&columns[1], node->text);
        mxp__column_put(&columns[2], node->phase);
        mxp__column_put(&columns[3], node->self_ns);
        mxp__column_put(&columns[4], node->total_ns);
        mxp__column_put(&columns[5], node->count);
    }
    put_texts(&tree->texts, &view->texts);
    mxp__strbuf_printf(&view->icicle, "{\"nodes\": %zu, \"steps\": %llu, \"wall_ns\": %llu}",
                       tree->count, (unsigned long long)view->report.rows.steps,
                       (unsigned long long)view->report.rows.wall_ns);
    const int error = mxp__view_section(view, "i", columns, COLUMNS, tree->count);
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_fini(&columns[i]);
    }
    return error;
}

int mxp__view_icicle(mxp_view *view)
{
    icicle tree = {.known.entry_bytes = sizeof(known_node)};
    uint32_t root;
    int error = add_named(&tree, 0, "all", 3, 0, &root);
    if (error == MXP_OK) {
        error = mxp__report_has_operators(&view->report) ? take_rows(&tree, &view->report.rows)
                                                         : take_calls(&tree, &view->report);
    }
    if (error == MXP_OK) {
        add_up(&tree);
        if (tree.count > NODES_WHOLE) {
            view->dropped.icicle = true;
            error = keep_larger(&tree, tree.nodes[0].total_ns / 10000);
        }
        error = error == MXP_OK && tree.count > 1 ? put_section(view, &tree) : error;
    }
    mxp__free(tree.nodes, tree.capacity * sizeof *tree.nodes);
    mxp__id_map_fini(&tree.known);
    mxp__texts_fini(&tree.texts);
    return error;
}
