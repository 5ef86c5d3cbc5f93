// SPDX-License-Identifier: Apache-2.0
// What differs besides times: how many operators a step has and which, their shapes, how the
// programs were run. That explains most differences of times, so it is told before them.
#ifndef MXP_COMPARISON_DIFFERENCES_H
#define MXP_COMPARISON_DIFFERENCES_H

#include "profiler/analysis/comparison/comparison.h"

// A row whose calls a step differ.
typedef struct mxp_call_difference {
    size_t row;  // place in rows.operators or rows.shapes
    double calls[MXP__SIDES];  // a step
} mxp_call_difference;

// A setting that each side has one value of, and not the same one. Null: it is not set.
typedef struct mxp_setting_difference {
    const char *key, *values[MXP__SIDES];  // the runs'
} mxp_setting_difference;

// Begins as zeros.
typedef struct mxp_differences {
    double operators[MXP__SIDES];  // a step; calls of spans where there are no operators
    size_t rows[MXP__SIDES], common_rows;  // operators by scope and name
    mxp_call_difference *calls;  // the largest difference first
    size_t call_count, call_capacity;
    mxp_call_difference *shapes;  // of operators that have other shapes, or other numbers of them
    size_t shape_count, shape_capacity;
    mxp_setting_difference *settings;
    size_t setting_count, setting_capacity;
} mxp_differences;

// Of a comparison that was judged. 0 or MXP_ENOMEM.
int mxp__differences_find(const mxp_comparison *comparison, mxp_differences *differences);
void mxp__differences_fini(mxp_differences *differences);

// Whether less than half of the rows of the side that has more are rows of the other: two programs,
// and no change of one. Also where steps or operators are on one side only.
bool mxp__are_different_programs(const mxp_comparison *comparison,
                                 const mxp_differences *differences);
// The first run of a side that is one of another program than the side's first, by the same rule;
// null: all are of one.
const mxp_compared_run *mxp__run_of_another_program(const mxp_comparison *comparison, int side);

#endif
