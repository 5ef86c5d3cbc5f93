// SPDX-License-Identifier: Apache-2.0
// What the files of the graph share while it is made.
#ifndef MXP_ANALYSIS_GRAPH_PARTS_H
#define MXP_ANALYSIS_GRAPH_PARTS_H

#include "profiler/analysis/graph/graph.h"
#include "profiler/analysis/window/record_times.h"

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
    size_t long_count;  // of its spans, the last ones: long ones, from the index
    bool is_unordered;  // its operators do not come in the order of start and id
    bool has_inner;  // one began before the one before it had ended
    int64_t last_start_ns, last_end_ns;
    uint32_t last_id;
} mxp_graph_raw_thread;

enum {
    MXP__GRAPH_OP_BYTES = sizeof(mxp_graph_op) + 3 * sizeof(uint32_t),  // with its places
    MXP__GRAPH_WAIT_BYTES = sizeof(mxp_graph_raw_wait) + sizeof(mxp_graph_wait)
};

// The operator of the record at `words`, on no thread's order yet. `next`: behind the record; it
// moves behind its variables.
static inline mxp_graph_op mxp__graph_op_at(const mxp_range_index *index,
                                            const mxp_decoder *decoder, const uint64_t *words,
                                            const mxp_operator_times *times, uint32_t thread,
                                            const uint64_t **next)
{
    const uint32_t name = (uint32_t)words[1];
    return (mxp_graph_op){
        .push_ns = times->push_ns,
        .ready_ns = times->ready_ns,
        .start_ns = times->start_ns,
        .end_ns = times->end_ns,
        .words = words,
        .id = (uint32_t)(words[1] >> 32),
        .name = name,
        .scope = (uint32_t)words[6],
        .released_by = (uint32_t)words[5],
        .bulk_parent = (uint32_t)(words[5] >> 32),
        .thread = thread,
        .push_thread = (uint16_t)(words[3] >> 48),
        .flags = (uint16_t)(words[2] >> 48),
        .use_count = (uint16_t)mxp__variables_behind(decoder, words, next),
        .inner_of = MXP__NO_OP,
        .last_member = MXP__NO_OP,
        .place = MXP__NO_OP,
        .is_hidden = (words[0] & 0xff) == MXP_KIND_HIDDEN,
        .is_idle = name < index->source->name_count && index->idle[name],
    };
}

// Room for one operator behind so many. MXP_ENOMEM.
int mxp__graph_room_for_op(mxp_graph *graph, size_t count);

// What the order of operators needs to know of all of them.
static inline void mxp__graph_note_op(mxp_graph *graph, const mxp_graph_op *op)
{
    graph->async_count += (op->flags & MXP_OP_ASYNC) != 0;
    graph->cut_ops += (op->flags & MXP_OP_VARIABLES_CUT) != 0;
    graph->has_bulks |= (op->flags & MXP_OP_BULK_PARENT) != 0;
    graph->has_idle_ops |= op->is_idle;
    graph->least_id = op->id < graph->least_id ? op->id : graph->least_id;
    graph->most_id = op->id > graph->most_id ? op->id : graph->most_id;
}

// The range at a place of the index. 1: it is there; 0: it cannot be read; else an error.
int mxp__graph_range(const mxp_graph *graph, const mxp_range_index *index, size_t place,
                     mxp_record_range *range);

// Adds a record of kind WAIT to those of its thread. MXP_ENOMEM.
int mxp__graph_add_wait(mxp_graph *graph, const mxp_event *event);
// Adds the operators that ended waits which reach into the window, and were over before it. They
// are found by their ids and are on no thread. After the window was read. MXP_ENOMEM, or an error
// of the source.
int mxp__graph_add_enders(mxp_graph *graph, const mxp_range_index *index);
// Adds what graph->steps ask for and is over before the window begins. After the enders, which are
// from `first_ender` on. MXP_ENOMEM, or an error of the source.
int mxp__graph_add_early(mxp_graph *graph, const mxp_range_index *index, size_t first_ender);

// Adds the long spans of the window to those that were read. Before all else. MXP_ENOMEM.
int mxp__graph_add_long_spans(mxp_graph *graph, const mxp_range_index *index);
// Orders the operators of each thread, finds those inside others and the members of bulks, and
// makes the index of ids. Sets the roles of threads. MXP_ENOMEM.
int mxp__graph_order(mxp_graph *graph, const mxp_range_index *index);
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
