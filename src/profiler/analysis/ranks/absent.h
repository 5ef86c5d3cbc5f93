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

// The one that is waited for longest in the workers' steps, of all that are not here. As with those
// that are, waits that lie side by side are one, and what did not block the worker is none.
// MXP_ENOMEM.
int mxp__absent_rank_find(const mxp_rank *ranks, size_t count, mxp_absent_rank *found);

#endif
