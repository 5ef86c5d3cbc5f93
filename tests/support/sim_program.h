// SPDX-License-Identifier: Apache-2.0
// Programs for a simulated engine (sim_engine.h): what each thread does, unrolled over all steps,
// and a generator that draws one from a seed. Times are ns. Nothing here knows the analysis.
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_VARS_MAX = 8,  // of an operator
    SIM_MEMBERS_MAX = 6,  // of a bulk
    SIM_THREADS_MAX = 2,  // that run the program
    SIM_QUEUES = 3,  // MXP_QUEUE_*
    SIM_WORKERS_MAX = 4  // of a queue
};

#define SIM_NAMES(X)                     \
    X(NONE, "")                          \
    X(DENSE, "dense")                    \
    X(CONV, "conv")                      \
    X(RELU, "relu")                      \
    X(JOIN, "join")                      \
    X(UPDATE, "update")                  \
    X(SIDE, "side")                      \
    X(BULK, "bulk")                      \
    X(INLINE, "inline")                  \
    X(INNER, "inner")                    \
    X(CUSTOM, "Custom")                  \
    X(CUSTOM_WAIT, "CustomOperatorWait") \
    X(WAIT_FOR_VAR, "WaitForVar")        \
    X(DELETE, "DeleteVariable")          \
    X(CALL, "MXImperativeInvoke")        \
    X(WAIT_CALL, "MXNDArrayWaitToRead")  \
    X(WAIT_ALL_CALL, "MXNDArrayWaitAll") \
    X(INPUT, "next batch")               \
    X(MEMORY, "from system")             \
    X(COLLECTION, "garbage collection")  \
    X(USER, "prepare")

enum {
#define SIM_NAME_ENUM(name, text) SIM_NAME_##name,
    SIM_NAMES(SIM_NAME_ENUM)
#undef SIM_NAME_ENUM
        SIM_NAME_END
};

typedef enum sim_op_kind {
    SIM_OP_PLAIN,
    SIM_OP_BULK,  // its members run one after another
    SIM_OP_INLINE,  // runs inside its push
    SIM_OP_CUSTOM,  // asynchronous: `body` on the thread of custom operators completes it
    SIM_OP_WAIT,  // of a wait for a variable
    SIM_OP_COMPLETER,  // the last one of a custom operator's body
} sim_op_kind;

typedef struct sim_op {
    sim_op_kind kind;
    uint32_t number;  // in the program: what is drawn for it is the same in every run
    uint32_t name, scope, phase, queue;  // SIM_NAME_*, 0 to 3, MXP_PHASE_*, MXP_QUEUE_*
    int32_t priority;
    uint32_t run_ns;
    uint32_t var_count;
    uint32_t vars[SIM_VARS_MAX];  // with MXP_VARIABLE_WRITTEN
    uint32_t member_count;
    uint32_t member_ns[SIM_MEMBERS_MAX];
    uint32_t gap_ns;  // between members; of an inline one, from its push
    uint32_t body;  // of a custom one: number of a script
    const struct sim_op *child;  // pushed from inside when it has run child_at_ns
    uint32_t child_at_ns;
    const struct sim_op *nested;  // of a completer: runs inside of it, behind the completion
    bool may_be_inline;  // a completer that runs in no time inside of its push, if nothing is to be
                         // waited for
} sim_op;

typedef enum sim_action_kind {
    SIM_STEP,
    SIM_STEP_END,
    SIM_HOST,  // ns of the program's own
    SIM_SPAN_BEGIN,
    SIM_SPAN_END,
    SIM_PUSH,  // a call of `ns`
    SIM_BACKDATED_PUSH,  // a call that waits for a variable before it pushes
    SIM_WAIT,
    SIM_WAIT_ALL,
    SIM_WAIT_INPUT,  // blocks for `ns`
    SIM_PAUSE,  // recording is off for what comes
    SIM_RESUME
} sim_action_kind;

typedef struct sim_action {
    sim_action_kind kind;
    uint32_t ns, name, var;
    uint32_t site;  // of a wait: which one of the program, for changes
    const sim_op *op;
} sim_action;

typedef struct sim_script {
    sim_action *actions;
    size_t count, capacity;
} sim_script;

// What the engine takes for what is no operator. All the same in a program whose changes are known
// exactly: `varies` draws each gap and each wake on its own.
typedef struct sim_costs {
    uint32_t dispatch_ns;  // to an idle worker that spins
    uint32_t woke_ns;  // to one that sleeps
    uint32_t spin_ns;  // after which it does
    uint32_t wake_ns;  // of a waiting thread
    uint32_t handover_ns;  // to the thread of custom operators
    bool varies;
} sim_costs;

typedef struct sim_program {
    uint64_t seed;
    sim_script threads[SIM_THREADS_MAX];
    uint32_t thread_count;
    sim_script *bodies;
    size_t body_count, body_capacity;
    sim_op **ops;
    size_t op_count, op_capacity;
    uint32_t workers[SIM_QUEUES];
    uint32_t steps;
    uint32_t first_id;
    uint32_t var_count;
    uint32_t sites;
    uint32_t lost_permille;  // of the records of operators
    bool has_pause, has_custom;
    bool takes_by_id;  // workers do, of equal priority; else what became ready first
    bool makes_thread;  // that of custom operators, for its first task; else it is there
    sim_costs costs;
} sim_program;

// Which kinds of program: bits, any together.
enum {
    SIM_WITH_WORKERS = 1,  // several, and several queues
    SIM_WITH_PRIORITIES = 2,
    SIM_WITH_BULKS = 4,
    SIM_WITH_CUSTOM = 8,
    SIM_WITH_INLINE = 16,
    SIM_WITH_CHILDREN = 32,
    SIM_WITH_SPANS = 64,
    SIM_WITH_SECOND_THREAD = 128,
    SIM_WITH_VARYING_GAPS = 256,
    SIM_WITH_PAUSE = 512,
    SIM_WITH_LOSS = 1024,
    SIM_WITH_WRAP = 2048,
    SIM_WITH_STEP_ENDS = 4096,
    SIM_WITH_DELETIONS = 8192,
    SIM_WITH_BACKDATED = 16384,  // calls that wait before they push
    SIM_WITH_ALL = 32767
};

// Aborts where memory is lacking. Freed by sim_program_free.
sim_program *sim_program_draw(uint64_t seed, uint32_t with, uint32_t steps);
// With nothing in it: one thread, one compute worker, two others.
sim_program *sim_program_new(void);
void sim_program_free(sim_program *program);

// ---- by hand -----------------------------------------------------------------------------------
sim_op *sim_op_new(sim_program *program, uint32_t name, uint32_t run_ns);
void sim_op_reads(sim_op *op, uint32_t var);
void sim_op_writes(sim_op *op, uint32_t var);
sim_action *sim_add(sim_script *script, sim_action_kind kind, uint32_t ns);
// Number of a new body.
uint32_t sim_body_new(sim_program *program);

const char *sim_name(uint32_t name);

#endif
