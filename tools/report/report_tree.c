// SPDX-License-Identifier: Apache-2.0
// Trees: operators in their scopes, and spans on the program's threads. What is folded is a row `n
// others` of its level, so that every level adds up.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/fail.h"
#include "base/sum.h"
#include "report/report.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

typedef struct tree_table {
    mxp_time_report *report;
    const mxp_time_tree *tree;
    bool is_calls;
    mxp_text_table table;
} tree_table;

static void put_time(tree_table *at, uint64_t ns)
{
    mxp__put_duration(at->report->screen, (double)ns / mxp__report_per(at->report),
                      mxp__text_cell(&at->table));
}

static double share_of(const tree_table *at, uint64_t ns)
{
    const uint64_t wall_ns = at->report->rows.wall_ns;
    return wall_ns == 0 ? 0 : (double)ns / (double)wall_ns;
}

static void put_quantile(tree_table *at, const mxp_tree_node *node, double fraction)
{
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (node->durations == NULL || node->count == 0) {
        return;
    }
    bool is_exact;
    const uint64_t ns = mxp__samples_quantile(node->durations, fraction, &is_exact);
    mxp__strbuf_puts(cell, is_exact ? "" : "~");
    mxp__put_duration(at->report->screen, (double)ns, cell);
}

// Of a call: for what it depends on, and for a worker.
static void put_waited(tree_table *at, const mxp_tree_node *node)
{
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (node->durations != NULL && node->count > 0) {
        mxp__put_duration(at->report->screen,
                          (double)(node->waited_ns + node->queued_ns) / (double)node->count, cell);
    }
}

static bool is_leaf(const mxp_tree_node *node)
{
    return node->first_child == MXP_NO_NODE;
}

// By its depth. On a narrow screen the names of deep levels would have no room: the number of such
// a level is told instead, as "[12] ".
static void put_indent(const tree_table *at, uint32_t depth, const char *mark, mxp_strbuf *out)
{
    enum { COLUMNS_A_LEVEL = 20 };
    const mxp_screen *screen = at->report->screen;
    const size_t deepest = screen->is_bounded ? screen->columns / COLUMNS_A_LEVEL : UINT32_MAX;
    const size_t shown = depth - 1 < deepest ? depth - 1 : deepest;
    mxp__strbuf_printf(out, "%*s%s", (int)(2 * shown), "", mark);
    if (depth - 1 > deepest) {
        mxp__strbuf_printf(out, "[%" PRIu32 "] ", depth);
    }
}

// An open node, a folded one, or a leaf, indented by its depth.
static void put_name(tree_table *at, uint32_t number, bool is_open, mxp_strbuf *out)
{
    const mxp_tree_node *node = &at->tree->nodes[number];
    const bool is_utf8 = at->report->screen->is_utf8;
    size_t length;
    const char *text = mxp__time_tree_text(at->tree, number, &length);
    put_indent(at, node->depth,
               is_leaf(node) ? "  "
               : is_open     ? (is_utf8 ? "\u25be " : "- ")
                             : (is_utf8 ? "\u25b8 " : "+ "),
               out);
    mxp__put_label(at->report->screen, text, length, out);
    mxp__strbuf_puts(out, mxp__report_phase(node->phase));
}

static void put_figures(tree_table *at, const mxp_tree_node *node, bool is_sum)
{
    mxp__put_count((double)node->count / mxp__report_per(at->report), mxp__text_cell(&at->table));
    put_time(at, node->total_ns);
    if (at->is_calls) {
        put_time(at, node->self_ns);
    }
    mxp__put_percent(share_of(at, node->total_ns), mxp__text_cell(&at->table));
    mxp__text_bar(&at->table, share_of(at, at->is_calls ? node->self_ns : node->total_ns));
    if (is_sum) {
        return;
    }
    if (!at->is_calls) {
        put_waited(at, node);
    }
    put_quantile(at, node, 0.5);
    put_quantile(at, node, 0.99);
}

static bool is_folded(const tree_table *at, const mxp_tree_node *node)
{
    return share_of(at, node->total_ns) < at->report->wish->least;
}

static void put_others(tree_table *at, const mxp_tree_node *sum, size_t count)
{
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    put_indent(at, sum->depth, "  ", cell);
    mxp__strbuf_printf(cell, "%zu other%s", count, count == 1 ? "" : "s");
    put_figures(at, sum, true);
    mxp__text_row(&at->table, MXP_LOOK_FAINT);
}

// Depth first. Trees are at most some hundred levels deep.
static void put_children(tree_table *at, uint32_t parent)
{
    const mxp_report_wish *wish = at->report->wish;
    const size_t deepest = wish->depth > 0 ? wish->depth : SIZE_MAX;
    mxp_tree_node others = {.depth = at->tree->nodes[parent].depth + 1};
    size_t folded = 0, shown = 0;
    for (uint32_t i = at->tree->nodes[parent].first_child; i != MXP_NO_NODE;
         i = at->tree->nodes[i].next) {
        const mxp_tree_node *node = &at->tree->nodes[i];
        if (is_folded(at, node) || (wish->top > 0 && shown >= wish->top)) {
            others.count += node->count;
            mxp__sum_add(&others.total_ns, node->total_ns);
            mxp__sum_add(&others.self_ns, node->self_ns);
            folded++;
            continue;
        }
        const bool is_open = node->depth < deepest;
        shown++;
        put_name(at, i, is_open, mxp__text_cell(&at->table));
        put_figures(at, node, false);
        mxp__text_row(&at->table, node->depth == 1 ? MXP_LOOK_TOTAL : MXP_LOOK_PLAIN);
        if (is_open) {
            put_children(at, i);
        }
    }
    if (folded > 0) {
        put_others(at, &others, folded);
    }
}

static void put_tree(tree_table *at, mxp_strbuf *out)
{
    static const mxp_text_column operators[] = {
        {"scope", MXP_COLUMN_NAME, 0},  {"calls", MXP_COLUMN_RIGHT, 2},
        {"total", MXP_COLUMN_RIGHT, 0}, {"wall", MXP_COLUMN_RIGHT, 0},
        {"", MXP_COLUMN_BAR, 0},        {"waited", MXP_COLUMN_RIGHT, 2},
        {"p50", MXP_COLUMN_RIGHT, 1},   {"p99", MXP_COLUMN_RIGHT, 1}};
    static const mxp_text_column calls[] = {
        {"thread", MXP_COLUMN_NAME, 0}, {"calls", MXP_COLUMN_RIGHT, 2},
        {"total", MXP_COLUMN_RIGHT, 0}, {"self", MXP_COLUMN_RIGHT, 0},
        {"wall", MXP_COLUMN_RIGHT, 0},  {"", MXP_COLUMN_BAR, 0},
        {"p50", MXP_COLUMN_RIGHT, 1},   {"p99", MXP_COLUMN_RIGHT, 1}};
    mxp__text_table_init(&at->table, at->report->screen, at->is_calls ? calls : operators, 8);
    put_children(at, 0);
    mxp__text_table_put(&at->table, out);
    mxp__text_table_fini(&at->table);
}

static mxp_time_key key_of(const mxp_time_report *report)
{
    return report->wish->key >= 0 ? (mxp_time_key)report->wish->key : MXP_KEY_TOTAL;
}

static int put_scopes(mxp_time_report *report, mxp_strbuf *out)
{
    mxp_time_tree tree;
    int error = mxp__scope_time_tree(&report->rows, &tree);
    if (error == MXP_OK) {
        error = mxp__time_tree_rank(&tree, key_of(report));
    }
    if (error == MXP_OK) {
        put_tree(&(tree_table){.report = report, .tree = &tree}, out);
    }
    mxp__time_tree_fini(&tree);
    return error;
}

int mxp__report_call_tree(mxp_time_report *report, mxp_time_tree *tree)
{
    int error = MXP_OK;
    *tree = (mxp_time_tree){0};
    for (size_t i = 0; i < report->process_count && error == MXP_OK; i++) {
        mxp_report_process *process = &report->processes[i];
        char label[32] = "";
        if (report->process_count > 1) {
            snprintf(label, sizeof label, "%u ", (unsigned)process->source->pid);
        }
        error = mxp__call_tree_add(tree, process->source, &process->choice,
                                   process->has_filter ? &process->filter : NULL, label);
    }
    return error == MXP_OK ? mxp__time_tree_rank(tree, key_of(report)) : error;
}

static int put_calls(mxp_time_report *report, mxp_strbuf *out)
{
    mxp_time_tree tree;
    int error = mxp__report_call_tree(report, &tree);
    if (error == MXP_OK) {
        put_tree(&(tree_table){.report = report, .tree = &tree, .is_calls = true}, out);
        if (tree.folded > 0) {
            mxp__strbuf_printf(out, "%llu spans were too deep, and count in what is around them\n",
                               (unsigned long long)tree.folded);
        }
    }
    mxp__time_tree_fini(&tree);
    return error;
}

int mxp__report_put_trees(mxp_time_report *report, mxp_strbuf *out)
{
    int error = MXP_OK;
    if (mxp__report_has_operators(report)) {
        error = put_scopes(report, out);
    }
    if (error == MXP_OK && report->rows.spans > 0) {
        mxp__strbuf_puts(out, mxp__report_has_operators(report) ? "\n" : "");
        error = put_calls(report, out);
    }
    return error;
}
