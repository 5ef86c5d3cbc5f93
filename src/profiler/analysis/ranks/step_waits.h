// SPDX-License-Identifier: Apache-2.0
// What each worker made the others wait in each step, and how much of that goes if it comes as the
// second last. A union of times, not a sum, cut with what blocked who waited: sixty keys that wait
// side by side are one wait. Private to the folder.
#ifndef MXP_RANKS_STEP_WAITS_H
#define MXP_RANKS_STEP_WAITS_H

#include "profiler/analysis/ranks/straggler.h"

typedef struct mxp_step_waits {
    const mxp_rank *ranks;
    size_t count;
    size_t steps;  // that all workers have
    size_t *places;  // [step * count + worker]: place among the worker's steps
    // [step * count + worker]: what it made the others wait, their mean; how much of that goes if
    // it comes as the second last; what it waited itself.
    double *caused, *gained, *waited;
} mxp_step_waits;

// MXP_ENOMEM. To be finished in either case.
int mxp__step_waits_make(const mxp_rank *ranks, size_t count, mxp_step_waits *waits);
void mxp__step_waits_fini(mxp_step_waits *waits);

const mxp_rank_step *mxp__step_of(const mxp_step_waits *waits, size_t step, size_t worker);
double mxp__step_length(const mxp_step_waits *waits, size_t step, size_t worker);
// Where communication was on its critical path; all that it waited, where that is not known.
double mxp__step_blocked(const mxp_step_waits *waits, size_t step, size_t worker);

#endif
