// SPDX-License-Identifier: Apache-2.0
// Whether the runs of one side take longer than those of the other, by a test in which the run is
// the unit, and how small a change it could have seen.
#ifndef MXP_COMPARISON_COMPARISON_H
#define MXP_COMPARISON_COMPARISON_H

#include "profiler/analysis/comparison/compared_run.h"
#include "profiler/analysis/statistics/permutation.h"

enum { MXP__BEFORE, MXP__AFTER, MXP__SIDES };
enum {
    MXP__RUNS_FOR_TEST = 4,  // a side; with fewer, no split of the runs is rare enough
    MXP__PAIRS_FOR_TEST = 6
};

typedef struct mxp_side {
    mxp_compared_run *runs;
    size_t count, capacity;
    bool *is_disturbed;  // by run
} mxp_side;

typedef enum mxp_verdict {
    MXP_VERDICT_NONE,  // too few runs for a test
    MXP_VERDICT_SAME,
    MXP_VERDICT_FASTER,
    MXP_VERDICT_SLOWER,
    MXP_VERDICT_CANNOT_TELL,
    MXP_VERDICT_DISTURBED  // wall time of runs of which too many had no core
} mxp_verdict;

// One figure of all runs that count.
typedef struct mxp_judged {
    bool is_known;  // every run has it; else nothing below is set
    size_t counts[MXP__SIDES];  // of runs
    double means_ns[MXP__SIDES];  // of the runs' means
    mxp_permutation test;  // of the logs of the runs' means; unless verdict is NONE
    size_t pairs;  // the test is one of pairs; 0: of groups
    double smallest;  // change that would have been seen in 4 of 5 cases, as a share; NAN: unknown
    mxp_verdict verdict;
} mxp_judged;

typedef struct mxp_run_pair {
    size_t places[MXP__SIDES];
} mxp_run_pair;

// Begins as zeros, but for at_least.
typedef struct mxp_comparison {
    double at_least;  // a change below this share is none
    bool keeps_disturbed;
    mxp_compared_rows rows;
    mxp_side sides[MXP__SIDES];
    // Set by mxp__comparison_find_disturbed:
    bool knows_delay;  // of all runs
    size_t disturbed;  // runs, of both sides
    double delay_bound;  // a share of the wall time; a run above it is disturbed
    // Set by mxp__comparison_judge:
    mxp_run_pair *pairs;  // neighbours in time of runs that were made in turn
    size_t pair_count, pair_capacity;
    mxp_judged wall, cpu;
} mxp_comparison;

// A run's place, zeroed and not yet counted in `side->count`. Null without memory.
mxp_compared_run *mxp__side_next(mxp_side *side);
// Finds the disturbed runs of both sides, of which one may be empty. 0 or MXP_ENOMEM.
int mxp__comparison_find_disturbed(mxp_comparison *comparison);
// The same, and all that is set below it. Each side has a run. 0 or MXP_ENOMEM.
int mxp__comparison_judge(mxp_comparison *comparison);
void mxp__comparison_fini(mxp_comparison *comparison);

// Whether the run counts for the wall time and for its rows.
static inline bool mxp__run_counts(const mxp_comparison *comparison, int side, size_t run)
{
    return comparison->keeps_disturbed || comparison->wall.verdict == MXP_VERDICT_DISTURBED ||
           !comparison->sides[side].is_disturbed[run];
}

// Compares values of the runs that count, one of each, `values[side]` in their order, by the test
// that the wall time was compared with. 0 or MXP_ENOMEM.
int mxp__comparison_test(const mxp_comparison *comparison, double *const values[MXP__SIDES],
                         mxp_permutation *result);

#endif
