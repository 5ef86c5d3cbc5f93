// SPDX-License-Identifier: Apache-2.0
// What the files of the simulated engine share: its state, and what each offers the others.
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include "sim_arena.h"

#define SIM_NEVER INT64_MAX

typedef enum actor_state { GOES_ON, WAITS_FOR_OP, WAITS_FOR_ALL, HAS_NO_TASK, IS_OVER } actor_state;

typedef struct actor {  // a thread of the program, or that of custom operators
    uint32_t thread;
    actor_state state;
    const sim_script *script;
    size_t at;
    int64_t resume_ns;
    const sim_chain *chain;
    int64_t covered_ns;  // up to where the chain goes
    uint32_t stack[8];  // open spans
    int64_t began[8];
    uint32_t depth;
    bool ends_call;  // at resume_ns
    int64_t wait_begin_ns, call_ns;
    const sim_chain *call_chain;
    int wait_op, task;
    int tasks[64];
    uint32_t task_first, task_end;
} actor;

typedef enum worker_state { IS_IDLE, STARTS, RUNS } worker_state;

typedef struct worker {
    uint32_t thread, queue;
    worker_state state;
    int op, before;  // the one before it on its row
    int64_t at_ns, idle_since_ns;
    int64_t event_ns;  // of a completer or of an operator with a child, or SIM_NEVER
} worker;

typedef struct variable {
    int writer;
    int readers[32];
    uint32_t reader_count;
} variable;

typedef struct engine {
    sim_run *run;
    const sim_program *program;
    sim_change change;
    actor actors[SIM_THREADS_MAX + 1];
    uint32_t actor_count;
    worker workers[SIM_QUEUES * SIM_WORKERS_MAX];
    uint32_t worker_count;
    variable *vars;
    int *queue;  // operators that are ready, in that order
    size_t queue_count, queue_capacity;
    uint32_t next_id;
    size_t outstanding;
    bool is_paused;
} engine;

// ---- chains and costs (sim_ops.c) --------------------------------------------------------------
const sim_chain *sim_chain_op(engine *e, const sim_chain *before, int op, sim_what what,
                              int64_t from_ns, int64_t to_ns);
bool sim_is_custom_thread(const engine *e, uint32_t thread);
// The thread of the program was at work until `to_ns`.
void sim_host_until(engine *e, actor *a, int64_t to_ns);
int64_t sim_drawn(const engine *e, uint64_t what, int64_t usual_ns);
int64_t sim_host_ns(const engine *e, const actor *a, int64_t ns);

// ---- operators (sim_ops.c) ---------------------------------------------------------------------
int sim_op_begin(engine *e, const sim_op *op, const actor *a, int64_t push_ns);
// A push at push_ns, of which the engine knows at `now`.
int sim_op_push(engine *e, const sim_op *op, const actor *a, int64_t push_ns,
                const sim_chain *chain, int64_t now);
void sim_op_over(engine *e, int number, int64_t now);  // all that waited for it may go on

// ---- workers (sim_workers.c) -------------------------------------------------------------------
void sim_worker_take(engine *e, worker *w, int number, int64_t now);
void sim_worker_begin(engine *e, worker *w, int64_t now);
void sim_worker_event(engine *e, worker *w);
void sim_worker_end(engine *e, worker *w);

// ---- threads of the program (sim_threads.c) ----------------------------------------------------
void sim_actor_go(engine *e, actor *a);
// The operator with the last end so far.
int sim_last_ended(engine *e, int64_t now);

#endif
