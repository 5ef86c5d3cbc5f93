// SPDX-License-Identifier: Apache-2.0
// What each worker, or each host, made the others wait in each step, and how much of that goes if
// it comes as the second last. A union of times, not a sum, cut with what blocked who waited: sixty
// keys that wait side by side are one wait. Private to the folder.
#ifndef MXP_RANKS_STEP_WAITS_H
#define MXP_RANKS_STEP_WAITS_H

#include "profiler/analysis/ranks/straggler.h"

typedef struct mxp_step_waits {
    const mxp_rank *ranks;
    size_t count;
    const size_t *groups;  // of each worker: the place of the first one of its group
    size_t steps;  // that all workers have
    size_t *places;  // [step * count + worker]: place among the worker's steps
    // [step * count + group]: what it made the others wait, their mean; how much of that goes if
    // it comes as the last of the others does.
    double *caused, *gained;
    double *waited;  // [step * count + worker]: for other groups
} mxp_step_waits;

// By worker each is a group of its own; by host, those of one host are one. `groups` outlives it.
// MXP_ENOMEM. To be finished in either case.
int mxp__step_waits_make(const mxp_rank *ranks, size_t count, const size_t *groups,
                         mxp_step_waits *waits);
void mxp__step_waits_fini(mxp_step_waits *waits);

const mxp_rank_step *mxp__step_of(const mxp_step_waits *waits, size_t step, size_t worker);
double mxp__step_length(const mxp_step_waits *waits, size_t step, size_t worker);
// Where communication was on its critical path; all that it waited, where that is not known.
double mxp__step_blocked(const mxp_step_waits *waits, size_t step, size_t worker);
// The group that cost the others most; SIZE_MAX: nobody waited.
size_t mxp__step_last(const mxp_step_waits *waits, size_t step);
// The union of times, cut with what blocked the worker; the union alone where that is not known.
double mxp__blocked_by(const mxp_rank *rank, mxp_rank_time *times, size_t count);
// A number for a round of a key.
uint64_t mxp__round_number(uint64_t key, uint64_t round);
// The place of the first of its waits that does not begin before begin_ns.
size_t mxp__first_wait(const mxp_rank_waits *waits, int64_t begin_ns);

#endif
