// SPDX-License-Identifier: Apache-2.0
// The command `path` for people: sums of many steps, or the pieces of one.
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "instances/thread_labels.h"
#include "path_view.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/phase.h"
#include "text/text_table.h"

static void put_part(const mxp_screen *screen, const char *what, uint64_t ns, uint64_t total_ns,
                     uint64_t steps, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%s ", what);
    mxp__put_duration(screen, (double)ns / (double)steps, out);
    mxp__strbuf_puts(out, " (");
    mxp__put_percent(total_ns == 0 ? 0 : (double)ns / (double)total_ns, out);
    mxp__strbuf_putc(out, ')');
}

// "run 6.15 ms (69.0%) + between calls 2.73 ms (30.0%) + ...": what there is any of.
static void put_kinds(const mxp_path_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    const char *before = "";
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        const uint64_t ns = mxp__path_view_kind_ns(view, kind);
        if (ns > 0) {
            mxp__strbuf_puts(out, before);
            put_part(screen, mxp__path_kind_name(kind), ns, view->rows.total_ns, view->rows.steps,
                     out);
            before = "\n  + ";
        }
    }
    mxp__strbuf_putc(out, '\n');
}

// Time that nothing explains is said first, with why.
static void put_unknown(const mxp_path_view *view, mxp_strbuf *out)
{
    const uint64_t ns = mxp__path_view_kind_ns(view, MXP__PATH_UNKNOWN);
    if (ns == 0 || ns * 100 <= view->rows.total_ns) {
        return;
    }
    mxp__strbuf_puts(out, "not known: ");
    mxp__put_percent((double)ns / (double)view->rows.total_ns, out);
    mxp__strbuf_puts(out, " of the path");
    mxp__strbuf_puts(out, view->rows.contradictions > 0
                              ? ", for records contradict one another\n"
                              : ", for operators have no record (an older library, records lost, "
                                "a pause)\n");
}

// ---- one step ----------------------------------------------------------------------------------
static void put_piece(const mxp_path_view *view, const mxp_screen *screen,
                      const mxp_path_long *kept, mxp_text_table *table)
{
    const mxp_path_piece *piece = &kept->piece;
    mxp__put_duration(screen, (double)(piece->from_ns - view->begin_ns), mxp__text_cell(table));
    mxp__put_duration(screen, (double)(piece->to_ns - piece->from_ns), mxp__text_cell(table));
    mxp__strbuf_puts(mxp__text_cell(table), mxp__path_kind_name(piece->kind));
    mxp_strbuf label = {0};
    mxp__path_view_label(view, piece->kind, kept->name, kept->scope, &label);
    mxp__put_label(screen, mxp__strbuf_text(&label), label.length, mxp__text_cell(table));
    mxp__strbuf_fini(&label);
    mxp__strbuf_puts(mxp__text_cell(table), mxp__phase_label(kept->phase));
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_pieces(const mxp_path_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"at", MXP_COLUMN_RIGHT, 0},
                                              {"took", MXP_COLUMN_RIGHT, 0},
                                              {"what", MXP_COLUMN_LEFT, 0},
                                              {"where", MXP_COLUMN_NAME, 0},
                                              {"", MXP_COLUMN_LEFT, 1}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < view->piece_count; i++) {
        put_piece(view, screen, &view->pieces[i], &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

// ---- sums --------------------------------------------------------------------------------------
static int compare_rows(const void *a, const void *b)
{
    const mxp_path_row *const *x = a, *const *y = b;
    if ((*x)->total_ns != (*y)->total_ns) {
        return (*x)->total_ns > (*y)->total_ns ? -1 : 1;
    }
    return *x < *y ? -1 : *x > *y;
}

// Whether another row is told apart from this one by its phase alone.
static bool in_several_phases(const mxp_path_view *view, const mxp_path_row *row)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        const mxp_path_row *other = &view->rows.rows[i];
        if (other->kind == row->kind && other->name == row->name && other->scope == row->scope &&
            other->phase != row->phase) {
            return true;
        }
    }
    return false;
}

static void put_row(const mxp_path_view *view, const mxp_screen *screen, const mxp_path_row *row,
                    mxp_text_table *table)
{
    const double share = (double)row->total_ns / (double)view->rows.total_ns;
    mxp_strbuf label = {0};
    mxp__path_view_label(view, row->kind, row->name, row->scope, &label);
    mxp_strbuf *cell = mxp__text_cell(table);
    mxp__put_label(screen, mxp__strbuf_text(&label), label.length, cell);
    mxp__strbuf_fini(&label);
    if (mxp__phase_label(row->phase)[0] != '\0' && in_several_phases(view, row)) {
        mxp__strbuf_printf(cell, " (%s)", mxp__phase_label(row->phase));
    }
    mxp__strbuf_puts(mxp__text_cell(table), mxp__path_kind_name(row->kind));
    mxp__put_duration(screen, (double)row->total_ns / (double)view->rows.steps,
                      mxp__text_cell(table));
    mxp__put_percent(share, mxp__text_cell(table));
    mxp__text_bar(table, share);
    if (view->choice->steps != NULL) {
        mxp__strbuf_printf(mxp__text_cell(table), "%" PRIu64, row->steps);
    }
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_others(const mxp_path_view *view, const mxp_screen *screen, uint64_t ns,
                       size_t count, mxp_text_table *table)
{
    mxp__strbuf_printf(mxp__text_cell(table), "%zu others", count);
    mxp__strbuf_puts(mxp__text_cell(table), "");
    mxp__put_duration(screen, (double)ns / (double)view->rows.steps, mxp__text_cell(table));
    mxp__put_percent((double)ns / (double)view->rows.total_ns, mxp__text_cell(table));
    mxp__text_row(table, MXP_LOOK_FAINT);
}

static void put_rows(const mxp_path_view *view, const mxp_screen *screen, size_t top,
                     mxp_strbuf *out)
{
    const bool has_steps = view->choice->steps != NULL;
    const mxp_text_column columns[] = {{"on the path", MXP_COLUMN_NAME, 0},
                                       {"what", MXP_COLUMN_LEFT, 0},
                                       {has_steps ? "a step" : "time", MXP_COLUMN_RIGHT, 0},
                                       {"share", MXP_COLUMN_RIGHT, 0},
                                       {"", MXP_COLUMN_BAR, 2},
                                       {"steps", MXP_COLUMN_RIGHT, 1}};
    const size_t column_count = sizeof columns / sizeof columns[0] - (has_steps ? 0 : 1);
    const size_t count = view->rows.count, bytes = count * sizeof(mxp_path_row *);
    const mxp_path_row **sorted = mxp__alloc(bytes);
    if (sorted == NULL) {
        out->failed |= count > 0;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &view->rows.rows[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_rows);
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, column_count);
    uint64_t rest_ns = view->rows.total_ns;
    const size_t shown = count < top ? count : top;
    for (size_t i = 0; i < shown; i++) {
        rest_ns -= sorted[i]->total_ns;
        put_row(view, screen, sorted[i], &table);
    }
    if (shown < count) {
        put_others(view, screen, rest_ns, count - shown, &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    mxp__free(sorted, bytes);
}

void mxp__path_view_put_place(const mxp_path_view *view, const mxp_screen *screen, int kind,
                              uint32_t name, uint32_t scope, mxp_strbuf *out)
{
    if (name != 0 || scope != 0) {
        mxp__strbuf_printf(out, "%s ", mxp__path_kind_name(kind));
    }
    mxp_strbuf label = {0};
    mxp__path_view_label(view, kind, name, scope, &label);
    mxp__put_label(screen, mxp__strbuf_text(&label), label.length, out);
    mxp__strbuf_fini(&label);
}

static void put_longest(const mxp_path_view *view, const mxp_steps *steps, const mxp_screen *screen,
                        mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "\nlongest pieces\n");
    for (size_t i = 0; i < view->longest_count; i++) {
        const mxp_path_long *kept = &view->longest[i];
        mxp__strbuf_puts(out, "  ");
        mxp__put_duration(screen, (double)(kept->piece.to_ns - kept->piece.from_ns), out);
        mxp__strbuf_puts(out, "  ");
        mxp__path_view_put_place(view, screen, kept->piece.kind, kept->name, kept->scope, out);
        if (view->choice->steps != NULL) {
            mxp__strbuf_printf(out, ", step %" PRIu64, steps->all[kept->step].number);
        }
        mxp__strbuf_putc(out, '\n');
    }
}

// Of several threads only one is where a window without steps ends.
static void put_from_thread(const mxp_path_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_source *source = view->process;
    mxp_thread_labels labels = {0};
    if (source->thread_count < 2 || view->from_thread >= source->thread_count) {
        return;
    }
    const bool is_named = source->name(source, source->threads[view->from_thread].name).length > 0;
    mxp__strbuf_puts(out,
                     is_named ? ", back from the end of thread \"" : ", back from the end of ");
    mxp__put_thread(&labels, screen, source, view->from_thread, false, out);
    mxp__thread_labels_fini(&labels);
    mxp__strbuf_puts(out, is_named ? "\"" : "");
}

static void put_head(const mxp_path_view *view, const mxp_steps *steps, const mxp_screen *screen,
                     mxp_strbuf *out)
{
    if (view->choice->steps == NULL) {
        mxp__strbuf_puts(out, "window of ");
    } else if (view->choice->step_count == 1 && view->piece_count > 0) {
        mxp__strbuf_printf(out, "step %" PRIu64 ": ", steps->all[view->pieces[0].step].number);
    } else {
        mxp__strbuf_printf(out, "%zu steps, each ", view->choice->step_count);
    }
    mxp__put_duration(screen, (double)view->rows.total_ns / (double)view->rows.steps, out);
    if (view->choice->steps == NULL) {
        put_from_thread(view, screen, out);
    }
    mxp__strbuf_puts(out, " =\n    ");
    put_kinds(view, screen, out);
}

void mxp__path_view_print(const mxp_path_view *view, const mxp_steps *steps,
                          const mxp_screen *screen, mxp_strbuf *out)
{
    enum { TOP = 20 };
    assert(!mxp__path_view_is_empty(view));
    put_unknown(view, out);
    put_head(view, steps, screen, out);
    mxp__path_view_put_bounds(view, screen, out);
    mxp__strbuf_putc(out, '\n');
    if (view->choice->step_count == 1 && view->keeps_pieces) {
        put_pieces(view, screen, out);
        mxp__path_view_put_layers(view, screen, out);
        return;
    }
    put_rows(view, screen, TOP, out);
    mxp__path_view_put_layers(view, screen, out);
    put_longest(view, steps, screen, out);
    if (view->choice->steps != NULL) {
        mxp__path_view_put_varying(view, steps, screen, out);
    }
}

// ---- JSON --------------------------------------------------------------------------------------
static void json_piece(const mxp_path_view *view, const mxp_steps *steps, const mxp_path_long *kept,
                       mxp_json *json)
{
    mxp_strbuf label = {0};
    mxp__path_view_label(view, kept->piece.kind, kept->name, kept->scope, &label);
    mxp__json_row(json, NULL);
    if (view->choice->steps != NULL) {
        mxp__json_u64(json, "step", steps->all[kept->step].number);
    }
    mxp__json_i64(json, "from_ns", kept->piece.from_ns);
    mxp__json_i64(json, "to_ns", kept->piece.to_ns);
    mxp__json_text(json, "what", mxp__path_kind_name(kept->piece.kind));
    mxp__json_bytes(json, "where", mxp__strbuf_text(&label), label.length);
    mxp__json_u64(json, "thread", kept->piece.thread);
    if (kept->piece.op != 0) {
        mxp__json_u64(json, "operator", kept->piece.op);
    }
    mxp__json_end(json);
    mxp__strbuf_fini(&label);
}

static void json_row(const mxp_path_view *view, const mxp_path_row *row, mxp_json *json)
{
    mxp_strbuf label = {0};
    mxp__path_view_label(view, row->kind, row->name, row->scope, &label);
    mxp__json_row(json, NULL);
    mxp__json_text(json, "what", mxp__path_kind_name(row->kind));
    mxp__json_bytes(json, "where", mxp__strbuf_text(&label), label.length);
    mxp__json_text(json, "phase", mxp__phase_label(row->phase));
    mxp__json_u64(json, "total_ns", row->total_ns);
    mxp__json_u64(json, "pieces", row->pieces);
    mxp__json_u64(json, "steps", row->steps);
    mxp__json_end(json);
    mxp__strbuf_fini(&label);
}

void mxp__path_view_json(const mxp_path_view *view, const mxp_steps *steps, mxp_json *json)
{
    mxp__json_u64(json, "pid", view->process->pid);
    mxp__json_u64(json, "steps", view->choice->steps == NULL ? 0 : view->choice->step_count);
    mxp__json_u64(json, "total_ns", view->rows.total_ns);
    mxp__json_u64(json, "contradictions", view->rows.contradictions);
    if (view->has_bounds) {
        mxp__json_row(json, "bounds_ns");
        mxp__json_number(json, "work", view->work_ns);
        mxp__json_u64(json, "workers", view->workers);
        mxp__json_number(json, "dependencies", view->dependent_ns);
        mxp__json_number(json, "program", view->program_ns);
        mxp__json_end(json);
    }
    mxp__json_object(json, "kinds_ns");
    for (int kind = 0; kind < MXP__PATH_KINDS; kind++) {
        mxp__json_u64(json, mxp__path_kind_name(kind), mxp__path_view_kind_ns(view, kind));
    }
    mxp__json_end(json);
    mxp__json_array(json, "rows");
    for (size_t i = 0; i < view->rows.count; i++) {
        json_row(view, &view->rows.rows[i], json);
    }
    mxp__json_end(json);
    mxp__json_array(json, "pieces");
    for (size_t i = 0; i < view->piece_count; i++) {
        json_piece(view, steps, &view->pieces[i], json);
    }
    mxp__json_end(json);
}
