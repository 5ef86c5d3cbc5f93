// SPDX-License-Identifier: Apache-2.0
// Of what the processes of a job tell the part that belongs to some steps: where steps are chosen,
// nothing else counts.
#ifndef MXP_RANKS_CHOSEN_WAITS_H
#define MXP_RANKS_CHOSEN_WAITS_H

#include "profiler/analysis/ranks/straggler.h"

typedef struct mxp_chosen_part {
    mxp_rank_waits *waits;
    const mxp_rank_step *steps;  // of this process that are chosen, in the order of time
    size_t step_count;  // 0: of what has no steps, as a server
} mxp_chosen_part;

// Leaves of each process what it waited for in its steps, and of all owners the rounds of what was
// sent in these. Rounds have the same numbers everywhere, so clocks do not matter. MXP_ENOMEM.
int mxp__chosen_waits_keep(const mxp_chosen_part *parts, size_t count);

#endif
