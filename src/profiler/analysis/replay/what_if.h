// SPDX-License-Identifier: Apache-2.0
// What steps would take if something were changed: replays (replay.h) of the chosen steps, of any
// number of sets of changes at once, and how far each prediction can be trusted. The graph is
// loaded for as many steps at once as memory allows; where a new one begins, everything is as
// recorded.
//
//     mxp_change change = {.kind = MXP_CHANGE_NAME, .glob = "Convolution", .factor = 0.5};
//     mxp_change_set set = {.changes = &change, .count = 1};
//     code = mxp__what_if(process, &steps, chosen, limit_bytes, &set, 1, &result);
//     ... set.gain_ns (mean a step), set.low_ns, set.high_ns ...
//     mxp__what_if_fini(&result);
#ifndef MXP_ANALYSIS_WHAT_IF_H
#define MXP_ANALYSIS_WHAT_IF_H

#include "profiler/analysis/replay/slack_rows.h"
#include "profiler/analysis/roof/ceilings.h"

typedef enum mxp_change_kind {
    MXP_CHANGE_NAME,  // operators of names that fit `glob` take `factor` of their time
    MXP_CHANGE_SCOPE,  // those in scopes that fit it
    MXP_CHANGE_HOST,  // what the program's threads do by themselves takes `factor` of its time
    MXP_CHANGE_CALL,  // the same of spans of names that fit
    MXP_CHANGE_PREFETCH,  // input is loaded beside everything else, two batches ahead
    MXP_CHANGE_NO_WAIT,  // threads do not wait in calls that fit: only the `count`-th in each step;
                         // 0: all
    MXP_CHANGE_WORKERS,  // `count` workers of the compute queue, lowest id first of what is ready
    MXP_CHANGE_BULK,  // calls that push an operator each push `count` of them
    MXP_CHANGE_ROOF,  // operators of names or scopes that fit take what they need at `ceilings`,
                      // if that is less; these must not be void (mxp_roof.is_void)
    MXP_CHANGE_KINDS
} mxp_change_kind;

typedef struct mxp_change {
    mxp_change_kind kind;
    const char *glob;
    double factor;
    uint32_t count;
    const mxp_ceilings *ceilings;  // live as long as the change
} mxp_change;

// Changes that are made together, and what they give. Filled from `gains_ns` on.
typedef struct mxp_change_set {
    const mxp_change *changes;
    size_t count;
    double *gains_ns;  // of each step, in the order of mxp_what_if.places
    double gain_ns;  // mean a step: recorded less predicted
    double low_ns, high_ns;  // interval of it
    double p50_ns;  // middle length predicted
    uint64_t changed;  // operators, waits and pieces of the program that it was about
    uint64_t switched;  // workers that were idle and go on, or the reverse, and such waits
    uint64_t roofless;  // operators that have no roof, because what they compute is not known
    bool is_model;  // the schedule is another one than recorded
    bool is_upper_bound;  // what the program does with what it waited for is not known
    bool changes_overlap;  // operators run beside one another that did not, or the reverse
} mxp_change_set;

typedef struct mxp_what_if {
    mxp_source *process;
    size_t *places;  // of the steps that were looked at, in the table of steps
    size_t count, capacity;
    double *lengths_ns;  // as recorded
    double mean_ns;
    bool is_window;  // no steps, but a time as one
    size_t left_out;  // chosen ones with losses or pauses in them, or without an end
    uint64_t operators, cut_ops;  // cut: of more variables than a record holds
    bool has_exchanges;  // with other processes: they take as long as they took
    double unknown;  // share of the path
    mxp_slack_rows slack;  // of the operators of these steps, as recorded; where it is wanted
    mxp_change_set *sets;
    size_t set_count;
    size_t length_capacity, gain_capacity;
} mxp_what_if;

// `chosen`: by place in `steps`; null for all. Without steps: the time from first_ns to last_ns as
// one, of the thread from which its path is walked (mxp__path_window_thread). MXP_ENOTSUP, with the
// reason as detail: nothing can be predicted, because there are no operators, losses or pauses are
// everywhere, the path is not known well enough, or the recorded run does not come out of its own
// replay to the nanosecond. MXP_EINVAL: a glob fits nothing. MXP_ENOMEM. The sets are the caller's;
// what is allocated in them is freed by mxp__what_if_fini.
int mxp__what_if(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                 uint64_t limit_bytes, bool wants_slack, mxp_change_set *sets, size_t set_count,
                 mxp_what_if *result);
void mxp__what_if_fini(mxp_what_if *result);

#endif
