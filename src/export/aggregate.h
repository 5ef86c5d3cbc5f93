// SPDX-License-Identifier: Apache-2.0
// The aggregate statistics: category -> name -> count, total, min, max, histogram. Records are added
// from sources; the table, JSON and CSV printers and the session read it. Durations are in ns;
// counters carry a time-weighted mean from their first sample to `end` with pauses left out.
#ifndef MXP_EXPORT_AGGREGATE_H
#define MXP_EXPORT_AGGREGATE_H

#include "base/histogram.h"
#include "base/strbuf.h"
#include "trace/source.h"

typedef struct mxp_aggregate mxp_aggregate;

// group: MXP_GROUP_*.
int mxp__aggregate_create(int group, mxp_aggregate **aggregate);
void mxp__aggregate_destroy(mxp_aggregate *aggregate);
// Adds everything of `source` (each record once: the caller hands in disjoint sources, oldest
// first). `end_ns` is the trace time up to which running counters are weighted.
int mxp__aggregate_add(mxp_aggregate *aggregate, mxp_source *source);
// Forgets all rows. Counters keep their last value, so that a mean continues from it.
void mxp__aggregate_reset(mxp_aggregate *aggregate);

// One row, for printers and tests.
typedef struct mxp_row {
    const char *section, *name;   // escaped nowhere
    size_t section_length, name_length;
    int is_counter;               // else durations in ns
    int is_memory;                // counter in bytes of "Device Storage" or "Pool Memory"
    uint64_t count;
    double total, min, max, avg;  // ns, or the counter's own unit; total of a counter: last value
    const mxp_histogram *histogram;  // durations only, else null
} mxp_row;

// Rows in print order: sections by byte order, rows by sort key (MXP_SORT_*), ties by name
// ascending. *rows is owned by the aggregate and valid until its next call. `now_ns`: trace time for
// counters that still run; below their last sample counts as it.
int mxp__aggregate_rows(mxp_aggregate *aggregate, int sort_by, int ascending, int64_t now_ns,
                        const mxp_row **rows, size_t *count);

// The printers (MXNet's layout, spec in docs/guide.md).
int mxp__print_table(const mxp_row *rows, size_t count, mxp_strbuf *out);
int mxp__print_json(const mxp_row *rows, size_t count, mxp_strbuf *out);
int mxp__print_csv(const mxp_row *rows, size_t count, mxp_strbuf *out);

#endif
