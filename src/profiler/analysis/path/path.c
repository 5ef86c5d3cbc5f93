// SPDX-License-Identifier: Apache-2.0
// The walk: see path.h. It is at one moment of one thread, or in one operator, and goes to what was
// waited for last. Whatever the records say, a piece ends where the one after it begins.
#include "profiler/analysis/path/path.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// So many moves to other operators or threads without going back in time mean that records
// contradict one another: they wait for one another in a circle.
enum { STALLED = 1 << 16 };

typedef struct walker {
    const mxp_graph *graph;
    mxp_path *path;
    int64_t begin_ns, at_ns;  // where the window begins; where the walk is
    uint32_t thread;  // while `op` is none
    uint32_t op;
    bool out_of_memory, is_over;
} walker;

const char *mxp__path_kind_name(int kind)
{
    static const char *const names[] = {
        [MXP__PATH_RUN] = "run",
        [MXP__PATH_COMMUNICATION] = "communication",
        [MXP__PATH_DISPATCH] = "dispatch",
        [MXP__PATH_WAKE] = "wake",
        [MXP__PATH_CALL] = "call",
        [MXP__PATH_INPUT] = "input",
        [MXP__PATH_MEMORY] = "memory",
        [MXP__PATH_GARBAGE] = "garbage collection",
        [MXP__PATH_SPAN] = "span",
        [MXP__PATH_BETWEEN] = "between calls",
        [MXP__PATH_CUSTOM] = "custom",
        [MXP__PATH_HANDOFF] = "hand-off",
        [MXP__PATH_BACK_PRESSURE] = "back pressure",
        [MXP__PATH_UNKNOWN] = "unknown",
        [MXP__PATH_HOST] = "host",
    };
    return names[kind];
}

void mxp__path_fini(mxp_path *path)
{
    mxp__free(path->pieces, path->capacity * sizeof *path->pieces);
    mxp__free(path->spare, path->spare_capacity * sizeof *path->spare);
    *path = (mxp_path){0};
}

// ---- pieces ------------------------------------------------------------------------------------
// The time from `to_ns` up to where the walk is; nothing if that is not behind it.
static void back_to(walker *walk, int64_t to_ns, int kind, uint32_t op, uint32_t thread)
{
    mxp_path *path = walk->path;
    to_ns = to_ns < walk->begin_ns ? walk->begin_ns : to_ns;
    if (to_ns >= walk->at_ns || walk->out_of_memory) {
        return;
    }
    if (mxp__grow(&path->pieces, &path->capacity, path->count + 1, sizeof *path->pieces) !=
        MXP_OK) {
        walk->out_of_memory = true;
        return;
    }
    path->pieces[path->count++] = (mxp_path_piece){
        .from_ns = to_ns, .to_ns = walk->at_ns, .op = op, .thread = thread, .kind = (uint8_t)kind};
    walk->at_ns = to_ns;
}

static void run_back(walker *walk, uint32_t op)
{
    const mxp_graph_op *at = &walk->graph->ops[op];
    const bool sends = (at->flags & MXP_OP_PHASE_MASK) == MXP_PHASE_COMMUNICATION;
    back_to(walk, at->start_ns, sends ? MXP__PATH_COMMUNICATION : MXP__PATH_RUN, op, at->thread);
}

// What ended before the window may be in the graph or not; a path is the same either way.
static uint32_t known(const walker *walk, uint32_t op)
{
    return op != MXP__NO_OP && walk->graph->ops[op].end_ns >= walk->begin_ns ? op : MXP__NO_OP;
}

// The last task that a thread of custom operators had taken before `ns`, or null.
static const mxp_graph_wait *task_before(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_wait *waits = graph->threads[thread].waits;
    size_t i = mxp__graph_wait_before(graph, thread, ns - 1);
    while (i != SIZE_MAX && waits[i].what != MXP_WAIT_TASK) {
        i = i == 0 ? SIZE_MAX : i - 1;
    }
    return i == SIZE_MAX ? NULL : &waits[i];
}

// Functions of custom operators, one after another.
static void custom_back(walker *walk, int64_t to_ns)
{
    const uint32_t thread = walk->thread;
    int64_t from_ns = INT64_MAX;
    while (from_ns > to_ns && walk->at_ns > to_ns && !walk->out_of_memory) {
        const mxp_graph_wait *task = task_before(walk->graph, thread, walk->at_ns);
        from_ns = task != NULL && task->end_ns > to_ns ? task->end_ns : to_ns;
        back_to(walk, from_ns, MXP__PATH_CUSTOM, task != NULL ? known(walk, task->op) : MXP__NO_OP,
                thread);
    }
}

static void host_back(walker *walk, int64_t to_ns)
{
    const uint32_t thread = walk->thread;
    if (walk->graph->threads[thread].role == MXP__ROLE_CUSTOM) {
        to_ns = to_ns < walk->begin_ns ? walk->begin_ns : to_ns;
        custom_back(walk, to_ns);
    } else {
        back_to(walk, to_ns, MXP__PATH_HOST, MXP__NO_OP, thread);
    }
}

static void give_up(walker *walk)
{
    walk->path->contradictions++;
    back_to(walk, walk->begin_ns, MXP__PATH_UNKNOWN, walk->op, walk->thread);
    walk->is_over = true;
}

// ---- from an operator to what it waited for ----------------------------------------------------
static void to_thread(walker *walk, uint32_t thread)
{
    walk->op = MXP__NO_OP;
    walk->thread = thread;
    if (thread >= walk->graph->thread_count) {  // nobody knows who pushed it
        back_to(walk, walk->begin_ns, MXP__PATH_UNKNOWN, MXP__NO_OP, 0);
        walk->is_over = true;
    }
}

// Nothing is known of the operator that released `head`: what ended last before may have been it.
static void past_unknown(walker *walk, uint32_t head)
{
    const mxp_graph_op *at = &walk->graph->ops[head];
    const uint32_t last = mxp__graph_last_before(walk->graph, walk->at_ns);
    const bool is_behind =
        last == MXP__NO_OP || last == head || walk->graph->ops[last].end_ns < at->push_ns;
    back_to(walk, is_behind ? at->push_ns : walk->graph->ops[last].end_ns, MXP__PATH_UNKNOWN, head,
            at->thread);
    if (is_behind) {
        to_thread(walk, at->push_thread);
    } else {
        walk->op = last;
    }
}

static void to_cause(walker *walk, uint32_t op)
{
    const mxp_graph *graph = walk->graph;
    const mxp_graph_op *at = &graph->ops[op];
    if (mxp__graph_is_inline(graph, op)) {
        to_thread(walk, at->thread);
        return;
    }
    const bool is_async = (at->flags & MXP_OP_ASYNC) != 0;
    const uint32_t previous = is_async ? MXP__NO_OP : mxp__graph_previous(graph, op);
    if (!is_async && mxp__graph_follows_member(graph, op)) {
        back_to(walk, graph->ops[previous].end_ns, MXP__PATH_DISPATCH, op, at->thread);
        walk->op = previous;
        return;
    }
    const uint32_t head_place = mxp__graph_head(graph, op);
    const mxp_graph_op *head = &graph->ops[head_place];
    int64_t latest_ns = head->push_ns > head->ready_ns ? head->push_ns : head->ready_ns;
    const bool was_busy = previous != MXP__NO_OP && graph->ops[previous].end_ns >= latest_ns;
    const bool was_released =
        head->released_by != 0 && head->ready_ns == latest_ns && head->ready_ns > head->push_ns;
    const bool worker_last = was_busy && graph->ops[previous].end_ns > latest_ns;
    latest_ns = was_busy ? graph->ops[previous].end_ns : latest_ns;
    walk->path->contradictions += latest_ns > at->start_ns;
    back_to(walk, latest_ns, MXP__PATH_DISPATCH, op, at->thread);
    if (was_released && !worker_last) {
        const uint32_t releaser = known(walk, mxp__graph_releaser(graph, head_place));
        if (releaser == MXP__NO_OP) {
            past_unknown(walk, head_place);
            return;
        }
        back_to(walk, graph->ops[releaser].end_ns, MXP__PATH_UNKNOWN, head_place, at->thread);
        walk->op = releaser;
    } else if (was_busy) {
        walk->op = previous;
    } else {
        to_thread(walk, head->push_thread);
    }
}

static void leave_operator(walker *walk)
{
    const mxp_graph *graph = walk->graph;
    uint32_t op = walk->op;
    if (graph->ops[op].inner_of != MXP__NO_OP) {
        op = graph->ops[op].inner_of;
    }
    if ((graph->ops[op].flags & MXP_OP_BULK_PARENT) != 0 &&
        known(walk, graph->ops[op].last_member) != MXP__NO_OP) {
        op = graph->ops[op].last_member;  // a bulk ends with its last member
    }
    if ((graph->ops[op].flags & MXP_OP_ASYNC) != 0) {
        const uint32_t completer = mxp__graph_completer(graph, op);
        op = completer != MXP__NO_OP ? completer : op;
    }
    run_back(walk, op);
    to_cause(walk, op);
}

// ---- from a moment of a thread to what it waited for -------------------------------------------
// The operator that ended it. One that was over before the window is known where it ended while the
// thread waited.
static uint32_t ender_of(const walker *walk, const mxp_graph_wait *wait)
{
    const bool was_waiting = wait->op != MXP__NO_OP && wait->what != MXP_WAIT_ALL &&
                             walk->graph->has_waits &&
                             walk->graph->ops[wait->op].end_ns > wait->begin_ns;
    return was_waiting ? wait->op : known(walk, wait->op);
}

static bool has_blocked(const walker *walk, const mxp_graph_wait *wait)
{
    const mxp_graph *graph = walk->graph;
    if (ender_of(walk, wait) == MXP__NO_OP) {
        return (wait->flags & MXP_WAIT_BLOCKED) != 0 && wait->begin_ns < wait->end_ns;
    }
    if (wait->what == MXP_WAIT_TASK) {  // a task that came while the thread was busy had to wait
        return (wait->flags & MXP_WAIT_BLOCKED) != 0 ||
               graph->ops[wait->op].start_ns > wait->begin_ns ||
               mxp__graph_is_made_for(graph, walk->thread, wait, walk->begin_ns);
    }
    return graph->ops[wait->op].end_ns > wait->begin_ns;
}

// The last wait that blocked and ended after `after_ns` and up to where the walk is, or null.
static const mxp_graph_wait *last_wait(const walker *walk, int64_t after_ns)
{
    const mxp_graph_thread *thread = &walk->graph->threads[walk->thread];
    size_t i = mxp__graph_wait_before(walk->graph, walk->thread, walk->at_ns);
    while (i != SIZE_MAX && thread->waits[i].end_ns > after_ns) {
        if (has_blocked(walk, &thread->waits[i])) {
            return &thread->waits[i];
        }
        i = i == 0 ? SIZE_MAX : i - 1;
    }
    return NULL;
}

static int kind_of_wait(const mxp_graph_wait *wait)
{
    switch (wait->what) {
    case MXP_WAIT_BACK_PRESSURE:
        return MXP__PATH_BACK_PRESSURE;
    case MXP_WAIT_INPUT:
        return MXP__PATH_INPUT;
    case MXP_WAIT_COMMUNICATION:
        return MXP__PATH_COMMUNICATION;
    case MXP_WAIT_PROGRAM:
        return MXP__PATH_HOST;
    default:
        return MXP__PATH_UNKNOWN;
    }
}

// What ended it has no record, or ended before the window, where no records are to be found.
static int kind_of_nobodys(const walker *walk, const mxp_graph_wait *wait)
{
    if (wait->begin_ns > walk->begin_ns || wait->what > MXP_WAIT_TASK) {
        return kind_of_wait(wait);
    }
    return wait->what == MXP_WAIT_TASK ? MXP__PATH_HANDOFF : MXP__PATH_WAKE;
}

static void leave_wait(walker *walk, const mxp_graph_wait *wait)
{
    const mxp_graph *graph = walk->graph;
    host_back(walk, wait->end_ns);
    if (ender_of(walk, wait) == MXP__NO_OP) {
        const int64_t end_ns = walk->at_ns;
        back_to(walk, wait->begin_ns, kind_of_nobodys(walk, wait), MXP__NO_OP, walk->thread);
        if (walk->at_ns == end_ns) {  // a task from nowhere that took no time
            give_up(walk);
        } else if (!walk->out_of_memory) {
            walk->path->pieces[walk->path->count - 1].name = wait->name;
        }
    } else if (wait->what == MXP_WAIT_TASK) {
        const uint32_t handed = wait->op;
        back_to(walk, graph->ops[handed].start_ns, MXP__PATH_HANDOFF, handed, walk->thread);
        to_cause(walk, handed);
    } else {
        const bool is_pressure = wait->what == MXP_WAIT_BACK_PRESSURE;
        back_to(walk, graph->ops[wait->op].end_ns,
                is_pressure ? MXP__PATH_BACK_PRESSURE : MXP__PATH_WAKE, wait->op, walk->thread);
        walk->op = wait->op;
    }
}

static void leave_thread(walker *walk)
{
    const mxp_graph *graph = walk->graph;
    const mxp_graph_thread *thread = &graph->threads[walk->thread];
    const bool is_worker = thread->role == MXP__ROLE_WORKER;
    const size_t i = mxp__graph_ending_from(graph, walk->thread, walk->at_ns);
    const int64_t start_ns = i < thread->op_count ? graph->ops[thread->ops[i]].start_ns : INT64_MAX;
    if (start_ns < walk->at_ns || (is_worker && start_ns == walk->at_ns)) {
        if (is_worker) {  // which pushes from inside of an operator
            walk->op = thread->ops[i];
        } else {
            run_back(walk, thread->ops[i]);
        }
        return;
    }
    const uint32_t ran = i > 0 && !is_worker ? thread->ops[i - 1] : MXP__NO_OP;
    const bool ran_within = ran != MXP__NO_OP && graph->ops[ran].end_ns > walk->begin_ns;
    // Of a wait and an operator that end together the wait comes first.
    const mxp_graph_wait *wait =
        last_wait(walk, ran_within ? graph->ops[ran].end_ns - 1 : walk->begin_ns);
    if (wait != NULL) {
        leave_wait(walk, wait);
    } else if (ran_within) {
        host_back(walk, graph->ops[ran].end_ns);
        run_back(walk, ran);
    } else {
        host_back(walk, walk->begin_ns);
        walk->is_over = true;
    }
}

// ---- all ---------------------------------------------------------------------------------------
static void reverse(mxp_path *path)
{
    for (size_t i = 0; i < path->count / 2; i++) {
        const mxp_path_piece kept = path->pieces[i];
        path->pieces[i] = path->pieces[path->count - 1 - i];
        path->pieces[path->count - 1 - i] = kept;
    }
}

int mxp__path_walk(const mxp_graph *graph, int64_t from_ns, int64_t to_ns, uint32_t thread,
                   mxp_path *path)
{
    path->count = 0;
    path->contradictions = 0;
    const uint32_t last = mxp__graph_last_before(graph, to_ns);
    const bool ends_with_op = last != MXP__NO_OP && graph->ops[last].end_ns == to_ns;
    walker walk = {.graph = graph,
                   .path = path,
                   .begin_ns = from_ns,
                   .at_ns = to_ns,
                   .thread = thread,
                   .op = ends_with_op ? last : MXP__NO_OP};
    if (thread >= graph->thread_count && !ends_with_op) {
        to_thread(&walk, thread);
    }
    uint32_t stalled = 0;
    while (walk.at_ns > from_ns && !walk.is_over && !walk.out_of_memory) {
        const int64_t before_ns = walk.at_ns;
        if (walk.op != MXP__NO_OP) {
            leave_operator(&walk);
        } else {
            leave_thread(&walk);
        }
        stalled = walk.at_ns < before_ns ? 0 : stalled + 1;
        if (stalled > STALLED) {
            give_up(&walk);
        }
    }
    reverse(path);
    return walk.out_of_memory ? mxp__fail_memory("the critical path") : MXP_OK;
}

// ---- what the program was doing ----------------------------------------------------------------
static int kind_of_host(uint32_t kind)
{
    static const int kinds[MXP__HOST_KINDS] = {
        [MXP__HOST_BETWEEN] = MXP__PATH_BETWEEN, [MXP__HOST_CALL] = MXP__PATH_CALL,
        [MXP__HOST_INPUT] = MXP__PATH_INPUT,     [MXP__HOST_MEMORY] = MXP__PATH_MEMORY,
        [MXP__HOST_GARBAGE] = MXP__PATH_GARBAGE, [MXP__HOST_SPAN] = MXP__PATH_SPAN};
    return kinds[kind];
}

// Room for so many pieces more.
static int make_room(mxp_path *to, size_t more)
{
    return to->capacity - to->count >= more ||
                   mxp__grow(&to->pieces, &to->capacity, to->count + more, sizeof *to->pieces) ==
                       MXP_OK
               ? MXP_OK
               : mxp__fail_memory("the critical path");
}

// What the thread was doing at the piece's begin, and each piece of it that begins within.
static int split_piece(const mxp_graph *graph, const mxp_path_piece *piece, mxp_path *to)
{
    const mxp_graph_thread *thread = &graph->threads[piece->thread];
    size_t first, end;
    mxp__graph_hosts_within(graph, piece->thread, piece->from_ns, piece->to_ns, &first, &end);
    int error = make_room(to, end - first + 1);
    if (error != MXP_OK) {
        return error;
    }
    mxp_path_piece *part = &to->pieces[to->count];
    *part = *piece;
    part->kind = MXP__PATH_BETWEEN;
    part->name = 0;
    if (first > 0) {
        part->kind = (uint8_t)kind_of_host(thread->hosts[first - 1].kind);
        part->name = thread->hosts[first - 1].name;
    }
    for (size_t i = first; i < end; i++) {
        const mxp_graph_host *host = &thread->hosts[i];
        part->to_ns = host->begin_ns;
        *++part = (mxp_path_piece){.from_ns = host->begin_ns,
                                   .op = piece->op,
                                   .thread = piece->thread,
                                   .name = host->name,
                                   .kind = (uint8_t)kind_of_host(host->kind)};
    }
    part->to_ns = piece->to_ns;
    to->count += end - first + 1;
    return MXP_OK;
}

static int append(mxp_path *to, const mxp_path_piece *piece)
{
    const int error = make_room(to, 1);
    if (error == MXP_OK) {
        to->pieces[to->count++] = *piece;
    }
    return error;
}

int mxp__path_split(const mxp_graph *graph, mxp_path *path)
{
    mxp_path to = {.pieces = path->spare, .capacity = path->spare_capacity};
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        error = piece->kind == MXP__PATH_HOST ? split_piece(graph, piece, &to) : append(&to, piece);
    }
    path->spare = to.pieces;
    path->spare_capacity = to.capacity;
    if (error == MXP_OK) {
        path->spare = path->pieces;
        path->spare_capacity = path->capacity;
        path->pieces = to.pieces;
        path->capacity = to.capacity;
        path->count = to.count;
    }
    return error;
}
