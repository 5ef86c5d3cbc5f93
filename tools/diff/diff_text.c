// SPDX-License-Identifier: Apache-2.0
// The comparison for a screen: what differs besides times, the verdict, and what the difference
// consists of.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/diff.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/analysis/window/choice.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { WARNINGS_SHOWN = 5 };

static const char *const side_names[MXP__SIDES] = {"before", "after"};

// ---- sides -------------------------------------------------------------------------------------
// All steps of the runs that count, to find the middle one and those that are long.
static double *put_lengths(const mxp_diff *diff, int side, size_t *count)
{
    const mxp_side *runs = &diff->comparison.sides[side];
    *count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        *count += mxp__run_counts(&diff->comparison, side, i) ? runs->runs[i].step_count : 0;
    }
    double *lengths = mxp__alloc(*count * sizeof *lengths), *at = lengths;
    for (size_t i = 0; i < runs->count && lengths != NULL; i++) {
        if (mxp__run_counts(&diff->comparison, side, i)) {
            memcpy(at, runs->runs[i].lengths_ns, runs->runs[i].step_count * sizeof *at);
            at += runs->runs[i].step_count;
        }
    }
    return lengths;
}

static void put_side(const mxp_screen *screen, const mxp_diff *diff, int side,
                     mxp_text_table *table)
{
    size_t count;
    double *lengths = put_lengths(diff, side, &count);
    mxp_strbuf *cell = mxp__text_cell(table);
    mxp__strbuf_puts(cell, side_names[side]);
    mxp__put_count((double)diff->comparison.wall.counts[side], mxp__text_cell(table));
    mxp__put_count((double)count, mxp__text_cell(table));
    mxp__put_duration(screen, diff->comparison.wall.means_ns[side], mxp__text_cell(table));
    mxp_strbuf *median = mxp__text_cell(table);
    if (lengths != NULL) {
        mxp__sample_sort(lengths, count);
        mxp__put_duration(screen, mxp__sample_median(lengths, count), median);
        mxp__put_duration(screen, mxp__sample_percentile(lengths, count, 0.9),
                          mxp__text_cell(table));
    }
    const mxp_judged *cpu = &diff->comparison.cpu;
    if (cpu->is_known) {
        cell = lengths != NULL ? mxp__text_cell(table) : median;
        mxp__put_duration(screen, cpu->means_ns[side], cell);
    }
    mxp__text_row(table, MXP_LOOK_PLAIN);
    mxp__free(lengths, count * sizeof *lengths);
}

static void put_sides(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"", MXP_COLUMN_LEFT, 0},          {"runs", MXP_COLUMN_RIGHT, 0},
        {"steps", MXP_COLUMN_RIGHT, 0},    {"mean a step", MXP_COLUMN_RIGHT, 0},
        {"median", MXP_COLUMN_RIGHT, 0},   {"p90", MXP_COLUMN_RIGHT, 0},
        {"CPU time", MXP_COLUMN_RIGHT, 0},
    };
    const size_t count = sizeof columns / sizeof *columns - !diff->comparison.cpu.is_known;
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, count);
    for (int side = 0; side < MXP__SIDES; side++) {
        put_side(screen, diff, side, &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

// ---- verdict -----------------------------------------------------------------------------------
static const char *verdict_words(const mxp_judged *judged)
{
    switch (judged->verdict) {
    case MXP_VERDICT_SLOWER:
        return "slower: ";
    case MXP_VERDICT_FASTER:
        return "faster: ";
    case MXP_VERDICT_SAME:
        return "the same: ";
    case MXP_VERDICT_CANNOT_TELL:
        return judged->test.p > 0.05 ? "no difference seen: "
                                     : "a difference, perhaps a small one: ";
    default:
        return "difference: ";
    }
}

static void put_smallest(const mxp_judged *judged, const char *before, const char *behind,
                         mxp_strbuf *out)
{
    if (!isnan(judged->smallest)) {
        mxp__strbuf_printf(out, "%s %.1f %% or more would have been seen%s", before,
                           100 * judged->smallest, behind);
    }
}

static void put_why_none(const mxp_diff *diff, mxp_strbuf *out)
{
    mxp_strbuf why = {0};
    mxp__put_why_no_verdict(diff, &why);
    if (why.length > 0) {
        const bool is_disturbed = diff->comparison.wall.verdict == MXP_VERDICT_DISTURBED;
        mxp__strbuf_printf(out, "No verdict%s: %s.\n", is_disturbed ? " on the wall time" : "",
                           mxp__strbuf_text(&why));
    }
    mxp__strbuf_fini(&why);
}

static void put_verdict(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_judged *wall = &diff->comparison.wall, *cpu = &diff->comparison.cpu;
    mxp__look_begin(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_puts(out, verdict_words(wall));
    mxp__put_judgement(wall, out);
    mxp__look_end(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_putc(out, '\n');
    put_smallest(wall, "A change of", ".\n", out);
    put_why_none(diff, out);
    if (wall->pairs > 0) {
        mxp__strbuf_printf(out, "The runs were made in turn: %zu pairs were compared.\n",
                           wall->pairs);
    }
    if (cpu->is_known) {
        mxp__strbuf_puts(out, "CPU time, ");
        mxp__strbuf_puts(out, verdict_words(cpu));
        mxp__put_judgement(cpu, out);
        put_smallest(cpu, "\n   ", "", out);
        mxp__strbuf_putc(out, '\n');
    }
}

// ---- what is to be known of the runs -----------------------------------------------------------
// Of all runs.
typedef struct run_notes {
    uint64_t marred, other_marks, contradictions;
} run_notes;

static run_notes notes_of(const mxp_diff *diff)
{
    run_notes notes = {0};
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < diff->comparison.sides[side].count; i++) {
            const mxp_compared_run *run = &diff->comparison.sides[side].runs[i];
            notes.marred += run->marred_steps;
            notes.other_marks += run->other_marks;
            notes.contradictions += run->contradictions;
        }
    }
    return notes;
}

// Nothing for a count of 0.
static void put_note(uint64_t count, const char *one, const char *several, mxp_strbuf *out)
{
    if (count > 0) {
        mxp__put_grouped(count, out);
        mxp__strbuf_printf(out, " %s\n", count == 1 ? one : several);
    }
}

static void put_disturbed(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_comparison *comparison = &diff->comparison;
    if (!comparison->knows_delay) {
        mxp__strbuf_puts(out,
                         "Run delay is not recorded: runs that the machine disturbed cannot be "
                         "told.\n");
    }
    if (comparison->disturbed > 0 && comparison->wall.verdict != MXP_VERDICT_DISTURBED) {
        mxp__strbuf_printf(
            out, "%zu %s disturbed (run delay above %.0f %% of the time)%s\n",
            comparison->disturbed, comparison->disturbed == 1 ? "run was" : "runs were",
            100 * comparison->delay_bound, comparison->keeps_disturbed ? "." : " and left out:");
    }
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            if (!mxp__run_counts(comparison, side, i)) {
                const mxp_compared_run *run = &comparison->sides[side].runs[i];
                mxp__strbuf_puts(out, "    ");
                mxp__put_label(screen, run->path, strlen(run->path), out);
                mxp__strbuf_printf(out, "  %.0f %%\n", 100 * mxp__compared_run_delay(run));
            }
        }
    }
}

static void put_notes(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_compared_run *first = &diff->comparison.sides[MXP__BEFORE].runs[0];
    if (!first->has_steps) {
        mxp__strbuf_puts(
            out,
            "No steps are marked: whole recordings are compared. " MXP_STEPS_ARE_MARKED_BY ".\n");
    }
    const run_notes notes = notes_of(diff);
    put_note(notes.marred, "step is left out: records were lost in it, or there is a pause.",
             "steps are left out: records were lost in them, or there is a pause.", out);
    put_note(notes.other_marks, "mark of a step is another thread's, and left out.",
             "marks of steps are other threads', and left out.", out);
    put_note(notes.contradictions, "place at which records contradict one another is 'unknown'.",
             "places at which records contradict one another are 'unknown'.", out);
    put_disturbed(screen, diff, out);
    mxp__put_busy(diff, out);
}

// ---- contributions -----------------------------------------------------------------------------
// "new", "gone", the probability, or that it is noise or too small for a test; empty where nothing
// was tested.
static void put_state(const mxp_contribution *row, bool has_tests, mxp_strbuf *out)
{
    const bool is_new = row->ns[MXP__BEFORE] == 0, is_gone = row->ns[MXP__AFTER] == 0;
    mxp__strbuf_puts(out, is_new ? "new" : is_gone ? "gone" : "");
    if (has_tests && !row->is_told) {
        mxp__strbuf_puts(out, is_new || is_gone ? ", " : "");
        mxp__strbuf_puts(out, row->is_tested ? "noise" : "small");
    } else if (row->is_tested && !is_new && !is_gone) {
        mxp__put_p(row->adjusted_p, out);
    }
}

static void put_times(const mxp_screen *screen, const int64_t *ns, int64_t all_ns,
                      mxp_text_table *table)
{
    const int64_t change = ns[MXP__AFTER] - ns[MXP__BEFORE];
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp__put_duration(screen, (double)ns[side], mxp__text_cell(table));
    }
    mxp__put_duration_change(screen, (double)change, mxp__text_cell(table));
    mxp_strbuf *share = mxp__text_cell(table);
    if (all_ns != 0) {
        mxp__put_percent((double)change / (double)all_ns, share);
    }
}

static void put_row(const mxp_screen *screen, const mxp_row_key *key, const mxp_contribution *row,
                    int64_t all_ns, bool has_tests, mxp_text_table *table)
{
    mxp_strbuf name = {0};
    mxp__put_row_name(key, &name);
    mxp__put_label(screen, mxp__strbuf_text(&name), name.length, mxp__text_cell(table));
    put_times(screen, row->ns, all_ns, table);
    put_state(row, has_tests, mxp__text_cell(table));
    mxp__text_row(table, row->is_told || !has_tests ? MXP_LOOK_PLAIN : MXP_LOOK_FAINT);
    mxp__strbuf_fini(&name);
}

static void put_others(const mxp_screen *screen, const mxp_contributions *found, size_t shown,
                       int64_t all_ns, mxp_text_table *table)
{
    int64_t ns[MXP__SIDES] = {0};
    for (size_t i = shown; i < found->count; i++) {
        ns[MXP__BEFORE] += found->all[i].ns[MXP__BEFORE];
        ns[MXP__AFTER] += found->all[i].ns[MXP__AFTER];
    }
    if (shown < found->count) {
        mxp__strbuf_printf(mxp__text_cell(table), "%zu %s", found->count - shown,
                           found->count - shown == 1 ? "other" : "others");
        put_times(screen, ns, all_ns, table);
        mxp__text_row(table, MXP_LOOK_FAINT);
    }
}

// Shares of a difference that is noise would be noise over noise.
static bool has_shares(const mxp_judged *wall)
{
    return wall->test.splits == 0 || wall->test.p <= 0.05;
}

static void put_contributions(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const bool has_operators = diff->comparison.sides[MXP__BEFORE].runs[0].has_operators;
    const mxp_text_column columns[] = {
        {has_operators ? "on the path" : "on the steps' thread", MXP_COLUMN_NAME, 0},
        {"before", MXP_COLUMN_RIGHT, 0},
        {"after", MXP_COLUMN_RIGHT, 0},
        {"change", MXP_COLUMN_RIGHT, 0},
        {has_shares(&diff->comparison.wall) ? "of it" : "", MXP_COLUMN_RIGHT, 1},
        {"", MXP_COLUMN_LEFT, 2},
    };
    const mxp_contributions *found = &diff->contributions;
    const int64_t change_ns = found->ns[MXP__AFTER] - found->ns[MXP__BEFORE];
    const int64_t all_ns = has_shares(&diff->comparison.wall) ? change_ns : 0;
    const bool has_tests = diff->comparison.wall.test.splits > 0;
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof *columns);
    const size_t shown = found->count < diff->rows_shown ? found->count : diff->rows_shown;
    for (size_t i = 0; i < shown; i++) {
        put_row(screen, &diff->comparison.rows.path.all[found->all[i].row], &found->all[i], all_ns,
                has_tests, &table);
    }
    put_others(screen, found, shown, all_ns, &table);
    mxp__strbuf_puts(mxp__text_cell(&table), "a step");
    put_times(screen, found->ns, all_ns, &table);
    mxp__text_row(&table, MXP_LOOK_TOTAL);
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void put_slower(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_contributions *found = &diff->contributions;
    for (size_t i = 0; i < found->slower_count && i < WARNINGS_SHOWN; i++) {
        const mxp_contribution *row = &found->slower[i];
        mxp_strbuf name = {0};
        mxp__put_row_name(&diff->comparison.rows.operators.all[row->row], &name);
        mxp__strbuf_puts(out, "warning: ");
        mxp__put_label(screen, mxp__strbuf_text(&name), name.length, out);
        mxp__strbuf_puts(out, " runs longer beside the path:\n    ");
        mxp__put_duration(screen, (double)row->ns[MXP__BEFORE], out);
        mxp__strbuf_puts(out, " -> ");
        mxp__put_duration(screen, (double)row->ns[MXP__AFTER], out);
        mxp__strbuf_puts(out, " a step, ");
        mxp__put_p(row->adjusted_p, out);
        mxp__strbuf_putc(out, '\n');
        mxp__strbuf_fini(&name);
    }
}

static void put_refusal(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_differences *differences = &diff->differences;
    mxp__strbuf_printf(out,
                       "Refused: these are different programs.\n%zu rows are common to both, of "
                       "%zu before and %zu after.\n--force compares them all the same.\n",
                       differences->common_rows, differences->rows[MXP__BEFORE],
                       differences->rows[MXP__AFTER]);
}

void mxp__diff_put_text(const mxp_screen *screen, const mxp_diff *diff, mxp_strbuf *out)
{
    if (diff->is_refused) {
        put_refusal(diff, out);
        mxp__diff_put_differences(screen, diff, out);
        return;
    }
    mxp__diff_put_differences(screen, diff, out);
    put_notes(screen, diff, out);
    mxp__strbuf_putc(out, '\n');
    put_sides(screen, diff, out);
    mxp__strbuf_putc(out, '\n');
    put_verdict(screen, diff, out);
    mxp__strbuf_putc(out, '\n');
    put_contributions(screen, diff, out);
    put_slower(screen, diff, out);
}
