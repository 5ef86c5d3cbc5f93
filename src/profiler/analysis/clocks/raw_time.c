// SPDX-License-Identifier: Apache-2.0
// See raw_time.h.
#include "profiler/analysis/clocks/raw_time.h"

#include <assert.h>
#include <stdbool.h>

#define MXP__RAW_DOUBT_MAX (INT64_C(1) << 60)

static uint64_t by(const mxp_clock_point *point, bool is_raw)
{
    return is_raw ? point->raw_ns : point->ticks;
}

// From one clock's value to the other's. Beyond the points the mean rate goes on.
static uint64_t convert(const mxp_timebase *timebase, uint64_t value, bool from_raw)
{
    const size_t count = timebase->point_count;
    const mxp_clock_point *points = timebase->points;
    assert(count > 0 && "there is no point to go by");
    size_t low = 0, high = count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (by(&points[middle], from_raw) <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const mxp_clock_point *point = &points[low];
    const bool is_before = value < by(point, from_raw);
    const uint64_t apart = is_before ? by(point, from_raw) - value : value - by(point, from_raw);
    double rate = mxp__timebase_ns_per_tick(timebase);
    rate = from_raw ? 1 / rate : rate;
    if (!is_before && low + 1 < count && by(&points[low + 1], from_raw) > by(point, from_raw)) {
        const mxp_clock_point *next = &points[low + 1];
        rate = (double)(by(next, !from_raw) - by(point, !from_raw)) /
               (double)(by(next, from_raw) - by(point, from_raw));
    }
    const double far = 9e18, distance = (double)apart * rate;
    const uint64_t moved = distance < far ? (uint64_t)(distance + 0.5) : (uint64_t)far;
    return is_before ? by(point, !from_raw) - moved : by(point, !from_raw) + moved;
}

uint64_t mxp__raw_to_ticks(const mxp_timebase *timebase, uint64_t raw_ns)
{
    return timebase->source == MXP_CLOCK_SOURCE_RAW ? raw_ns : convert(timebase, raw_ns, true);
}

uint64_t mxp__raw_of_ticks(const mxp_timebase *timebase, uint64_t ticks)
{
    return timebase->source == MXP_CLOCK_SOURCE_RAW ? ticks : convert(timebase, ticks, false);
}

int64_t mxp__raw_doubt_ns(const mxp_timebase *timebase, uint64_t ticks)
{
    assert(timebase->point_count > 0 && "there is no point to go by");
    const mxp_clock_point *first = &timebase->points[0];
    const mxp_clock_point *last = &timebase->points[timebase->point_count - 1];
    const uint64_t beyond = ticks > last->ticks    ? ticks - last->ticks
                            : ticks < first->ticks ? first->ticks - ticks
                                                   : 0;
    if (timebase->source == MXP_CLOCK_SOURCE_RAW || beyond == 0) {
        return 0;
    }
    const double apart = (double)(last->ticks - first->ticks);
    const double brackets = (double)first->bracket_ticks + (double)last->bracket_ticks;
    const double share = apart > 0 && brackets < apart ? brackets / apart : 1;
    const double ns = (double)beyond * mxp__timebase_ns_per_tick(timebase) * share;
    return ns < (double)MXP__RAW_DOUBT_MAX ? (int64_t)ns + 1 : MXP__RAW_DOUBT_MAX;
}
