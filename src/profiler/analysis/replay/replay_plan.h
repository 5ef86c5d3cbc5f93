// SPDX-License-Identifier: Apache-2.0
// What all replays of one graph share (replay.h): its nodes in the order of time, the edges between
// operators, what idle workers and waiting threads usually took, and memory for the replay that
// goes on. About 56 bytes an operator.
#ifndef MXP_ANALYSIS_REPLAY_PLAN_H
#define MXP_ANALYSIS_REPLAY_PLAN_H

#include "profiler/analysis/graph/graph.h"
#include "profiler/analysis/window/steps.h"

// A node: an operator at its start, or with the bit a wait at its end (place in the graph's waits).
#define MXP__NODE_IS_WAIT 0x80000000u

typedef struct mxp_replay_plan {
    const mxp_graph *graph;
    const mxp_steps *steps;
    size_t first, end;  // steps whose windows the graph holds, one after the other
    uint32_t *order;  // what each one waits for stands before it
    size_t order_count;
    // Operators that each one waits for, by the head of a bulk: from edges[edge_first[op]] to
    // before edges[edge_ends[op]].
    uint32_t *edge_first, *edge_ends, *edges;
    size_t edge_count, edge_capacity;
    // Null where there are no asynchronous operators.
    uint32_t *completed;  // by operator: an asynchronous one that it completed; MXP__NO_OP: none
    uint32_t *also_completed;  // by operator: the next one of the same completer
    // Of a store over processes: the thread that exchanges values and sums them. Nobody pushes to
    // it, and it moves with the exchanges. UINT32_MAX: there is none.
    uint32_t store_thread;
    uint32_t *wait_threads;  // by wait
    // By wait: the operator that ended it, or would have: the last one that wrote the variable.
    uint32_t *wait_ops;
    // Of starts on idle workers: the middle of their gaps, by whether the worker slept; of how long
    // a worker is idle at least before it sleeps. -1: there was none.
    int64_t idle_gap_ns[2], sleeps_after_ns;
    int64_t wake_ns;  // the middle of threads' gaps after waits that blocked; 0: there was none
    int64_t gap_low_ns, gap_high_ns;  // 10th and 90th percentile of gaps on idle workers
    int64_t run_ns;  // of all operators on workers
    int64_t overlap_ns;  // what of it ran while another worker did
    bool is_far;  // operators or waits reach so far beyond the window that it cannot be replayed
    int64_t *starts, *ends;  // of the replay that goes on, by operator
    uint64_t unknown_releases;  // by operators that have no record
    uint64_t contradictions;  // something began before what it waited for
    int64_t first_contradiction_ns;
} mxp_replay_plan;

// MXP_ENOMEM. Graph and steps must outlive the plan.
int mxp__replay_plan_make(const mxp_graph *graph, const mxp_steps *steps, size_t first, size_t end,
                          mxp_replay_plan *plan);
void mxp__replay_plan_fini(mxp_replay_plan *plan);

// The operator that its worker ran before it; MXP__NO_OP also of asynchronous ones.
static inline uint32_t mxp__replay_worker_before(const mxp_graph *graph, uint32_t op)
{
    const bool is_async = (graph->ops[op].flags & MXP_OP_ASYNC) != 0;
    return is_async ? MXP__NO_OP : mxp__graph_previous(graph, op);
}
// Of operators that a worker ran: from when on it could start by its push and what it waited for,
// the one before on its worker left out, and by its worker: if the first is later, the worker was
// idle. MXP__NS_NONE: nothing is known of it. Contradictory ends are left out.
#define MXP__NS_NONE INT64_MIN
int64_t mxp__replay_ready_ns(const mxp_replay_plan *plan, uint32_t op);
static inline int64_t mxp__replay_free_ns(const mxp_replay_plan *plan, uint32_t op)
{
    const uint32_t previous = mxp__replay_worker_before(plan->graph, op);
    return previous == MXP__NO_OP ? MXP__NS_NONE : plan->graph->ops[previous].end_ns;
}

// An asynchronous operator that it completed, or MXP__NO_OP; plan->also_completed has the next one.
static inline uint32_t mxp__replay_completed_by(const mxp_replay_plan *plan, uint32_t op)
{
    return plan->completed != NULL ? plan->completed[op] : MXP__NO_OP;
}

// Of an asynchronous operator: the one that completed it. An exchange between processes is
// completed by what others send, and not by the sum in which it may have ended.
uint32_t mxp__replay_completer(const mxp_replay_plan *plan, uint32_t op);

// Whether an operator starts by itself, on a worker or asynchronously: not inside another or inside
// its push, and not behind a member of its bulk.
bool mxp__replay_starts_freely(const mxp_graph *graph, uint32_t op);

#endif
