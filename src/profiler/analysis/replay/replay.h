// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/replay: what steps would have taken with a change.
//
// What steps would have taken with a change: the graph is gone through again in the order of time.
// Every node keeps its distance to what it waited for last; order on each worker, who ran what and
// what the program decided stay as recorded. Without a change each step comes out exactly as it
// was.
//
// At the begin of the graph everything is as recorded. Deterministic. The plan has the memory; on
// another number of workers it takes 100 bytes an operator more.
#ifndef MXP_ANALYSIS_REPLAY_H
#define MXP_ANALYSIS_REPLAY_H

#include "profiler/analysis/replay/replay_plan.h"

// Begins as MXP__NO_CHANGES. Tables are by name id of the process; null: as recorded.
typedef struct mxp_changes {
    const double *by_name;  // factors of operators' times, by their names
    const double *by_scope;  // the same by their scopes
    const double *by_call;  // factors of what the program's threads did, by the innermost span
    double host;  // of all that they did
    bool prefetch_input;  // input is loaded by a thread of its own, two batches ahead
    const bool *no_wait;  // threads do not wait in these calls, or waits of these names
    uint32_t no_wait_number;  // only the n-th of them in each step, from 1; 0: all
    // Of the compute queue; 0: as recorded. Its operators are scheduled anew, in the order of ids.
    uint32_t workers;
    int gaps;  // of workers that are idle now: usual ones, 0; short ones, -1; long ones, 1
    // What an operator takes, else: MXP__NS_NONE as recorded. Null: all as recorded.
    int64_t (*run_ns)(void *context, const mxp_graph *graph, uint32_t op);
    void *context;
} mxp_changes;

extern const mxp_changes mxp__no_changes;

typedef struct mxp_replayed {
    int64_t *lengths_ns;  // of the plan's steps
    double *gains_ns;  // recorded less replayed, with what rounding takes from it
    int64_t *recorded_ns;  // of the same
    size_t count;
    uint64_t changed;  // operators, waits and pieces of the program that the changes were about
    uint64_t switched;  // starts whose worker was idle and went on, or the reverse; waits likewise
    int64_t overlap_ns;  // of operators, while another worker ran one
    // Without changes: an operator that came out otherwise than recorded. MXP__NO_OP: none
    uint32_t wrong_op;
} mxp_replayed;

// One at a time of a plan. MXP_ENOMEM, or MXP_ENOTSUP for a graph of more than 13 days, or
// operators hours beyond its ends.
int mxp__replay_run(const mxp_replay_plan *plan, const mxp_changes *changes,
                    mxp_replayed *replayed);
void mxp__replayed_fini(mxp_replayed *replayed);

// By how much each operator of the graph may end later without a step ending later, all distances
// kept. Path operators have 0. One entry an operator, freed by mxp__free; MXP_ENOMEM.
int mxp__replay_slack(const mxp_replay_plan *plan, int64_t **slack_ns);

#endif
