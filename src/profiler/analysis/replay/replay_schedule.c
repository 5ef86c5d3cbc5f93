// SPDX-License-Identifier: Apache-2.0
// A replay on another number of compute workers. Everything that is not up to them is settled as
// soon as what it waits for is; then the first worker that can starts one more operator. What is
// not settled by then waits for one that has not started, so nothing becomes ready before it.
#include <assert.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

enum { WORKERS_MAX = 256 };

typedef struct waiting_op {
    int64_t ready;  // fine; all alike in a heap of those that may start: then their ids decide
    uint32_t id, place;
} waiting_op;

typedef struct op_heap {
    waiting_op *all;
    size_t count;
} op_heap;

typedef struct mxp_schedule {
    mxp_replay_run *run;
    mxp_replay_needs needs;
    uint32_t *settled;  // nodes whose turn has come, a stack
    size_t settled_count, done;  // done: nodes that are settled
    op_heap later, ready;  // by when they are ready; of those that are, by id
    int64_t workers[WORKERS_MAX];  // from when on each is free
    uint32_t worker_count, worker;  // worker: the one that starts an operator
    int64_t now;
    int64_t *gate_old_ns, *gate_new;  // by gate: the last end before it
} mxp_schedule;

// ---- heaps -------------------------------------------------------------------------------------
static bool comes_first(const waiting_op *a, const waiting_op *b)
{
    return a->ready != b->ready ? a->ready < b->ready : (int32_t)(a->id - b->id) < 0;
}

static void heap_add(op_heap *heap, waiting_op added)
{
    size_t at = heap->count++;
    while (at > 0 && comes_first(&added, &heap->all[(at - 1) / 2])) {
        heap->all[at] = heap->all[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->all[at] = added;
}

static waiting_op heap_take(op_heap *heap)
{
    const waiting_op taken = heap->all[0], last = heap->all[--heap->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        child += child + 1 < heap->count && comes_first(&heap->all[child + 1], &heap->all[child]);
        if (!comes_first(&heap->all[child], &last)) {
            break;
        }
        heap->all[at] = heap->all[child];
    }
    heap->all[at] = last;
    return taken;
}

// ---- waits for everything ----------------------------------------------------------------------
void mxp__replay_gate_end(mxp_replay_run *run, uint32_t op)
{
    mxp_schedule *plan = run->schedule;
    const int64_t end_ns = run->graph->ops[op].end_ns, end = run->ends[op];
    const size_t gate = mxp__replay_gate_of(run->plan, &plan->needs, end_ns);
    if (gate < plan->needs.gate_count) {
        plan->gate_old_ns[gate] =
            end_ns > plan->gate_old_ns[gate] ? end_ns : plan->gate_old_ns[gate];
        plan->gate_new[gate] = end > plan->gate_new[gate] ? end : plan->gate_new[gate];
    }
}

void mxp__replay_gate_open(mxp_replay_run *run, uint32_t wait)
{
    const mxp_schedule *plan = run->schedule;
    const int64_t end_ns = run->graph->waits[wait].end_ns;
    // Gates come in their order; of several that end together the last one has all.
    for (size_t i = mxp__replay_gate_of(run->plan, &plan->needs, end_ns);
         i < plan->needs.gate_count && run->graph->waits[plan->needs.gates[i]].end_ns == end_ns;
         i++) {
        run->settled_old_ns =
            plan->gate_old_ns[i] > run->settled_old_ns ? plan->gate_old_ns[i] : run->settled_old_ns;
        run->settled_new =
            plan->gate_new[i] > run->settled_new ? plan->gate_new[i] : run->settled_new;
    }
}

// ---- what is settled ---------------------------------------------------------------------------
static bool is_on_compute(const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    return (at->flags >> MXP_OP_QUEUE_SHIFT & 3) == MXP_QUEUE_COMPUTE &&
           (at->flags & MXP_OP_ASYNC) == 0 && at->inner_of == MXP__NO_OP &&
           graph->threads[at->thread].role == MXP__ROLE_WORKER;
}

bool mxp__replay_is_scheduled(const mxp_graph *graph, uint32_t op)
{
    return is_on_compute(graph, op) && graph->ops[op].start_ns >= graph->from_ns &&
           !mxp__graph_follows_member(graph, op);
}

static uint32_t first_free(const mxp_schedule *plan)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < plan->worker_count; i++) {
        best = plan->workers[i] < plan->workers[best] ? i : best;
    }
    return best;
}

// Nobody waits for it any more; what waited for it alone is next.
static void release(mxp_schedule *plan, uint32_t place)
{
    plan->done++;
    for (uint32_t i = plan->needs.first[place]; i < plan->needs.first[place + 1]; i++) {
        const uint32_t next = plan->needs.next[i];
        if (--plan->needs.counts[next] == 0) {
            plan->settled[plan->settled_count++] = next;
        }
    }
}

static void settle_op(mxp_schedule *plan, uint32_t place, uint32_t op)
{
    mxp_replay_run *run = plan->run;
    const mxp_graph *graph = run->graph;
    if (mxp__replay_is_scheduled(graph, op)) {
        const int64_t ready = mxp__replay_ready_at(run, op);
        heap_add(&plan->later,
                 (waiting_op){.ready = ready, .id = graph->ops[op].id, .place = place});
        return;
    }
    mxp__replay_go_op(run, op);
    if (is_on_compute(graph, op)) {
        // What runs when the graph begins has a worker; a bulk goes on with its next member.
        plan->worker = mxp__graph_follows_member(graph, op) ? plan->worker : first_free(plan);
        int64_t *free = &plan->workers[plan->worker];
        *free = run->ends[op] > *free ? run->ends[op] : *free;
    }
    release(plan, place);
}

static void settle_all(mxp_schedule *plan)
{
    while (plan->settled_count > 0 && plan->run->error == MXP_OK) {
        const uint32_t place = plan->settled[--plan->settled_count];
        const uint32_t node = plan->run->plan->order[place];
        if ((node & MXP__NODE_IS_WAIT) != 0) {
            mxp__replay_go_wait(plan->run, node & ~MXP__NODE_IS_WAIT);
            release(plan, place);
        } else {
            settle_op(plan, place, node);
        }
    }
}

// ---- what starts next --------------------------------------------------------------------------
// Of the workers that are free by now the one that was busy last, which is awake.
static uint32_t choose_worker(const mxp_schedule *plan)
{
    uint32_t best = first_free(plan);
    for (uint32_t i = 0; i < plan->worker_count; i++) {
        const int64_t free = plan->workers[i];
        best = free <= plan->now && free > plan->workers[best] ? i : best;
    }
    return best;
}

static void start_next(mxp_schedule *plan)
{
    const int64_t free = plan->workers[first_free(plan)];
    plan->now = free > plan->now ? free : plan->now;
    if (plan->ready.count == 0 && plan->later.all[0].ready > plan->now) {
        plan->now = plan->later.all[0].ready;
    }
    while (plan->later.count > 0 && plan->later.all[0].ready <= plan->now) {
        waiting_op op = heap_take(&plan->later);
        op.ready = 0;
        heap_add(&plan->ready, op);
    }
    const waiting_op next = heap_take(&plan->ready);
    const uint32_t op = plan->run->plan->order[next.place];
    plan->worker = choose_worker(plan);
    plan->run->worker_free = plan->workers[plan->worker];
    mxp__replay_go_op(plan->run, op);
    plan->workers[plan->worker] = plan->run->ends[op];
    release(plan, next.place);
}

// ---- how much runs beside how much -------------------------------------------------------------
typedef struct ran {
    int64_t start, end;
} ran;

static int compare_starts(const void *a, const void *b)
{
    const ran *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

int mxp__replay_scheduled_overlap(const mxp_replay_run *run, int64_t *overlap_ns)
{
    const mxp_graph *graph = run->graph;
    ran *all = mxp__alloc(graph->op_count * sizeof *all);
    size_t count = 0;
    int64_t covered = MXP__REPLAY_NEVER, overlap = 0;
    if (all == NULL && graph->op_count > 0) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        if (op->place != MXP__NO_OP && graph->threads[op->thread].role == MXP__ROLE_WORKER) {
            all[count++] = (ran){.start = run->starts[i], .end = run->ends[i]};
        }
    }
    if (count > 0) {
        qsort(all, count, sizeof *all, compare_starts);
    }
    for (size_t i = 0; i < count; i++) {
        if (all[i].start < covered) {
            overlap += (all[i].end < covered ? all[i].end : covered) - all[i].start;
        }
        covered = all[i].end > covered ? all[i].end : covered;
    }
    mxp__free(all, graph->op_count * sizeof *all);
    *overlap_ns = overlap / MXP__FINE;
    return MXP_OK;
}

// ---- all ---------------------------------------------------------------------------------------
static int prepare(mxp_schedule *plan)
{
    const size_t nodes = plan->run->plan->order_count;
    int error = mxp__replay_needs_make(plan->run->plan, &plan->needs);
    if (error != MXP_OK) {
        return error;
    }
    const size_t gates = plan->needs.gate_count;
    plan->settled = mxp__alloc(nodes * sizeof *plan->settled);
    plan->later.all = mxp__alloc(nodes * sizeof *plan->later.all);
    plan->ready.all = mxp__alloc(nodes * sizeof *plan->ready.all);
    plan->gate_old_ns = mxp__alloc(gates * sizeof *plan->gate_old_ns);
    plan->gate_new = mxp__alloc(gates * sizeof *plan->gate_new);
    if ((nodes > 0 &&
         (plan->settled == NULL || plan->later.all == NULL || plan->ready.all == NULL)) ||
        (gates > 0 && (plan->gate_old_ns == NULL || plan->gate_new == NULL))) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < gates; i++) {
        plan->gate_old_ns[i] = plan->gate_new[i] = MXP__REPLAY_NEVER;
    }
    for (size_t i = nodes; i-- > 0;) {
        if (plan->needs.counts[i] == 0) {
            plan->settled[plan->settled_count++] = (uint32_t)i;
        }
    }
    return MXP_OK;
}

static void schedule_fini(mxp_schedule *plan)
{
    const size_t nodes = plan->run->plan->order_count, gates = plan->needs.gate_count;
    mxp__free(plan->settled, nodes * sizeof *plan->settled);
    mxp__free(plan->later.all, nodes * sizeof *plan->later.all);
    mxp__free(plan->ready.all, nodes * sizeof *plan->ready.all);
    mxp__free(plan->gate_old_ns, gates * sizeof *plan->gate_old_ns);
    mxp__free(plan->gate_new, gates * sizeof *plan->gate_new);
    mxp__replay_needs_fini(plan->run->plan, &plan->needs);
}

int mxp__replay_schedule(mxp_replay_run *run, uint32_t workers)
{
    mxp_schedule plan = {.run = run, .worker_count = workers < WORKERS_MAX ? workers : WORKERS_MAX};
    int error = prepare(&plan);
    run->schedule = &plan;
    while (error == MXP_OK && run->error == MXP_OK) {
        settle_all(&plan);
        if (plan.ready.count + plan.later.count == 0) {
            break;
        }
        start_next(&plan);
    }
    assert((error != MXP_OK || run->error != MXP_OK || plan.done == run->plan->order_count) &&
           "nodes wait for one another in a circle");
    run->schedule = NULL;
    schedule_fini(&plan);
    return error;
}
