// SPDX-License-Identifier: Apache-2.0
// The command `explain` for people: one screen, at most 25 lines.
#include <inttypes.h>
#include <string.h>

#include "explain_ranks.h"
#include "explain_view.h"
#include "profiler/analysis/window/choice.h"
#include "summary.h"
#include "text/figure.h"
#include "text/label.h"

enum { CAUSES_SHOWN = 3, INDENT = 3, LINES_MOST = 25 };

static double share_of(const mxp_explained *of, double ns)
{
    return of->verdict.mean_ns > 0 ? ns / of->verdict.mean_ns : 0;
}

// ---- head --------------------------------------------------------------------------------------
static void put_busy(const mxp_explained *of, mxp_strbuf *out)
{
    const mxp_verdict *verdict = &of->verdict;
    const bool is_busy = verdict->delay_share > MXP_BUSY_DELAY_SHARE;
    mxp__strbuf_puts(out, is_busy ? "The machine was busy: run delay "
                                  : "The steps differ much from one another: run delay ");
    if (verdict->delay_share < 0) {
        mxp__strbuf_puts(out, "not recorded");
    } else {
        mxp__put_percent(verdict->delay_share, out);
        mxp__strbuf_puts(out, " of the time");
    }
    mxp__strbuf_puts(out, "; noise ");
    mxp__put_percent(share_of(of, verdict->noise_ns), out);
    mxp__strbuf_puts(out, " of a step\n");
}

static void put_lengths(const mxp_explained *of, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_verdict *verdict = &of->verdict;
    mxp__strbuf_printf(out, "%zu step%s, ", verdict->steps, verdict->steps == 1 ? "" : "s");
    mxp__put_duration(screen, verdict->mean_ns, out);
    if (verdict->steps == 1) {
        mxp__strbuf_puts(out, "; one step: no statement about variation, and no cause is told\n");
        return;
    }
    mxp__strbuf_puts(out, " each (median ");
    mxp__put_duration(screen, verdict->median_ns, out);
    mxp__strbuf_puts(out, ", p90 ");
    mxp__put_duration(screen, verdict->p90_ns, out);
    mxp__strbuf_puts(out, "); ");
    if (!verdict->has_noise) {
        mxp__strbuf_printf(out, "below %d steps no cause is told\n", (int)MXP_VERDICT_STEPS_MIN);
        return;
    }
    mxp__strbuf_puts(out, "noise of the mean ");
    mxp__put_percent(share_of(of, verdict->noise_ns), out);
    mxp__strbuf_puts(out, "\n");
}

static void put_processes(const mxp_explain_view *view, const mxp_explained *of, mxp_strbuf *out)
{
    if (view->count < 2) {
        return;
    }
    mxp__strbuf_printf(out, "%zu processes", view->count);
    if (view->is_paired) {
        mxp__strbuf_printf(out, ", %zu steps with the same numbers", view->imbalance.pairs);
    }
    if (view->ranks != NULL) {
        mxp__strbuf_printf(out, "; below: %s, process %" PRIu32 "\n", view->ranks->shown_name,
                           of->process->pid);
    } else {
        mxp__strbuf_printf(out, "; below: process %" PRIu32 ", the slowest\n", of->process->pid);
    }
}

// Fills lines of the screen with words.
static void put_wrapped(const char *text, mxp_strbuf *out)
{
    const char *word = text;
    size_t at = 0;
    while (*(word += strspn(word, " ")) != '\0') {
        const size_t length = strcspn(word, " ");
        const size_t columns = mxp__label_columns(word, length);
        if (at > 0 && at + 1 + columns >= MXP_SCREEN_COLUMNS) {
            mxp__strbuf_putc(out, '\n');
            at = 0;
        }
        mxp__strbuf_puts(out, at > 0 ? " " : "");
        at += (at > 0) + columns;
        mxp__strbuf_append(out, word, length);
        word += length;
    }
    mxp__strbuf_puts(out, at > 0 ? "\n" : "");
}

static void put_head(const mxp_explain_view *view, const mxp_explained *of,
                     const mxp_screen *screen, mxp_strbuf *out)
{
    mxp__strbuf_append(out, mxp__strbuf_text(&view->note), view->note.length);
    if (view->ranks != NULL) {
        mxp__explain_ranks_put(view->ranks, screen, out);
    }
    put_processes(view, of, out);
    if (!of->is_marked) {
        mxp__put_duration(screen, of->verdict.mean_ns, out);
        mxp__strbuf_puts(out, " without marked steps, so no cause is told.\n");
        put_wrapped(MXP_STEPS_ARE_MARKED_BY ".", out);
        return;
    }
    if (of->verdict.is_noisy) {
        put_busy(of, out);
    }
    put_lengths(of, screen, out);
}

// ---- causes ------------------------------------------------------------------------------------
static void put_gain(const mxp_explained *of, const mxp_cause *cause, double mean_ns,
                     const mxp_screen *screen, mxp_strbuf *out)
{
    (void)of;
    if (cause->id == MXP_CAUSE_GROWTH) {
        mxp__put_bytes(cause->bytes, out);
        mxp__strbuf_puts(out, " a step");
        return;
    }
    if (cause->gain == MXP_GAIN_NONE) {
        mxp__put_percent(cause->share, out);
        mxp__strbuf_puts(out, " of a step");
        return;
    }
    mxp__strbuf_puts(out, cause->is_upper_bound ? "up to " : "");
    mxp__put_duration(screen, cause->gain_ns, out);
    mxp__strbuf_puts(out, " a step, ");
    // A part of all steps, of those too that are left out.
    const double all_ns = mean_ns + (cause->is_left_out ? cause->gain_ns : 0);
    mxp__put_percent(all_ns > 0 ? cause->gain_ns / all_ns : 0, out);
}

// Title to the left, gain to the right.
static void put_title(const mxp_explained *of, size_t number, const mxp_cause *cause,
                      double mean_ns, const mxp_screen *screen, mxp_strbuf *out)
{
    mxp_strbuf title = {0}, gain = {0};
    mxp__cause_title(of, cause, screen, &title);
    put_gain(of, cause, mean_ns, screen, &gain);
    const size_t left = INDENT + mxp__label_columns(mxp__strbuf_text(&title), title.length);
    const size_t right = mxp__label_columns(mxp__strbuf_text(&gain), gain.length);
    const size_t columns = MXP_SCREEN_COLUMNS - 1;
    mxp__look_begin(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_printf(out, "%-*zu%s", (int)INDENT, number, mxp__strbuf_text(&title));
    if (left + 2 + right > columns) {
        mxp__strbuf_printf(out, ": %s", mxp__strbuf_text(&gain));
    } else {
        mxp__strbuf_printf(out, "%*s%s", (int)(columns - left - right), "",
                           mxp__strbuf_text(&gain));
    }
    mxp__look_end(screen, MXP_LOOK_TOTAL, out);
    mxp__strbuf_putc(out, '\n');
    mxp__strbuf_fini(&title);
    mxp__strbuf_fini(&gain);
}

// Each line of `text`, which ends in a new line, indented.
static void put_lines(const mxp_strbuf *text, mxp_strbuf *out)
{
    const char *line = mxp__strbuf_text(text), *end;
    while ((end = strchr(line, '\n')) != NULL) {
        mxp__strbuf_printf(out, "%*s%.*s\n", (int)INDENT, "", (int)(end - line), line);
        line = end + 1;
    }
}

static void put_cause(const mxp_explain_view *view, const mxp_explained *of, size_t number,
                      const mxp_cause *cause, double mean_ns, const mxp_screen *screen,
                      mxp_strbuf *out)
{
    mxp_strbuf lines = {0};
    put_title(of, number, cause, mean_ns, screen, out);
    mxp__cause_evidence(of, cause, screen, &lines);
    const size_t before = lines.length;
    mxp__cause_next(view, of, cause, &lines);
    mxp__strbuf_puts(&lines, lines.length > before ? "\n" : "");
    put_lines(&lines, out);
    mxp__strbuf_fini(&lines);
}

// ---- nothing -----------------------------------------------------------------------------------
static void put_largest(const mxp_explained *of, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_path_rows *rows = &of->facts.rows;
    uint64_t kinds[MXP__PATH_KINDS] = {0};
    const mxp_path_row *most = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        kinds[rows->rows[i].kind] += rows->rows[i].total_ns;
        most = most == NULL || rows->rows[i].total_ns > most->total_ns ? &rows->rows[i] : most;
    }
    if (most == NULL || rows->total_ns == 0) {
        return;
    }
    int largest = 0;
    for (int kind = 1; kind < MXP__PATH_KINDS; kind++) {
        largest = kinds[kind] > kinds[largest] ? kind : largest;
    }
    mxp_strbuf label = {0}, text = {0};
    const mxp_cause_place place = {.name = most->name, .scope = most->scope};
    mxp__explain_place(of, &place, &label);
    mxp__put_label(screen, mxp__strbuf_text(&label), label.length, &text);
    mxp__strbuf_printf(out, "%*sof the path: %s ", (int)INDENT, "", mxp__path_kind_name(largest));
    mxp__put_percent((double)kinds[largest] / (double)rows->total_ns, out);
    mxp__strbuf_puts(out, "; the largest row ");
    if (text.length > 0) {
        mxp__put_shortened(screen, mxp__strbuf_text(&text), text.length, 36, out);
    } else {
        mxp__strbuf_puts(out, mxp__path_kind_name(most->kind));
    }
    mxp__strbuf_putc(out, ' ');
    mxp__put_percent((double)most->total_ns / (double)rows->total_ns, out);
    mxp__strbuf_puts(out, "\n");
    mxp__strbuf_fini(&label);
    mxp__strbuf_fini(&text);
}

static void put_rest(const mxp_explain_view *view, const mxp_explained *of, size_t shown,
                     const mxp_screen *screen, mxp_strbuf *out)
{
    if (!of->is_marked || !of->verdict.has_noise) {
        put_largest(of, screen, out);
        return;
    }
    if (shown > 0) {
        mxp__strbuf_printf(out, "%-*zuNothing else is above the noise.\n", (int)INDENT, shown + 1);
        return;
    }
    mxp__strbuf_puts(out, "Nothing stands out: no cause known here surely costs more than ");
    mxp__put_duration(screen, of->verdict.noise_ns, out);
    mxp__strbuf_puts(out, ".\n");
    put_largest(of, screen, out);
    mxp__strbuf_printf(out, "%*s", (int)INDENT, "");
    mxp__explain_command(view, "path", out);
    mxp__strbuf_putc(out, '\n');
}

// At most `in_time` of the causes with a gain in time, and two of the others. How many are left.
static size_t put_some(const mxp_explain_view *view, const mxp_explained *of, size_t in_time,
                       const mxp_screen *screen, mxp_strbuf *out)
{
    enum { OTHERS_SHOWN = 2 };
    const mxp_imbalance *imbalance = &view->imbalance;
    size_t left[2] = {OTHERS_SHOWN, in_time}, shown = 0, told = 0;
    if (view->is_paired && imbalance->causes.count > 0 && imbalance->causes.all[0].is_told) {
        put_cause(view, of, ++shown, &imbalance->causes.all[0], imbalance->slowest_ns, screen, out);
        left[true]--;
        told++;
    }
    for (size_t i = 0; i < of->verdict.told; i++) {
        const mxp_cause *cause = &of->verdict.causes.all[i];
        const bool is_time = cause->gain != MXP_GAIN_NONE;
        told++;
        if (left[is_time] > 0) {
            left[is_time]--;
            put_cause(view, of, ++shown, cause, of->verdict.mean_ns, screen, out);
        }
    }
    if (shown == told) {
        put_rest(view, of, shown, screen, out);
    }
    return told - shown;
}

static size_t lines_of(const mxp_strbuf *text)
{
    size_t lines = 0;
    for (const char *at = mxp__strbuf_text(text); *at != '\0'; at++) {
        lines += *at == '\n';
    }
    return lines;
}

// As many causes as leave the whole within one screen.
static void put_causes(const mxp_explain_view *view, const mxp_explained *of, size_t other_lines,
                       const mxp_screen *screen, mxp_strbuf *out)
{
    for (size_t in_time = CAUSES_SHOWN; in_time > 0; in_time--) {
        mxp_strbuf text = {0};
        const size_t left = put_some(view, of, in_time, screen, &text);
        if (left > 0) {
            mxp__strbuf_printf(&text, "%*s%zu more cause%s: --json\n", (int)INDENT, "", left,
                               left == 1 ? "" : "s");
        }
        const bool fits = lines_of(&text) + other_lines <= LINES_MOST || in_time == 1;
        if (fits) {
            mxp__strbuf_append(out, mxp__strbuf_text(&text), text.length);
        }
        mxp__strbuf_fini(&text);
        if (fits) {
            return;
        }
    }
}

// ---- data quality ------------------------------------------------------------------------------
static const char *plural(uint64_t count)
{
    return count == 1 ? " is" : "s are";
}

static void put_reasons(unsigned reasons, mxp_strbuf *out)
{
    static const char *const words[] = {"records lost", "a pause", "no end"};  // by MXP_STEP_*
    const char *before = "";
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((reasons >> i & 1) != 0) {
            mxp__strbuf_printf(out, "%s%s", before, words[i]);
            before = ", ";
        }
    }
}

static void put_left_out(const mxp_explained *of, mxp_strbuf *out)
{
    const mxp_choice *choice = &of->choice;
    if (choice->first_run > 0) {
        mxp__strbuf_printf(out, " %zu first-run steps are left out.", choice->first_run);
    }
    if (choice->incomplete > 0 && !choice->is_forced) {
        mxp__strbuf_printf(out, " %zu step%s left out: ", choice->incomplete,
                           plural(choice->incomplete));
        put_reasons(choice->reasons, out);
        mxp__strbuf_putc(out, '.');
    }
    if (choice->is_forced) {
        mxp__strbuf_puts(out, " No step is whole: records were lost, or recording paused.");
    }
    if (of->steps.other_marks > 0) {
        mxp__strbuf_printf(out, " %" PRIu64 " mark%s of other threads and left out.",
                           of->steps.other_marks, plural(of->steps.other_marks));
    }
}

static void put_missing(const mxp_explain_view *view, const mxp_explained *of, mxp_strbuf *out)
{
    uint64_t unknown_ns = 0;
    for (size_t i = 0; i < of->facts.rows.count; i++) {
        const mxp_path_row *row = &of->facts.rows.rows[i];
        unknown_ns += row->kind == MXP__PATH_UNKNOWN ? row->total_ns : 0;
    }
    if (of->facts.operators == 0) {
        mxp__strbuf_printf(
            out,
            " No operators of libmxnet are recorded: the path is %s thread, by nesting; "
            "causes that need dependencies were not looked for.",
            of->is_marked ? "the steps'" : "one");
    } else if (!of->facts.has_waits && !view->is_imported) {
        mxp__strbuf_puts(out, " Waits have no records (an older library): taken from calls.");
    }
    if (unknown_ns * 100 > of->facts.rows.total_ns) {
        mxp__strbuf_putc(out, ' ');
        mxp__put_percent((double)unknown_ns / (double)of->facts.rows.total_ns, out);
        mxp__strbuf_puts(out, " of the path has no record.");
    }
}

// Why gains are not from a replay.
static const char *not_replayed(const mxp_explained *of)
{
    static const char *const reasons[] = {
        [MXP_REMEDIES_EXACT] = "",
        [MXP_REMEDIES_NO_OPERATORS] = "",
        [MXP_REMEDIES_LOSSES] = " Gains are times on the path: a replay needs steps without losses "
                                "and pauses between them.",
        [MXP_REMEDIES_UNKNOWN] = " Gains are times on the path: too much has no record for a "
                                 "replay.",
        [MXP_REMEDIES_TOO_LARGE] = " Gains are times on the path: a replay needs more memory "
                                   "(--memory, or fewer steps).",
        [MXP_REMEDIES_INEXACT] = " Gains are times on the path: a replay does not give the "
                                 "recorded steps."};
    return of->verdict.has_noise ? reasons[of->verdict.replay] : "";
}

static void put_quality(const mxp_explain_view *view, const mxp_explained *of,
                        const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_facts *facts = &of->facts;
    double records = 0;
    uint64_t lost = 0;
    for (size_t i = 0; i < facts->count; i++) {
        records += (double)facts->at[i].records;
    }
    for (size_t i = 0; i < of->process->loss_count; i++) {
        lost += of->process->losses[i].count;
    }
    const double own_ns =
        facts->count == 0 ? 0 : records * facts->record_cost_ns / (double)facts->count;
    if (lost > 0) {
        mxp__strbuf_printf(out, "%" PRIu64 " records were lost; own cost ", lost);
    } else if (mxp__incomplete(of->process) != NULL) {
        mxp__strbuf_printf(out, "The trace is incomplete (%s); own cost ",
                           mxp__incomplete(of->process));
    } else {
        mxp__strbuf_puts(out, "Nothing was lost; own cost ");
    }
    if (facts->record_cost_ns > 0) {
        mxp__put_duration(screen, own_ns, out);
        mxp__strbuf_puts(out, of->is_marked ? " a step (" : " (");
        mxp__put_percent(share_of(of, own_ns), out);
        mxp__strbuf_puts(out, "); run delay ");
    } else {
        mxp__strbuf_puts(out, "not recorded; run delay ");
    }
    if (of->verdict.delay_share >= 0) {
        mxp__put_percent(of->verdict.delay_share, out);
    } else {
        mxp__strbuf_puts(out, "not recorded");
    }
    mxp__strbuf_putc(out, '.');
    put_left_out(of, out);
    put_missing(view, of, out);
    mxp__strbuf_puts(out, not_replayed(of));
}

void mxp__explain_print(const mxp_explain_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_explained *of = mxp__explain_view_shown(view);
    mxp_strbuf quality = {0}, lines = {0};
    put_quality(view, of, screen, &quality);
    put_wrapped(mxp__strbuf_text(&quality), &lines);
    put_head(view, of, screen, out);
    const size_t other_lines = view->ranks == NULL ? lines_of(out) + lines_of(&lines) : LINES_MOST;
    put_causes(view, of, other_lines, screen, out);
    mxp__strbuf_append(out, mxp__strbuf_text(&lines), lines.length);
    mxp__strbuf_fini(&quality);
    mxp__strbuf_fini(&lines);
}
