// SPDX-License-Identifier: Apache-2.0
// What a difference of two sides consists of: for each row of the path its mean time a step after
// less that before. A path fills its window, so the rows add up to the difference of the means.
#ifndef MXP_COMPARISON_CONTRIBUTIONS_H
#define MXP_COMPARISON_CONTRIBUTIONS_H

#include "profiler/analysis/comparison/comparison.h"

typedef struct mxp_contribution {
    size_t row;  // place in rows.path, or of `slower` in rows.operators
    int64_t ns[MXP__SIDES];  // mean a step; rounded so that they add up to the rounded mean
    bool is_tested;  // large enough, and there are runs enough
    double p, adjusted_p;  // of a difference; adjusted for all rows that were tested
    bool is_told;  // its difference stands out from the runs' noise
} mxp_contribution;

// Begins as zeros.
typedef struct mxp_contributions {
    mxp_contribution *all;  // the largest difference first; rows of either side
    size_t count, capacity;
    // Operators that run longer while the path does not tell of them: a warning, no verdict.
    mxp_contribution *slower;
    size_t slower_count, slower_capacity;
    int64_t ns[MXP__SIDES];  // sums of all rows: the means
} mxp_contributions;

#define MXP__ROW_SHARE 0.005  // rows below this share of a step are not tested
#define MXP__ROW_LEVEL 0.1  // of the rows that are told, so many may be wrong

// Of a comparison that was judged. 0 or MXP_ENOMEM.
int mxp__contributions_find(const mxp_comparison *comparison, mxp_contributions *contributions);
void mxp__contributions_fini(mxp_contributions *contributions);

static inline int64_t mxp__contribution_change(const mxp_contribution *row)
{
    return row->ns[MXP__AFTER] - row->ns[MXP__BEFORE];
}

#endif
