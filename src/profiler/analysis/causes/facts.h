// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/causes: what made steps slow, and what is gained without it.
//
// A catalogue of causes, each with a test on the trace, and a verdict on which of them are told.
// Nothing is printed here.
//
// What the causes are looked for in: figures of each chosen step of one process, gathered by one
// reading of all records and one walk over the steps' paths.
#ifndef MXP_CAUSES_FACTS_H
#define MXP_CAUSES_FACTS_H

#include "profiler/analysis/causes/first_runs.h"
#include "profiler/analysis/causes/fresh_runs.h"
#include "profiler/analysis/memory/live_memory.h"
#include "profiler/analysis/path/path_rows.h"
#include "profiler/analysis/roof/ceilings.h"
#include "profiler/analysis/window/choice.h"
#include "profiler/analysis/window/scope_tree.h"

typedef struct mxp_facts_step {
    size_t place;  // in the table of steps
    double wall_ns;  // its window
    uint64_t records;
    uint64_t takings;  // spans of category `memory`
    uint64_t fresh_blocks, fresh_bytes;  // that did not come from the pool
    uint64_t pushed, tiny;  // operators that the steps' thread pushed; that took less than its push
    double push_ns;  // median time between two pushes of the steps' thread; 0: fewer than two
    double tiny_run_ns;  // median time of what it pushed
    double input_wait_ns;  // in which the steps' thread waited for the loader's workers
    double run_ns;  // of all its operators, on whatever thread
    double dependent_ns;  // the longest chain of operators that follow from variables
    double fresh_ns;  // on the path: what operators took because memory came from the system
} mxp_facts_step;

// A span of category `memory`: its thread was in the system.
typedef struct mxp_taking {
    uint32_t thread;
    int64_t begin_ns, end_ns;
} mxp_taking;

// Who is told of each chosen step's path, too, because making them is most of the work: as
// mxp__path_each.
typedef struct mxp_path_listener {
    mxp_path_each *each;
    void *context;
} mxp_path_listener;

typedef struct mxp_facts {
    mxp_source *process;
    const mxp_steps *steps;
    const mxp_choice *choice;
    mxp_facts_step *at;  // of each chosen step, in the order of time
    size_t count;
    uint32_t *index_of;  // by place in the table of steps; UINT32_MAX: not chosen
    mxp_path_rows rows;  // the paths
    mxp_path_rows chains;  // the longest chains of variables, as pieces of kind RUN
    mxp_scope_tree scopes;
    uint32_t *node_of;  // scopes of the process, by name id
    mxp_first_runs first_runs;
    mxp_fresh_runs fresh_runs;
    uint64_t records[MXP_KIND_END];  // of the chosen steps, by kind
    double record_cost_ns;  // of one; 0: the trace does not say
    uint64_t operators, waits;  // in the whole trace
    size_t workers;  // that the engine has for operators; or those that ran some, if more
    bool has_waits;  // they have records of their own
    uint64_t cut_ops;  // of the chosen steps, of which not all variables are known
    mxp_live_memory memory;  // of all steps
    const mxp_ceilings *ceilings;  // of the trace's machine; null unless the caller sets it
    // Spans of category `memory`, by thread and begin.
    mxp_taking *takings;
    size_t taking_count, taking_capacity;
} mxp_facts;

// `steps` and `choice` outlive the facts; the choice is of steps. MXP_ENOMEM where a step needs
// more than `limit_bytes`. `listener` may be null.
int mxp__facts_make(mxp_source *process, const mxp_steps *steps, const mxp_choice *choice,
                    uint64_t limit_bytes, const mxp_path_listener *listener, mxp_facts *facts);
void mxp__facts_fini(mxp_facts *facts);

// Index of the chosen step in whose window a moment lies; `count`: in none.
size_t mxp__facts_index_at(const mxp_facts *facts, int64_t ns);

// Adds to `series`, of facts->count values, what each step spent on its path in a row.
void mxp__facts_add_row(const mxp_facts *facts, const mxp_path_rows *rows, const bool *wanted,
                        double *series);
// Sets `series` to what each step spent in pieces of the kinds: 1 << MXP__PATH_*.
int mxp__facts_kinds(const mxp_facts *facts, unsigned kinds, double *series);

// What an operator took because its memory came from the system: the calls, and what it took longer
// on pages that were new.
int64_t mxp__facts_fresh_ns(const mxp_facts *facts, const mxp_graph *graph, uint32_t op);

// The layer of an operator: the outermost two scopes around it; 0: it is in none.
uint32_t mxp__facts_layer(const mxp_facts *facts, uint32_t scope);

#endif
