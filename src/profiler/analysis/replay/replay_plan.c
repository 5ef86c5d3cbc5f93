// SPDX-License-Identifier: Apache-2.0
// See replay_plan.h.
#include "profiler/analysis/replay/replay_plan.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_host.h"
#include "profiler/analysis/replay/replay_parts.h"

const char mxp__replay_memory[] = "the replay";

// ---- what a start waited for, as recorded ------------------------------------------------------
bool mxp__replay_starts_freely(const mxp_graph *graph, uint32_t op)
{
    return graph->ops[op].inner_of == MXP__NO_OP && !mxp__graph_is_inline(graph, op) &&
           !mxp__graph_follows_member(graph, op);
}

int64_t mxp__replay_ready_ns(const mxp_replay_plan *plan, uint32_t op)
{
    const mxp_graph *graph = plan->graph;
    const uint32_t head = mxp__graph_head(graph, op);
    const int64_t start_ns = graph->ops[op].start_ns;
    const bool is_known = graph->ops[head].push_thread < graph->thread_count;
    int64_t ready_ns = is_known ? graph->ops[head].push_ns : MXP__NS_NONE;
    const uint32_t previous = mxp__replay_worker_before(graph, op);
    for (uint32_t i = plan->edge_first[head]; i < plan->edge_ends[head]; i++) {
        const int64_t end_ns = graph->ops[plan->edges[i]].end_ns;
        const bool counts = end_ns <= start_ns && plan->edges[i] != previous;
        ready_ns = counts && end_ns > ready_ns ? end_ns : ready_ns;
    }
    return ready_ns;
}

size_t mxp__replay_step_of(const mxp_replay_plan *plan, int64_t ns)
{
    const mxp_step_window *all = plan->steps->all;
    size_t low = plan->first, high = plan->end;
    if (low == high || ns < all[low].mark_ns) {
        return SIZE_MAX;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (all[middle].mark_ns <= ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const bool is_behind = low + 1 < plan->steps->count && ns >= all[low + 1].mark_ns;
    return is_behind ? SIZE_MAX : low;
}

// ---- how much runs beside how much -------------------------------------------------------------
enum { WORKERS_MAX = 64 };  // of more nobody can say how they share cores

typedef struct sweep {
    const mxp_graph *graph;
    const int64_t *starts, *ends;
    const mxp_graph_thread *workers[WORKERS_MAX];
    size_t next[WORKERS_MAX];
    size_t count;
} sweep;

static int64_t start_at(const sweep *at, size_t worker)
{
    const uint32_t op = at->workers[worker]->ops[at->next[worker]];
    return at->starts != NULL ? at->starts[op] : at->graph->ops[op].start_ns;
}

// The worker whose next operator starts first; `count`: there is none.
static size_t first_worker(const sweep *at)
{
    size_t first = at->count;
    for (size_t i = 0; i < at->count; i++) {
        if (at->next[i] < at->workers[i]->op_count &&
            (first == at->count || start_at(at, i) < start_at(at, first))) {
            first = i;
        }
    }
    return first;
}

void mxp__replay_overlap(const mxp_graph *graph, const int64_t *starts, const int64_t *ends,
                         int64_t *overlap, int64_t *run)
{
    sweep at = {.graph = graph, .starts = starts, .ends = ends};
    for (size_t i = 0; i < graph->thread_count && at.count < WORKERS_MAX; i++) {
        if (graph->threads[i].role == MXP__ROLE_WORKER && graph->threads[i].op_count > 0) {
            at.workers[at.count++] = &graph->threads[i];
        }
    }
    *overlap = *run = 0;
    int64_t covered = INT64_MIN;
    for (size_t worker; (worker = first_worker(&at)) < at.count; at.next[worker]++) {
        const uint32_t op = at.workers[worker]->ops[at.next[worker]];
        const int64_t start = start_at(&at, worker);
        const int64_t end = ends != NULL ? ends[op] : graph->ops[op].end_ns;
        *run += end - start;
        if (start < covered) {
            *overlap += (end < covered ? end : covered) - start;
        }
        covered = end > covered ? end : covered;
    }
}

// ---- what is usual -----------------------------------------------------------------------------
typedef struct gaps {
    int64_t *all[3];  // of idle workers that were awake, that slept, and of waiting threads
    size_t counts[3], capacities[3];
} gaps;

static int add_gap(gaps *gap, int which, int64_t ns)
{
    if (mxp__grow(&gap->all[which], &gap->capacities[which], gap->counts[which] + 1,
                  sizeof *gap->all[which]) != MXP_OK) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    gap->all[which][gap->counts[which]++] = ns;
    return MXP_OK;
}

static void contradict(mxp_replay_plan *plan, int64_t ns)
{
    if (plan->contradictions++ == 0) {
        plan->first_contradiction_ns = ns;
    }
}

static void check_edges(mxp_replay_plan *plan, uint32_t op)
{
    const mxp_graph *graph = plan->graph;
    const uint32_t head = mxp__graph_head(graph, op);
    for (uint32_t i = plan->edge_first[head]; i < plan->edge_ends[head]; i++) {
        if (graph->ops[plan->edges[i]].end_ns > graph->ops[op].start_ns) {
            contradict(plan, graph->ops[op].start_ns);
        }
    }
}

static int gap_of_op(mxp_replay_plan *plan, gaps *gap, uint32_t op)
{
    const mxp_graph_op *at = &plan->graph->ops[op];
    if (!mxp__replay_starts_freely(plan->graph, op)) {
        return MXP_OK;
    }
    check_edges(plan, op);
    const int64_t ready_ns = mxp__replay_ready_ns(plan, op);
    const int64_t free_ns = mxp__replay_free_ns(plan, op);
    if (ready_ns > at->start_ns || free_ns > at->start_ns) {
        contradict(plan, at->start_ns);
        return MXP_OK;
    }
    if (free_ns == MXP__NS_NONE || ready_ns <= free_ns) {
        return MXP_OK;
    }
    const bool slept = (at->flags & MXP_OP_WOKE) != 0;
    const int64_t idle_ns = ready_ns - free_ns;
    if (slept && (plan->sleeps_after_ns < 0 || idle_ns < plan->sleeps_after_ns)) {
        plan->sleeps_after_ns = idle_ns;
    }
    return add_gap(gap, slept ? 1 : 0, at->start_ns - ready_ns);
}

static int gap_of_wait(mxp_replay_plan *plan, gaps *gap, uint32_t at)
{
    const mxp_graph_wait *wait = &plan->graph->waits[at];
    const uint32_t op = plan->wait_ops[at];
    const bool is_for_ops = wait->what <= MXP_WAIT_ALL && wait->what != 0;
    if (op == MXP__NO_OP || !is_for_ops || plan->graph->ops[op].end_ns <= wait->begin_ns) {
        return MXP_OK;
    }
    if (plan->graph->ops[op].end_ns > wait->end_ns) {
        contradict(plan, wait->end_ns);
        return MXP_OK;
    }
    return add_gap(gap, 2, wait->end_ns - plan->graph->ops[op].end_ns);
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t sorted_at(const gaps *gap, int which, size_t share, int64_t none)
{
    const size_t count = gap->counts[which];
    return count == 0 ? none : gap->all[which][(count - 1) * share / 100];
}

static int take_gaps(mxp_replay_plan *plan)
{
    gaps gap = {0};
    int error = MXP_OK;
    plan->sleeps_after_ns = -1;
    for (size_t i = 0; i < plan->order_count && error == MXP_OK; i++) {
        const uint32_t node = plan->order[i];
        error = (node & MXP__NODE_IS_WAIT) != 0 ? gap_of_wait(plan, &gap, node & ~MXP__NODE_IS_WAIT)
                                                : gap_of_op(plan, &gap, node);
    }
    for (int i = 0; i < 3; i++) {
        if (gap.counts[i] > 0) {
            qsort(gap.all[i], gap.counts[i], sizeof *gap.all[i], compare_ns);
        }
    }
    plan->idle_gap_ns[0] = sorted_at(&gap, 0, 50, -1);
    plan->idle_gap_ns[1] = sorted_at(&gap, 1, 50, -1);
    plan->wake_ns = sorted_at(&gap, 2, 50, 0);
    const int usual = gap.counts[1] > gap.counts[0] ? 1 : 0;
    plan->gap_low_ns = sorted_at(&gap, usual, 10, 0);
    plan->gap_high_ns = sorted_at(&gap, usual, 90, 0);
    for (int i = 0; i < 3; i++) {
        mxp__free(gap.all[i], gap.capacities[i] * sizeof *gap.all[i]);
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static uint32_t find_store_thread(const mxp_graph *graph)
{
    for (size_t i = 0; i < graph->async_count; i++) {
        const mxp_graph_op *op = &graph->ops[graph->async_ops[i]];
        if ((op->flags & MXP_OP_PHASE_MASK) == MXP_PHASE_COMMUNICATION) {
            return op->thread;
        }
    }
    return UINT32_MAX;
}

uint32_t mxp__replay_completer(const mxp_replay_plan *plan, uint32_t op)
{
    return plan->graph->ops[op].thread == plan->store_thread
               ? MXP__NO_OP
               : mxp__graph_completer(plan->graph, op);
}

static int take_completers(mxp_replay_plan *plan)
{
    const mxp_graph *graph = plan->graph;
    const size_t bytes = graph->op_count * sizeof *plan->completed;
    if (graph->async_count == 0) {
        return MXP_OK;
    }
    plan->completed = mxp__alloc(bytes);
    plan->also_completed = mxp__alloc(bytes);
    if (bytes > 0 && (plan->completed == NULL || plan->also_completed == NULL)) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        plan->completed[i] = plan->also_completed[i] = MXP__NO_OP;
    }
    for (size_t i = 0; i < graph->async_count; i++) {
        const uint32_t op = graph->async_ops[i];
        const uint32_t completer = mxp__replay_completer(plan, op);
        if (completer != MXP__NO_OP) {
            plan->also_completed[op] = plan->completed[completer];
            plan->completed[completer] = op;
        }
    }
    return MXP_OK;
}

static int take_wait_threads(mxp_replay_plan *plan)
{
    const mxp_graph *graph = plan->graph;
    plan->wait_threads = mxp__alloc(graph->wait_count * sizeof *plan->wait_threads);
    if (plan->wait_threads == NULL && graph->wait_count > 0) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (uint32_t i = 0; i < graph->thread_count; i++) {
        const mxp_graph_thread *thread = &graph->threads[i];
        for (size_t k = 0; k < thread->wait_count; k++) {
            plan->wait_threads[thread->waits + k - graph->waits] = i;
        }
    }
    return MXP_OK;
}

static int take_memory(mxp_replay_plan *plan)
{
    const size_t bytes = plan->graph->op_count * sizeof *plan->starts;
    plan->starts = mxp__alloc(bytes);
    plan->ends = mxp__alloc(bytes);
    return bytes > 0 && (plan->starts == NULL || plan->ends == NULL)
               ? mxp__fail_memory(mxp__replay_memory)
               : MXP_OK;
}

// Records that contradict one another may lie centuries from the window that they overlap.
static bool is_far(const mxp_graph *graph)
{
    const int64_t first_ns = graph->from_ns - MXP__REPLAY_NEAR_NS;
    const int64_t last_ns = graph->to_ns + MXP__REPLAY_NEAR_NS;
    bool is = true;
    for (size_t i = 0; i < graph->op_count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        is &= op->start_ns >= first_ns && op->end_ns <= last_ns;
    }
    for (size_t i = 0; i < graph->wait_count; i++) {
        is &= graph->waits[i].begin_ns >= first_ns && graph->waits[i].end_ns <= last_ns;
    }
    return !is;
}

int mxp__replay_plan_make(const mxp_graph *graph, const mxp_steps *steps, size_t first, size_t end,
                          mxp_replay_plan *plan)
{
    *plan = (mxp_replay_plan){.graph = graph, .steps = steps, .first = first, .end = end};
    plan->store_thread = find_store_thread(graph);
    int error = mxp__replay_order(plan);
    if (error == MXP_OK) {
        error = mxp__replay_edges(plan);
    }
    if (error == MXP_OK) {
        error = take_completers(plan);
    }
    if (error == MXP_OK) {
        error = take_wait_threads(plan);
    }
    if (error == MXP_OK) {
        error = take_gaps(plan);
    }
    if (error == MXP_OK) {
        error = take_memory(plan);
    }
    if (error == MXP_OK) {
        plan->is_far = is_far(graph);
        mxp__replay_overlap(graph, NULL, NULL, &plan->overlap_ns, &plan->run_ns);
    } else {
        mxp__replay_plan_fini(plan);
    }
    return error;
}

void mxp__replay_plan_fini(mxp_replay_plan *plan)
{
    const mxp_graph *graph = plan->graph;
    if (graph != NULL) {
        const size_t nodes = graph->op_count + graph->wait_count;
        mxp__free(plan->order, nodes * sizeof *plan->order);
        mxp__free(plan->edge_first, graph->op_count * sizeof *plan->edge_first);
        mxp__free(plan->edge_ends, graph->op_count * sizeof *plan->edge_ends);
        mxp__free(plan->edges, plan->edge_capacity * sizeof *plan->edges);
        mxp__free(plan->completed, graph->op_count * sizeof *plan->completed);
        mxp__free(plan->also_completed, graph->op_count * sizeof *plan->also_completed);
        mxp__free(plan->starts, graph->op_count * sizeof *plan->starts);
        mxp__free(plan->ends, graph->op_count * sizeof *plan->ends);
        mxp__free(plan->wait_threads, graph->wait_count * sizeof *plan->wait_threads);
        mxp__free(plan->wait_ops, graph->wait_count * sizeof *plan->wait_ops);
    }
    *plan = (mxp_replay_plan){0};
}
