// SPDX-License-Identifier: Apache-2.0
// Steps: how long they take and how much that varies; one row each; and what their path is made of.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "report/report.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/shares.h"
#include "text/text_table.h"

static double length_of(const mxp_step_window *step)
{
    return (double)(step->end_ns - step->begin_ns);
}

static bool is_chosen(const mxp_report_process *process, size_t place)
{
    return process->choice.steps != NULL && process->choice.steps[place];
}

// ---- the summary -------------------------------------------------------------------------------
static void put_quantile(const mxp_time_report *report, const char *name, mxp_samples *lengths,
                         double fraction, mxp_strbuf *out)
{
    bool is_exact;
    mxp__strbuf_printf(out, "  %s ", name);
    mxp__put_duration(report->screen, (double)mxp__samples_quantile(lengths, fraction, &is_exact),
                      out);
}

static void put_line(const mxp_time_report *report, mxp_samples *lengths, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "steps %" PRIu64 "  mean ", report->rows.steps);
    mxp__put_duration(report->screen, (double)report->rows.wall_ns / (double)report->rows.steps,
                      out);
    put_quantile(report, "median", lengths, 0.5, out);
    put_quantile(report, "p90", lengths, 0.9, out);
    put_quantile(report, "p99", lengths, 0.99, out);
    put_quantile(report, "max", lengths, 1, out);
    mxp__strbuf_putc(out, '\n');
}

// The longest of those that are chosen and shorter than, or behind, the one before it.
static const mxp_step_window *next_slowest(const mxp_time_report *report,
                                           const mxp_step_window *before)
{
    const mxp_step_window *slowest = NULL;
    for (size_t p = 0; p < report->process_count; p++) {
        const mxp_report_process *process = &report->processes[p];
        for (size_t i = 0; i < process->steps.count; i++) {
            const mxp_step_window *step = &process->steps.all[i];
            const bool is_behind = before == NULL || length_of(step) < length_of(before) ||
                                   (length_of(step) == length_of(before) && step > before);
            if (is_chosen(process, i) && is_behind &&
                (slowest == NULL || length_of(step) > length_of(slowest))) {
                slowest = step;
            }
        }
    }
    return slowest;
}

static void put_slowest(const mxp_time_report *report, mxp_strbuf *out)
{
    enum { NAMED = 5, WORTH = 8 };
    if (report->rows.steps < WORTH || report->process_count > 1) {
        return;
    }
    const mxp_step_window *step = NULL;
    mxp__strbuf_puts(out, "slowest ");
    for (int i = 0; i < NAMED && (step = next_slowest(report, step)) != NULL; i++) {
        mxp__strbuf_printf(out, " %" PRIu64 ": ", step->number);
        mxp__put_duration(report->screen, length_of(step), out);
        mxp__strbuf_puts(out, i + 1 < NAMED ? " " : "");
    }
    mxp__strbuf_putc(out, '\n');
}

typedef struct left_out {
    size_t first_run, losses, pauses, open;
    bool is_forced;
} left_out;

static void count_left_out(const mxp_report_process *process, bool has_range, left_out *left)
{
    left->is_forced = left->is_forced || process->choice.is_forced;
    if (has_range) {  // what lies beyond it is not left out
        left->open += process->choice.incomplete;
        return;
    }
    const bool is_usual = process->choice.first_run + process->choice.incomplete > 0;
    for (size_t i = 0; i < process->steps.count; i++) {
        const mxp_step_window *step = &process->steps.all[i];
        if (is_usual && !is_chosen(process, i)) {
            *(step->is_first_run ? &left->first_run
              : step->has_loss   ? &left->losses
              : step->is_open    ? &left->open
                                 : &left->pauses) += 1;
        }
    }
}

static void put_other_threads(const mxp_time_report *report, const mxp_report_process *process,
                              mxp_strbuf *out)
{
    const mxp_steps *steps = &process->steps;
    if (steps->other_marks > 0) {
        mxp_strbuf name = {0};
        mxp__thread_label(process->source, steps->thread, &name);
        mxp__strbuf_puts(out, "steps are those of thread ");
        mxp__put_label(report->screen, mxp__strbuf_text(&name), name.length, out);
        mxp__strbuf_fini(&name);
        mxp__strbuf_printf(
            out, ", which marked most; left out: %" PRIu64 " marks of %" PRIu32 " other thread%s\n",
            steps->other_marks, steps->other_threads, steps->other_threads == 1 ? "" : "s");
    }
}

static void put_left_out(const mxp_time_report *report, mxp_strbuf *out)
{
    left_out left = {0};
    const mxp_choice_wish *wish = &report->wish->selection.window;
    for (size_t i = 0; i < report->process_count; i++) {
        count_left_out(&report->processes[i], wish->steps == MXP_STEPS_RANGE, &left);
    }
    const struct {
        size_t count;
        const char *why;
    } parts[] = {{left.first_run, "first ones, slower than 99 % of the others"},
                 {left.losses, "with losses"},
                 {left.pauses, "with a pause"},
                 {left.open, MXP_NO_END}};
    const size_t others = left.first_run + left.losses + left.pauses;
    bool is_first = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].count > 0) {
            const char *how = parts[i].why == parts[3].why && others > 0
                                  ? " (--step 0: takes them); "
                              : is_first ? "left out: "
                                         : "; ";
            mxp__strbuf_printf(out, "%s%zu %s", how, parts[i].count, parts[i].why);
            is_first = false;
        }
    }
    mxp__strbuf_puts(out, others > 0 && left.open == 0 ? " (--step 0: takes them)" : "");
    mxp__strbuf_puts(out, is_first ? "" : "\n");
    if (left.is_forced) {
        mxp__strbuf_puts(out, "no step is whole: all have losses, a pause or no end\n");
    }
    for (size_t i = 0; i < report->process_count; i++) {
        put_other_threads(report, &report->processes[i], out);
    }
}

static int take_lengths(const mxp_time_report *report, mxp_samples *lengths)
{
    int error = MXP_OK;
    for (size_t p = 0; p < report->process_count; p++) {
        const mxp_report_process *process = &report->processes[p];
        for (size_t i = 0; i < process->steps.count && error == MXP_OK; i++) {
            if (is_chosen(process, i)) {
                error = mxp__samples_add(lengths, (uint64_t)length_of(&process->steps.all[i]));
            }
        }
    }
    return error;
}

static void put_one_step(const mxp_time_report *report, mxp_strbuf *out)
{
    const mxp_step_window *step = next_slowest(report, NULL);
    mxp__strbuf_printf(out, "step %" PRIu64 ": ", step->number);
    mxp__put_duration(report->screen, length_of(step), out);
    mxp__strbuf_printf(out, ", at %.6f s\n", (double)step->begin_ns / 1e9);
    if (step->is_open) {
        mxp__strbuf_puts(out, MXP_NO_END_OF_ONE);
    }
}

static void put_time_window(const mxp_time_report *report, mxp_strbuf *out)
{
    if (report->summary.records == 0) {
        mxp__strbuf_puts(out, "nothing is recorded in it\n");
        return;
    }
    mxp__put_duration(report->screen, (double)report->rows.wall_ns, out);
    mxp__strbuf_puts(out, report->process_count > 1 ? " of all processes together" : " of time");
    if (report->processes[0].steps.count == 0) {
        mxp__strbuf_puts(out, ", no steps marked: figures are sums");
    } else {
        mxp__strbuf_puts(out, ": figures are sums");
    }
    mxp__strbuf_putc(out, '\n');
}

void mxp__report_put_summary(mxp_time_report *report, mxp_strbuf *out)
{
    mxp_samples lengths = {0};
    if (!mxp__report_has_steps(report)) {
        put_time_window(report, out);
    } else if (report->rows.steps == 1) {
        put_one_step(report, out);
    } else if (take_lengths(report, &lengths) == MXP_OK) {
        put_line(report, &lengths, out);
        put_slowest(report, out);
    } else {
        out->failed = true;
    }
    put_left_out(report, out);
    mxp__samples_fini(&lengths);
}

// ---- a row for each step -----------------------------------------------------------------------
// Of the path of a step: operators that run, the program, and the rest.
typedef struct step_parts {
    uint64_t run_ns, host_ns, rest_ns;
} step_parts;

static int parts_of(const mxp_time_report *report, mxp_report_process *process, step_parts *parts)
{
    mxp_path_rows path = {0};
    if (!report->rows.has_path) {
        return MXP_OK;
    }
    int error = mxp__path_rows_of_steps(process->source, &process->steps, process->choice.steps,
                                        report->wish->memory_bytes, &path);
    for (size_t i = 0; i < path.cell_count && error == MXP_OK; i++) {
        const mxp_path_cell *cell = &path.cells[i];
        const int kind = path.rows[cell->row].kind;
        step_parts *of = &parts[cell->step];
        *(kind == MXP__PATH_RUN          ? &of->run_ns
          : mxp__path_kind_is_host(kind) ? &of->host_ns
                                         : &of->rest_ns) += (uint64_t)cell->ns;
    }
    mxp__path_rows_fini(&path);
    return error;
}

static void put_recorded(const mxp_time_report *report, uint64_t ns, mxp_strbuf *cell)
{
    if (ns == MXP__NOT_RECORDED) {
        mxp__strbuf_putc(cell, '-');
    } else {
        mxp__put_duration(report->screen, (double)ns, cell);
    }
}

static const char *note_of(const mxp_step_window *step)
{
    return step->has_loss       ? "losses"
           : step->has_pause    ? "a pause"
           : step->is_open      ? "no end"
           : step->is_first_run ? "first run"
                                : "";
}

static void put_step(mxp_time_report *report, const mxp_step_window *step, const step_parts *parts,
                     double longest_ns, mxp_text_table *table)
{
    mxp__strbuf_printf(mxp__text_cell(table), "%" PRIu64, step->number);
    mxp__strbuf_printf(mxp__text_cell(table), "%.6f", (double)step->begin_ns / 1e9);
    mxp__put_duration(report->screen, length_of(step), mxp__text_cell(table));
    mxp__text_bar(table, longest_ns > 0 ? length_of(step) / longest_ns : 0);
    const uint64_t parts_ns[] = {parts->run_ns, parts->host_ns, parts->rest_ns};
    for (int i = 0; i < 3; i++) {
        put_recorded(report, report->rows.has_path ? parts_ns[i] : MXP__NOT_RECORDED,
                     mxp__text_cell(table));
    }
    put_recorded(report, step->cpu_ns, mxp__text_cell(table));
    put_recorded(report, step->run_delay_ns, mxp__text_cell(table));
    mxp__strbuf_puts(mxp__text_cell(table), note_of(step));
    mxp__text_row(table, length_of(step) == longest_ns ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
}

static int put_process(mxp_time_report *report, mxp_report_process *process, mxp_text_table *table)
{
    const size_t count = process->steps.count, bytes = count * sizeof(step_parts);
    const mxp_step_window *slowest = next_slowest(report, NULL);
    step_parts *parts = mxp__alloc(bytes);
    int error = parts == NULL && count > 0 ? mxp__fail_memory("the report")
                                           : parts_of(report, process, parts);
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        if (is_chosen(process, i)) {
            put_step(report, &process->steps.all[i], &parts[i], length_of(slowest), table);
        }
    }
    mxp__free(parts, bytes);
    return error;
}

int mxp__report_put_steps(mxp_time_report *report, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"step", MXP_COLUMN_RIGHT, 0},    {"at, s", MXP_COLUMN_RIGHT, 0},
        {"took", MXP_COLUMN_RIGHT, 0},    {"", MXP_COLUMN_BAR, 0},
        {"run", MXP_COLUMN_RIGHT, 0},     {"program", MXP_COLUMN_RIGHT, 0},
        {"rest", MXP_COLUMN_RIGHT, 0},    {"CPU", MXP_COLUMN_RIGHT, 1},
        {"no core", MXP_COLUMN_RIGHT, 1}, {"", MXP_COLUMN_LEFT, 0}};
    mxp_text_table table;
    int error = MXP_OK;
    if (!mxp__report_has_steps(report)) {
        return MXP_OK;
    }
    mxp__text_table_init(&table, report->screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < report->process_count && error == MXP_OK; i++) {
        error = put_process(report, &report->processes[i], &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    return error;
}

// ---- what the path is made of ------------------------------------------------------------------
typedef struct kind_share {
    uint64_t ns;
    int kind;
} kind_share;

static int compare_kinds(const void *left, const void *right)
{
    const kind_share *a = left, *b = right;
    return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : a->kind - b->kind;
}

int mxp__report_put_path(mxp_time_report *report, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"on the path", MXP_COLUMN_NAME, 0},
                                              {"time", MXP_COLUMN_RIGHT, 0},
                                              {"share", MXP_COLUMN_RIGHT, 0},
                                              {"", MXP_COLUMN_BAR, 0}};
    kind_share kinds[MXP__PATH_KINDS];
    uint64_t values[MXP__PATH_KINDS], tenths[MXP__PATH_KINDS];
    for (int i = 0; i < MXP__PATH_KINDS; i++) {
        kinds[i] = (kind_share){report->rows.path_kinds_ns[i], i};
    }
    qsort(kinds, MXP__PATH_KINDS, sizeof *kinds, compare_kinds);
    for (int i = 0; i < MXP__PATH_KINDS; i++) {
        values[i] = kinds[i].ns;
    }
    const uint64_t wall_ns = report->rows.path_wall_ns > 0 ? report->rows.path_wall_ns : 1;
    int error = mxp__share_tenths(values, MXP__PATH_KINDS, wall_ns, tenths);
    if (error != MXP_OK) {
        return error;
    }
    mxp_text_table table;
    mxp__text_table_init(&table, report->screen, columns, 4);
    for (int i = 0; i < MXP__PATH_KINDS && kinds[i].ns > 0; i++) {
        mxp__strbuf_puts(mxp__text_cell(&table), mxp__path_kind_name(kinds[i].kind));
        mxp__put_duration(report->screen, (double)kinds[i].ns / mxp__report_per(report),
                          mxp__text_cell(&table));
        mxp__put_tenths(tenths[i], mxp__text_cell(&table));
        mxp__text_bar(&table, (double)tenths[i] / 1000);
        mxp__text_row(&table, i == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    return MXP_OK;
}
