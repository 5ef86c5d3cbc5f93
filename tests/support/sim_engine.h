// SPDX-License-Identifier: Apache-2.0
// A simulated clock and an engine of a few lines: runs a program (sim_program.h) and keeps what
// truly happened and why. A program can be run again with a change; what comes out then is the
// truth that a prediction is held against.
//
// Each moment carries its chain: the pieces of time, latest first, that led to it. The engine
// builds chains forwards, as things happen, where the analysis walks backwards through records.
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim_program.h"

enum { SIM_NONE = -1 };

typedef enum sim_what {
    SIM_IS_RUN,
    SIM_IS_DISPATCH,
    SIM_IS_WAKE,
    SIM_IS_HOST,
    SIM_IS_CUSTOM,  // host on the thread of custom operators
    SIM_IS_HAND_OFF
} sim_what;

typedef struct sim_piece {
    int64_t from_ns, to_ns;
    sim_what what;
    uint32_t name;  // of host: that of its innermost span
    int op;  // of what is no host: number of the operator, else SIM_NONE
    uint32_t thread;
} sim_piece;

typedef struct sim_chain {
    const struct sim_chain *before;
    sim_piece piece;
} sim_chain;

typedef struct sim_ran {  // an operator
    const sim_op *op;
    uint32_t id, name, scope, phase, queue;
    int parent;  // of a member
    int released_by, completer, outer;  // SIM_NONE
    int64_t push_ns, ready_ns, start_ns, end_ns;
    uint32_t thread, push_thread;
    int64_t run_ns;  // what it takes when it runs
    bool woke, was_idle;
    uint32_t pending;  // predecessors that are not over
    int preds[64];
    uint32_t pred_count;
    bool is_over, is_ready, is_unrecorded;
    int64_t
        idle_ns;  // how long its worker was, or how long it was busy (negative) when it was ready
    const sim_chain *chain_push, *chain_start, *chain_end;
} sim_ran;

typedef struct sim_waited {
    uint32_t thread;
    int64_t begin_ns, end_ns;
    uint32_t name, what, flags, var, site;
    int ended_by;
    bool is_unrecorded;
} sim_waited;

typedef struct sim_spanned {
    uint32_t thread, name;
    int64_t begin_ns, end_ns;
    bool is_unrecorded;
} sim_spanned;

typedef struct sim_marked {
    int kind;  // MXP_META_STEP, STEP_END or STATE
    uint32_t thread;
    uint64_t value;
    int64_t at_ns;
    const sim_chain *chain;
} sim_marked;

typedef struct sim_window {
    uint64_t step;
    int64_t begin_ns, end_ns;
    const sim_chain *chain;  // of its end
    bool is_ambiguous;  // two things ended it at once
    bool is_cut;  // a pause or a loss is in it
} sim_window;

typedef struct sim_thread {
    const char *name;
    int queue;  // of a worker, else SIM_NONE
    int64_t start_ns;  // when it was made, 0: before
} sim_thread;

typedef struct sim_run sim_run;
struct sim_run {
    const sim_program *program;
    sim_ran *ops;
    size_t op_count, op_capacity;
    sim_waited *waits;
    size_t wait_count, wait_capacity;
    sim_spanned *spans;
    size_t span_count, span_capacity;
    sim_marked *marks;
    size_t mark_count, mark_capacity;
    sim_window *windows;
    size_t window_count, window_capacity;
    sim_thread threads[SIM_THREADS_MAX + 1 + SIM_QUEUES * SIM_WORKERS_MAX];
    uint32_t thread_count;
    bool is_ambiguous;  // two operators ended at once and one of them ended a wait
    struct sim_arena *arena;  // of chains
};

// Factors are num/den and exact where the program's times are multiples of den.
typedef struct sim_change {
    uint32_t name;  // of operators that are scaled, or SIM_NAME_NONE
    int scope;  // the same by scope, SIM_NONE: by no scope
    uint32_t num, den;
    uint32_t host_num, host_den;  // 0: unchanged
    int without_site;  // a wait that is left out, SIM_NONE: none
    int longer_op;  // number of an operator that takes longer by longer_ns, SIM_NONE
    int64_t longer_ns;
} sim_change;

extern const sim_change sim_unchanged;

enum { SIM_BEGIN_NS = 1000000 };  // when threads begin

sim_run *sim_run_program(const sim_program *program, const sim_change *change);
void sim_run_free(sim_run *run);

// The pieces of a window, first one first, neighbours of one kind joined. `pieces` is freed by
// free.
sim_piece *sim_window_path(const sim_window *window, size_t *count);
// Whether the same operators ran on the same workers in the same order, each after the same
// situation of its worker.
bool sim_same_order(const sim_run *a, const sim_run *b);

#endif
