// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/comparison: two sides of runs, and whether they differ.
//
// The run is the unit, because steps of one run resemble each other more than those of two. What a
// comparison knows of one run: the lengths of its steps, where their path's time went, which
// operators ran, and by what settings.
#ifndef MXP_COMPARISON_COMPARED_RUN_H
#define MXP_COMPARISON_COMPARED_RUN_H

#include <stdbool.h>

#include "profiler/analysis/comparison/row_keys.h"
#include "profiler/analysis/window/choice.h"
#include "profiler/analysis/window/steps.h"
#include "profiler/trace/source.h"

// Rows of all runs of a comparison. Begins as zeros.
typedef struct mxp_compared_rows {
    mxp_row_keys path;  // kind, scope, name
    mxp_row_keys operators;  // scope, name
    mxp_row_keys shapes;  // scope, name, shape
} mxp_compared_rows;
void mxp__compared_rows_fini(mxp_compared_rows *rows);

typedef struct mxp_compared_run {
    const char *path;  // the caller's
    uint64_t began_ns;  // realtime; 0: the trace has no date
    bool has_steps;  // else the recording is its one step
    bool has_operators;  // else the path is the time of the steps' thread, by its spans
    // Steps that count, in order: whole, without losses and pauses, and no first-run steps.
    double *lengths_ns;
    size_t step_count, length_capacity;
    double *step_cpu_ns;  // CPU time of those of them that have it; as large
    size_t cpu_count;
    size_t first_run_steps, marred_steps;  // that are left out; marred: by a loss or a pause
    int64_t total_ns;  // of the steps that count
    double mean_ns, cpu_ns, delay_ns;  // a step; of CPU time and run delay -1: not recorded
    uint64_t contradictions;  // places at which records contradict one another
    uint64_t unread_ranges;  // damaged ones
    uint64_t other_marks;  // of steps, by other threads than the one with most; left out
    mxp_row_sums path_rows, operators, shapes;  // over the steps that count
    char **settings;  // pairs of INFO that say how it was run: key, value, key ...
    size_t setting_count, setting_capacity;  // texts
} mxp_compared_run;

// Reads the run of a source of one process; its rows are added to `rows`. `path` outlives the run.
// `wish`: of MXP_STEPS_RANGE steps with these numbers count, first-run steps among them; null and
// any other: the usual ones. Steps with losses, with pauses or without an end never do.
// 0, or an error with nothing to release: MXP_ENOMEM, one of the source, MXP_EINVAL if none of its
// steps is whole.
int mxp__compared_run_read(mxp_source *process, const char *path, const mxp_choice_wish *wish,
                           uint64_t limit_bytes, mxp_compared_rows *rows, mxp_compared_run *run);
void mxp__compared_run_fini(mxp_compared_run *run);

// Share of the wall time during which threads that wanted to run had no core, or -1.
static inline double mxp__compared_run_delay(const mxp_compared_run *run)
{
    return run->delay_ns < 0 || !(run->mean_ns > 0) ? -1 : run->delay_ns / run->mean_ns;
}

#endif
