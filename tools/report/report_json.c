// SPDX-License-Identifier: Apache-2.0
// The report for programs: sums in ns over the whole window, not means of a step; nothing is
// folded.
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "clock_lines.h"
#include "report/report.h"
#include "report/report_counted.h"
#include "report/report_ranks.h"
#include "text/json_writer.h"
#include "text/phase.h"

// ---- steps -------------------------------------------------------------------------------------
static void put_recorded(mxp_json *json, const char *key, uint64_t ns)
{
    if (ns == MXP__NOT_RECORDED) {
        mxp__json_null(json, key);
    } else {
        mxp__json_u64(json, key, ns);
    }
}

static void put_step(mxp_json *json, const mxp_report_process *process, size_t place)
{
    const mxp_step_window *step = &process->steps.all[place];
    mxp__json_row(json, NULL);
    mxp__json_u64(json, "process", process->source->pid);
    mxp__json_u64(json, "number", step->number);
    mxp__json_i64(json, "begin_ns", step->begin_ns);
    mxp__json_i64(json, "length_ns", step->end_ns - step->begin_ns);
    put_recorded(json, "cpu_ns", step->cpu_ns);
    put_recorded(json, "run_delay_ns", step->run_delay_ns);
    mxp__json_bool(json, "chosen", process->choice.steps != NULL && process->choice.steps[place]);
    mxp__json_bool(json, "first_run", step->is_first_run);
    mxp__json_bool(json, "losses", step->has_loss);
    mxp__json_bool(json, "pause", step->has_pause);
    mxp__json_bool(json, "open", step->is_open);
    mxp__json_end(json);
}

static void put_steps(const mxp_time_report *report, mxp_json *json)
{
    mxp__json_array(json, "steps");
    for (size_t p = 0; p < report->process_count && !report->wish->leaves_steps_out; p++) {
        for (size_t i = 0; i < report->processes[p].steps.count; i++) {
            put_step(json, &report->processes[p], i);
        }
    }
    mxp__json_end(json);
}

// ---- rows --------------------------------------------------------------------------------------
static void put_path(const mxp_time_report *report, mxp_json *json, uint64_t ns)
{
    put_recorded(json, "path_ns", report->rows.has_path ? ns : MXP__NOT_RECORDED);
}

static void put_layer(const mxp_time_report *report, mxp_json *json, const mxp_layer *layer)
{
    size_t length;
    const char *path = mxp__scope_tree_path(&report->rows.scopes, layer->scope, &length);
    mxp__json_row(json, NULL);
    mxp__json_bytes(json, "scope", path, length);
    for (int phase = 0; phase < MXP_PHASES; phase++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ns",
                 phase == 0 ? "no_phase" : mxp__phase_word((uint32_t)phase));
        mxp__json_u64(json, key, layer->phases_ns[phase]);
    }
    mxp__json_u64(json, "sum_ns", layer->sum_ns);
    put_path(report, json, layer->path_ns);
    mxp__json_u64(json, "waited_ns", layer->waited_ns);
    mxp__json_u64(json, "queued_ns", layer->queued_ns);
    mxp__json_u64(json, "calls", layer->count);
    mxp__json_end(json);
}

static int put_layers(const mxp_time_report *report, mxp_json *json, uint32_t depth)
{
    const mxp_time_key key =
        report->wish->key >= 0 ? (mxp_time_key)report->wish->key : MXP_KEY_TOTAL;
    mxp_layers layers;
    int error = mxp__layers_make(&report->rows, depth, key, &layers);
    mxp__json_array(json, "layers");
    for (size_t i = 0; i < layers.count; i++) {
        put_layer(report, json, &layers.all[i]);
    }
    mxp__json_end(json);
    mxp__layers_fini(&layers);
    return error;
}

static void put_durations(mxp_json *json, mxp_samples *durations)
{
    static const struct {
        const char *key;
        double fraction;
    } percentiles[] = {{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}, {"max_ns", 1}};
    bool is_exact = true;
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        mxp__json_u64(json, percentiles[i].key,
                      mxp__samples_quantile(durations, percentiles[i].fraction, &is_exact));
    }
    mxp__json_bool(json, "exact", is_exact);
}

static void put_row(mxp_time_report *report, mxp_json *json, mxp_time_row *row)
{
    const mxp_texts *texts = &report->rows.scopes.texts;
    size_t length;
    mxp__json_row(json, NULL);
    const char *name = mxp__texts_at(texts, row->name, &length);
    mxp__json_bytes(json, "name", name, length);
    const char *category = mxp__texts_at(texts, row->category, &length);
    mxp__json_bytes(json, "category", category, length);
    if (row->is_operator) {
        const char *scope = mxp__scope_tree_path(&report->rows.scopes, row->scope, &length);
        mxp__json_bytes(json, "scope", scope, length);
        mxp__json_text(json, "phase", mxp__phase_word(row->phase));
    }
    mxp__json_u64(json, "calls", row->count);
    mxp__json_u64(json, "total_ns", row->total_ns);
    mxp__json_u64(json, "self_ns", row->self_ns);
    put_path(report, json, row->path_ns);
    if (row->is_operator) {
        mxp__json_u64(json, "waited_ns", row->waited_ns);
        mxp__json_u64(json, "queued_ns", row->queued_ns);
    } else {
        mxp__json_bool(json, "overlaps", row->overlaps);
    }
    put_durations(json, &row->durations);
    mxp__json_end(json);
}

static int put_rows(mxp_time_report *report, mxp_json *json, bool operators)
{
    const mxp_time_key key = operators                ? mxp__report_key(report)
                             : report->wish->key >= 0 ? (mxp_time_key)report->wish->key
                                                      : MXP_KEY_SELF;
    const size_t bytes = report->rows.count * sizeof(uint32_t);
    size_t count;
    uint32_t *order = mxp__time_rows_rank(&report->rows, operators, key, &count);
    mxp__json_array(json, operators ? "operators" : "spans");
    for (size_t i = 0; i < count; i++) {
        put_row(report, json, &report->rows.rows[order[i]]);
    }
    mxp__json_end(json);
    mxp__free(order, bytes);
    return order == NULL && bytes > 0 ? mxp__fail_memory("the report") : MXP_OK;
}

static void put_path_kinds(const mxp_time_report *report, mxp_json *json)
{
    if (!report->rows.has_path) {
        mxp__json_null(json, "path");
        return;
    }
    mxp__json_object(json, "path");
    mxp__json_u64(json, "wall_ns", report->rows.path_wall_ns);
    mxp__json_row(json, "kinds_ns");
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        mxp__json_u64(json, mxp__path_kind_name(kind), report->rows.path_kinds_ns[kind]);
    }
    mxp__json_end(json);
    mxp__json_end(json);
}

// ---- trees -------------------------------------------------------------------------------------
static const char *kind_name(const mxp_tree_node *node)
{
    static const char *const names[] = {[MXP_TREE_ROOT] = "all",
                                        [MXP_TREE_SCOPE] = "scope",
                                        [MXP_TREE_OPERATOR] = "operator",
                                        [MXP_TREE_THREAD] = "thread",
                                        [MXP_TREE_SPAN] = "span"};
    return names[node->kind];
}

// Flat, each node with the number of the one around it: depth is not limited by what JSON readers
// allow.
static void put_nodes(const mxp_time_tree *tree, mxp_json *json, const char *key)
{
    mxp__json_array(json, key);
    for (uint32_t i = 0; i < tree->count; i++) {
        const mxp_tree_node *node = &tree->nodes[i];
        if (i > 0 && node->count == 0 && node->total_ns == 0 && node->path_ns == 0) {
            continue;
        }
        size_t length;
        const char *text = mxp__time_tree_text(tree, i, &length);
        mxp__json_row(json, NULL);
        mxp__json_u64(json, "node", i);
        if (i == 0) {
            mxp__json_null(json, "parent");
        } else {
            mxp__json_u64(json, "parent", node->parent);
        }
        mxp__json_text(json, "kind", kind_name(node));
        mxp__json_bytes(json, "name", text, length);
        mxp__json_u64(json, "calls", node->count);
        mxp__json_u64(json, "total_ns", node->total_ns);
        mxp__json_u64(json, "self_ns", node->self_ns);
        mxp__json_u64(json, "path_ns", node->path_ns);
        mxp__json_u64(json, "waited_ns", node->waited_ns);
        mxp__json_u64(json, "queued_ns", node->queued_ns);
        if (node->durations != NULL) {
            put_durations(json, node->durations);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static int put_trees(mxp_time_report *report, mxp_json *json)
{
    mxp_time_tree scopes, calls;
    int error = mxp__scope_time_tree(&report->rows, &scopes);
    if (error == MXP_OK) {
        error = mxp__time_tree_rank(&scopes, MXP_KEY_TOTAL);
    }
    if (error == MXP_OK) {
        put_nodes(&scopes, json, "operator_tree");
        error = mxp__report_call_tree(report, &calls);
        if (error == MXP_OK) {
            put_nodes(&calls, json, "call_tree");
        }
        mxp__time_tree_fini(&calls);
    }
    mxp__time_tree_fini(&scopes);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static void put_quality(const mxp_time_report *report, mxp_json *json)
{
    const mxp_summary *summary = &report->summary;
    mxp__json_row(json, "quality");
    mxp__json_bool(json, "damaged", report->input->damaged);
    mxp__json_u64(json, "records", summary->records);
    mxp__json_u64(json, "lost", summary->lost);
    mxp__json_u64(json, "unread_bytes", summary->unread_bytes);
    mxp__json_u64(json, "unnamed", summary->unnamed);
    mxp__json_u64(json, "cut_spans", summary->cut_spans);
    mxp__json_number(json, "own_cost_ns", (double)summary->records * summary->record_cost_ns);
    if (report->no_path[0] != '\0') {
        mxp__json_text(json, "no_path", report->no_path);
    }
    if (mxp__report_incomplete(report) != NULL) {
        mxp__json_text(json, "incomplete", mxp__report_incomplete(report));
    }
    mxp__json_end(json);
}

int mxp__report_json(mxp_time_report *report, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    const size_t depth = report->wish->depth;
    const uint32_t usual = report->wish->by == MXP_BY_SCOPE ? UINT32_MAX : 2;
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "file", report->input->path);
    mxp__json_list(&json, "processes");
    for (size_t i = 0; i < report->process_count; i++) {
        mxp__json_u64(&json, NULL, report->processes[i].source->pid);
    }
    mxp__json_end(&json);
    int error = MXP_OK;
    if (report->input->clocks != NULL) {
        mxp__clock_lines_json(report->input->clocks, &json);
        error = mxp__report_ranks_json(report->input, report->wish, &json);
    }
    mxp__json_u64(&json, "chosen_steps", report->rows.steps);
    mxp__json_u64(&json, "wall_ns", report->rows.wall_ns);
    put_steps(report, &json);
    put_path_kinds(report, &json);
    if (error == MXP_OK) {
        error =
            put_layers(report, &json, depth > 0 && depth < UINT32_MAX ? (uint32_t)depth : usual);
    }
    if (error == MXP_OK) {
        error = put_rows(report, &json, true);
    }
    if (error == MXP_OK) {
        error = put_rows(report, &json, false);
    }
    if (error == MXP_OK) {
        error = mxp__report_counted_json(report->input->source, &json);
    }
    if (error == MXP_OK && report->wish->tree) {
        error = put_trees(report, &json);
    }
    put_quality(report, &json);
    mxp__json_end(&json);
    return error;
}
