// SPDX-License-Identifier: Apache-2.0
// Of the blocks that were live at the peak of a device: which were in use, and when the others were
// used again. Records of blocks do not name variables. A block is known to be a variable's where an
// operator allocated one block, and wrote one variable that no operator had named before; of all
// others nothing is said.
#ifndef MXP_ANALYSIS_MEMORY_USES_H
#define MXP_ANALYSIS_MEMORY_USES_H

#include "profiler/analysis/memory/live_memory.h"

typedef enum mxp_peak_use {
    MXP__USE_UNKNOWN,  // which variable it is
    MXP__USE_THEN,  // by an operator that ran at the peak
    MXP__USE_LATER,  // again, at next_ns
    MXP__USE_NONE,  // none before it was freed, or before the trace ends
} mxp_peak_use;

typedef struct mxp_peak_block {
    uint64_t bytes;
    uint32_t scope, name, category;  // as mxp_owner
    uint32_t variable;  // 0: unknown
    mxp_peak_use use;
    int64_t made_ns;
    bool was_freed;
    int64_t freed_ns;
    int64_t next_ns;  // begin of the operator that used it next; of LATER
    uint32_t next_name, next_scope;
} mxp_peak_block;

typedef struct mxp_memory_uses {
    mxp_peak_block *blocks;  // in no order; what is not recorded is in none
    size_t count, capacity;
    uint64_t bytes[MXP__USE_NONE + 1];  // by use
} mxp_memory_uses;

// `device` is of a live memory of `source`, its peak is known. Reads the source once more. As
// mxp__live_memory_make.
int mxp__memory_uses_make(mxp_source *source, const mxp_memory_device *device,
                          mxp_memory_uses *uses);
void mxp__memory_uses_fini(mxp_memory_uses *uses);

#endif
