// SPDX-License-Identifier: Apache-2.0
// Draws programs. All times are multiples of 8 ns, so that factors of halves and quarters are
// exact.
#include "sim_program.h"

#include <mxprof/format.h>
#include <stdlib.h>

#include "random.h"
#include "sim_arena.h"

const char *sim_name(uint32_t name)
{
    static const char *const texts[] = {
#define SIM_NAME_TEXT(symbol, text) text,
        SIM_NAMES(SIM_NAME_TEXT)
#undef SIM_NAME_TEXT
    };
    return texts[name];
}

// ---- by hand -----------------------------------------------------------------------------------
sim_program *sim_program_new(void)
{
    sim_program *program = sim_alloc(sizeof *program);
    program->thread_count = 1;
    program->workers[MXP_QUEUE_COMPUTE] = 1;
    program->workers[MXP_QUEUE_LIGHT] = 1;
    program->workers[MXP_QUEUE_PRIORITY] = 1;
    program->first_id = 1;
    program->var_count = 64;
    program->costs = (sim_costs){.dispatch_ns = 640,
                                 .woke_ns = 640,
                                 .spin_ns = 1 << 30,
                                 .wake_ns = 1600,
                                 .handover_ns = 2400};
    return program;
}

void sim_program_free(sim_program *program)
{
    for (uint32_t i = 0; i < SIM_THREADS_MAX; i++) {
        free(program->threads[i].actions);
    }
    for (size_t i = 0; i < program->body_count; i++) {
        free(program->bodies[i].actions);
    }
    for (size_t i = 0; i < program->op_count; i++) {
        free(program->ops[i]);
    }
    free(program->bodies);
    free(program->ops);
    free(program);
}

sim_op *sim_op_new(sim_program *program, uint32_t name, uint32_t run_ns)
{
    sim_grow(&program->ops, &program->op_capacity, program->op_count, sizeof(sim_op *));
    sim_op *op = sim_alloc(sizeof *op);
    op->number = (uint32_t)program->op_count;
    op->name = name;
    op->run_ns = run_ns;
    program->ops[program->op_count++] = op;
    return op;
}

static void op_uses(sim_op *op, uint32_t var)
{
    if (op->var_count == SIM_VARS_MAX) {
        abort();
    }
    for (uint32_t i = 0; i < op->var_count; i++) {
        if (((op->vars[i] ^ var) & ~MXP_VARIABLE_WRITTEN) == 0) {  // once, as the engine wants it
            op->vars[i] |= var & MXP_VARIABLE_WRITTEN;
            return;
        }
    }
    op->vars[op->var_count++] = var;
}

void sim_op_reads(sim_op *op, uint32_t var)
{
    op_uses(op, var);
}

void sim_op_writes(sim_op *op, uint32_t var)
{
    op_uses(op, var | MXP_VARIABLE_WRITTEN);
}

sim_action *sim_add(sim_script *script, sim_action_kind kind, uint32_t ns)
{
    sim_grow(&script->actions, &script->capacity, script->count, sizeof *script->actions);
    sim_action *action = &script->actions[script->count++];
    *action = (sim_action){.kind = kind, .ns = ns};
    return action;
}

uint32_t sim_body_new(sim_program *program)
{
    sim_grow(&program->bodies, &program->body_capacity, program->body_count,
             sizeof *program->bodies);
    program->bodies[program->body_count] = (sim_script){0};
    return (uint32_t)program->body_count++;
}

// ---- drawing -----------------------------------------------------------------------------------
// Variables: the first are those of the main thread, then the second thread's, then one for each
// thing that has its own.
enum { MAIN_VARS = 8, SECOND_VARS = 4 };

typedef struct artist {
    sim_program *program;
    uint64_t random;
    uint32_t with;
    uint32_t next_var;
} artist;

static bool has(const artist *a, uint32_t with)
{
    return (a->with & with) != 0;
}

static bool one_in(artist *a, uint32_t n)
{
    return random_below(&a->random, n) == 0;
}

static uint32_t ns_below(artist *a, uint32_t most)
{
    return 8 * (1 + (uint32_t)random_below(&a->random, most / 8));
}

static void host(artist *a, sim_script *script, uint32_t most)
{
    sim_add(script, SIM_HOST, ns_below(a, most));
}

static void host_in_span(artist *a, sim_script *script, uint32_t name, uint32_t most)
{
    sim_add(script, SIM_SPAN_BEGIN, 0)->name = name;
    host(a, script, most);
    if (name == SIM_NAME_INPUT && one_in(a, 2)) {
        sim_add(script, SIM_WAIT_INPUT, ns_below(a, most));
    }
    if (one_in(a, 2)) {
        sim_add(script, SIM_SPAN_BEGIN, 0)->name =
            one_in(a, 2) ? SIM_NAME_COLLECTION : SIM_NAME_MEMORY;
        host(a, script, 2000);
        sim_add(script, SIM_SPAN_END, 0);
        host(a, script, 2000);
    }
    sim_add(script, SIM_SPAN_END, 0);
}

static uint32_t run_time(artist *a)
{
    return one_in(a, 6) ? ns_below(a, 60000) : ns_below(a, 6000);
}

static sim_op *plain_op(artist *a, uint32_t first_var, uint32_t var_count)
{
    static const uint32_t names[] = {SIM_NAME_DENSE, SIM_NAME_CONV,   SIM_NAME_RELU,
                                     SIM_NAME_JOIN,  SIM_NAME_UPDATE, SIM_NAME_SIDE};
    const uint32_t run_ns = run_time(a);  // before the name, whatever the compiler
    sim_op *op = sim_op_new(a->program, names[random_below(&a->random, 6)], run_ns);
    op->scope = (uint32_t)random_below(&a->random, 4);
    op->phase = (uint32_t)random_below(&a->random, 4);
    if (has(a, SIM_WITH_WORKERS) && one_in(a, 3)) {
        op->queue = one_in(a, 2) ? MXP_QUEUE_LIGHT : MXP_QUEUE_PRIORITY;
    }
    if (has(a, SIM_WITH_PRIORITIES)) {
        op->priority = (int32_t)random_below(&a->random, 3);
    }
    uint32_t reads = (uint32_t)random_below(&a->random, 3);
    for (uint32_t i = 0; i < reads; i++) {
        sim_op_reads(op, first_var + (uint32_t)random_below(&a->random, var_count));
    }
    sim_op_writes(op, first_var + (uint32_t)random_below(&a->random, var_count));
    return op;
}

static void make_bulk(artist *a, sim_op *op)
{
    op->kind = SIM_OP_BULK;
    op->name = SIM_NAME_BULK;
    op->member_count = 2 + (uint32_t)random_below(&a->random, SIM_MEMBERS_MAX - 2);
    op->gap_ns = has(a, SIM_WITH_VARYING_GAPS) && one_in(a, 2) ? 8 : 0;
    op->run_ns = 0;
    for (uint32_t i = 0; i < op->member_count; i++) {
        op->member_ns[i] = run_time(a);
    }
}

static const sim_op *private_op(artist *a, uint32_t name, uint32_t most_ns)
{
    sim_op *op = sim_op_new(a->program, name, ns_below(a, most_ns));
    sim_op_writes(op, a->next_var++);
    return op;
}

// The function of a custom operator: reads what the operator reads, through an alias, and writes
// one.
static void make_custom(artist *a, sim_op *op)
{
    op->kind = SIM_OP_CUSTOM;
    op->name = SIM_NAME_CUSTOM;
    op->run_ns = 0;
    op->queue = MXP_QUEUE_COMPUTE;
    uint32_t body = sim_body_new(a->program);
    op->body = body;
    uint32_t in = a->next_var++, out = a->next_var++;
    uint32_t count = (uint32_t)random_below(&a->random, 3);
    for (uint32_t i = 0; i < count; i++) {
        sim_op *inner = sim_op_new(a->program, SIM_NAME_INNER, run_time(a));
        sim_op_reads(inner, in);
        sim_op_writes(inner, out);
        host(a, &a->program->bodies[body], 3000);
        sim_add(&a->program->bodies[body], SIM_PUSH, ns_below(a, 800))->op = inner;
        if (one_in(a, 3)) {
            sim_action *wait = sim_add(&a->program->bodies[body], SIM_WAIT, 80);
            wait->var = out;
            wait->site = a->program->sites++;
        }
    }
    sim_op *last = sim_op_new(a->program, SIM_NAME_CUSTOM_WAIT, 400);
    last->kind = SIM_OP_COMPLETER;
    last->may_be_inline = one_in(a, 2);
    sim_op_reads(last, in);
    sim_op_reads(last, out);
    if (one_in(a, 2)) {
        last->nested = private_op(a, SIM_NAME_DELETE, 160);
    }
    host(a, &a->program->bodies[body], 20000);
    sim_add(&a->program->bodies[body], SIM_PUSH, 80)->op = last;
    a->program->has_custom = true;
    a->program->makes_thread = a->program->seed % 2 == 0;
}

static void push(artist *a, sim_script *script, uint32_t first_var, uint32_t var_count)
{
    host(a, script, 1600);
    if (has(a, SIM_WITH_INLINE) && one_in(a, 8)) {
        sim_op *op = (sim_op *)private_op(a, SIM_NAME_INLINE, 2000);
        op->kind = SIM_OP_INLINE;
        op->gap_ns = ns_below(a, 200);
        sim_add(script, SIM_PUSH, ns_below(a, 800))->op = op;
        return;
    }
    sim_op *op = plain_op(a, first_var, var_count);
    if (has(a, SIM_WITH_BULKS) && one_in(a, 5)) {
        make_bulk(a, op);
    } else if (has(a, SIM_WITH_CUSTOM) && script == &a->program->threads[0] && one_in(a, 8)) {
        make_custom(a, op);
    } else if (has(a, SIM_WITH_CHILDREN) && one_in(a, 6)) {
        op->child = private_op(a, SIM_NAME_SIDE, 4000);
        op->child_at_ns = op->run_ns / 16 * 8;
    } else if (has(a, SIM_WITH_DELETIONS) && one_in(a, 6)) {
        op = (sim_op *)private_op(a, SIM_NAME_DELETE, 8000);
        op->queue = MXP_QUEUE_LIGHT;
    }
    bool backdated = has(a, SIM_WITH_BACKDATED) && one_in(a, 12);
    sim_action *action =
        sim_add(script, backdated ? SIM_BACKDATED_PUSH : SIM_PUSH, ns_below(a, 1200));
    action->op = op;
    action->var = first_var;
    action->site = a->program->sites++;
}

static void wait(artist *a, sim_script *script, uint32_t first_var, uint32_t var_count)
{
    bool all = script == &a->program->threads[0] && one_in(a, 4);
    sim_action *action = sim_add(script, all ? SIM_WAIT_ALL : SIM_WAIT, ns_below(a, 800));
    action->var = first_var + (uint32_t)random_below(&a->random, var_count);
    action->site = a->program->sites++;
}

static void draw_step(artist *a, uint32_t step, uint32_t wait_every)
{
    sim_script *main = &a->program->threads[0];
    sim_add(main, SIM_STEP, 0)->var = step;
    if (has(a, SIM_WITH_SPANS) && one_in(a, 2)) {
        host_in_span(a, main, one_in(a, 2) ? SIM_NAME_INPUT : SIM_NAME_USER, 12000);
    }
    uint32_t count = 2 + (uint32_t)random_below(&a->random, 8);
    for (uint32_t i = 0; i < count; i++) {
        push(a, main, 0, MAIN_VARS);
        if (one_in(a, 12)) {
            wait(a, main, 0, MAIN_VARS);
        }
    }
    host(a, main, one_in(a, 4) ? 40000 : 3000);
    if (wait_every != 0 && step % wait_every == 0) {
        wait(a, main, 0, MAIN_VARS);
    }
    if (has(a, SIM_WITH_PAUSE) && step % 5 == 3) {
        sim_add(main, SIM_PAUSE, 0);
        host(a, main, 8000);
        push(a, main, 0, MAIN_VARS);
        host(a, main, 8000);
        sim_add(main, SIM_RESUME, 0);
    }
    host(a, main, 2000);
    if (has(a, SIM_WITH_STEP_ENDS)) {
        sim_add(main, SIM_STEP_END, 0)->var = step;
        host(a, main, 3000);
    }
}

static void draw_second(artist *a, uint32_t steps)
{
    a->program->thread_count = 2;
    sim_script *script = &a->program->threads[1];
    for (uint32_t i = 0; i < 3 * steps; i++) {
        push(a, script, MAIN_VARS - 2, SECOND_VARS);  // two variables are shared
        host(a, script, 12000);
        if (one_in(a, 3)) {
            wait(a, script, MAIN_VARS - 2, SECOND_VARS);
        }
    }
}

static void draw_costs(artist *a)
{
    sim_costs *costs = &a->program->costs;
    costs->dispatch_ns = ns_below(a, 2000);
    costs->woke_ns = costs->dispatch_ns;
    if (has(a, SIM_WITH_VARYING_GAPS)) {
        costs->varies = true;
        costs->woke_ns = costs->dispatch_ns + ns_below(a, 30000);
        costs->spin_ns = 10000;
    }
    costs->wake_ns = ns_below(a, 4000);
    costs->handover_ns = ns_below(a, 4000);
}

sim_program *sim_program_draw(uint64_t seed, uint32_t with, uint32_t steps)
{
    artist a = {
        .program = sim_program_new(), .random = seed, .with = with, .next_var = MAIN_VARS + 4};
    sim_program *program = a.program;
    program->seed = seed;
    program->steps = steps;
    draw_costs(&a);
    if (has(&a, SIM_WITH_WRAP)) {
        program->first_id = UINT32_MAX - (uint32_t)random_below(&a.random, 12 * steps);
    }
    if (has(&a, SIM_WITH_LOSS)) {
        program->lost_permille = 20;
    }
    if (has(&a, SIM_WITH_WORKERS)) {
        program->workers[MXP_QUEUE_COMPUTE] = 1 + (uint32_t)random_below(&a.random, 2);
        program->workers[MXP_QUEUE_LIGHT] = 1 + (uint32_t)random_below(&a.random, 3);
        program->workers[MXP_QUEUE_PRIORITY] = 1 + (uint32_t)random_below(&a.random, 2);
    }
    static const uint32_t waits[] = {0, 1, 1, 3, 10};
    uint32_t wait_every = waits[random_below(&a.random, 5)];
    for (uint32_t i = 1; i <= steps; i++) {
        draw_step(&a, i, wait_every);
    }
    sim_add(&program->threads[0], SIM_WAIT_ALL, 80)->site = program->sites++;
    if (!has(&a, SIM_WITH_STEP_ENDS)) {
        sim_add(&program->threads[0], SIM_STEP, 0)->var = steps + 1;
    }
    if (has(&a, SIM_WITH_SECOND_THREAD)) {
        draw_second(&a, steps);
    }
    program->var_count = a.next_var;
    return program;
}
