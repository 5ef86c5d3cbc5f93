// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/memory: what lives on a device at each moment, and whose it is.
//
// Who held the memory of each device of a process, when: one pass over its records of blocks. The
// totals are those that were recorded; the owners' bytes add up to them at each moment that is
// kept: the peak, a time of the caller's, the end, the least of each step. All of it is exact to
// the byte, and takes memory for the blocks that live at once and for MXP__OWNERS_MAX owners,
// however long the trace is.
#ifndef MXP_ANALYSIS_LIVE_MEMORY_H
#define MXP_ANALYSIS_LIVE_MEMORY_H

#include "profiler/analysis/memory/memory_growth.h"
#include "profiler/analysis/window/steps.h"
#include "profiler/trace/source.h"

typedef struct mxp_live_memory_options {
    const int64_t *bounds;  // of steps, ascending: step i is [bounds[i], bounds[i + 1]); or null
    size_t step_count;
    // Owners' amounts of each step are those at its largest total (memory_growth.h).
    bool keeps_most;
    int64_t from_ns, until_ns;  // the peak is looked for in [from_ns, until_ns)
    int64_t at_ns;  // MXP__MOMENT_TIME: after all records up to this one
} mxp_live_memory_options;

// An operator at a moment. The one that ran on the thread that allocated comes before all others.
typedef struct mxp_memory_operator {
    bool is_known;
    uint32_t name, scope, id, thread;
    uint32_t phase;  // MXP_PHASE_*
    int64_t begin_ns, end_ns;
} mxp_memory_operator;

typedef struct mxp_memory_peak {
    bool is_known;  // something was recorded from from_ns to until_ns
    int64_t at_ns;
    uint64_t record;  // the last one before it: its event's id
    uint64_t bytes;
    // The block that made it: of which owner, allocated on which thread. False: the device had as
    // much when the window began.
    bool has_block;
    uint32_t owner, thread;
    uint64_t block_bytes;
    mxp_memory_operator ran;
    int rank;  // how well it answers; private
} mxp_memory_peak;

typedef struct mxp_memory_device {
    uint32_t device;  // number of records
    mxp_memory_owners owners;
    mxp_memory_growth growth;
    mxp_memory_peak peak;
    uint64_t live_bytes;  // after the last record
    uint64_t time_bytes;  // at at_ns
    int64_t first_ns, last_ns;  // records
    uint64_t records;
    // Blocks of a census, and the bytes at the first record that no census had told of.
    uint64_t census_blocks, before_bytes;
    // Records whose bytes do not lead from the total before them to the total that they tell: some
    // before them were lost. Owners may be off by as much as those bytes.
    uint64_t gaps, gap_bytes;
    int64_t last_gap_ns;
    // Times at which the known blocks were more than the total, so that none of them could be
    // trusted: from each on owners begin anew.
    uint64_t resets;
} mxp_memory_device;

typedef struct mxp_live_memory {
    mxp_memory_device **devices;  // in the order of their first records
    size_t count, capacity;
    uint64_t system_calls, system_ns;  // of pools, for memory and to give it back: all devices
} mxp_live_memory;

// Of one process. MXP_ENOMEM; MXP_EFORMAT or another error of the source: the rest cannot be read,
// and *memory is of what could be. *memory is set in both cases, and finished by the caller.
int mxp__live_memory_make(mxp_source *source, const mxp_live_memory_options *options,
                          mxp_live_memory *memory);
void mxp__live_memory_fini(mxp_live_memory *memory);

// The same with the bounds of these steps in place of those of the options. The growth's bounds are
// not kept.
int mxp__live_memory_of_steps(mxp_source *source, const mxp_steps *steps,
                              const mxp_live_memory_options *options, mxp_live_memory *memory);

#endif
