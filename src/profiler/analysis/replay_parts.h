// SPDX-License-Identifier: Apache-2.0
// What the files of the replay share.
#ifndef MXP_ANALYSIS_REPLAY_PARTS_H
#define MXP_ANALYSIS_REPLAY_PARTS_H

#include "profiler/analysis/replay_plan.h"

extern const char mxp__replay_memory[];  // "the replay"

// Fills plan->order. MXP_ENOMEM.
int mxp__replay_order(mxp_replay_plan *plan);
// Fills the edges and wait_ops; after the order. MXP_ENOMEM.
int mxp__replay_edges(mxp_replay_plan *plan);

// Place of the step of the plan in which something was pushed; SIZE_MAX: in none of them.
size_t mxp__replay_step_of(const mxp_replay_plan *plan, int64_t ns);

#endif
