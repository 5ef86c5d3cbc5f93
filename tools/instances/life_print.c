// SPDX-License-Identifier: Apache-2.0
#include "instances/life_print.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "instances/arguments.h"
#include "instances/thread_labels.h"
#include "instances/thread_places.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { ROWS_SHOWN = 60, INDENT = 2, DEEPEST = 12 };

// A gap or a share below this part of the whole is not worth a line, or a figure.
static const double least_share = 0.01;

static bool is_open(const mxp_instance *instance)
{
    return instance->kind == MXP_KIND_SPAN && (instance->flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
}

// ---- which rows --------------------------------------------------------------------------------
static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

// Which rows of a life are shown, and what of them was left out so far.
typedef struct shown_rows {
    int64_t least_ns;
    size_t equal;  // how many more as short as that
    size_t left_out;
    bool leaves_equal;
} shown_rows;

// The longest ROWS_SHOWN; of those that are as long as the last of them the first.
static shown_rows choose_rows(const mxp_life_view *view)
{
    shown_rows shown = {.equal = SIZE_MAX};
    size_t count = view->rows->count;
    int64_t *lengths =
        count > ROWS_SHOWN && !view->all_rows ? mxp__alloc(count * sizeof *lengths) : NULL;
    if (lengths == NULL) {
        return shown;
    }
    for (size_t i = 0; i < count; i++) {
        lengths[i] = mxp__instance_ns(&view->rows->all[i]);
    }
    qsort(lengths, count, sizeof *lengths, descending);
    shown.least_ns = lengths[ROWS_SHOWN - 1];
    shown.equal = 0;
    for (size_t i = ROWS_SHOWN; i-- > 0 && lengths[i] == shown.least_ns;) {
        shown.equal++;
    }
    mxp__free(lengths, count * sizeof *lengths);
    return shown;
}

static bool is_shown(shown_rows *shown, const mxp_instance *instance)
{
    const int64_t ns = mxp__instance_ns(instance);
    const bool is_equal = ns == shown->least_ns;
    const bool is_left_out = ns < shown->least_ns || (is_equal && shown->equal == 0);
    shown->equal -= is_equal && !is_left_out;
    shown->left_out += is_left_out;
    shown->leaves_equal |= is_left_out && is_equal;
    return !is_left_out;
}

// ---- text --------------------------------------------------------------------------------------
static void put_offset(const mxp_screen *screen, int64_t ns, mxp_strbuf *out)
{
    mxp__put_duration_change(screen, (double)ns, out);
}

static void put_what(const mxp_screen *screen, const mxp_instance *instance, mxp_strbuf *out)
{
    uint32_t depth = instance->depth < DEEPEST ? instance->depth : DEEPEST;
    mxp_name_view name = instance->source->name(instance->source, instance->name);
    for (uint32_t i = 0; i < INDENT * depth; i++) {
        mxp__strbuf_putc(out, ' ');
    }
    mxp__put_label(screen, name.text, name.length, out);
}

static void put_share(int64_t ns, int64_t all_ns, mxp_strbuf *out)
{
    double share = all_ns > 0 ? (double)ns / (double)all_ns : 0;
    if (share >= least_share) {
        mxp__put_percent(share, out);
    }
}

// A step may begin or end within an instance.
static int64_t ns_within(const mxp_instance *instance, const mxp_life *life)
{
    int64_t begin = instance->begin_ns > life->begin_ns ? instance->begin_ns : life->begin_ns;
    int64_t end = instance->end_ns < life->end_ns ? instance->end_ns : life->end_ns;
    return end > begin ? end - begin : 0;
}

static void put_row(const mxp_life_view *view, mxp_thread_labels *labels, mxp_text_table *table,
                    const mxp_instance *instance)
{
    const mxp_screen *screen = table->screen;
    const mxp_life *life = view->life;
    put_offset(screen, instance->begin_ns - life->begin_ns, mxp__text_cell(table));
    mxp__put_thread(labels, screen, instance->source, instance->thread, view->several_processes,
                    mxp__text_cell(table));
    put_what(screen, instance, mxp__text_cell(table));
    mxp__put_duration(screen, (double)mxp__instance_ns(instance), mxp__text_cell(table));
    put_share(ns_within(instance, life), life->end_ns - life->begin_ns, mxp__text_cell(table));
    mxp_strbuf *cell = mxp__text_cell(table);
    mxp__strbuf_puts(cell, is_open(instance) ? "still open " : "");
    mxp__put_args(screen, instance, cell);
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_gap(const mxp_life_view *view, mxp_text_table *table, const mxp_life_gap *gap)
{
    const mxp_life *life = view->life;
    int64_t ns = gap->end_ns - gap->begin_ns;
    if ((double)ns < least_share * (double)(life->end_ns - life->begin_ns)) {
        return;
    }
    put_offset(table->screen, gap->begin_ns - life->begin_ns, mxp__text_cell(table));
    mxp__strbuf_puts(mxp__text_cell(table), "");
    mxp__strbuf_puts(mxp__text_cell(table), "(nothing recorded)");
    mxp__put_duration(table->screen, (double)ns, mxp__text_cell(table));
    put_share(ns, life->end_ns - life->begin_ns, mxp__text_cell(table));
    mxp__text_row(table, MXP_LOOK_FAINT);
}

// Threads that have rows; 0 without memory.
static size_t count_threads(const mxp_instances *rows)
{
    mxp_thread_places threads = {0};
    bool has_memory = true;
    for (size_t i = 0; i < rows->count && has_memory; i++) {
        has_memory = mxp__thread_place(&threads, rows->all[i].source, rows->all[i].thread) != 0;
    }
    const size_t count = has_memory ? threads.threads.count : 0;
    mxp__thread_places_fini(&threads);
    return count;
}

static void put_title(const mxp_life_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_life *life = view->life;
    size_t threads = count_threads(view->rows);
    mxp__look_begin(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_printf(out, "%s: ", view->title);
    mxp__put_duration(screen, (double)(life->end_ns - life->begin_ns), out);
    mxp__strbuf_printf(out, " at %.6f s, %zu %s on %zu %s", (double)life->begin_ns / 1e9,
                       view->rows->count, view->rows->count == 1 ? "span" : "spans", threads,
                       threads == 1 ? "thread" : "threads");
    mxp__look_end(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_puts(out, "\n\n");
    out->failed = out->failed || (threads == 0 && view->rows->count > 0);
}

static void put_rest(const mxp_screen *screen, const shown_rows *shown, mxp_strbuf *out)
{
    if (shown->left_out > 0) {
        mxp__strbuf_printf(out, "and %zu that are %s than ", shown->left_out,
                           shown->leaves_equal ? "no longer" : "shorter");
        mxp__put_duration(screen, (double)shown->least_ns, out);
        mxp__strbuf_puts(out, " (--all shows them)\n");
    }
}

void mxp__life_put(const mxp_life_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"at", MXP_COLUMN_RIGHT, 0},    {"thread", MXP_COLUMN_NAME, 0},
        {"what", MXP_COLUMN_NAME, 0},   {"took", MXP_COLUMN_RIGHT, 0},
        {"share", MXP_COLUMN_RIGHT, 2}, {"with", MXP_COLUMN_NAME, 1}};
    mxp_text_table table;
    mxp_thread_labels labels = {0};
    shown_rows shown = choose_rows(view);
    size_t gap = 0;
    put_title(view, screen, out);
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < view->rows->count; i++) {
        const mxp_instance *instance = &view->rows->all[i];
        for (; gap < view->life->gap_count && view->life->gaps[gap].begin_ns < instance->begin_ns;
             gap++) {
            put_gap(view, &table, &view->life->gaps[gap]);
        }
        if (is_shown(&shown, instance)) {
            put_row(view, &labels, &table, instance);
        }
    }
    for (; gap < view->life->gap_count; gap++) {
        put_gap(view, &table, &view->life->gaps[gap]);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    mxp__thread_labels_fini(&labels);
    put_rest(screen, &shown, out);
    if (view->life->left_out == 0) {
        mxp__strbuf_putc(out, '\n');
        mxp__life_put_parts(view->life, screen, out);
    }
}

// ---- lists -------------------------------------------------------------------------------------
void mxp__instances_put(const mxp_instances *list, bool several_processes, const mxp_screen *screen,
                        mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"took", MXP_COLUMN_RIGHT, 0},
                                              {"at", MXP_COLUMN_RIGHT, 0},
                                              {"thread", MXP_COLUMN_NAME, 0},
                                              {"what", MXP_COLUMN_NAME, 0},
                                              {"with", MXP_COLUMN_NAME, 1}};
    mxp_text_table table;
    mxp_thread_labels labels = {0};
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < list->count; i++) {
        const mxp_instance *instance = &list->all[i];
        mxp_name_view name = instance->source->name(instance->source, instance->name);
        mxp__put_duration(screen, (double)mxp__instance_ns(instance), mxp__text_cell(&table));
        mxp__strbuf_printf(mxp__text_cell(&table), "%.6f s", (double)instance->begin_ns / 1e9);
        mxp__put_thread(&labels, screen, instance->source, instance->thread, several_processes,
                        mxp__text_cell(&table));
        mxp__put_label(screen, name.text, name.length, mxp__text_cell(&table));
        mxp_strbuf *cell = mxp__text_cell(&table);
        mxp__strbuf_puts(cell, is_open(instance) ? "still open " : "");
        mxp__put_args(screen, instance, cell);
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    mxp__thread_labels_fini(&labels);
}

// ---- JSON --------------------------------------------------------------------------------------
void mxp__instance_json(mxp_json *json, const mxp_instance *instance)
{
    static const char *const kinds[MXP_KIND_END] = {[MXP_KIND_SPAN] = "span",
                                                    [MXP_KIND_OPERATOR] = "operator",
                                                    [MXP_KIND_HIDDEN] = "operator",
                                                    [MXP_KIND_WAIT] = "wait"};
    const mxp_source *source = instance->source;
    mxp_name_view name = source->name(source, instance->name);
    mxp_name_view category = source->name(source, name.category);
    mxp_name_view thread = source->name(source, source->threads[instance->thread].name);
    mxp__json_bytes(json, "name", name.text, name.length);
    mxp__json_bytes(json, "category", category.text, category.length);
    mxp__json_text(json, "kind", instance->is_async ? "asynchronous" : kinds[instance->kind]);
    mxp__json_i64(json, "begin_ns", instance->begin_ns);
    mxp__json_i64(json, "duration_ns", mxp__instance_ns(instance));
    mxp__json_u64(json, "process", source->pid);
    mxp__json_u64(json, "thread", instance->thread);
    mxp__json_bytes(json, "thread_name", thread.text, thread.length);
    mxp__json_u64(json, "depth", instance->depth);
    mxp__json_bool(json, "is_open", is_open(instance));
    mxp__json_args(json, instance);
}

void mxp__life_json_parts(mxp_json *json, const mxp_life *life)
{
    mxp__json_array(json, "parts");
    for (size_t i = 0; i < life->part_count; i++) {
        const mxp_life_part *part = &life->parts[i];
        mxp__json_row(json, NULL);
        if (part->source == NULL) {
            mxp__json_null(json, "name");
        } else {
            mxp_name_view name = part->source->name(part->source, part->name);
            mxp__json_bytes(json, "name", name.text, name.length);
        }
        mxp__json_i64(json, "ns", part->ns);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__life_json(const mxp_life_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    const mxp_life *life = view->life;
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "of", view->title);
    mxp__json_i64(&json, "begin_ns", life->begin_ns);
    mxp__json_i64(&json, "duration_ns", life->end_ns - life->begin_ns);
    if (life->left_out > 0) {
        mxp__json_u64(&json, "left_out", life->left_out);
    }
    mxp__life_json_parts(&json, life);
    mxp__json_array(&json, "gaps");
    for (size_t i = 0; i < life->gap_count; i++) {
        mxp__json_row(&json, NULL);
        mxp__json_i64(&json, "begin_ns", life->gaps[i].begin_ns);
        mxp__json_i64(&json, "duration_ns", life->gaps[i].end_ns - life->gaps[i].begin_ns);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
    mxp__json_array(&json, "rows");
    for (size_t i = 0; i < view->rows->count; i++) {
        mxp__json_row(&json, NULL);
        mxp__instance_json(&json, &view->rows->all[i]);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}
