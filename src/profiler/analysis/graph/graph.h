// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/graph: what waited for what, in one window of one process.
//
// What waited for what, in one window of one process: operators on their threads, waits of the
// program's threads, the calls that these were in. The critical path (path.h) and the replay read
// it and nothing else.
//
// Edges are not stored. Those between operators follow from the record of each one: what released
// it (mxp__graph_releaser), who was before it on its worker (mxp__graph_previous), where it was
// pushed. Those of variables follow from its uses in the order of ids.
//
// Memory: about 100 bytes a record of the window; the limit is told before it is exceeded.
#ifndef MXP_ANALYSIS_GRAPH_H
#define MXP_ANALYSIS_GRAPH_H

#include <stdbool.h>

#include "profiler/analysis/window/range_index.h"

#define MXP__NO_OP UINT32_MAX
#define MXP__UNKNOWN_THREAD 0xffffu  // push_thread of operators whose push is not known

// One operator. Records of kind OPERATOR and HIDDEN; those that have no time of their own
// (MXP_OP_SHARED) are left out.
typedef struct mxp_graph_op {
    int64_t push_ns, ready_ns, start_ns, end_ns;
    const uint64_t *words;  // its record: shape, flops, bytes, device, uses
    uint32_t id, name, scope;
    uint32_t released_by, bulk_parent;  // ids, 0: none
    uint32_t thread;
    uint16_t push_thread;
    uint16_t flags;  // MXP_OP_*, with the phase
    uint16_t use_count;  // of variables, for mxp__graph_use
    // Place of the operator inside of which it ran on its thread; of a bulk's parent, of the bulk's
    // last member. MXP__NO_OP: there is none.
    uint32_t inner_of;
    uint32_t last_member;
    uint32_t place;  // in its thread's order; MXP__NO_OP: bulk parents, asynchronous, inner ones
    bool is_hidden;
    bool is_idle;  // does no work of a step: deletions, the engine's own waits
} mxp_graph_op;

typedef struct mxp_graph_wait {
    int64_t begin_ns, end_ns;
    uint32_t op;  // place of the operator that ended it, or MXP__NO_OP
    uint32_t name;
    uint32_t variable;  // that was waited for, 0: none or unknown
    uint8_t what, flags;  // MXP_WAIT_*
} mxp_graph_wait;

// What the program's thread was doing: the innermost span from `begin_ns` to the next one.
enum {
    MXP__HOST_BETWEEN = 0,  // no span
    MXP__HOST_CALL,  // into the C API
    MXP__HOST_INPUT,  // anything inside of a span of category `input`
    MXP__HOST_MEMORY,  // taking memory from the system or giving it back
    MXP__HOST_GARBAGE,  // Python's garbage collection
    MXP__HOST_SPAN,  // a span of the program's
    MXP__HOST_KINDS
};

typedef struct mxp_graph_host {
    int64_t begin_ns;
    uint32_t name;  // of the span; 0: none
    uint32_t kind;  // MXP__HOST_*
} mxp_graph_host;

enum {
    MXP__ROLE_PROGRAM = 0,  // pushes, waits, has spans
    MXP__ROLE_WORKER,  // runs operators that others push
    MXP__ROLE_CUSTOM  // runs functions of custom operators
};

typedef struct mxp_graph_thread {
    int role;  // MXP__ROLE_*
    uint32_t *ops;  // places of its operators, in the order of their starts; none inside another
    size_t op_count;
    mxp_graph_wait *waits;  // in the order of their ends
    size_t wait_count;
    mxp_graph_host *hosts;  // in the order of time; of workers none
    size_t host_count;
} mxp_graph_thread;

// Steps whose windows a graph is loaded for. What is pushed in a step may be over before its window
// begins, because the step before it took longer.
typedef struct mxp_graph_steps {
    int64_t from_ns, until_ns;  // the pushes of their operators: [from_ns, until_ns)
    uint32_t thread;  // that marks them
} mxp_graph_steps;

typedef struct mxp_graph {
    mxp_source *source;
    int64_t from_ns, to_ns;  // what was asked for
    mxp_graph_op *ops;  // in no order
    size_t op_count;
    // Behind those: pushed in `steps` and over before from_ns. They are on no thread, no wait is
    // for them and no id finds them.
    size_t early_count;
    mxp_graph_steps steps;  // all zeros: the window was asked for alone
    uint64_t loads;  // windows that it held so far, with this one
    mxp_graph_thread *threads;  // by index
    size_t thread_count;
    uint64_t records, bytes;  // of the window; memory of the graph
    uint32_t least_id, most_id;  // of its operators
    bool has_bulks, has_idle_ops;
    uint64_t cut_ops;  // operators whose variables were more than a record holds
    bool has_waits;  // the whole trace has records of waits; else they are taken from calls
    struct mxp_graph_index *index;  // of ids
    uint32_t *async_ops;  // places of asynchronous operators, in the order of their ends
    size_t async_count;
    // Memory of the threads, one block of each, and of `ops`; kept for the next window.
    uint32_t *op_places;
    size_t placed_count;
    mxp_graph_wait *waits;
    size_t wait_count;
    size_t op_capacity, place_capacity, async_capacity, wait_capacity;
    struct mxp_graph_raw_thread *raw;  // what was read of each thread, and its hosts
} mxp_graph;

#define MXP__GRAPH_BYTES_MAX (UINT64_C(1) << 30)  // the limit unless another is asked for

// Reads the window [from_ns, to_ns) of a source of one process: all that overlaps it. MXP_ENOMEM
// also where it would take more than `limit_bytes`; the detail line has the numbers. Damaged ranges
// are read up to their damage. The source must outlive the graph.
int mxp__graph_load(mxp_source *process, int64_t from_ns, int64_t to_ns, uint64_t limit_bytes,
                    mxp_graph *graph);
// The same of a source whose records were indexed, for several windows of it: mxp__graph_load_next
// into a graph that begins as zeros or holds another window of the source, whose memory is used
// again. An error leaves it empty.
int mxp__graph_load_next(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                         uint64_t limit_bytes, mxp_graph *graph);
int mxp__graph_load_part(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                         uint64_t limit_bytes, mxp_graph *graph);
// As mxp__graph_load_next, of the windows of some steps that follow one another, and with what
// began in these steps and was over before from_ns: operators, and recorded waits of the steps'
// thread; and with the last task before from_ns of each thread of custom operators. Operators that
// ended a wait which reaches into the window are found by their ids, on no thread. So what the
// graph tells of a step does not depend on which other steps are in it. Where waits are taken from
// calls, those that were over before from_ns, or whose operator was, are not known; figures of
// operators are the same.
int mxp__graph_load_steps(const mxp_range_index *index, const mxp_graph_steps *steps,
                          int64_t from_ns, int64_t to_ns, uint64_t limit_bytes, mxp_graph *graph);
// As mxp__graph_load_part, for a long window of which what a thread was doing is asked at the
// begins of its waits and where it loads input alone: its hosts are right there, and all else is.
// Has_waits: the trace has records of waits.
int mxp__graph_load_waits(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                          bool has_waits, uint64_t limit_bytes, mxp_graph *graph);
void mxp__graph_fini(mxp_graph *graph);

// Place of the operator with this id. Ids are used again after 2^32: of several the one that ended
// at `end_ns`, else the last one that ended before. MXP__NO_OP: there is none.
uint32_t mxp__graph_find(const mxp_graph *graph, uint32_t id, int64_t end_ns);

// The operator before it on its worker. MXP__NO_OP: there is none in the window.
static inline uint32_t mxp__graph_previous(const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    if (at->place == MXP__NO_OP || at->place == 0) {
        return MXP__NO_OP;
    }
    return graph->threads[at->thread].ops[at->place - 1];
}

// Whether it is a member of a bulk, and the operator before it on its worker is one too: then that
// is all it waited for.
static inline bool mxp__graph_follows_member(const mxp_graph *graph, uint32_t op)
{
    const uint32_t bulk = graph->ops[op].bulk_parent;
    const uint32_t before = bulk != 0 ? mxp__graph_previous(graph, op) : MXP__NO_OP;
    return before != MXP__NO_OP && graph->ops[before].bulk_parent == bulk;
}

// The parent of the bulk of which it is a member; itself if that is not there.
uint32_t mxp__graph_bulk_of(const mxp_graph *graph, uint32_t op);

// Whose push, release and uses are those of the operator: the bulk's parent for its first member,
// else itself.
static inline uint32_t mxp__graph_head(const mxp_graph *graph, uint32_t op)
{
    const bool is_own = graph->ops[op].bulk_parent == 0 || mxp__graph_follows_member(graph, op);
    return is_own ? op : mxp__graph_bulk_of(graph, op);
}

// The operator whose end released it, for the head of one: MXP__NO_OP if none did, or if that
// operator has no record (released_by is not 0 then).
uint32_t mxp__graph_releaser(const mxp_graph *graph, uint32_t head);

// Of an asynchronous operator: the operator on its thread inside of which it was completed.
uint32_t mxp__graph_completer(const mxp_graph *graph, uint32_t op);

// Whether it ran on the thread that pushed it, inside of the push.
static inline bool mxp__graph_is_inline(const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    return (at->flags & (MXP_OP_ASYNC | MXP_OP_BULK_PARENT)) == 0 &&
           graph->threads[at->thread].role != MXP__ROLE_WORKER;
}

// Place in the thread's order of the first operator that ends at or after `ns`; op_count: none
// does. It runs at `ns` if it started before.
size_t mxp__graph_ending_from(const mxp_graph *graph, uint32_t thread, int64_t ns);

// Place of the operator with the latest end that is not after `ns`, over all threads, hidden and
// asynchronous ones included, bulk parents not; of several the one with the largest id.
uint32_t mxp__graph_last_before(const mxp_graph *graph, int64_t ns);

// Whether a wait is the first one of a thread of custom operators that began after `from_ns`, which
// is in the window: the thread was made for this task, which therefore handed it over, even if it
// was there when the thread looked.
bool mxp__graph_is_made_for(const mxp_graph *graph, uint32_t thread, const mxp_graph_wait *wait,
                            int64_t from_ns);

// Place in the thread's waits of the last one with an end that is not after `ns`; SIZE_MAX: none.
size_t mxp__graph_wait_before(const mxp_graph *graph, uint32_t thread, int64_t ns);

// Uses of an operator: variable ids, with MXP_VARIABLE_WRITTEN.
uint32_t mxp__graph_use_count(const mxp_graph *graph, uint32_t op);
uint32_t mxp__graph_use(const mxp_graph *graph, uint32_t op, uint32_t i);

// What a program's thread was doing at `ns`: null before its first span, and of workers.
const mxp_graph_host *mxp__graph_host_at(const mxp_graph *graph, uint32_t thread, int64_t ns);

// Places in the thread's hosts of those that begin after from_ns and before to_ns, which is later:
// *first up to before *end. What it was doing at from_ns is the one before *first.
void mxp__graph_hosts_within(const mxp_graph *graph, uint32_t thread, int64_t from_ns,
                             int64_t to_ns, size_t *first, size_t *end);

#endif
