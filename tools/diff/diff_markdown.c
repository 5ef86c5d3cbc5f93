// SPDX-License-Identifier: Apache-2.0
// The comparison as Markdown, for a pull request: one sentence and a table of what stands out.
#include <math.h>
#include <string.h>

#include "diff/diff.h"
#include "text/label.h"

static const mxp_screen utf8_screen = {.is_utf8 = true};

// ---- figures -----------------------------------------------------------------------------------
typedef struct time_unit {
    double ns;
    const char *name;
} time_unit;

// One unit for figures that are read beside each other: the one of the largest.
static time_unit unit_of(double ns)
{
    static const time_unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    size_t i = 0;
    while (i < 3 && fabs(ns) < units[i].ns) {
        i++;
    }
    return units[i];
}

// Four digits, as many as a mean of steps is worth.
static void put_figure(double ns, time_unit unit, bool has_sign, mxp_strbuf *out)
{
    const double value = ns / unit.ns;
    const int decimals = fabs(value) < 100 ? 2 : 1;
    mxp__strbuf_printf(out, has_sign ? "%+.*f" : "%.*f", unit.ns == 1 ? 0 : decimals, value);
}

// A name of the program in a span of code, where nothing but these ends it or the cell.
static void put_code(const char *text, mxp_strbuf *out)
{
    mxp_strbuf label = {0};
    mxp__put_label(&utf8_screen, text, strlen(text), &label);
    mxp__strbuf_putc(out, '`');
    for (size_t i = 0; i < label.length; i++) {
        const char c = label.data[i];
        mxp__strbuf_puts(out, c == '|' ? "\\|" : "");
        if (c != '|') {
            mxp__strbuf_putc(out, c == '`' ? '\'' : c);
        }
    }
    mxp__strbuf_putc(out, '`');
    out->failed = out->failed || label.failed;
    mxp__strbuf_fini(&label);
}

// ---- sentence ----------------------------------------------------------------------------------
static const char *heading_of(const mxp_judged *judged)
{
    switch (judged->verdict) {
    case MXP_VERDICT_SLOWER:
        return "Slower";
    case MXP_VERDICT_FASTER:
        return "Faster";
    case MXP_VERDICT_SAME:
        return "The same";
    case MXP_VERDICT_CANNOT_TELL:
        return judged->test.p > 0.05 ? "No difference seen" : "A difference, perhaps a small one";
    default:
        return "No verdict";
    }
}

static void put_change(const mxp_judged *judged, const char *what, mxp_strbuf *out)
{
    const double before = judged->means_ns[MXP__BEFORE], after = judged->means_ns[MXP__AFTER];
    const time_unit unit = unit_of(fmax(before, after));
    mxp__strbuf_printf(out, "**%s: %s ", heading_of(judged), what);
    put_figure(before, unit, false, out);
    mxp__strbuf_puts(out, " → ");
    put_figure(after, unit, false, out);
    mxp__strbuf_printf(out, " %s, ", unit.name);
    mxp__put_signed_percent(after / before - 1, out);
    mxp__strbuf_puts(out, "**");
    if (judged->test.splits > 0) {
        mxp__strbuf_puts(out, " (95 %: ");
        mxp__put_signed_percent(expm1(judged->test.low), out);
        mxp__strbuf_puts(out, " to ");
        mxp__put_signed_percent(expm1(judged->test.high), out);
        mxp__strbuf_puts(out, "), ");
        mxp__put_p(judged->test.p, out);
    }
    mxp__strbuf_printf(out, ", %zu v %zu runs", judged->counts[MXP__BEFORE],
                       judged->counts[MXP__AFTER]);
    if (!isnan(judged->smallest)) {
        mxp__strbuf_printf(out, "; a change of %.1f %% or more would have been seen",
                           100 * judged->smallest);
    }
    mxp__strbuf_puts(out, ".\n");
}

static void put_sentences(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_comparison *comparison = &diff->comparison;
    const bool has_steps = comparison->sides[MXP__BEFORE].runs[0].has_steps;
    put_change(&comparison->wall, has_steps ? "a step" : "the recording", out);
    mxp_strbuf why = {0};
    mxp__put_why_no_verdict(diff, &why);
    if (why.length > 0) {
        mxp__strbuf_printf(out, "There is none because %s.\n", mxp__strbuf_text(&why));
    }
    mxp__strbuf_fini(&why);
    if (comparison->cpu.is_known) {
        mxp__strbuf_putc(out, '\n');
        put_change(&comparison->cpu, "CPU time", out);
    }
    if (comparison->disturbed > 0 && comparison->wall.verdict != MXP_VERDICT_DISTURBED &&
        !comparison->keeps_disturbed) {
        mxp__strbuf_printf(out, "\n%zu disturbed %s left out.\n", comparison->disturbed,
                           comparison->disturbed == 1 ? "run is" : "runs are");
    }
    mxp_strbuf busy = {0};
    mxp__put_busy(diff, &busy);
    mxp__strbuf_puts(out, busy.length > 0 ? "\n" : "");
    mxp__strbuf_puts(out, mxp__strbuf_text(&busy));
    mxp__strbuf_fini(&busy);
}

// ---- differences -------------------------------------------------------------------------------
static void put_differences(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_differences *differences = &diff->differences;
    const mxp_row_keys *operators = &diff->comparison.rows.operators;
    if (differences->call_count > 0) {
        mxp__strbuf_printf(out, "\nNot the same: %.4g → %.4g operators a step",
                           differences->operators[MXP__BEFORE], differences->operators[MXP__AFTER]);
        for (size_t i = 0; i < differences->call_count && i < 3; i++) {
            mxp_strbuf name = {0};
            mxp__put_row_name(&operators->all[differences->calls[i].row], &name);
            mxp__strbuf_puts(out, ", ");
            put_code(mxp__strbuf_text(&name), out);
            mxp__strbuf_printf(out, " %.3g → %.3g", differences->calls[i].calls[MXP__BEFORE],
                               differences->calls[i].calls[MXP__AFTER]);
            mxp__strbuf_fini(&name);
        }
        mxp__strbuf_puts(out, differences->call_count > 3 ? ", …\n" : ".\n");
    } else if (differences->shape_count > 0) {
        mxp__strbuf_printf(out, "\nNot the same: shapes of operators (%zu rows).\n",
                           differences->shape_count);
    }
    for (size_t i = 0; i < differences->setting_count; i++) {
        const mxp_setting_difference *setting = &differences->settings[i];
        mxp__strbuf_puts(out, i == 0 ? "\nRun otherwise: " : ", ");
        put_code(setting->key, out);
        for (int side = 0; side < MXP__SIDES; side++) {
            mxp__strbuf_puts(out, side == MXP__BEFORE ? " " : " → ");
            put_code(setting->values[side] != NULL ? setting->values[side] : "not set", out);
        }
    }
    mxp__strbuf_puts(out, differences->setting_count > 0 ? ".\n" : "");
}

// ---- table -------------------------------------------------------------------------------------
static bool is_shown(const mxp_diff *diff, size_t place)
{
    const mxp_contribution *row = &diff->contributions.all[place];
    const bool has_tests = diff->comparison.wall.counts[MXP__BEFORE] >= MXP__RUNS_FOR_TEST &&
                           diff->comparison.wall.counts[MXP__AFTER] >= MXP__RUNS_FOR_TEST;
    return place < diff->rows_shown && (has_tests ? row->is_told : true);
}

static void put_cells(const int64_t *ns, time_unit unit, int64_t all_ns, mxp_strbuf *out)
{
    const int64_t change = ns[MXP__AFTER] - ns[MXP__BEFORE];
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp__strbuf_puts(out, " | ");
        put_figure((double)ns[side], unit, false, out);
    }
    mxp__strbuf_puts(out, " | ");
    put_figure((double)change, unit, true, out);
    mxp__strbuf_puts(out, " | ");
    if (all_ns != 0) {
        mxp__strbuf_printf(out, "%.0f %%", 100 * (double)change / (double)all_ns);
    }
    mxp__strbuf_puts(out, " |\n");
}

static size_t count_shown(const mxp_diff *diff)
{
    size_t shown = 0;
    for (size_t i = 0; i < diff->contributions.count; i++) {
        shown += is_shown(diff, i);
    }
    return shown;
}

static void put_row(const mxp_diff *diff, const mxp_contribution *row, time_unit unit,
                    int64_t all_ns, mxp_strbuf *out)
{
    mxp_strbuf name = {0};
    mxp__put_row_name(&diff->comparison.rows.path.all[row->row], &name);
    mxp__strbuf_puts(out, "| ");
    put_code(mxp__strbuf_text(&name), out);
    put_cells(row->ns, unit, all_ns, out);
    mxp__strbuf_fini(&name);
}

// Rows that stand out, then all others as one.
static void put_rows(const mxp_diff *diff, time_unit unit, int64_t all_ns, mxp_strbuf *out)
{
    const mxp_contributions *found = &diff->contributions;
    int64_t others[MXP__SIDES] = {0};
    size_t other_count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const mxp_contribution *row = &found->all[i];
        if (is_shown(diff, i)) {
            put_row(diff, row, unit, all_ns, out);
            continue;
        }
        others[MXP__BEFORE] += row->ns[MXP__BEFORE];
        others[MXP__AFTER] += row->ns[MXP__AFTER];
        other_count++;
    }
    if (other_count > 0) {
        mxp__strbuf_printf(out, "| all %zu others", other_count);
        put_cells(others, unit, all_ns, out);
    }
}

static void put_table(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_contributions *found = &diff->contributions;
    if (count_shown(diff) == 0) {
        mxp__strbuf_printf(out, "\nNone of the path's %zu rows stands out from the noise.\n",
                           found->count);
        return;
    }
    const bool has_operators = diff->comparison.sides[MXP__BEFORE].runs[0].has_operators;
    const int64_t all_ns = found->ns[MXP__AFTER] - found->ns[MXP__BEFORE];
    const time_unit unit =
        unit_of(fmax((double)found->ns[MXP__BEFORE], (double)found->ns[MXP__AFTER]));
    mxp__strbuf_printf(out, "\n| %s | before, %s | after, %s | change, %s | share of it |\n",
                       has_operators ? "on the path" : "on the steps' thread", unit.name, unit.name,
                       unit.name);
    mxp__strbuf_puts(out, "|---|--:|--:|--:|--:|\n");
    put_rows(diff, unit, all_ns, out);
    mxp__strbuf_puts(out, "| **a step**");
    put_cells(found->ns, unit, all_ns, out);
}

void mxp__diff_put_markdown(const mxp_diff *diff, mxp_strbuf *out)
{
    if (diff->is_refused) {
        mxp__strbuf_printf(out,
                           "**Not compared:** these are different programs: %zu rows are common "
                           "to both, of %zu before and %zu after.\n",
                           diff->differences.common_rows, diff->differences.rows[MXP__BEFORE],
                           diff->differences.rows[MXP__AFTER]);
        return;
    }
    put_sentences(diff, out);
    put_differences(diff, out);
    put_table(diff, out);
}
