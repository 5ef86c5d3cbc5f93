// SPDX-License-Identifier: Apache-2.0
// Several processes as one source. Each stays a source of its own (names, threads and losses are
// its), read through a clock that is moved into the trace time of the first: by
// CLOCK_MONOTONIC_RAW between processes of one machine since it was started, else by
// CLOCK_REALTIME.
#ifndef MXP_TRACE_MERGE_H
#define MXP_TRACE_MERGE_H

#include "profiler/trace/source.h"

// One source, its times in the trace time of `lead`. Takes `inner` over, also if it fails.
int mxp__aligned_open(mxp_source *inner, const mxp_timebase *lead, mxp_source **source);

// The processes of all of them (at least one), in the order in which they began; one that is there
// twice, with the same records, once. Takes all sources over, also if it fails. MXP_ENOMEM.
int mxp__merge_open(mxp_source *const *sources, size_t count, mxp_source **source);

// Process `i` of a source, alone. Null beyond the last.
static inline mxp_source *mxp__source_process(mxp_source *source, size_t i)
{
    if (source->process_count == 0) {
        return i == 0 ? source : NULL;
    }
    return i < source->process_count ? source->processes[i] : NULL;
}

#endif
