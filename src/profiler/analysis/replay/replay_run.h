// SPDX-License-Identifier: Apache-2.0
// A replay that goes on: its state, for the pass in recorded order (replay.c) and for the schedule
// on another number of workers (replay_schedule.c).
#ifndef MXP_ANALYSIS_REPLAY_RUN_H
#define MXP_ANALYSIS_REPLAY_RUN_H

#include "profiler/analysis/replay/replay_host.h"

#define MXP__REPLAY_NEVER INT64_MIN
enum { MXP__REPLAY_OPEN_MAX = 64 };

typedef struct mxp_replay_run {
    const mxp_replay_plan *plan;
    const mxp_graph *graph;
    const mxp_changes *changes;
    mxp_replayed *out;
    mxp_host_map *maps;  // by thread
    int64_t *starts, *ends;  // by operator, fine; MXP__REPLAY_NEVER: not yet
    int64_t *last_ends;  // by step of the plan: its last operator
    uint32_t open[MXP__REPLAY_OPEN_MAX];  // operators that may still run
    size_t open_count;
    int64_t settled_old_ns, settled_new;  // the last end of all others
    struct mxp_schedule *schedule;  // with another number of workers; else null
    int64_t worker_free;  // from when on the worker that was chosen is free
    size_t wait_step;
    size_t push_step;  // of the last push
    uint32_t waits_in_step;
    int error;
} mxp_replay_run;

// Settles a node. What it waits for must be settled: all before it in the plan's order, or all that
// mxp__replay_needs names.
void mxp__replay_go_op(mxp_replay_run *run, uint32_t op);
void mxp__replay_go_wait(mxp_replay_run *run, uint32_t at);
// From when on an operator could start, by its push and by what it waits for; fine.
int64_t mxp__replay_ready_at(mxp_replay_run *run, uint32_t op);

// ---- replay_schedule.c -------------------------------------------------------------------------
// Settles all nodes, the operators of the compute queue on so many workers: who is free takes what
// has the lowest id of all that is ready, for these operators have no priorities. Everything else
// keeps its order on its thread. MXP_ENOMEM.
int mxp__replay_schedule(mxp_replay_run *run, uint32_t workers);
// Whether its start is decided there: not what a worker goes on with by itself, in a bulk.
bool mxp__replay_is_scheduled(const mxp_graph *graph, uint32_t op);
// Waits for everything: an operator's end is known; and such a wait ends by what is settled now.
void mxp__replay_gate_end(mxp_replay_run *run, uint32_t op);
void mxp__replay_gate_open(mxp_replay_run *run, uint32_t wait);
// Time in which operators on workers ran beside others, whoever ran them. MXP_ENOMEM.
int mxp__replay_scheduled_overlap(const mxp_replay_run *run, int64_t *overlap_ns);

// ---- replay_needs.c ----------------------------------------------------------------------------
// What must be settled before each node; nodes are places in the plan's order.
typedef struct mxp_replay_needs {
    uint32_t *counts;  // by node: of how many it still waits
    uint32_t *first, *next;  // by node: those that wait for it, from next[first[node]] on
    uint32_t *place_of_op, *place_of_wait;  // in the plan's order
    uint32_t *gates;  // waits for everything, in the order of their ends
    size_t gate_count, edge_count;
} mxp_replay_needs;

// MXP_ENOMEM. In both cases finished by the caller.
int mxp__replay_needs_make(const mxp_replay_plan *plan, mxp_replay_needs *needs);
void mxp__replay_needs_fini(const mxp_replay_plan *plan, mxp_replay_needs *needs);
// The first gate that ends at or after `ns`; gate_count: none.
size_t mxp__replay_gate_of(const mxp_replay_plan *plan, const mxp_replay_needs *needs, int64_t ns);

#endif
