// SPDX-License-Identifier: Apache-2.0
// What the files of the graph share while it is made.
#ifndef MXP_ANALYSIS_GRAPH_PARTS_H
#define MXP_ANALYSIS_GRAPH_PARTS_H

#include "profiler/analysis/graph/graph.h"

typedef struct mxp_graph_span {
    int64_t begin_ns, end_ns;
    uint32_t name;
} mxp_graph_span;

// A wait as it was recorded: `ended_by` is an id still.
typedef struct mxp_graph_raw_wait {
    mxp_graph_wait wait;
    uint32_t ended_by;
} mxp_graph_raw_wait;

// What was read of one thread, in the order of its records.
typedef struct mxp_graph_raw_thread {
    mxp_graph_span *spans;
    size_t span_count, span_capacity;
    mxp_graph_raw_wait *waits;
    size_t wait_count, wait_capacity;
    size_t first_place, op_count;  // of its operators in `op_places`
    bool runs_others;  // operators that another thread pushed
    bool waits_for_tasks;
    size_t long_count;  // of its spans, the last ones: long ones, from the index
    bool is_unordered;  // its operators do not come in the order of start and id
    bool has_inner;  // one began before the one before it had ended
    int64_t last_start_ns, last_end_ns;
    uint32_t last_id;
} mxp_graph_raw_thread;

// Adds the long spans of the window to those that were read. Before all else. MXP_ENOMEM.
int mxp__graph_add_long_spans(mxp_graph *graph, const mxp_range_index *index);
// Orders the operators of each thread, finds those inside others and the members of bulks, and
// makes the index of ids. Sets the roles of threads. MXP_ENOMEM.
int mxp__graph_order(mxp_graph *graph);
// Resolves the waits; without records of waits they are taken from calls that wait. After the
// order. MXP_ENOMEM.
int mxp__graph_take_waits(mxp_graph *graph);
// Whether a call of this name waits, where waits are taken from calls.
bool mxp__graph_call_waits(const char *name);
// The innermost spans of threads that are no workers, in the place of what was read of them, which
// is gone. Last of all. MXP_ENOMEM.
int mxp__graph_take_hosts(mxp_graph *graph);

void mxp__graph_index_fini(mxp_graph *graph);
// As mxp__graph_find, of the operator that ran at `ns`, or else any with this id.
uint32_t mxp__graph_find_around(const mxp_graph *graph, uint32_t id, int64_t ns);

#endif
