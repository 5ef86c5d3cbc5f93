// SPDX-License-Identifier: Apache-2.0
// Time by layer or scope: what forward, backward and update took, and what is on the critical path.
// The column `path` and the line below it add up to 100.0 %.
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "report/report.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/shares.h"
#include "text/text_table.h"

enum { COLUMNS_MOST = 8, LAYERS_USUAL = 12, WIDE = 100 };

// The kinds of the path that no layer has, largest first.
typedef struct rest {
    uint64_t ns;
    int kind;
} rest;

typedef struct layer_table {
    mxp_time_report *report;
    mxp_layers layers;
    size_t shown;  // the others are one row
    mxp_text_table table;
    mxp_text_column columns[COLUMNS_MOST];
    size_t column_count;
    bool phases[MXP_PHASES];  // with a column
    uint64_t *tenths;  // of the path: of the rows that are shown, the others, the rest
    size_t tenth_count;
} layer_table;

static bool is_in_rows(int kind)
{
    return kind == MXP__PATH_RUN || kind == MXP__PATH_COMMUNICATION;
}

static uint64_t rest_ns(const mxp_time_rows *rows, uint64_t in_rows_ns)
{
    uint64_t all_ns = 0;
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        all_ns += rows->path_kinds_ns[kind];
    }
    return all_ns > in_rows_ns ? all_ns - in_rows_ns : 0;
}

// ---- columns -----------------------------------------------------------------------------------
static void add_column(layer_table *at, const char *heading, mxp_text_column_kind kind, int leaves)
{
    at->columns[at->column_count++] =
        (mxp_text_column){.heading = heading, .kind = kind, .leaves = leaves};
}

static void choose_columns(layer_table *at, const char *heading)
{
    static const char *const names[] = {[MXP_PHASE_FORWARD] = "forward",
                                        [MXP_PHASE_BACKWARD] = "backward",
                                        [MXP_PHASE_UPDATE] = "update",
                                        [MXP_PHASE_COMMUNICATION] = "exchange"};
    const uint64_t *phases_ns = at->layers.total.phases_ns;
    const bool trains = phases_ns[MXP_PHASE_FORWARD] + phases_ns[MXP_PHASE_BACKWARD] > 0;
    add_column(at, heading, MXP_COLUMN_NAME, 0);
    for (int phase = MXP_PHASE_FORWARD; phase < MXP_PHASES; phase++) {
        at->phases[phase] = phases_ns[phase] > 0 || (trains && phase <= MXP_PHASE_UPDATE);
        if (at->phases[phase]) {
            add_column(at, names[phase], MXP_COLUMN_RIGHT, 0);
        }
    }
    add_column(at, "sum", MXP_COLUMN_RIGHT, 0);
    add_column(at, "wall", MXP_COLUMN_RIGHT, 0);
    if (at->report->rows.has_path) {
        add_column(at, "path", MXP_COLUMN_RIGHT, 0);
    }
}

// ---- rows --------------------------------------------------------------------------------------
static void put_time(layer_table *at, uint64_t ns, bool is_sum)
{
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (ns == 0 && !is_sum) {
        mxp__strbuf_putc(cell, '-');
    } else {
        mxp__put_duration(at->report->screen, (double)ns / mxp__report_per(at->report), cell);
    }
}

// All but the name, and the tenths of the path in the last column.
static void put_figures(layer_table *at, const mxp_layer *layer, uint64_t tenths, mxp_look look)
{
    const uint64_t wall_ns = at->report->rows.wall_ns;
    for (int phase = MXP_PHASE_FORWARD; phase < MXP_PHASES; phase++) {
        if (at->phases[phase]) {
            put_time(at, layer->phases_ns[phase], false);
        }
    }
    put_time(at, layer->sum_ns, true);
    mxp__put_percent(wall_ns == 0 ? 0 : (double)layer->sum_ns / (double)wall_ns,
                     mxp__text_cell(&at->table));
    if (at->report->rows.has_path) {
        mxp__put_tenths(tenths, mxp__text_cell(&at->table));
    }
    mxp__text_row(&at->table, look);
}

static void put_layer(layer_table *at, size_t place, bool is_largest)
{
    const mxp_layer *layer = &at->layers.all[place];
    const mxp_scope_tree *scopes = &at->report->rows.scopes;
    size_t length;
    const char *path = mxp__scope_tree_path(scopes, layer->scope, &length);
    mxp_strbuf *cell = mxp__text_cell(&at->table);
    if (layer->scope == 0) {
        mxp__strbuf_puts(cell, "(no layer)");
    } else {
        mxp__put_label(at->report->screen, path, length, cell);
    }
    put_figures(at, layer, at->tenths[place], is_largest ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
}

static void add_layer(mxp_layer *sum, const mxp_layer *layer)
{
    for (int phase = 0; phase < MXP_PHASES; phase++) {
        mxp__sum_add(&sum->phases_ns[phase], layer->phases_ns[phase]);
    }
    mxp__sum_add(&sum->sum_ns, layer->sum_ns);
    sum->path_ns += layer->path_ns;
}

static mxp_layer others_of(const layer_table *at)
{
    mxp_layer others = {0};
    for (size_t i = at->shown; i < at->layers.count; i++) {
        add_layer(&others, &at->layers.all[i]);
    }
    return others;
}

static int compare_rests(const void *left, const void *right)
{
    const rest *a = left, *b = right;
    return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : a->kind - b->kind;
}

// "no operator, on the path: between calls 459 us, dispatch 207 us".
static void put_rest(layer_table *at, uint64_t tenths)
{
    const mxp_time_report *report = at->report;
    const size_t named = report->screen->columns < WIDE ? 2 : 3;
    rest rests[MXP__PATH_KINDS];
    size_t count = 0;
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        if (!is_in_rows(kind) && report->rows.path_kinds_ns[kind] > 0) {
            rests[count++] = (rest){report->rows.path_kinds_ns[kind], kind};
        }
    }
    if (count == 0) {
        return;
    }
    qsort(rests, count, sizeof *rests, compare_rests);
    mxp_strbuf *cell = mxp__text_wide_cell(&at->table, at->column_count - 1);
    mxp__strbuf_puts(cell, "no operator, on the path:");
    for (size_t i = 0; i < count && i < named; i++) {
        mxp__strbuf_printf(cell, "%s %s ", i == 0 ? "" : ",", mxp__path_kind_name(rests[i].kind));
        mxp__put_duration(report->screen, (double)rests[i].ns / mxp__report_per(report), cell);
    }
    mxp__strbuf_puts(cell, count > named ? " ..." : "");
    mxp__put_tenths(tenths, mxp__text_cell(&at->table));
    mxp__text_row(&at->table, MXP_LOOK_PLAIN);
}

// ---- shares ------------------------------------------------------------------------------------
// Rows that are shown, the others, and what is on the path but in no row, so that they add up.
static int make_tenths(layer_table *at)
{
    const mxp_time_rows *rows = &at->report->rows;
    const mxp_layer others = others_of(at);
    const size_t count = at->shown + 2, bytes = count * sizeof(uint64_t);
    uint64_t *values = mxp__alloc(bytes);
    at->tenths = mxp__alloc(bytes);
    at->tenth_count = count;
    if (values == NULL || at->tenths == NULL) {
        mxp__free(values, bytes);
        return mxp__fail_memory("the report");
    }
    for (size_t i = 0; i < at->shown; i++) {
        values[i] = at->layers.all[i].path_ns;
    }
    values[at->shown] = others.path_ns;
    values[at->shown + 1] = rest_ns(rows, at->layers.total.path_ns);
    int error = rows->path_wall_ns == 0
                    ? MXP_OK
                    : mxp__share_tenths(values, count, rows->path_wall_ns, at->tenths);
    mxp__free(values, bytes);
    return error;
}

static uint64_t sum_of_tenths(const layer_table *at)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= at->shown; i++) {
        sum += at->tenths[i];
    }
    return sum;
}

static void put_rows(layer_table *at)
{
    const bool filters = mxp__selection_filters(&at->report->wish->selection);
    for (size_t i = 0; i < at->shown; i++) {
        put_layer(at, i, i == 0 && at->layers.count > 1);
    }
    if (at->shown < at->layers.count) {
        const mxp_layer others = others_of(at);
        mxp__strbuf_printf(mxp__text_cell(&at->table), "%zu others", at->layers.count - at->shown);
        put_figures(at, &others, at->tenths[at->shown], MXP_LOOK_PLAIN);
    }
    mxp__strbuf_puts(mxp__text_cell(&at->table), filters ? "all of these" : "all layers");
    put_figures(at, &at->layers.total, sum_of_tenths(at), MXP_LOOK_TOTAL);
    if (at->report->rows.has_path && !filters) {
        put_rest(at, at->tenths[at->shown + 1]);
    }
}

int mxp__report_put_layers(mxp_time_report *report, uint32_t depth, mxp_strbuf *out)
{
    const size_t usual = report->wish->by == MXP_BY_NOTHING ? LAYERS_USUAL : SIZE_MAX;
    const size_t most = report->wish->top > 0 ? report->wish->top : usual;
    const mxp_time_key key =
        report->wish->key >= 0 ? (mxp_time_key)report->wish->key : MXP_KEY_TOTAL;
    layer_table at = {.report = report};
    int error = mxp__layers_make(&report->rows, depth, key, &at.layers);
    if (error == MXP_OK) {
        at.shown = mxp__report_shown(at.layers.count, most);
        error = make_tenths(&at);
    }
    if (error == MXP_OK) {
        choose_columns(&at, report->wish->by == MXP_BY_SCOPE ? "scope" : "layer");
        mxp__text_table_init(&at.table, report->screen, at.columns, at.column_count);
        put_rows(&at);
        mxp__text_table_put(&at.table, out);
        mxp__text_table_fini(&at.table);
    }
    mxp__free(at.tenths, at.tenth_count * sizeof *at.tenths);
    mxp__layers_fini(&at.layers);
    return error;
}
