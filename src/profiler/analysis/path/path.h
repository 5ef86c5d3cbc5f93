// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/path: the critical path of a step, and of many added up.
//
// The critical path of a window: a walk from its end backwards, from each thing to what it waited
// for last. Its pieces follow one another without a gap and fill the window to the nanosecond,
// whatever the records say; what cannot be known is a piece of its own.
#ifndef MXP_ANALYSIS_PATH_H
#define MXP_ANALYSIS_PATH_H

#include "profiler/analysis/graph/graph.h"
#include "profiler/analysis/window/steps.h"

// What a piece is. HOST is only in a path as it was walked; mxp__path_split makes the kinds from
// CALL to BETWEEN of it.
enum {
    MXP__PATH_RUN = 0,  // an operator runs
    MXP__PATH_COMMUNICATION,  // one of phase communication runs, or a thread waits for such
    MXP__PATH_DISPATCH,  // all was there but the worker
    MXP__PATH_WAKE,  // what was waited for is there; the thread comes back
    MXP__PATH_CALL,  // the program, in a call into the library
    MXP__PATH_INPUT,  // the program, loading its input
    MXP__PATH_MEMORY,  // the program, taking memory from the system
    MXP__PATH_GARBAGE,  // Python, collecting garbage
    MXP__PATH_SPAN,  // the program, in a span of its own
    MXP__PATH_BETWEEN,  // the program, in no span
    MXP__PATH_CUSTOM,  // the function of a custom operator
    MXP__PATH_HANDOFF,  // from a custom operator's start to its function's
    MXP__PATH_BACK_PRESSURE,  // the program must not push more
    MXP__PATH_UNKNOWN,
    MXP__PATH_KINDS,
    MXP__PATH_HOST = MXP__PATH_KINDS
};

// "run", "dispatch" ...: as the commands print it.
const char *mxp__path_kind_name(int kind);
static inline bool mxp__path_kind_is_host(int kind)
{
    return (kind >= MXP__PATH_CALL && kind <= MXP__PATH_BETWEEN) || kind == MXP__PATH_HOST;
}

typedef struct mxp_path_piece {
    int64_t from_ns, to_ns;
    // Place of the operator: that runs, that was dispatched, whose end woke the thread, that was
    // handed over, whose function it is. MXP__NO_OP where there is none.
    uint32_t op;
    uint32_t thread;  // on which it was spent
    uint32_t name;  // of a host piece, once split: the innermost span, 0: none
    uint8_t kind;  // MXP__PATH_*
} mxp_path_piece;

// Begins as zeros, and is used again for the next window.
typedef struct mxp_path {
    mxp_path_piece *pieces;  // the earliest first
    size_t count, capacity;
    uint64_t contradictions;  // places at which records contradict one another
    mxp_path_piece *spare;  // memory of pieces that were split
    size_t spare_capacity;
} mxp_path;

// Steps of this thread are windows of which nothing says whose they are.
#define MXP__PATH_ANY_THREAD UINT32_MAX
// The thread from which a window without steps is walked: the one that pushed most of its
// operators, or else that did something last.
uint32_t mxp__path_window_thread(const mxp_graph *graph);

// The time from from_ns to until_ns as the one step of a trace, of any thread; what *window is
// filled with must outlive what is returned, and so must `steps`.
mxp_steps mxp__path_window(const mxp_steps *steps, int64_t from_ns, int64_t until_ns,
                           mxp_step_window *window);

// Walks [from_ns, to_ns) of the graph, which holds it, back from the operator that ends at to_ns,
// or else from `thread`. MXP_ENOMEM.
int mxp__path_walk(const mxp_graph *graph, int64_t from_ns, int64_t to_ns, uint32_t thread,
                   mxp_path *path);
void mxp__path_fini(mxp_path *path);

// Cuts the host pieces of `path` by what the thread was doing. MXP_ENOMEM leaves it as it was.
int mxp__path_split(const mxp_graph *graph, mxp_path *path);

// Walks and splits the path of each chosen step, in the order of time, and calls `each`, an error
// of which ends it and is returned. `chosen`: by place in `steps`, null for all. The graph is
// loaded for as many steps at once as fit into `limit_bytes`, so that a long trace needs no more:
// what comes out does not depend on how many. Only where libraries of before recorded no waits may
// pieces differ, and mxp__step_program_ns be longer with fewer (see mxp__graph_load_steps). A step
// that does not fit alone: MXP_ENOMEM. `graph` and `path` are valid during the call.
typedef int mxp_path_each(void *context, const mxp_graph *graph, const mxp_steps *steps,
                          size_t step, const mxp_path *path);
int mxp__path_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                    uint64_t limit_bytes, mxp_path_each *each, void *context);

#endif
