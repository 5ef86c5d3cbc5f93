// SPDX-License-Identifier: Apache-2.0
// The time of a thread of the program in a replay: for moments as recorded, when they are now.
// Between what it waits for, time goes on as recorded or by a factor. Moments must be asked for in
// about the order of time; earlier ones are answered, too. For the replay only.
#ifndef MXP_ANALYSIS_REPLAY_HOST_H
#define MXP_ANALYSIS_REPLAY_HOST_H

#include "profiler/analysis/replay/replay.h"

// New times are in 1/1024 ns since the graph's begin, so that a small change of a short operator is
// not rounded away.
enum { MXP__FINE = 1024 };
#define MXP__REPLAY_NS_MAX (INT64_C(1) << 50)  // 13 days: of a window, and back from its begin
#define MXP__REPLAY_NEAR_NS (INT64_C(1) << 45)  // 9 hours: operators and waits beyond its ends

typedef struct mxp_host_point {
    int64_t old_ns;
    int64_t new_fine;
    double factor;  // of what comes behind it
} mxp_host_point;

typedef struct mxp_host_map {
    const mxp_graph *graph;
    const mxp_changes *changes;
    const mxp_graph_thread *thread;
    mxp_host_point *points;  // in the order of time
    size_t count, capacity;
    int64_t covered_ns;  // up to here factors are known
    size_t piece;  // of the thread's, at covered_ns; SIZE_MAX: before the first
    bool is_scaled, in_input;
    double task_factor;  // of the custom operator's function that the thread runs
    int64_t input_begin_ns;
    int64_t loaded_fine, taken_fine[2];  // batches: the last one that is loaded; the last two taken
    uint64_t changed;
} mxp_host_map;

// MXP_ENOMEM.
int mxp__host_map_begin(const mxp_graph *graph, const mxp_changes *changes, uint32_t thread,
                        mxp_host_map *map);
void mxp__host_map_fini(mxp_host_map *map);
// MXP_ENOMEM.
int mxp__host_map_at(mxp_host_map *map, int64_t ns, int64_t *new_fine);
// From `ns` on the thread is at new_fine. MXP_ENOMEM.
int mxp__host_map_jump(mxp_host_map *map, int64_t ns, int64_t new_fine);

#endif
