// SPDX-License-Identifier: Apache-2.0
// Operators' time by layer: the scope they are in, down to a depth, with what each phase took.
#ifndef MXP_ANALYSIS_LAYERS_H
#define MXP_ANALYSIS_LAYERS_H

#include "profiler/analysis/time/time_rows.h"

enum { MXP_PHASES = MXP_PHASE_COMMUNICATION + 1 };

typedef struct mxp_layer {
    uint32_t scope;  // node; 0: operators in no scope
    uint64_t phases_ns[MXP_PHASES];  // of MXP_PHASE_NONE: what has no phase
    uint64_t sum_ns;  // of all phases
    uint64_t path_ns, waited_ns, queued_ns, count;
} mxp_layer;

typedef struct mxp_layers {
    mxp_layer *all;  // most of the key first; what is in no layer last
    size_t count, capacity;
    mxp_layer total;
} mxp_layers;

typedef enum mxp_time_key {
    MXP_KEY_TOTAL,
    MXP_KEY_PATH,
    MXP_KEY_SELF,
    MXP_KEY_WAITED,  // for dependencies and in the queue
    MXP_KEY_P99,
    MXP_KEY_CALLS,
} mxp_time_key;

// `depth`: of scopes, 2 makes "lenet:conv0" of "lenet:conv0:relu0". Layers without any operator are
// left out. Sorted by sum, or as the key says. MXP_ENOMEM.
int mxp__layers_make(const mxp_time_rows *rows, uint32_t depth, mxp_time_key key,
                     mxp_layers *layers);
void mxp__layers_fini(mxp_layers *layers);

// Places of the rows of operators, or of spans, that have anything, most of the key first; *count
// of them. Free with mxp__free(places, rows->count * sizeof *places). Null without memory or rows.
// Sorts durations.
uint32_t *mxp__time_rows_rank(mxp_time_rows *rows, bool operators, mxp_time_key key, size_t *count);

#endif
