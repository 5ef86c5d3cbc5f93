// SPDX-License-Identifier: Apache-2.0
// One reading of all records of a process for a page: thread by thread, each from its last record
// to its first, so that what is around a span comes before it. Spans go to the tracks, counters to
// their bins, operators' times to their steps.
#ifndef MXP_TOOLS_PAGE_WALK_H
#define MXP_TOOLS_PAGE_WALK_H

#include "page/blocks.h"
#include "page/flows.h"
#include "page/kinds.h"
#include "page/page_counters.h"
#include "profiler/analysis/time/layers.h"
#include "profiler/analysis/window/steps.h"

// What ran in a step: the operators that were pushed in it, by phase, and the waits of the thread
// that marks the steps.
typedef struct mxp_step_sums {
    uint64_t phases_ns[MXP_PHASES];
    uint64_t waiting_ns;
} mxp_step_sums;

enum { MXP_PAGE_TRACKS_MAX = 1000 };

// Begins as zeros but for what says otherwise.
typedef struct mxp_page_data {
    mxp_page_blocks blocks;  // as blocks.h says
    mxp_page_kinds kinds;
    mxp_page_counters counters;
    mxp_page_flows flows;
    int64_t begin_ns, end_ns;  // of the trace: set by the caller
    uint64_t cut_times;  // that are not within 2^53 ns of the begin
    uint64_t clock_spans;  // on clocks of their own: they have no place
    bool has_waits;  // some have records
    size_t quiet_lanes;  // beyond MXP_PAGE_TRACKS_MAX tracks: in one with all others
} mxp_page_data;

typedef struct mxp_walked_process {
    mxp_source *source;
    const mxp_steps *steps;
    uint32_t number;  // of the process
    uint32_t thread_base;  // number of its first thread in the page
    const bool *is_quiet;  // by thread: in a track with all others; null: none is
    mxp_step_sums *sums;  // of each step; null where there are none
} mxp_walked_process;

// MXP_ENOMEM, MXP_EIO, or an error of the source. Ranges that cannot be read are left out.
int mxp__page_walk(mxp_page_data *page, const mxp_walked_process *process);
void mxp__page_data_fini(mxp_page_data *page);

#endif
