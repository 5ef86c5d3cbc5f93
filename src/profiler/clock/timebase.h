// SPDX-License-Identifier: Apache-2.0
// Ticks to trace time. Points (ticks together with the system's clocks) are added; conversion
// segments join them continuously. Trace time is ns on CLOCK_MONOTONIC_RAW's scale, 0 at the first
// point.
//
// The rule of freezing: once there are two points, the conversion of everything up to the newest
// point is final, to the nanosecond; a later point affects only what comes after it. An export
// therefore takes a point after its last record, adds it, and only then converts. (One point alone
// gives a provisional rate: the clock's own for clocks in ns, the CPU's claim or 1 ns a tick
// otherwise.) Conversion never goes backwards, so nesting survives it.
//
// Callers serialise changes. Conversion only reads.
#ifndef MXP_CLOCK_TIMEBASE_H
#define MXP_CLOCK_TIMEBASE_H

#include <mxprof/format.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_timebase {
    uint32_t source;  // MXP_CLOCK_SOURCE_*
    mxp_clock_point *points;
    size_t point_count, point_capacity;
    mxp_clock_segment *segments;  // ascending ticks0; never empty once a point was added
    size_t segment_count, segment_capacity;
    double residual_ns;  // largest distance of a point from the segments made before it was known
    // One of the clocks jumped against the other (suspend, migration): how far trace time is from
    // RAW since then, and the point that showed it. Durations stay right, the offset does not.
    int64_t jump_ns;
    uint64_t jump_ticks;
} mxp_timebase;

void mxp__timebase_init(mxp_timebase *timebase, uint32_t source);
void mxp__timebase_fini(mxp_timebase *timebase);
// `to` is overwritten, not freed; after MXP_ENOMEM it is empty.
int mxp__timebase_copy(mxp_timebase *to, const mxp_timebase *from);
// Adds a point later than all others (an earlier or equal one is ignored). At most 4096 points are
// kept: beyond it every second middle one is dropped. MXP_ENOMEM leaves everything as it was.
int mxp__timebase_add(mxp_timebase *timebase, const mxp_clock_point *point);
// The mean rate from the first to the newest point.
double mxp__timebase_ns_per_tick(const mxp_timebase *timebase);

// The segment in which `ticks` lies; `hint` is an earlier answer or 0.
size_t mxp__timebase_find(const mxp_timebase *timebase, uint64_t ticks, size_t hint);

__extension__ typedef unsigned __int128 mxp_uint128;

// Rounds down. Defined for every input (files may be damaged), though only sensible for those whose
// result fits.
static inline int64_t mxp__segment_ns(const mxp_clock_segment *segment, uint64_t ticks)
{
    uint64_t ns0 = (uint64_t)segment->ns0;
    if (ticks >= segment->ticks0) {
        return (int64_t)(ns0 +
                         (uint64_t)((mxp_uint128)(ticks - segment->ticks0) * segment->mult >> 32));
    }
    mxp_uint128 before = (mxp_uint128)(segment->ticks0 - ticks) * segment->mult;
    return (int64_t)(ns0 - (uint64_t)((before + UINT32_MAX) >> 32));
}

// Whether it is known when that was: traces of other profilers may not tell, and their times are of
// any clock. Times before 2001 are such.
static inline bool mxp__timebase_is_dated(const mxp_timebase *timebase)
{
    return timebase->point_count > 0 &&
           timebase->points[0].realtime_ns >= UINT64_C(1000000000000000000);
}

// 0 while there is no point.
int64_t mxp__timebase_ns(const mxp_timebase *timebase, uint64_t ticks);
// The inverse: smallest ticks whose trace time is not below `ns`.
uint64_t mxp__timebase_ticks(const mxp_timebase *timebase, int64_t ns);

#endif
