// SPDX-License-Identifier: Apache-2.0
// What operators took when they ran for the first time, against their later times: memory is new,
// kernels are chosen, weights are brought into their order.
#ifndef MXP_CAUSES_FIRST_RUNS_H
#define MXP_CAUSES_FIRST_RUNS_H

#include <stdint.h>

#include "base/id_map.h"

enum { MXP__FIRST_RUNS_MAX = 4096, MXP__FIRST_RUN_OTHERS_MIN = 5 };

typedef struct mxp_first_run {
    uint32_t name, scope;
    int64_t first_begin_ns, first_ns;  // when, and how long
    uint64_t count;  // of all, the first one among them
    struct mxp_histogram *later;  // how long the others took, ns
} mxp_first_run;

// Begins as zeros. Of operators with the same name and scope the first is looked at; beyond
// MXP__FIRST_RUNS_MAX of them no more.
typedef struct mxp_first_runs {
    mxp_first_run *all;
    size_t count, capacity;
    mxp_id_map places;
} mxp_first_runs;

// Records come in any order. MXP_ENOMEM.
int mxp__first_runs_add(mxp_first_runs *runs, uint32_t name, uint32_t scope, int64_t begin_ns,
                        int64_t took_ns);
void mxp__first_runs_fini(mxp_first_runs *runs);

// By how much the first one took longer than half of the others, if it took longer than 99 % of
// them; else, or where there are fewer than MXP__FIRST_RUN_OTHERS_MIN others, 0.
int64_t mxp__first_run_excess_ns(const mxp_first_run *run);

#endif
