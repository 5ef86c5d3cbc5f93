// SPDX-License-Identifier: Apache-2.0
// Folder profiler/export/table: the table: statistics of a source, printed as text, JSON, CSV.
//
// The aggregate statistics: category -> name -> count, total, min, max, histogram. Records are
// added from sources; the table, JSON and CSV printers and the session read it. Durations are in
// ns; counters carry a time-weighted mean from their first sample to `now_ns` with pauses left out.
//
// MXP_GROUP_NAME: a section for each category, a row for each name: spans, operators, counters, and
// for each device a row "Memory: cpu/N" in section "Device Storage".
//
// MXP_GROUP_SCOPE: one section "Scopes", a row for each scope path ("net/conv1", "<no scope>").
// Each span counts in the innermost scope of its thread at its end (an operator, and a span that
// names a scope, in its own) with its self time: its duration without that of the spans inside it.
// So the totals of a thread's rows add up to the time it was inside any span. Operators of a phase
// have a row of their own: "net/conv1 (forward)", "(backward)", "(update)", "(communication)".
// Tasks and frames, which may overlap, are left out. With records of memory there is a section
// "Device Storage" with the bytes in use of each scope, over all devices, and "<not recorded>".
//
// MXP_GROUP_STEP: section "Steps" with a row "step N" for each step number: how often it was begun
// and how long it lasted. Then sections as by name, in which one sample is what one step spent in
// that name: count is the number of steps with it, min, max and avg are per step. A span belongs to
// the step in which it began, an operator to the one in which it was pushed; what is of none stands
// in sections "CATEGORY (outside steps)", by span. The last row, "in none of the above" of section
// "In no record", is the time of steps in which no span (but tasks and frames) and no operator of
// any thread was running.
#ifndef MXP_EXPORT_AGGREGATE_H
#define MXP_EXPORT_AGGREGATE_H

#include "base/strbuf.h"
#include "profiler/trace/histogram.h"
#include "profiler/trace/source.h"

typedef struct mxp_aggregate mxp_aggregate;

// group: MXP_GROUP_*.
int mxp__aggregate_create(int group, mxp_aggregate **aggregate);
void mxp__aggregate_destroy(mxp_aggregate *aggregate);
// Adds everything of `source`, all its processes included (each record once: the caller
// hands in disjoint sources of one process, oldest first, or one source of several processes).
// MXP_EFORMAT: some of it was damaged; the rest has been added.
int mxp__aggregate_add(mxp_aggregate *aggregate, mxp_source *source);
// Forgets all rows. A counter's row comes back with its next sample, from which its mean then runs.
void mxp__aggregate_reset(mxp_aggregate *aggregate);

// A counter's value, exact in the type it was recorded with.
typedef union mxp_number {
    uint64_t u64;
    int64_t i64;
    double f64;
} mxp_number;

// One row, for printers and tests.
typedef struct mxp_row {
    const char *section, *name;  // escaped nowhere
    size_t section_length, name_length;
    int is_counter;  // else durations in ns
    int is_memory;  // counter in bytes of "Device Storage" or "Pool Memory"
    uint64_t count;
    double total, min, max, avg;  // ns, or the counter's own unit; total of a counter: last value
    uint32_t value_type;  // counters: MXP_ARG_U64, I64 or F64, for the exact values
    uint32_t unit;  // MXP_UNIT_* of the counter; MXP_UNIT_BYTES of values that are no durations
    mxp_number last, least, most;
    const mxp_histogram *histogram;  // durations only, null where only the sums are known
    const uint64_t *exact;  // MXP__PERCENTILES, ns; null unless mxp__aggregate_exact found them
} mxp_row;

// Percentiles that are printed: of durations, each the smallest one that at least this share of the
// row's durations do not exceed. From records they are exact, from histograms less than 25 % off.
enum { MXP__P50, MXP__P90, MXP__P99, MXP__PERCENTILES };
const char *mxp__percentile_name(int percentile);
double mxp__percentile_fraction(int percentile);
uint64_t mxp__row_percentile(const mxp_row *row, int percentile);  // ns; has a histogram

// Rows in print order: sections by byte order, rows by sort key (MXP_SORT_*), ties by name
// ascending, section "In no record" last. Values are compared as they are printed: durations in
// milliseconds with the plain values of counters. *rows is
// owned by the aggregate and valid until its next call. `now_ns`: trace time for counters that
// still run; below their last sample counts as it.
int mxp__aggregate_rows(mxp_aggregate *aggregate, int sort_by, int ascending, int64_t now_ns,
                        const mxp_row **rows, size_t *count);

// Whether the n-th process (from 0) has steps that several threads have marked: it has no rows by
// step then. *pid is its number. False also if there is no such process.
bool mxp__aggregate_mixed_steps(const mxp_aggregate *aggregate, size_t n, uint32_t *pid);

// Finds the percentiles of the rows that mxp__aggregate_rows gave out last in the records of
// `source`, which is all that was added, by reading it some times more: memory stays bounded. Rows
// that have durations without records keep their histograms.
int mxp__aggregate_exact(mxp_aggregate *aggregate, mxp_source *source);

// The printers (MXNet's layout, described in docs/reading.md).
int mxp__print_table(const mxp_row *rows, size_t count, mxp_strbuf *out);
int mxp__print_json(const mxp_row *rows, size_t count, mxp_strbuf *out);
int mxp__print_csv(const mxp_row *rows, size_t count, mxp_strbuf *out);

#endif
