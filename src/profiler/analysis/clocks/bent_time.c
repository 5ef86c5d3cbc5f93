// SPDX-License-Identifier: Apache-2.0
// See bent_time.h.
#include "profiler/analysis/clocks/bent_time.h"

#include <mxprof/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"

static const char memory_for[] = "a trace on another clock";
static const uint64_t mult_max = UINT64_C(1) << 52;
// A rate is known to 2^-32 ns a tick: over so many ticks it is off by less than 8 ns.
static const uint64_t segment_ticks = UINT64_C(1) << 35;
enum { SPLITS_MAX = 4096 };

static int64_t within(int64_t ns)
{
    return ns > MXP__CLOCK_NS_MAX    ? MXP__CLOCK_NS_MAX
           : ns < -MXP__CLOCK_NS_MAX ? -MXP__CLOCK_NS_MAX
                                     : ns;
}

// As far as the clock's bounds allow: what lies further apart makes no sense.
void mxp__time_move(mxp_timebase *timebase, int64_t ns)
{
    const size_t count = timebase->segment_count;
    if (count == 0) {
        return;
    }
    const int64_t least = -MXP__CLOCK_NS_MAX - timebase->segments[0].ns0;
    const int64_t most = MXP__CLOCK_NS_MAX - timebase->segments[count - 1].ns0;
    ns = ns > most ? most : ns < least ? least : ns;
    for (size_t i = 0; i < count; i++) {
        timebase->segments[i].ns0 += ns;
    }
}

int mxp__time_moved(const mxp_timebase *from, int64_t ns, mxp_timebase *to)
{
    int error = mxp__timebase_copy(to, from);
    if (error == MXP_OK) {
        mxp__time_move(to, ns);
    }
    return error;
}

static int with_segments(const mxp_timebase *own, const mxp_clock_segment *segments, size_t count,
                         mxp_timebase *to)
{
    int error = mxp__timebase_copy(to, own);
    if (error == MXP_OK &&
        mxp__grow(&to->segments, &to->segment_capacity, count, sizeof *segments) != MXP_OK) {
        error = mxp__fail_memory(memory_for);
    }
    if (error == MXP_OK) {
        memcpy(to->segments, segments, count * sizeof *segments);
        to->segment_count = count;
    }
    return error;
}

int mxp__time_like(const mxp_timebase *like, const mxp_timebase *own, mxp_timebase *to)
{
    return with_segments(own, like->segments, like->segment_count, to);
}

// ---- axis --------------------------------------------------------------------------------------
mxp_axis mxp__axis_of(const mxp_timebase *timebase)
{
    const mxp_clock_point *first = &timebase->points[0];
    const mxp_clock_point *last = &timebase->points[timebase->point_count - 1];
    const double rate = (double)(int64_t)(last->raw_ns - first->raw_ns) /
                        (double)(int64_t)(last->ticks - first->ticks);
    const bool makes_sense = last->ticks > first->ticks && rate > 1e-9 && rate < 1e9;
    return (mxp_axis){first->ticks, makes_sense ? rate : mxp__timebase_ns_per_tick(timebase)};
}

int64_t mxp__axis_ns(const mxp_axis *axis, uint64_t ticks)
{
    const bool is_before = ticks < axis->zero_ticks;
    const uint64_t apart = is_before ? axis->zero_ticks - ticks : ticks - axis->zero_ticks;
    const double ns = (double)apart * axis->ns_per_tick;
    const int64_t whole = ns < (double)MXP__CLOCK_NS_MAX ? (int64_t)ns : MXP__CLOCK_NS_MAX;
    return is_before ? -whole : whole;
}

uint64_t mxp__axis_ticks(const mxp_axis *axis, int64_t ns)
{
    const double ticks = (ns < 0 ? -(double)ns : (double)ns) / axis->ns_per_tick;
    const uint64_t whole = ticks < 9e18 ? (uint64_t)ticks : UINT64_C(9000000000000000000);
    return ns >= 0                    ? axis->zero_ticks + whole
           : whole < axis->zero_ticks ? axis->zero_ticks - whole
                                      : 0;
}

// ---- the curve ---------------------------------------------------------------------------------
static int compare_ticks(const void *a, const void *b)
{
    const mxp_clock_segment *x = a, *y = b;
    return (x->ticks0 > y->ticks0) - (x->ticks0 < y->ticks0);
}

// Places that split long segments, between the first and the last node.
static size_t split(uint64_t first, uint64_t last, mxp_clock_segment *bends)
{
    const uint64_t apart =
        (last - first) / SPLITS_MAX > segment_ticks ? (last - first) / SPLITS_MAX : segment_ticks;
    size_t count = 0;
    for (uint64_t at = apart; last > first && at < last - first && count < SPLITS_MAX;
         at += apart) {
        bends[count++].ticks0 = first + at;
    }
    return count;
}

// Where the curve bends, ascending, each once.
static size_t find_bends(const mxp_axis *axis, const mxp_clock_curve *curve,
                         mxp_clock_segment *bends)
{
    const mxp_curve_node *nodes = curve->nodes;
    size_t count = split(mxp__axis_ticks(axis, nodes[0].at_ns),
                         mxp__axis_ticks(axis, nodes[curve->node_count - 1].at_ns), bends);
    size_t kept = 0;
    for (size_t i = 0; i < curve->node_count; i++) {
        bends[count++].ticks0 = mxp__axis_ticks(axis, nodes[i].at_ns);
    }
    qsort(bends, count, sizeof *bends, compare_ticks);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || bends[i].ticks0 != bends[kept - 1].ticks0) {
            bends[kept++] = bends[i];
        }
    }
    return kept;
}

static uint64_t mult_of(double ns_per_tick)
{
    const double mult = ns_per_tick * 4294967296.0 + 0.5;
    return mult >= (double)mult_max ? mult_max : mult < 1 ? 1 : (uint64_t)mult;
}

// The rate of each segment takes it up to the next one's begin, and never beyond; the last one's
// goes on.
static void set_rates(const mxp_axis *axis, mxp_clock_segment *bends, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const uint64_t ticks = bends[i + 1].ticks0 - bends[i].ticks0;
        const int64_t least_ns = bends[i].ns0 + (int64_t)(ticks >> 32) + 1;
        bends[i + 1].ns0 = within(bends[i + 1].ns0 < least_ns ? least_ns : bends[i + 1].ns0);
        const mxp_uint128 mult =
            ((mxp_uint128)((uint64_t)bends[i + 1].ns0 - (uint64_t)bends[i].ns0) << 32) / ticks;
        bends[i].mult = mult > mult_max ? mult_max : mult < 1 ? 1 : (uint64_t)mult;
    }
    bends[count - 1].mult = count > 1 ? bends[count - 2].mult : mult_of(axis->ns_per_tick);
}

int mxp__time_bent(const mxp_timebase *own, const mxp_axis *axis, const mxp_clock_curve *curve,
                   mxp_timebase *to)
{
    const size_t most = curve->node_count + SPLITS_MAX;
    mxp_clock_segment *bends = mxp__alloc(most * sizeof *bends);
    if (bends == NULL) {
        return mxp__fail_memory(memory_for);
    }
    const size_t count = find_bends(axis, curve, bends);
    for (size_t i = 0; i < count; i++) {
        const int64_t ns = mxp__axis_ns(axis, bends[i].ticks0);
        bends[i].ns0 = within(ns + mxp__clock_curve_ahead(curve, ns));
    }
    set_rates(axis, bends, count);
    const int error = with_segments(own, bends, count, to);
    mxp__free(bends, most * sizeof *bends);
    return error;
}
