// SPDX-License-Identifier: Apache-2.0
// Workers of the simulated engine: what each takes next, why it starts then, what runs inside of
// it.
#include <stdlib.h>
#include <string.h>

#include "sim_parts.h"

void sim_worker_take(engine *e, worker *w, int number, int64_t now)
{
    sim_ran *op = &e->run->ops[number];
    bool idle = w->state == IS_IDLE && w->idle_since_ns < now;
    int64_t idle_ns = now - w->idle_since_ns;
    const sim_costs *costs = &e->program->costs;
    op->was_idle = idle;
    op->woke = idle && idle_ns > costs->spin_ns;
    int64_t gap =
        idle ? sim_drawn(e, op->op->number, op->woke ? costs->woke_ns : costs->dispatch_ns) : 0;
    if (!idle && costs->varies && op->op->number % 5 == 0) {
        gap = 16;
    }
    int64_t since = op->push_ns > op->ready_ns ? op->push_ns : op->ready_ns;
    op->idle_ns = since - w->idle_since_ns;
    op->thread = w->thread;
    w->op = number;
    w->state = STARTS;
    w->at_ns = now + gap;
    if (gap == 0) {
        sim_worker_begin(e, w, now);
    }
}

static bool goes_first(const engine *e, const sim_ran *a, const sim_ran *b)
{
    return a->op->priority != b->op->priority
               ? a->op->priority > b->op->priority
               : e->program->takes_by_id && (int32_t)(a->id - b->id) < 0;
}

static void worker_next(engine *e, worker *w, int64_t now)
{
    w->state = IS_IDLE;
    w->idle_since_ns = now;
    size_t best = e->queue_count;
    for (size_t i = 0; i < e->queue_count; i++) {
        const sim_ran *op = &e->run->ops[e->queue[i]];
        if (op->queue == w->queue &&
            (best == e->queue_count || goes_first(e, op, &e->run->ops[e->queue[best]]))) {
            best = i;
        }
    }
    if (best == e->queue_count) {
        return;
    }
    int number = e->queue[best];
    e->queue_count--;
    memmove(e->queue + best, e->queue + best + 1, (e->queue_count - best) * sizeof *e->queue);
    sim_worker_take(e, w, number, now);
}

static void set_cause(engine *e, worker *w, sim_ran *op, int number)
{
    const sim_ran *before = w->before == SIM_NONE ? NULL : &e->run->ops[w->before];
    int64_t ready = op->released_by == SIM_NONE ? -1 : op->ready_ns;
    int64_t busy = before == NULL || op->op->kind == SIM_OP_CUSTOM ? -1 : before->end_ns;
    const sim_chain *cause;
    int64_t latest;
    if (ready >= busy && ready >= op->push_ns) {
        cause = e->run->ops[op->released_by].chain_end;
        latest = ready;
    } else if (busy >= op->push_ns) {
        cause = before->chain_end;
        latest = busy;
    } else {
        cause = op->chain_push;
        latest = op->push_ns;
    }
    int first = op->op->kind == SIM_OP_BULK ? number + 1 : number;
    op->chain_start = sim_chain_op(e, cause, first, SIM_IS_DISPATCH, latest, op->start_ns);
}

// Members follow one another; each is a piece of its own.
static int64_t members_run(engine *e, worker *w, int parent)
{
    const sim_chain *chain = e->run->ops[parent].chain_start;
    int64_t at = e->run->ops[parent].start_ns;
    const sim_op *op = e->run->ops[parent].op;
    for (uint32_t i = 0; i < op->member_count; i++) {
        int number = parent + 1 + (int)i;
        sim_ran *member = &e->run->ops[number];
        int64_t start = i == 0 ? at : at + op->gap_ns;
        chain = sim_chain_op(e, chain, number, SIM_IS_DISPATCH, at, start);
        member->thread = w->thread;
        member->start_ns = start;
        member->end_ns = start + member->run_ns;
        member->chain_start = chain;
        chain = sim_chain_op(e, chain, number, SIM_IS_RUN, start, member->end_ns);
        member->chain_end = chain;
        member->is_over = true;
        at = member->end_ns;
    }
    e->run->ops[parent].chain_end = chain;
    return at;
}

static void task_give(engine *e, int number)
{
    actor *a = &e->actors[e->actor_count - 1];
    if (a->task_end - a->task_first == 64) {
        abort();
    }
    a->tasks[a->task_end++ % 64] = number;
    if (a->state == HAS_NO_TASK && a->resume_ns == SIM_NEVER) {
        a->resume_ns =
            e->run->ops[number].start_ns +
            sim_drawn(e, e->run->ops[number].op->number + 7, e->program->costs.handover_ns);
    }
}

void sim_worker_begin(engine *e, worker *w, int64_t now)
{
    int number = w->op;
    sim_ran *op = &e->run->ops[number];
    op->start_ns = now;
    set_cause(e, w, op, number);
    if (op->op->kind == SIM_OP_CUSTOM) {
        task_give(e, number);
        worker_next(e, w, now);
        return;
    }
    w->state = RUNS;
    w->event_ns = SIM_NEVER;
    if (op->op->kind == SIM_OP_BULK) {
        w->at_ns = members_run(e, w, number);
    } else {
        w->at_ns = now + op->run_ns;
        op->chain_end = sim_chain_op(e, op->chain_start, number, SIM_IS_RUN, now, w->at_ns);
    }
    op->end_ns = w->at_ns;
    if (op->op->kind == SIM_OP_COMPLETER) {
        w->event_ns = now + op->run_ns / 2;
    } else if (op->op->child != NULL) {
        w->event_ns = now + (op->run_ns > 0 ? (int64_t)op->op->child_at_ns * op->run_ns /
                                                  (int64_t)op->op->run_ns
                                            : 0);
    }
}

// An operator that runs inside of another, on its worker.
static void run_nested(engine *e, const worker *w, int64_t now)
{
    const sim_op *nested = e->run->ops[w->op].op->nested;
    actor pusher = {.thread = w->thread};
    int number = sim_op_begin(e, nested, &pusher, now);
    sim_ran *op = &e->run->ops[number];
    op->outer = w->op;
    op->start_ns = now;
    op->end_ns = now + op->run_ns;
    op->is_over = op->is_ready = true;
    op->thread = w->thread;
    const sim_chain *chain = sim_chain_op(e, e->run->ops[w->op].chain_start, w->op, SIM_IS_RUN,
                                          e->run->ops[w->op].start_ns, now);
    op->chain_start = op->chain_push = chain;
    op->chain_end = sim_chain_op(e, chain, number, SIM_IS_RUN, now, op->end_ns);
}

void sim_worker_event(engine *e, worker *w)
{
    int64_t now = w->event_ns;
    w->event_ns = SIM_NEVER;
    const sim_ran *op = &e->run->ops[w->op];
    const sim_chain *chain = sim_chain_op(e, op->chain_start, w->op, SIM_IS_RUN, op->start_ns, now);
    if (op->op->kind != SIM_OP_COMPLETER) {
        actor pusher = {.thread = w->thread};
        sim_op_push(e, op->op->child, &pusher, now, chain, now);
        return;
    }
    for (size_t i = 0; i < e->run->op_count; i++) {
        sim_ran *custom = &e->run->ops[i];
        if (custom->completer == w->op) {
            custom->end_ns = now;
            custom->thread = w->thread;
            custom->chain_end = chain;
            sim_op_over(e, (int)i, now);
            break;
        }
    }
    if (e->run->ops[w->op].op->nested != NULL) {
        run_nested(e, w, now + 8);
    }
}

void sim_worker_end(engine *e, worker *w)
{
    int64_t now = w->at_ns;
    w->before = w->op;
    w->state = IS_IDLE;
    w->idle_since_ns = now;
    // It takes what it finds before what it releases, as it would under a lock.
    int number = w->op;
    e->run->ops[number].is_over = true;
    w->state = RUNS;  // so that what is released now goes to the queue
    sim_op_over(e, number, now);
    worker_next(e, w, now);
}
