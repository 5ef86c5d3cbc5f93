// SPDX-License-Identifier: Apache-2.0
// What bounds a step from below, and what its length goes with.
#ifndef MXP_ANALYSIS_STEP_BOUNDS_H
#define MXP_ANALYSIS_STEP_BOUNDS_H

#include "profiler/analysis/path/path_rows.h"

// The time from the step's mark to the next in which its thread did not wait for anything: what the
// program itself needs, on the path or beside it.
int64_t mxp__step_program_ns(const mxp_graph *graph, const mxp_steps *steps, size_t step);

// The row of the paths that goes with the length of the steps the most, of those that were added.
typedef struct mxp_path_varying {
    size_t row;  // place in `rows`; SIZE_MAX: fewer than 8 steps, or they are all as long
    double correlation;  // of its time in each step with the step's length, at most 1
} mxp_path_varying;

mxp_path_varying mxp__path_rows_varying(const mxp_path_rows *rows, const mxp_steps *steps,
                                        const bool *chosen);

#endif
