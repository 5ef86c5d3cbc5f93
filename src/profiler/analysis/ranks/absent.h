// SPDX-License-Identifier: Apache-2.0
// What workers waited for one of whose operations nothing is recorded: it was left out by
// distributed_ranks, or its file is not among these. The others' own files name it.
#ifndef MXP_RANKS_ABSENT_H
#define MXP_RANKS_ABSENT_H

#include "profiler/analysis/ranks/straggler.h"

typedef struct mxp_absent_rank {
    uint32_t rank;  // MXP__RANK_UNKNOWN: nobody waited for such a one
    double waited_ns;  // a step and worker, in the mean
} mxp_absent_rank;

// The one that is waited for longest. `steps`: those that all have. Waits that lie side by side are
// one.
mxp_absent_rank mxp__absent_rank_find(const mxp_rank *ranks, size_t count, size_t steps);

#endif
