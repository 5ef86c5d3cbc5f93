// SPDX-License-Identifier: Apache-2.0
// Ticks to trace time. Points (ticks together with the system's clocks) are added; conversion
// segments join them continuously. A segment that a conversion has used is frozen: a later point
// only shapes what comes after it, so that nesting and earlier outputs stay true to the nanosecond.
// Trace time is ns on CLOCK_MONOTONIC_RAW's scale, 0 at the first point.
#ifndef MXP_BASE_TIMEBASE_H
#define MXP_BASE_TIMEBASE_H

#include <mxprof/format.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_timebase {
    uint32_t source;  // MXP_CLOCK_SOURCE_*
    mxp_clock_point *points;
    size_t point_count, point_capacity;
    mxp_clock_segment *segments;  // ascending ticks0; never empty once a point was added
    size_t segment_count, segment_capacity;
    double residual_ns;  // largest distance of a point from the segments made before it was known
} mxp_timebase;

void mxp__timebase_init(mxp_timebase *timebase, uint32_t source);
void mxp__timebase_fini(mxp_timebase *timebase);
int mxp__timebase_copy(mxp_timebase *to, const mxp_timebase *from);
// Adds a point later than all others (an earlier or equal one is ignored). At most 4096 points are
// kept: beyond it every second middle one is dropped. MXP_ENOMEM leaves everything as it was.
int mxp__timebase_add(mxp_timebase *timebase, const mxp_clock_point *point);
double mxp__timebase_ns_per_tick(const mxp_timebase *timebase);

// The segment in which `ticks` lies; `hint` is an earlier answer or 0.
size_t mxp__timebase_find(const mxp_timebase *timebase, uint64_t ticks, size_t hint);

__extension__ typedef __int128 mxp_int128;

static inline int64_t mxp__segment_ns(const mxp_clock_segment *segment, uint64_t ticks)
{
    mxp_int128 ticks_past = (mxp_int128)ticks - (mxp_int128)segment->ticks0;
    return segment->ns0 + (int64_t)(ticks_past * (mxp_int128)segment->mult >> 32);
}

int64_t mxp__timebase_ns(const mxp_timebase *timebase, uint64_t ticks);
// The inverse: smallest ticks whose trace time is not below `ns`.
uint64_t mxp__timebase_ticks(const mxp_timebase *timebase, int64_t ns);

#endif
