// SPDX-License-Identifier: Apache-2.0
// Whether the memory of a device grows from step to step, and whose. The least total of each step
// is looked at, because peaks vary with what runs at the same time and leasts do not.
#ifndef MXP_ANALYSIS_MEMORY_LEAK_H
#define MXP_ANALYSIS_MEMORY_LEAK_H

#include "profiler/analysis/memory/live_memory.h"
#include "profiler/analysis/statistics/trend.h"

enum { MXP__LEAK_STEPS_MIN = 20, MXP__LEAK_OWNERS_MAX = 32 };

typedef struct mxp_leak_owner {
    uint32_t owner;
    double slope;  // bytes a step, as of the total
} mxp_leak_owner;

typedef struct mxp_memory_leak {
    size_t steps;
    bool is_known;  // there are MXP__LEAK_STEPS_MIN steps or more
    // z is above 4, the slope's lower bound above 0, and the second half of the steps rises too (z
    // above 2, a slope above 0): what only rose at first is none.
    bool grows;
    uint64_t first_bytes, last_bytes;  // least of the first step, or column of steps, and the last
    double z, late_z;  // of Mann-Kendall: all steps, the second half
    mxp_theil_sen slope;  // bytes a step, with bounds of 95 %
    // Those that grew or shrank most from the first to the last, the largest slope first; and what
    // the slope has beyond theirs.
    mxp_leak_owner owners[MXP__LEAK_OWNERS_MAX];
    size_t owner_count;
    double rest_slope;
} mxp_memory_leak;

// MXP_ENOMEM.
int mxp__memory_leak_find(const mxp_memory_device *device, mxp_memory_leak *leak);

#endif
