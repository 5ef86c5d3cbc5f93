// SPDX-License-Identifier: Apache-2.0
// A device's memory step by step: the least and the largest total of each, what the owners had at
// the least, and the blocks that came from the system. Of long runs several steps are one column,
// as many as keep the columns within MXP__MEMORY_COLUMNS: its least is the least of its steps.
#ifndef MXP_ANALYSIS_MEMORY_GROWTH_H
#define MXP_ANALYSIS_MEMORY_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/analysis/memory/memory_owners.h"

typedef struct mxp_memory_column {
    uint64_t least_bytes, most_bytes;
    uint64_t fresh_blocks, fresh_bytes;
    uint64_t fresh_steps;  // steps with fresh blocks
} mxp_memory_column;

typedef struct mxp_memory_growth {
    // The owners' amounts of a column are those at its largest total, not at its least.
    bool keeps_most;
    const int64_t *bounds;  // of the caller: step i is [bounds[i], bounds[i + 1])
    size_t step_count;
    size_t step;  // that is going on, if `is_open`
    bool is_open;
    size_t stride;  // steps a column
    size_t count;  // of columns that are complete
    mxp_memory_column columns[MXP__MEMORY_COLUMNS];
    mxp_memory_column column;  // that is going on
    uint64_t fresh_step;  // 1 + the last step with fresh blocks
} mxp_memory_growth;

// `bounds` outlives it and ascends; there are step_count + 1.
void mxp__growth_begin(mxp_memory_growth *growth, const int64_t *bounds, size_t step_count,
                       bool keeps_most);
// Before a record at `ns` changes anything: the device has had `live_bytes` up to here. MXP_ENOMEM.
int mxp__growth_advance(mxp_memory_growth *growth, mxp_memory_owners *owners, int64_t ns,
                        uint64_t live_bytes);
// After the record: the total is `live_bytes`.
void mxp__growth_follow(mxp_memory_growth *growth, mxp_memory_owners *owners, uint64_t live_bytes);
// A block of `owner` came from the system.
void mxp__growth_fresh(mxp_memory_growth *growth, mxp_memory_owners *owners, uint32_t owner,
                       uint64_t bytes);

#endif
