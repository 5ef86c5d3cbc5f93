// SPDX-License-Identifier: Apache-2.0
// Which worker the others wait for, what that costs, and what is gained if it comes as the second
// slowest does. With W equal workers somebody is always the last: one is named only if it is so
// more often than chance makes likely, and if it costs something.
#ifndef MXP_RANKS_STRAGGLER_H
#define MXP_RANKS_STRAGGLER_H

#include "profiler/analysis/ranks/rank_waits.h"

typedef struct mxp_rank_time {
    int64_t from_ns, to_ns;
} mxp_rank_time;

typedef struct mxp_rank_step {
    uint64_t number;
    int64_t begin_ns, end_ns;
    uint64_t run_delay_ns;  // of all its threads; MXP__RUN_DELAY_UNKNOWN
} mxp_rank_step;

#define MXP__RUN_DELAY_UNKNOWN UINT64_MAX

// A worker, as it goes in.
typedef struct mxp_rank {
    uint32_t rank;
    const char *host;  // "" unknown: it shares it with nobody
    const mxp_rank_step *steps;  // in the order of time
    size_t step_count;
    // Where communication was on its critical path, in the order of time and apart from one
    // another. With has_path false that is not known: then all that it waited counts.
    const mxp_rank_time *blocked;
    size_t blocked_count;
    bool has_path;
    const mxp_rank_waits *waits;
} mxp_rank;

typedef struct mxp_rank_row {
    uint32_t rank;
    double step_ns, own_ns, blocked_ns, waited_ns, caused_ns;  // medians of the steps
    size_t last_steps;  // in so many steps it cost the others most
    uint64_t bytes;  // of its operations, all together
    uint64_t bytes_out, bytes_in;  // of pushes, of pulls
    double bytes_per_s;  // both, from its first operation to the end of its last one
} mxp_rank_row;

enum { MXP__STRAGGLERS_NONE = -1 };

// Why one is the last. What its own steps spend longer on is told by their critical paths
// (compute, input), which are not looked at here.
typedef enum mxp_straggler_kind {
    MXP__STRAGGLER_UNEXPLAINED,
    MXP__STRAGGLER_NOISE,  // nobody is named: their spread explains it
    MXP__STRAGGLER_COMPUTE,
    MXP__STRAGGLER_INPUT,
    MXP__STRAGGLER_LATE_START,  // the step before goes on longer after its last exchange
    MXP__STRAGGLER_HOST  // all workers of its host are late; or its threads wait for a core
} mxp_straggler_kind;

typedef struct mxp_stragglers {
    size_t steps;  // that all workers have
    size_t workers;
    double step_ns;  // median length of a step, the mean of the workers
    mxp_rank_row *rows;  // of each worker, as they went in
    size_t chance_most;  // so often, at most, one of equals is the last (99.9 %)
    int named;  // place of the straggler; MXP__STRAGGLERS_NONE
    mxp_straggler_kind kind;
    bool is_whole_host;  // all workers of its host are: what follows is the host's
    size_t last_steps;  // in so many steps the named one, or its host, was the last
    // Of the named one, a step more than in the median of the others. NAN: not known.
    double late_start_ns, run_delay_ns;
    double cost_ns;  // of the named one, else of the one with most: its median
    int costliest;  // place of that one, -1: nobody waited
    double gain_ns, gain_low_ns, gain_high_ns;  // median, and 95 % bounds of it
    double imbalance;  // (longest - median) / median of the times without communication
    double
        noise_ns;  // what the longest of equals is longer by, from the spread of a worker's steps
} mxp_stragglers;

// At least two workers. MXP_ENOMEM.
int mxp__stragglers_find(const mxp_rank *ranks, size_t count, mxp_stragglers *found);
void mxp__stragglers_fini(mxp_stragglers *found);

// The smallest count that Binomial(trials, share) does not exceed with `probability`.
size_t mxp__binomial_quantile(size_t trials, double share, double probability);

#endif
