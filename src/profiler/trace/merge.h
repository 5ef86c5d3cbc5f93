// SPDX-License-Identifier: Apache-2.0
// Several processes as one source. Each process stays a source with its own names, threads and
// losses; its clock is shifted into the trace time of the first. The shift is found by
// CLOCK_MONOTONIC_RAW between processes of one boot of one machine, else by CLOCK_REALTIME.
// Processes that do not tell when they were recorded are taken as of one clock, whose first moment
// is that of the others; they come last.
#ifndef MXP_TRACE_MERGE_H
#define MXP_TRACE_MERGE_H

#include "profiler/trace/source.h"

// *source is `inner` with its times in the trace time of `lead`. Takes `inner` over, also on error.
int mxp__aligned_open(mxp_source *inner, const mxp_timebase *lead, mxp_source **source);

// *source holds the processes of all `sources` (at least one), in the order in which they began. A
// process that is there twice with the same records is used once. Takes all sources over, also on
// error. MXP_ENOMEM.
int mxp__merge_open(mxp_source *const *sources, size_t count, mxp_source **source);

// The same of processes that are on one time already, by whatever means: order and times stay.
int mxp__together_open(mxp_source *const *sources, size_t count, mxp_source **source);

// Process `i` of a source, alone. Null beyond the last.
static inline mxp_source *mxp__source_process(mxp_source *source, size_t i)
{
    if (source->process_count == 0) {
        return i == 0 ? source : NULL;
    }
    return i < source->process_count ? source->processes[i] : NULL;
}

#endif
