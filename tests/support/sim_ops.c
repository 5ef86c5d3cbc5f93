// SPDX-License-Identifier: Apache-2.0
// Operators of the simulated engine: chains, what things cost, tickets on variables, releases.
#include <mxprof/format.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sim_parts.h"

// ---- chains ------------------------------------------------------------------------------------
static const sim_chain *chain_add(engine *e, const sim_chain *before, sim_piece piece)
{
    if (piece.to_ns <= piece.from_ns) {
        return before;
    }
    sim_chain *link = sim_arena_take(e->run->arena, sizeof *link);
    *link = (sim_chain){.before = before, .piece = piece};
    return link;
}

bool sim_is_custom_thread(const engine *e, uint32_t thread)
{
    return e->program->has_custom && thread == e->program->thread_count;
}

// The thread of the program was at work until `to_ns`.
void sim_host_until(engine *e, actor *a, int64_t to_ns)
{
    bool custom = sim_is_custom_thread(e, a->thread);
    a->chain = chain_add(e, a->chain,
                         (sim_piece){.from_ns = a->covered_ns,
                                     .to_ns = to_ns,
                                     .what = custom ? SIM_IS_CUSTOM : SIM_IS_HOST,
                                     .name = a->depth > 0 ? a->stack[a->depth - 1] : SIM_NAME_NONE,
                                     .op = SIM_NONE,
                                     .thread = a->thread});
    a->covered_ns = to_ns;
}

const sim_chain *sim_chain_op(engine *e, const sim_chain *before, int op, sim_what what,
                              int64_t from_ns, int64_t to_ns)
{
    return chain_add(e, before,
                     (sim_piece){.from_ns = from_ns, .to_ns = to_ns, .what = what, .op = op});
}

// ---- costs -------------------------------------------------------------------------------------
int64_t sim_drawn(const engine *e, uint64_t what, int64_t usual_ns)
{
    if (!e->program->costs.varies) {
        return usual_ns;
    }
    uint64_t state = e->program->seed * 1000003 + what;
    return (int64_t)(8 * (1 + random_below(&state, 1 + (uint64_t)usual_ns / 4)));
}

static int64_t scaled(int64_t ns, uint32_t num, uint32_t den)
{
    return den == 0 ? ns : ns * (int64_t)num / (int64_t)den;
}

int64_t sim_host_ns(const engine *e, const actor *a, int64_t ns)
{
    return sim_is_custom_thread(e, a->thread) ? ns
                                              : scaled(ns, e->change.host_num, e->change.host_den);
}

static int64_t run_ns(const engine *e, int number, const sim_op *op, uint32_t name, int64_t ns)
{
    const sim_change *change = &e->change;
    if ((change->name != SIM_NAME_NONE && change->name == name) ||
        (change->scope != SIM_NONE && change->scope == (int)op->scope)) {
        ns = scaled(ns, change->num, change->den);
    }
    return number == change->longer_op ? ns + change->longer_ns : ns;
}

// ---- operators ---------------------------------------------------------------------------------
static uint32_t take_id(engine *e)
{
    uint32_t id = e->next_id++;
    return id == 0 ? e->next_id++ : id;
}

int sim_op_begin(engine *e, const sim_op *op, const actor *a, int64_t push_ns)
{
    sim_run *run = e->run;
    sim_grow(&run->ops, &run->op_capacity, run->op_count, sizeof *run->ops);
    int number = (int)run->op_count++;
    run->ops[number] = (sim_ran){
        .op = op,
        .id = take_id(e),
        .name = op->name,
        .scope = op->scope,
        .phase = op->phase,
        .queue = op->queue,
        .parent = SIM_NONE,
        .released_by = SIM_NONE,
        .completer = SIM_NONE,
        .outer = SIM_NONE,
        .push_ns = push_ns,
        .ready_ns = push_ns,
        .push_thread = a != NULL ? a->thread : 0,
        .thread = a != NULL ? a->thread : 0,
        .run_ns = run_ns(e, number, op, op->name, op->run_ns),
    };
    return number;
}

static void pred_add(engine *e, int number, int pred)
{
    sim_ran *op = &e->run->ops[number];
    if (pred == SIM_NONE || e->run->ops[pred].is_over) {
        return;
    }
    for (uint32_t i = 0; i < op->pred_count; i++) {
        if (op->preds[i] == pred) {
            return;
        }
    }
    if (op->pred_count == sizeof op->preds / sizeof op->preds[0]) {
        abort();
    }
    op->preds[op->pred_count++] = pred;
    op->pending++;
}

static void take_tickets(engine *e, int number)
{
    const sim_op *op = e->run->ops[number].op;
    for (uint32_t i = 0; i < op->var_count; i++) {
        variable *var = &e->vars[op->vars[i] & ~MXP_VARIABLE_WRITTEN];
        pred_add(e, number, var->writer);
        if ((op->vars[i] & MXP_VARIABLE_WRITTEN) == 0) {
            if (var->reader_count == 32) {  // keep those that matter
                uint32_t kept = 0;
                for (uint32_t k = 0; k < 32; k++) {
                    if (!e->run->ops[var->readers[k]].is_over) {
                        var->readers[kept++] = var->readers[k];
                    }
                }
                var->reader_count = kept;
            }
            if (var->reader_count == 32) {
                abort();
            }
            var->readers[var->reader_count++] = number;
            continue;
        }
        for (uint32_t k = 0; k < var->reader_count; k++) {
            pred_add(e, number, var->readers[k]);
        }
        var->writer = number;
        var->reader_count = 0;
    }
}

static void enqueue(engine *e, int number, int64_t now)
{
    sim_ran *op = &e->run->ops[number];
    op->is_ready = true;
    for (uint32_t i = 0; i < e->worker_count; i++) {
        if (e->workers[i].queue == op->queue && e->workers[i].state == IS_IDLE) {
            sim_worker_take(e, &e->workers[i], number, now);
            return;
        }
    }
    sim_grow(&e->queue, &e->queue_capacity, e->queue_count, sizeof *e->queue);
    e->queue[e->queue_count++] = number;
}

// All that waited for it may go on.
void sim_op_over(engine *e, int number, int64_t now)
{
    e->run->ops[number].is_over = true;
    e->outstanding--;
    size_t count = e->run->op_count;
    for (size_t i = 0; i < count; i++) {
        sim_ran *op = &e->run->ops[i];
        if (op->is_ready || op->pending == 0) {
            continue;
        }
        for (uint32_t k = 0; k < op->pred_count; k++) {
            op->pending -= op->preds[k] == number;
        }
        if (op->pending == 0) {
            op->ready_ns = now;
            op->released_by = number;
            enqueue(e, (int)i, now);
        }
    }
}

static void members_new(engine *e, int parent, const actor *a)
{
    const sim_op *op = e->run->ops[parent].op;
    for (uint32_t i = 0; i < op->member_count; i++) {
        int64_t push_ns = e->run->ops[parent].push_ns - 8 * (int64_t)(op->member_count - i);
        int member = sim_op_begin(e, op, a, push_ns);
        sim_ran *m = &e->run->ops[member];
        m->name = i % 2 == 0 ? SIM_NAME_CONV : SIM_NAME_RELU;
        m->parent = parent;
        m->run_ns = run_ns(e, member, op, m->name, op->member_ns[i]);
        m->is_ready = true;
    }
}

// A push at push_ns, of which the engine knows at `now`.
int sim_op_push(engine *e, const sim_op *op, const actor *a, int64_t push_ns,
                const sim_chain *chain, int64_t now)
{
    int number = sim_op_begin(e, op, a, push_ns);
    e->run->ops[number].chain_push = chain;
    e->outstanding++;
    if (op->kind == SIM_OP_BULK) {
        members_new(e, number, a);
    }
    if (op->kind == SIM_OP_COMPLETER) {
        e->run->ops[a->task].completer = number;
    }
    take_tickets(e, number);
    if (e->run->ops[number].pending == 0) {
        enqueue(e, number, now);
    }
    return number;
}
