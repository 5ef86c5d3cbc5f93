// SPDX-License-Identifier: Apache-2.0
// A replay that goes on: its state, for its operators (replay_ops.c) and waits (replay_waits.c),
// for the pass in recorded order (replay.c) and for the schedule on another number of workers
// (replay_schedule.c). New times are fine ones (replay_host.h).
#ifndef MXP_ANALYSIS_REPLAY_RUN_H
#define MXP_ANALYSIS_REPLAY_RUN_H

#include <mxprof/error.h>

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
    int64_t exchange_shift;  // of the last exchange between processes: later than recorded
    size_t wait_step;
    size_t push_step;  // of the last push
    uint32_t waits_in_step;
    int error;
} mxp_replay_run;

// ---- times -------------------------------------------------------------------------------------
// From moment to moment, fine.
static inline int64_t mxp__replay_distance(int64_t from_ns, int64_t to_ns)
{
    const int64_t ns = to_ns - from_ns;
    return (ns < -MXP__REPLAY_NS_MAX  ? -MXP__REPLAY_NS_MAX
            : ns > MXP__REPLAY_NS_MAX ? MXP__REPLAY_NS_MAX
                                      : ns) *
           MXP__FINE;
}

static inline int64_t mxp__replay_fine(const mxp_replay_run *run, int64_t ns)
{
    return mxp__replay_distance(run->graph->from_ns, ns);
}

// When a thread of the program is where it was at `ns`. An error stays in `run`.
static inline int64_t mxp__replay_host_at(mxp_replay_run *run, uint32_t thread, int64_t ns)
{
    int64_t now = 0;
    int error = mxp__host_map_at(&run->maps[thread], ns, &now);
    run->error = run->error == MXP_OK ? error : run->error;
    return now;
}

static inline void mxp__replay_host_jump(mxp_replay_run *run, uint32_t thread, int64_t ns,
                                         int64_t now)
{
    int error = mxp__host_map_jump(&run->maps[thread], ns, now);
    run->error = run->error == MXP_OK ? error : run->error;
}

// Of what an operator takes, by its name and scope.
static inline double mxp__replay_factor_of(const mxp_replay_run *run, const mxp_graph_op *op)
{
    const uint32_t names = run->graph->source->name_count;
    double factor = 1;
    if (run->changes->by_name != NULL && op->name < names) {
        factor *= run->changes->by_name[op->name];
    }
    if (run->changes->by_scope != NULL && op->scope < names) {
        factor *= run->changes->by_scope[op->scope];
    }
    return factor;
}

// The gap after what was waited for last. `before` and `now`: how much later than the first the
// second of two things came, as recorded and as it is now. The situation is another one only if
// `now` is on the other side by more than the recorded gap, so that nothing jumps at a tie. A
// schedule jumps anyway, and takes each situation as it is.
static inline bool mxp__replay_has_switched(const mxp_replay_run *run, int64_t before, int64_t now,
                                            int64_t gap)
{
    if (run->schedule != NULL) {
        return (before > 0) != (now > 0);
    }
    return before > 0 ? now < -gap : now > gap;
}

// All that had ended by then, as recorded, counts in settled_old_ns and settled_new.
void mxp__replay_settle_until(mxp_replay_run *run, int64_t ns);

// ---- nodes -------------------------------------------------------------------------------------
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
