// SPDX-License-Identifier: Apache-2.0
// Conversions of a process's ticks into another clock's time. Only segments are made anew; records
// and points stay.
#ifndef MXP_CLOCKS_BENT_TIME_H
#define MXP_CLOCKS_BENT_TIME_H

#include "profiler/analysis/clocks/clock_curve.h"
#include "profiler/clock/timebase.h"

// Ticks at one rate: what a counter counts.
typedef struct mxp_axis {
    uint64_t zero_ticks;
    double ns_per_tick;
} mxp_axis;

// By the first and the last point, of which there is one.
mxp_axis mxp__axis_of(const mxp_timebase *timebase);
int64_t mxp__axis_ns(const mxp_axis *axis, uint64_t ticks);
uint64_t mxp__axis_ticks(const mxp_axis *axis, int64_t ns);

// All make *to, which the caller finishes, with the points of `own` or `from`. MXP_ENOMEM.
// Times of the axis, and ahead of them what the curve says.
int mxp__time_bent(const mxp_timebase *own, const mxp_axis *axis, const mxp_clock_curve *curve,
                   mxp_timebase *to);
int mxp__time_moved(const mxp_timebase *from, int64_t ns, mxp_timebase *to);
// The points of `own`, the conversion of `like`: both count the same ticks.
int mxp__time_like(const mxp_timebase *like, const mxp_timebase *own, mxp_timebase *to);

void mxp__time_move(mxp_timebase *timebase, int64_t ns);

#endif
