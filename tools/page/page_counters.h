// SPDX-License-Identifier: Apache-2.0
// Counters over time, in at most so many bins: of each the least, the largest and the last value.
#ifndef MXP_TOOLS_PAGE_COUNTERS_H
#define MXP_TOOLS_PAGE_COUNTERS_H

#include "page/spool.h"
#include "profiler/trace/event.h"

enum { MXP_COUNTER_BINS = 1024, MXP_PAGE_COUNTERS_MAX = 256 };

typedef struct mxp_counter_bin {
    double least, largest, last;
    uint64_t samples;
    int64_t last_ns;
} mxp_counter_bin;

typedef struct mxp_page_counter {
    uint32_t process, name;
    mxp_counter_bin *bins;  // MXP_COUNTER_BINS
    size_t shown;  // of the section: those that have samples
    uint64_t width_ns;  // of a bin of the section
} mxp_page_counter;

// Begins as zeros but for the times.
typedef struct mxp_page_counters {
    int64_t begin_ns, end_ns;  // of the trace
    mxp_page_counter *all;
    size_t count, capacity;
    uint64_t left_out;  // samples of counters beyond MXP_PAGE_COUNTERS_MAX
} mxp_page_counters;

// Samples come in any order. MXP_ENOMEM.
int mxp__page_counters_add(mxp_page_counters *counters, uint32_t process, const mxp_event *event);
// The section of one, with `join` bins as one: a power of two. MXP_ENOMEM, MXP_EIO.
int mxp__page_counter_pack(mxp_page_counters *counters, size_t number, size_t join,
                           mxp_page_spool *spool, mxp_spooled_section *section);
void mxp__page_counters_fini(mxp_page_counters *counters);

#endif
