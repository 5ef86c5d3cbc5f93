// SPDX-License-Identifier: Apache-2.0
// The clock. Everything that happens next is found by looking at all threads and workers: there are
// few. At one moment operators end before others begin, and workers come before threads.
#include "sim_engine.h"

#include <stdlib.h>

#include "sim_parts.h"

const sim_change sim_unchanged = {
    .scope = SIM_NONE, .without_site = SIM_NONE, .longer_op = SIM_NONE};

static void wake_waiters(engine *e, int64_t now)
{
    for (uint32_t i = 0; i < e->actor_count; i++) {
        actor *a = &e->actors[i];
        if (a->resume_ns != SIM_NEVER) {
            continue;
        }
        if (a->state == WAITS_FOR_OP && e->run->ops[a->wait_op].is_over) {
            a->resume_ns = now + sim_drawn(e, 31 * a->at, e->program->costs.wake_ns);
        } else if (a->state == WAITS_FOR_ALL && e->outstanding == 0) {
            a->wait_op = sim_last_ended(e, now);
            a->resume_ns = now + sim_drawn(e, 37 * a->at, e->program->costs.wake_ns);
        }
    }
}

static bool advance(engine *e)
{
    int64_t next = SIM_NEVER;
    worker *w = NULL;
    actor *a = NULL;
    bool is_event = false;
    for (uint32_t i = 0; i < e->worker_count; i++) {
        worker *each = &e->workers[i];
        if (each->state == RUNS && each->event_ns < next) {
            next = each->event_ns;
            w = each;
            is_event = true;
        }
        if (each->state != IS_IDLE && each->at_ns < next) {
            next = each->at_ns;
            w = each;
            is_event = false;
        }
    }
    for (uint32_t i = 0; i < e->actor_count; i++) {
        if (e->actors[i].resume_ns < next) {
            next = e->actors[i].resume_ns;
            a = &e->actors[i];
        }
    }
    if (a != NULL) {
        sim_actor_go(e, a);
    } else if (w == NULL) {
        return false;
    } else if (is_event) {
        sim_worker_event(e, w);
    } else if (w->state == STARTS) {
        sim_worker_begin(e, w, next);
    } else {
        sim_worker_end(e, w);
    }
    wake_waiters(e, next);
    return true;
}

static void threads_begin(engine *e)
{
    static const char *const names[SIM_QUEUES] = {"compute worker", "light worker",
                                                  "priority worker"};
    sim_run *run = e->run;
    for (uint32_t i = 0; i < e->program->thread_count; i++) {
        run->threads[run->thread_count] =
            (sim_thread){.name = i == 0 ? "main" : "second", .queue = SIM_NONE};
        e->actors[e->actor_count++] = (actor){.thread = run->thread_count++,
                                              .script = &e->program->threads[i],
                                              .resume_ns = SIM_BEGIN_NS};
    }
    if (e->program->has_custom) {
        run->threads[run->thread_count] =
            (sim_thread){.name = "custom operators", .queue = SIM_NONE};
        e->actors[e->actor_count++] = (actor){.thread = run->thread_count++,
                                              .state = HAS_NO_TASK,
                                              .wait_begin_ns = SIM_BEGIN_NS,
                                              .resume_ns = SIM_NEVER};
    }
    for (uint32_t i = 0; i < e->actor_count; i++) {
        e->actors[i].covered_ns = SIM_BEGIN_NS;
    }
    for (uint32_t queue = 0; queue < SIM_QUEUES; queue++) {
        for (uint32_t i = 0; i < e->program->workers[queue]; i++) {
            run->threads[run->thread_count] =
                (sim_thread){.name = names[queue], .queue = (int)queue};
            e->workers[e->worker_count++] = (worker){.thread = run->thread_count++,
                                                     .queue = queue,
                                                     .before = SIM_NONE,
                                                     .idle_since_ns = SIM_BEGIN_NS,
                                                     .event_ns = SIM_NEVER};
        }
    }
}

sim_run *sim_run_program(const sim_program *program, const sim_change *change)
{
    engine e = {.program = program, .change = *change, .next_id = program->first_id};
    e.run = sim_alloc(sizeof *e.run);
    e.run->program = program;
    e.run->arena = sim_arena_new();
    e.vars = sim_alloc(program->var_count * sizeof *e.vars);
    for (uint32_t i = 0; i < program->var_count; i++) {
        e.vars[i].writer = SIM_NONE;
    }
    threads_begin(&e);
    while (advance(&e)) {
    }
    free(e.vars);
    free(e.queue);
    sim_windows_find(e.run);
    return e.run;
}
