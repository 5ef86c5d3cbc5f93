// SPDX-License-Identifier: Apache-2.0
// What a process was doing at one moment: the instances that were open, the values of counters, the
// step.
#ifndef MXP_TOOLS_MOMENT_H
#define MXP_TOOLS_MOMENT_H

#include "base/id_map.h"
#include "instances/instance.h"

typedef struct mxp_moment_counter {
    uint32_t name, type;  // MXP_ARG_*
    uint64_t bits;
    int64_t at_ns;  // when it was set
} mxp_moment_counter;

typedef struct mxp_moment {
    const mxp_source *source;
    int64_t at_ns;
    mxp_instances open;  // sorted and nested
    int64_t *idle_since_ns;  // of each thread: the last end before it; INT64_MIN: none
    mxp_moment_counter *counters;  // in the order of their names' ids
    size_t counter_count, counter_capacity;
    mxp_id_map counter_places;  // by name id + 1, while they are read
    bool has_step;  // `at_ns` is in the window of one
    uint64_t step;
    int64_t step_begin_ns;
    bool is_damaged;
} mxp_moment;

// From the first begin to the last end of what a source recorded. False: it recorded nothing that
// lasts. MXP_ENOMEM goes to *error.
bool mxp__recorded_extent(mxp_source *process, int64_t *first_ns, int64_t *last_ns, int *error);

// A moment that is the end of the recording is the last one before it. MXP_ENOMEM, or an error of
// the source.
int mxp__moment_make(mxp_source *process, int64_t at_ns, mxp_moment *moment);
void mxp__moment_fini(mxp_moment *moment);

#endif
