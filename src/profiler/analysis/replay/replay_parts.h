// SPDX-License-Identifier: Apache-2.0
// What the files of the replay share.
#ifndef MXP_ANALYSIS_REPLAY_PARTS_H
#define MXP_ANALYSIS_REPLAY_PARTS_H

#include "profiler/analysis/replay/replay_plan.h"

extern const char mxp__replay_memory[];  // "the replay"

// Fills plan->order. MXP_ENOMEM.
int mxp__replay_order(mxp_replay_plan *plan);
// Fills the edges and wait_ops; after the order. MXP_ENOMEM.
int mxp__replay_edges(mxp_replay_plan *plan);

// Place of the step of the plan in which something was pushed; SIZE_MAX: in none of them.
size_t mxp__replay_step_of(const mxp_replay_plan *plan, int64_t ns);

// Time in which operators ran while another worker did, and their time altogether, by starts and
// ends of operators; null: as recorded. In the units that these are in.
void mxp__replay_overlap(const mxp_graph *graph, const int64_t *starts, const int64_t *ends,
                         int64_t *overlap, int64_t *run);

#endif
