// SPDX-License-Identifier: Apache-2.0
// See clock_lines.h.
#include "clock_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

// ---- the table ---------------------------------------------------------------------------------
static void put_doubt(const mxp_screen *screen, int64_t ns, mxp_strbuf *out)
{
    if (ns >= INT64_MAX / 4) {
        mxp__strbuf_puts(out, "unknown");
    } else {
        mxp__put_duration(screen, (double)ns, out);
    }
}

static void put_process(const mxp_process_clock *clock, const mxp_screen *screen,
                        mxp_text_table *table)
{
    mxp__put_label(screen, clock->name, strlen(clock->name), mxp__text_cell(table));
    if (clock->known != MXP__CLOCK_BY_CUTS) {
        mxp__strbuf_puts(mxp__text_cell(table),
                         clock->known == MXP__CLOCK_SAME ? "0 ns" : "wall clock");
        mxp__strbuf_puts(mxp__text_cell(table), clock->known == MXP__CLOCK_SAME ? "0" : "-");
        for (int i = 0; i < 3; i++) {
            put_doubt(screen, clock->known == MXP__CLOCK_SAME ? 0 : INT64_MAX,
                      mxp__text_cell(table));
        }
        mxp__strbuf_puts(mxp__text_cell(table), "-");
    } else {
        mxp__put_duration_change(screen, (double)clock->ahead_ns, mxp__text_cell(table));
        mxp__strbuf_printf(mxp__text_cell(table), "%+.3f", clock->skew_ppm);
        for (int i = 0; i < 3; i++) {
            put_doubt(screen, clock->doubt_ns[i], mxp__text_cell(table));
        }
        mxp__strbuf_printf(mxp__text_cell(table), "%zu", clock->cuts);
    }
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

static void put_table(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"process", MXP_COLUMN_NAME, 0},    {"clock behind by", MXP_COLUMN_RIGHT, 0},
        {"ppm", MXP_COLUMN_RIGHT, 0},       {"+- begin", MXP_COLUMN_RIGHT, 0},
        {"+- middle", MXP_COLUMN_RIGHT, 0}, {"+- end", MXP_COLUMN_RIGHT, 0},
        {"cuts", MXP_COLUMN_RIGHT, 0}};
    mxp_text_table table;
    mxp__text_table_init(&table, screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < clocks->count; i++) {
        put_process(&clocks->clocks[i], screen, &table);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

// ---- what else there is to say -----------------------------------------------------------------
static size_t count_known(const mxp_one_clock *clocks, mxp_clock_known known)
{
    size_t count = 0;
    for (size_t i = 0; i < clocks->count; i++) {
        count += clocks->clocks[i].known == known;
    }
    return count;
}

static void put_first_line(const mxp_one_clock *clocks, mxp_strbuf *out)
{
    const size_t by_wall = count_known(clocks, MXP__CLOCK_BY_WALL);
    if (by_wall > 0) {
        mxp__strbuf_printf(out,
                           "clocks: of %zu of %zu processes nothing is known but the wall clock: "
                           "uncertainty unknown, no arrows to them\n",
                           by_wall, clocks->count);
    } else if (count_known(clocks, MXP__CLOCK_BY_CUTS) == 0) {
        mxp__strbuf_printf(out, "clocks: %zu processes of one machine, which have one clock\n",
                           clocks->count);
    } else {
        mxp__strbuf_printf(out, "clocks: %zu processes on one clock; the truth lies within +-\n",
                           clocks->count);
    }
}

// The pair whose clocks may be furthest apart.
static void put_worst_pair(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out)
{
    int64_t worst_ns = 0;
    size_t a = 0, b = 0;
    for (size_t i = 0; i < clocks->count; i++) {
        for (size_t j = i + 1; j < clocks->count && clocks->count <= 4096; j++) {
            const int64_t doubt_ns = mxp__one_clock_doubt(clocks, i, j);
            if (doubt_ns > worst_ns && doubt_ns != INT64_MAX) {
                worst_ns = doubt_ns;
                a = i;
                b = j;
            }
        }
    }
    if (worst_ns > 0) {
        mxp__strbuf_printf(out, "furthest apart: %s and %s, +- ", clocks->clocks[a].name,
                           clocks->clocks[b].name);
        put_doubt(screen, worst_ns, out);
        mxp__strbuf_putc(out, '\n');
    }
}

static void put_jumps(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out)
{
    for (size_t i = 0; i < clocks->count; i++) {
        const mxp_process_clock *clock = &clocks->clocks[i];
        if (clock->parts > 1) {
            mxp__strbuf_printf(out, "clock of %s: no line, %zu parts, jump of ", clock->name,
                               clock->parts);
            mxp__put_duration(screen, (double)llabs(clock->jump_ns), out);
            mxp__strbuf_printf(out, " at %.3f s\n", (double)clock->jump_at_ns / 1e9);
        }
        if (mxp__clock_is_refuted(clock)) {
            const mxp_clock_proof *proof = &clock->proof;
            mxp__strbuf_printf(out, "clock of %s: exchanges on its own machine exclude 0 by ",
                               clock->name);
            mxp__put_duration(screen, (double)(proof->low_ns > 0 ? proof->low_ns : -proof->high_ns),
                              out);
            mxp__strbuf_puts(out, ": no +- of this job holds\n");
        }
        if (clock->is_test) {
            mxp__strbuf_printf(out, "clock of %s is shifted by a test\n", clock->name);
        }
        if (clock->wrong_cuts > 0) {
            mxp__strbuf_printf(out, "clock of %s: %zu cuts make no sense and are left out\n",
                               clock->name, clock->wrong_cuts);
        }
    }
}

static void put_arrows(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out)
{
    const mxp_arrow_counts *arrows = &clocks->arrows;
    if (arrows->checked + arrows->unchecked == 0) {
        return;
    }
    if (arrows->checked > 0) {
        mxp__strbuf_puts(out, "arrows: ");
        mxp__put_grouped(arrows->checked, out);
        mxp__strbuf_puts(out, " checked, ");
        mxp__put_grouped(arrows->backward, out);
        mxp__strbuf_puts(out, " would go backwards");
        if (arrows->backward > 0) {
            mxp__strbuf_puts(out, " and are not drawn: at most by ");
            mxp__put_duration(screen, (double)arrows->worst_ns, out);
            mxp__strbuf_printf(out, ", from %s to %s", clocks->clocks[arrows->worst_from].name,
                               clocks->clocks[arrows->worst_to].name);
        }
        mxp__strbuf_putc(out, '\n');
    }
    if (arrows->unchecked > 0) {
        mxp__strbuf_puts(out, "arrows: ");
        mxp__put_grouped(arrows->unchecked, out);
        mxp__strbuf_puts(out, " between clocks of which nothing is known are not drawn\n");
    }
}

void mxp__clock_lines_put(const mxp_one_clock *clocks, const mxp_screen *screen, mxp_strbuf *out)
{
    put_first_line(clocks, out);
    put_table(clocks, screen, out);
    put_worst_pair(clocks, screen, out);
    put_jumps(clocks, screen, out);
    put_arrows(clocks, screen, out);
}

// ---- for programs ------------------------------------------------------------------------------
// Those that are not of one machine with the reference; of large jobs none.
static void put_pairs_json(const mxp_one_clock *clocks, mxp_json *json)
{
    enum { PROCESSES_MOST = 64 };
    mxp__json_array(json, "pairs");
    for (size_t i = 0; clocks->count <= PROCESSES_MOST && i < clocks->count; i++) {
        for (size_t j = i + 1; j < clocks->count; j++) {
            const int64_t doubt_ns = mxp__one_clock_doubt(clocks, i, j);
            if (doubt_ns > 0 && doubt_ns != INT64_MAX) {
                mxp__json_row(json, NULL);
                mxp__json_text(json, "a", clocks->clocks[i].name);
                mxp__json_text(json, "b", clocks->clocks[j].name);
                mxp__json_i64(json, "doubt_ns", doubt_ns);
                mxp__json_end(json);
            }
        }
    }
    mxp__json_end(json);
}

void mxp__clock_lines_json(const mxp_one_clock *clocks, mxp_json *json)
{
    static const char *const known[] = {"wall", "same", "cuts"};
    mxp__json_array(json, "clocks");
    for (size_t i = 0; i < clocks->count; i++) {
        const mxp_process_clock *clock = &clocks->clocks[i];
        const bool is_by_cuts = clock->known == MXP__CLOCK_BY_CUTS;
        mxp__json_row(json, NULL);
        mxp__json_text(json, "process", clock->name);
        mxp__json_u64(json, "pid", clock->pid);
        mxp__json_text(json, "known_by", known[clock->known]);
        if (is_by_cuts) {
            mxp__json_i64(json, "behind_ns", clock->ahead_ns);
            mxp__json_number(json, "skew_ppm", clock->skew_ppm);
            mxp__json_list(json, "doubt_ns");
            for (int j = 0; j < 3; j++) {
                mxp__json_i64(json, NULL, clock->doubt_ns[j]);
            }
            mxp__json_end(json);
            mxp__json_u64(json, "cuts", clock->cuts);
            mxp__json_u64(json, "parts", clock->parts);
        }
        if (clock->proof.exchanges > 0) {
            mxp__json_row(json, "exchanged");
            mxp__json_u64(json, "exchanges", clock->proof.exchanges);
            mxp__json_i64(json, "low_ns", clock->proof.low_ns);
            mxp__json_i64(json, "high_ns", clock->proof.high_ns);
            mxp__json_end(json);
        }
        mxp__json_bool(json, "is_test", clock->is_test);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    put_pairs_json(clocks, json);
    mxp__json_row(json, "arrows");
    mxp__json_u64(json, "checked", clocks->arrows.checked);
    mxp__json_u64(json, "backward", clocks->arrows.backward);
    mxp__json_i64(json, "worst_ns", clocks->arrows.worst_ns);
    mxp__json_u64(json, "unchecked", clocks->arrows.unchecked);
    mxp__json_end(json);
}
