// SPDX-License-Identifier: Apache-2.0
// Threads of the program in the simulated engine, and that of custom operators: each follows its
// script, one action after another.
#include <mxprof/format.h>
#include <stdlib.h>

#include "sim_parts.h"

static void span_open(actor *a, uint32_t name, int64_t now)
{
    if (a->depth == 8) {
        abort();
    }
    a->stack[a->depth] = name;
    a->began[a->depth++] = now;
}

static void span_close(engine *e, actor *a, int64_t now)
{
    sim_run *run = e->run;
    a->depth--;
    sim_grow(&run->spans, &run->span_capacity, run->span_count, sizeof *run->spans);
    run->spans[run->span_count++] = (sim_spanned){.thread = a->thread,
                                                  .name = a->stack[a->depth],
                                                  .begin_ns = a->began[a->depth],
                                                  .end_ns = now};
}

static sim_waited *wait_new(engine *e, const actor *a, uint32_t what, int64_t begin_ns, int64_t now)
{
    sim_run *run = e->run;
    sim_grow(&run->waits, &run->wait_capacity, run->wait_count, sizeof *run->waits);
    sim_waited *wait = &run->waits[run->wait_count++];
    *wait = (sim_waited){.thread = a->thread,
                         .begin_ns = begin_ns,
                         .end_ns = now,
                         .name = a->depth > 0 ? a->stack[a->depth - 1] : SIM_NAME_NONE,
                         .what = what,
                         .ended_by = SIM_NONE};
    if (sim_is_custom_thread(e, a->thread) && what != MXP_WAIT_TASK) {
        wait->flags = MXP_WAIT_IN_CUSTOM;
    }
    return wait;
}

static void mark_new(engine *e, const actor *a, int kind, uint64_t value, int64_t now)
{
    sim_run *run = e->run;
    sim_grow(&run->marks, &run->mark_capacity, run->mark_count, sizeof *run->marks);
    run->marks[run->mark_count++] = (sim_marked){
        .kind = kind, .thread = a->thread, .value = value, .at_ns = now, .chain = a->chain};
}

static void call_ends_at(actor *a, int64_t at_ns)
{
    a->ends_call = true;
    a->resume_ns = at_ns;
}

// Runs inside of its push; nothing else is concerned.
static int64_t run_inline(engine *e, actor *a, const sim_op *op, int64_t now)
{
    int number = sim_op_begin(e, op, a, now);
    sim_ran *ran = &e->run->ops[number];
    ran->start_ns = now + sim_host_ns(e, a, op->gap_ns);
    ran->end_ns = ran->start_ns + ran->run_ns;
    ran->is_over = ran->is_ready = true;
    ran->chain_push = a->chain;
    sim_host_until(e, a, ran->start_ns);
    ran->chain_start = a->chain;
    a->chain = sim_chain_op(e, a->chain, number, SIM_IS_RUN, ran->start_ns, ran->end_ns);
    ran->chain_end = a->chain;
    a->covered_ns = ran->end_ns;
    return ran->end_ns;
}

static bool has_nothing_to_wait_for(const engine *e, const sim_op *op)
{
    bool pending = false;
    for (uint32_t i = 0; i < op->var_count; i++) {
        const variable *var = &e->vars[op->vars[i] & ~MXP_VARIABLE_WRITTEN];
        pending |= var->writer != SIM_NONE && !e->run->ops[var->writer].is_over;
    }
    return !pending;
}

static void complete_inline(engine *e, actor *a, const sim_op *op, int64_t now)
{
    sim_op *quick = sim_arena_take(e->run->arena, sizeof *quick);
    *quick = *op;
    quick->run_ns = 0;
    run_inline(e, a, quick, now);
    sim_ran *custom = &e->run->ops[a->task];
    custom->completer = (int)e->run->op_count - 1;
    custom->end_ns = now;
    custom->thread = a->thread;
    custom->chain_end = a->chain;
    sim_op_over(e, a->task, now);
}

static void do_push(engine *e, actor *a, const sim_action *action, int64_t now)
{
    span_open(a, SIM_NAME_CALL, now);
    int64_t at = now;
    if (action->op->kind == SIM_OP_INLINE) {
        at = run_inline(e, a, action->op, now);
    } else if (action->op->may_be_inline && has_nothing_to_wait_for(e, action->op)) {
        complete_inline(e, a, action->op, now);
    } else {
        sim_op_push(e, action->op, a, now, a->chain, now);
    }
    call_ends_at(a, at + sim_host_ns(e, a, action->ns));
}

// Whether the thread waits now.
static bool begin_wait(engine *e, actor *a, const sim_action *action, int64_t now)
{
    const variable *var = &e->vars[action->var];
    a->wait_begin_ns = now;
    bool is_left_out =
        e->change.without_site != SIM_NONE && e->change.without_site == (int)action->site;
    bool pending = var->writer != SIM_NONE && !e->run->ops[var->writer].is_over;
    if (is_left_out || !pending) {
        sim_waited *wait = wait_new(e, a, MXP_WAIT_WRITTEN, now, now);
        wait->var = action->var;
        wait->site = action->site;
        wait->is_unrecorded = is_left_out;
        return false;
    }
    sim_op *op = sim_arena_take(e->run->arena, sizeof *op);
    *op = (sim_op){.kind = SIM_OP_WAIT,
                   .number = 100000 + action->site,
                   .name = SIM_NAME_WAIT_FOR_VAR,
                   .run_ns = 32,
                   .var_count = 1,
                   .vars = {action->var}};
    a->state = WAITS_FOR_OP;
    a->resume_ns = SIM_NEVER;
    a->wait_op = sim_op_push(e, op, a, now, a->chain, now);
    return true;
}

static void do_wait(engine *e, actor *a, const sim_action *action, int64_t now)
{
    span_open(a, SIM_NAME_WAIT_CALL, now);
    if (!begin_wait(e, a, action, now)) {
        call_ends_at(a, now + sim_host_ns(e, a, action->ns));
    }
}

static void do_backdated(engine *e, actor *a, const sim_action *action, int64_t now)
{
    span_open(a, SIM_NAME_CALL, now);
    a->call_ns = now;
    a->call_chain = a->chain;
    if (!begin_wait(e, a, action, now)) {
        sim_op_push(e, action->op, a, now, a->chain, now);
        call_ends_at(a, now + sim_host_ns(e, a, action->ns));
    }
}

static void do_wait_all(engine *e, actor *a, const sim_action *action, int64_t now)
{
    span_open(a, SIM_NAME_WAIT_ALL_CALL, now);
    a->wait_begin_ns = now;
    if (e->outstanding == 0) {
        wait_new(e, a, MXP_WAIT_ALL, now, now)->site = action->site;
        call_ends_at(a, now + sim_host_ns(e, a, action->ns));
        return;
    }
    a->state = WAITS_FOR_ALL;
    a->resume_ns = SIM_NEVER;
}

// One action at `now`; returns whether the next one may follow at once.
static bool act(engine *e, actor *a, int64_t now)
{
    const sim_action *action = &a->script->actions[a->at++];
    switch (action->kind) {
    case SIM_STEP:
        mark_new(e, a, MXP_META_STEP, action->var, now);
        return true;
    case SIM_STEP_END:
        mark_new(e, a, MXP_META_STEP_END, action->var, now);
        return true;
    case SIM_PAUSE:
    case SIM_RESUME:
        mark_new(e, a, MXP_META_STATE, action->kind == SIM_PAUSE ? 2 : 3, now);
        return true;
    case SIM_HOST:
        a->resume_ns = now + sim_host_ns(e, a, action->ns);
        return false;
    case SIM_SPAN_BEGIN:
        span_open(a, action->name, now);
        return true;
    case SIM_SPAN_END:
        span_close(e, a, now);
        return true;
    case SIM_WAIT_INPUT:
        a->resume_ns = now + sim_host_ns(e, a, action->ns);
        wait_new(e, a, MXP_WAIT_INPUT, now, a->resume_ns)->flags = MXP_WAIT_BLOCKED;
        return false;
    case SIM_PUSH:
        do_push(e, a, action, now);
        return false;
    case SIM_BACKDATED_PUSH:
        do_backdated(e, a, action, now);
        return false;
    case SIM_WAIT:
        do_wait(e, a, action, now);
        return false;
    case SIM_WAIT_ALL:
        do_wait_all(e, a, action, now);
        return false;
    }
    return false;
}

// The thread of custom operators has a task, and had none before, or has one again at once.
static void task_take(engine *e, actor *a, int64_t now)
{
    a->task = a->tasks[a->task_first++ % 64];
    const sim_ran *task = &e->run->ops[a->task];
    bool blocked = task->start_ns > a->wait_begin_ns;
    const bool is_made = e->program->makes_thread && a->task_first == 1;
    if (is_made) {
        e->run->threads[a->thread].start_ns = a->wait_begin_ns = now;
    }
    sim_waited *wait = wait_new(e, a, MXP_WAIT_TASK, a->wait_begin_ns, now);
    wait->ended_by = a->task;
    wait->flags = blocked && !is_made ? MXP_WAIT_BLOCKED : 0;
    if (blocked) {
        a->chain =
            sim_chain_op(e, task->chain_start, a->task, SIM_IS_HAND_OFF, task->start_ns, now);
        a->covered_ns = now;
    }
    a->state = GOES_ON;
    a->script = &e->program->bodies[task->op->body];
    a->at = 0;
}

static void task_seek(engine *e, actor *a, int64_t now)
{
    a->state = HAS_NO_TASK;
    a->wait_begin_ns = now;
    a->resume_ns = SIM_NEVER;
    if (a->task_first != a->task_end) {
        task_take(e, a, now);
    }
}

int sim_last_ended(engine *e, int64_t now)
{
    int last = SIM_NONE;
    for (size_t i = 0; i < e->run->op_count; i++) {
        const sim_ran *op = &e->run->ops[i];
        bool is_parent = op->op->kind == SIM_OP_BULK && op->parent == SIM_NONE;
        if (is_parent || !op->is_over || op->end_ns > now) {
            continue;
        }
        if (last != SIM_NONE && op->end_ns == e->run->ops[last].end_ns &&
            op->end_ns > op->start_ns) {
            e->run->is_ambiguous = true;
        }
        if (last == SIM_NONE || op->end_ns >= e->run->ops[last].end_ns) {
            last = (int)i;
        }
    }
    return last;
}

// The thread wakes up from a wait.
static void wait_over(engine *e, actor *a, int64_t now)
{
    bool all = a->state == WAITS_FOR_ALL;
    int ended_by = a->wait_op;
    const sim_ran *op = &e->run->ops[ended_by];
    // Another thread's operator that ended while this one woke up looks as if it had ended the
    // wait.
    e->run->is_ambiguous |= all && sim_last_ended(e, now) != ended_by;
    sim_waited *wait = wait_new(e, a, all ? MXP_WAIT_ALL : MXP_WAIT_WRITTEN, a->wait_begin_ns, now);
    wait->flags |= MXP_WAIT_BLOCKED;
    wait->ended_by = ended_by;
    const sim_action *action = &a->script->actions[a->at - 1];
    wait->site = action->site;
    wait->var = all ? 0 : action->var;
    a->chain = sim_chain_op(e, op->chain_end, ended_by, SIM_IS_WAKE, op->end_ns, now);
    a->covered_ns = now;
    a->state = GOES_ON;
    if (action->kind == SIM_BACKDATED_PUSH) {
        sim_op_push(e, action->op, a, a->call_ns, a->call_chain, now);
    }
    call_ends_at(a, now + sim_host_ns(e, a, action->ns));
}

void sim_actor_go(engine *e, actor *a)
{
    int64_t now = a->resume_ns;
    if (a->state == WAITS_FOR_OP || a->state == WAITS_FOR_ALL) {
        wait_over(e, a, now);
        if (a->resume_ns > now) {
            return;
        }
    }
    if (a->state == HAS_NO_TASK) {
        task_take(e, a, now);
    }
    sim_host_until(e, a, now);
    if (a->ends_call) {
        a->ends_call = false;
        span_close(e, a, now);
    }
    for (;;) {
        if (a->at < a->script->count) {
            if (!act(e, a, now)) {
                return;
            }
        } else if (sim_is_custom_thread(e, a->thread)) {
            task_seek(e, a, now);
            if (a->state == HAS_NO_TASK) {
                return;
            }
        } else {
            a->state = IS_OVER;
            a->resume_ns = SIM_NEVER;
            return;
        }
    }
}
