// SPDX-License-Identifier: Apache-2.0
// Flat tables: the operators, and the spans of the program's threads, the largest first. Rows that
// are not shown are one row, so that columns add up.
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "profiler/analysis/time/row_phases.h"
#include "report/report.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/shares.h"
#include "text/text_table.h"

enum { ROWS_USUAL = 10 };

typedef struct row_table {
    mxp_time_report *report;
    bool operators;
    uint32_t *order;  // places of rows
    size_t count, shown;
    uint64_t *tenths;  // of the path: rows that are shown, others
    bool *is_shared;  // scopes: whose own text another scope has as well
    mxp_id_map phases;  // of operators that ran in several
    mxp_text_table table;
} row_table;

// ---- names -------------------------------------------------------------------------------------
// "conv1/Convolution" where one scope is called conv1, else with all of its path.
static void find_shared_texts(row_table *at)
{
    const mxp_scope_tree *scopes = &at->report->rows.scopes;
    uint32_t *first = mxp__alloc(scopes->texts.count * sizeof *first);
    at->is_shared = mxp__alloc(scopes->count * sizeof *at->is_shared);
    for (uint32_t i = 1; first != NULL && at->is_shared != NULL && i < scopes->count; i++) {
        uint32_t *owner = &first[scopes->nodes[i].text];
        if (*owner != 0) {
            at->is_shared[i] = at->is_shared[*owner] = true;
        } else {
            *owner = i;
        }
    }
    mxp__free(first, scopes->texts.count * sizeof *first);
}

static void put_name(const row_table *at, const mxp_time_row *row, mxp_strbuf *out)
{
    const mxp_time_report *report = at->report;
    size_t length;
    if (row->scope != 0) {
        const bool whole = at->is_shared == NULL || at->is_shared[row->scope];
        const char *scope = whole ? mxp__scope_tree_path(&report->rows.scopes, row->scope, &length)
                                  : mxp__scope_tree_text(&report->rows.scopes, row->scope, &length);
        mxp__put_label(report->screen, scope, length, out);
        mxp__strbuf_putc(out, '/');
    }
    const char *name = mxp__time_row_name(&report->rows, row, &length);
    mxp__put_label(report->screen, name, length, out);
    if (at->operators && mxp__row_has_phases(&at->phases, row)) {
        mxp__strbuf_puts(out, mxp__report_phase(row->phase));
    }
}

// ---- figures -----------------------------------------------------------------------------------
static void put_time(row_table *at, uint64_t ns)
{
    mxp__put_duration(at->report->screen, (double)ns / mxp__report_per(at->report),
                      mxp__text_cell(&at->table));
}

// Of a call.
static void put_mean(row_table *at, const mxp_time_row *row, uint64_t ns)
{
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (row->count == 0) {
        mxp__strbuf_putc(cell, '-');
    } else {
        mxp__put_duration(at->report->screen, (double)ns / (double)row->count, cell);
    }
}

static void put_quantile(row_table *at, mxp_time_row *row, double fraction)
{
    bool is_exact;
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (row->count == 0) {
        mxp__strbuf_putc(cell, '-');
        return;
    }
    const uint64_t ns = mxp__samples_quantile(&row->durations, fraction, &is_exact);
    mxp__strbuf_puts(cell, is_exact ? "" : "~");
    mxp__put_duration(at->report->screen, (double)ns, cell);
}

static double share_of(const row_table *at, uint64_t ns)
{
    const uint64_t wall_ns = at->report->rows.wall_ns;
    return wall_ns == 0 ? 0 : (double)ns / (double)wall_ns;
}

// Share and bar: of the path where there is one, else of the wall time.
static void put_share(row_table *at, const mxp_time_row *row, uint64_t tenths)
{
    const uint64_t own_ns = at->operators ? row->total_ns : row->self_ns;
    if (at->report->rows.has_path) {
        mxp__put_tenths(tenths, mxp__text_cell(&at->table));
        mxp__text_bar(&at->table, (double)tenths / 1000);
    } else {
        mxp__put_percent(share_of(at, own_ns), mxp__text_cell(&at->table));
        mxp__text_bar(&at->table, share_of(at, own_ns));
    }
}

static void put_row(row_table *at, size_t place)
{
    mxp_time_row *row = &at->report->rows.rows[at->order[place]];
    put_name(at, row, mxp__text_cell(&at->table));
    mxp__put_count((double)row->count / mxp__report_per(at->report), mxp__text_cell(&at->table));
    put_time(at, row->total_ns);
    if (!at->operators) {
        put_time(at, row->self_ns);
    }
    put_share(at, row, at->tenths[place]);
    if (at->operators) {
        put_mean(at, row, row->waited_ns);
        put_mean(at, row, row->queued_ns);
    }
    put_quantile(at, row, 0.5);
    put_quantile(at, row, 0.99);
    mxp__text_row(&at->table, place == 0 && at->count > 1 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
}

static void put_others(row_table *at)
{
    mxp_time_row others = {0};
    for (size_t i = at->shown; i < at->count; i++) {
        const mxp_time_row *row = &at->report->rows.rows[at->order[i]];
        others.count += row->count;
        mxp__sum_add(&others.total_ns, row->total_ns);
        mxp__sum_add(&others.self_ns, row->self_ns);
    }
    mxp__strbuf_printf(mxp__text_cell(&at->table), "%zu others", at->count - at->shown);
    mxp__put_count((double)others.count / mxp__report_per(at->report), mxp__text_cell(&at->table));
    put_time(at, others.total_ns);
    if (!at->operators) {
        put_time(at, others.self_ns);
    }
    put_share(at, &others, at->tenths[at->shown]);
    mxp__text_row(&at->table, MXP_LOOK_PLAIN);
}

// ---- all ---------------------------------------------------------------------------------------
static int make_tenths(row_table *at)
{
    const mxp_time_rows *rows = &at->report->rows;
    const size_t bytes = (at->shown + 1) * sizeof(uint64_t);
    uint64_t *values = mxp__alloc(bytes);
    at->tenths = mxp__alloc(bytes);
    if (values == NULL || at->tenths == NULL) {
        mxp__free(values, bytes);
        return mxp__fail_memory("the report");
    }
    for (size_t i = 0; i < at->count; i++) {
        values[i < at->shown ? i : at->shown] += rows->rows[at->order[i]].path_ns;
    }
    int error = rows->path_wall_ns == 0
                    ? MXP_OK
                    : mxp__share_tenths(values, at->shown + 1, rows->path_wall_ns, at->tenths);
    mxp__free(values, bytes);
    return error;
}

static void put_table(row_table *at, mxp_strbuf *out)
{
    const char *share = at->report->rows.has_path ? "path" : "wall";
    const mxp_text_column operators[] = {
        {"operator", MXP_COLUMN_NAME, 0}, {"calls", MXP_COLUMN_RIGHT, 0},
        {"total", MXP_COLUMN_RIGHT, 0},   {share, MXP_COLUMN_RIGHT, 0},
        {"", MXP_COLUMN_BAR, 0},          {"waited", MXP_COLUMN_RIGHT, 2},
        {"queued", MXP_COLUMN_RIGHT, 2},  {"p50", MXP_COLUMN_RIGHT, 1},
        {"p99", MXP_COLUMN_RIGHT, 1}};
    const mxp_text_column spans[] = {{"span", MXP_COLUMN_NAME, 0},   {"calls", MXP_COLUMN_RIGHT, 0},
                                     {"total", MXP_COLUMN_RIGHT, 0}, {"self", MXP_COLUMN_RIGHT, 0},
                                     {share, MXP_COLUMN_RIGHT, 0},   {"", MXP_COLUMN_BAR, 0},
                                     {"p50", MXP_COLUMN_RIGHT, 1},   {"p99", MXP_COLUMN_RIGHT, 1}};
    mxp__text_table_init(&at->table, at->report->screen, at->operators ? operators : spans,
                         at->operators ? 9 : 8);
    for (size_t i = 0; i < at->shown; i++) {
        put_row(at, i);
    }
    if (at->shown < at->count) {
        put_others(at);
    }
    mxp__text_table_put(&at->table, out);
    mxp__text_table_fini(&at->table);
}

static int put_rows(mxp_time_report *report, bool operators, mxp_time_key key, size_t most,
                    mxp_strbuf *out)
{
    row_table at = {.report = report, .operators = operators};
    const size_t bytes = report->rows.count * sizeof *at.order;
    at.order = mxp__time_rows_rank(&report->rows, operators, key, &at.count);
    if (at.order == NULL || at.count == 0) {
        mxp__free(at.order, bytes);
        return at.order == NULL && bytes > 0 ? mxp__fail_memory("the report") : MXP_OK;
    }
    at.shown = mxp__report_shown(at.count, most);
    find_shared_texts(&at);
    int error = make_tenths(&at);
    if (error == MXP_OK) {
        error = mxp__row_phases_make(&report->rows, &at.phases);
    }
    if (error == MXP_OK) {
        put_table(&at, out);
    }
    mxp__free(at.tenths, (at.shown + 1) * sizeof *at.tenths);
    mxp__free(at.is_shared, report->rows.scopes.count * sizeof *at.is_shared);
    mxp__id_map_fini(&at.phases);
    mxp__free(at.order, bytes);
    return error;
}

int mxp__report_put_operators(mxp_time_report *report, mxp_strbuf *out)
{
    const size_t top = report->wish->top;
    return put_rows(report, true, mxp__report_key(report), top > 0 ? top : ROWS_USUAL, out);
}

int mxp__report_put_spans(mxp_time_report *report, size_t most, mxp_strbuf *out)
{
    const mxp_time_key key =
        report->wish->key >= 0 ? (mxp_time_key)report->wish->key : MXP_KEY_SELF;
    return put_rows(report, false, key, report->wish->top > 0 ? report->wish->top : most, out);
}
