// SPDX-License-Identifier: Apache-2.0
// A cause of slow steps, with what its removal gains and what shows it.
#ifndef MXP_CAUSES_CAUSE_H
#define MXP_CAUSES_CAUSE_H

#include <mxprof/error.h>

#include "profiler/analysis/causes/facts.h"

// Name in JSON.
#define MXP_CAUSES(X)                         \
    X(INPUT, "slow input")                    \
    X(WAIT, "needless wait")                  \
    X(TINY, "tiny operators")                 \
    X(LAYER, "one slow layer")                \
    X(ALLOCATION, "allocation in every step") \
    X(FIRST_RUN, "first-run cost")            \
    X(IMBALANCE, "imbalance of processes")    \
    X(RECORDING, "recording is too fine")     \
    X(GROWTH, "memory grows")                 \
    X(CUSTOM, "custom operator")              \
    X(CHAIN, "serial chain")                  \
    X(PROGRAM, "the program itself")

typedef enum mxp_cause_id {
#define MXP_CAUSE_ENUM(name, text) MXP_CAUSE_##name,
    MXP_CAUSES(MXP_CAUSE_ENUM)
#undef MXP_CAUSE_ENUM
        MXP_CAUSE_COUNT
} mxp_cause_id;

const char *mxp__cause_name(mxp_cause_id id);

// How its gain is known, and what it says.
typedef enum mxp_gain_kind {
    MXP_GAIN_NONE,  // it is no time: growth, a chain
    MXP_GAIN_PATH,  // time on the path that would not be there
    MXP_GAIN_REPLAY,  // steps replayed without it, after the causes above it are mended
    MXP_GAIN_COUNTED,  // what it costs, wherever that is
} mxp_gain_kind;

// Of a custom operator: what its function did, by CPU time and run delay.
typedef enum mxp_custom_use {
    MXP_CUSTOM_UNKNOWN,  // the trace has no CPU time
    MXP_CUSTOM_COMPUTED,
    MXP_CUSTOM_WAITED,  // less than half of it had a core, or waited for one
} mxp_custom_use;

// A name of the program's and the scope around it, as ids; 0: none.
typedef struct mxp_cause_place {
    uint32_t name, scope;
} mxp_cause_place;

enum { MXP_CAUSE_PLACES = 5 };

typedef struct mxp_cause {
    mxp_cause_id id;
    mxp_gain_kind gain;
    double *gains;  // ns of each step (facts->count); null: MXP_GAIN_NONE
    double gain_ns, low_ns, high_ns;  // their mean, with bounds of 95 %
    double left_ns;  // the mean step without it, and without what is told above it and replayed
    double doubt;  // probability of its mean being below the noise after all, adjusted (Holm)
    bool is_upper_bound;  // it cannot gain more; how much of it does is not known
    bool is_certain;  // not of steps that vary: told by the gain alone
    bool is_left_out;  // what it costs is of steps that are left out, and not in the mean
    bool is_told;
    size_t steps;  // in which it is
    // What shows it. What is meant for other causes is zero.
    mxp_cause_place places[MXP_CAUSE_PLACES];  // of memory: the array, and who made it
    double place_ns[MXP_CAUSE_PLACES];  // a step
    size_t place_count;
    uint32_t layer;  // node of facts->scopes; 0: places[0] is meant
    double share;  // of the path: a layer, a chain, the program; of the program: pushes less
    bool is_most;  // a layer: more than all else together
    double roof;  // of a layer: its time at the roof, of its own; 0: not known
    double factor;  // of a layer: what is left of its time
    double forward_ns, backward_ns, update_ns;  // of a layer, a step
    double count;  // a step: tiny operators, records, waits, calls of the system
    double
        each_ns;  // push of a tiny operator, median; a record; a wait; the slowest process's step
    // Median time of a tiny operator; CPU time of a custom operator's function; the other
    // processes' step.
    double run_ns;
    double delay_ns;  // a step, of a custom operator: run delay of all threads
    double blocks, bytes;  // a step: from the system; bytes also of growth
    double width;  // of a chain: operators that run at a time, on average
    uint64_t workers;  // that there are
    mxp_custom_use custom;
    bool waits_for_workers;  // of input: the program waited for the loader's workers
    size_t first_steps;  // of first-run cost: slow steps at the beginning; 0: single operators
    uint32_t device;  // of growth
    uint32_t pid;  // of imbalance: the slowest process
    uint64_t most_records_kind;  // MXP_KIND_*: what most records are
} mxp_cause;

enum { MXP_CAUSES_MAX = 32 };

// The causes of a process that are candidates. Finished by mxp__causes_fini.
typedef struct mxp_causes {
    mxp_cause all[MXP_CAUSES_MAX];
    size_t count;
    size_t steps;  // values of each series
} mxp_causes;

// Adds a candidate with a series of zeros, unless `gain` is MXP_GAIN_NONE. Null without memory, or
// if there are MXP_CAUSES_MAX: the detail line says it.
mxp_cause *mxp__causes_add(mxp_causes *causes, mxp_cause_id id, mxp_gain_kind gain);
void mxp__causes_drop(mxp_causes *causes);  // the last one
// Keeps the place if it is one of the MXP_CAUSE_PLACES with most time, the longest first.
void mxp__cause_keep_place(mxp_cause *cause, mxp_cause_place place, double ns);
void mxp__causes_fini(mxp_causes *causes);

// Whether the mean of parts_ns[i] / wall of step i is surely above `share`: its lower bound of 95
// %. With fewer than five steps nothing is sure. MXP_ENOMEM.
int mxp__share_is_above(const mxp_facts *facts, const double *parts_ns, double share, bool *is);

// A test: adds what it finds. MXP_ENOMEM.
typedef int mxp_cause_test(const mxp_facts *facts, mxp_causes *causes);

mxp_cause_test mxp__find_input, mxp__find_tiny, mxp__find_layer, mxp__find_allocation,
    mxp__find_first_run, mxp__find_recording, mxp__find_custom, mxp__find_chain, mxp__find_program,
    mxp__find_growth;

// All of one process: the tests of the catalogue one after the other.
int mxp__causes_find(const mxp_facts *facts, mxp_causes *causes);

#endif
