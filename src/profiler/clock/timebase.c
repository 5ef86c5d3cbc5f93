// SPDX-License-Identifier: Apache-2.0
// Points to segments. A new point k may begin a segment at point k-1, never before it: that is the
// rule of freezing in timebase.h. The segment's rate is chosen so that it meets point k, or over a
// short interval, of which a point's uncertainty is a large part, so that it comes close to RAW
// soon. A clock that jumped must not bend the durations around it.
#include "profiler/clock/timebase.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cpu/cpu.h"
#include "base/fail.h"

enum {
    POINTS_MAX = 4096,
    // Beyond this many segments each new one must be at least 1/512 of the trace long, which bounds
    // them to about 350 for each doubling of its length.
    SEGMENTS_DENSE = 1024,
    SEGMENTS_PER_TRACE = 512
};

static const uint64_t mult_one = UINT64_C(1) << 32;  // 1 ns a tick
static const uint64_t mult_max = UINT64_C(1) << 52;  // 1 ms a tick
static const double horizon_least_ns = 10e6;
static const double horizon_uncertainties = 1e5;  // so a rate over it is known to about 20 ppm
static const double rate_change_max = 1e-3;  // NTP slews by up to 500 ppm; more is a jump

// Not math.h's: the library links nothing but libc.
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double size_of(double a)
{
    return a < 0 ? -a : a;
}

void mxp__timebase_init(mxp_timebase *timebase, uint32_t source)
{
    *timebase = (mxp_timebase){.source = source};
}

void mxp__timebase_fini(mxp_timebase *timebase)
{
    mxp__free(timebase->points, timebase->point_capacity * sizeof *timebase->points);
    mxp__free(timebase->segments, timebase->segment_capacity * sizeof *timebase->segments);
    mxp__timebase_init(timebase, timebase->source);
}

static int reserve(mxp_timebase *timebase, size_t points, size_t segments)
{
    int failed =
        mxp__grow(&timebase->points, &timebase->point_capacity, points, sizeof *timebase->points);
    if (failed == 0) {
        failed = mxp__grow(&timebase->segments, &timebase->segment_capacity, segments,
                           sizeof *timebase->segments);
    }
    return failed == 0 ? MXP_OK : mxp__fail_memory("the clock's calibration");
}

int mxp__timebase_copy(mxp_timebase *to, const mxp_timebase *from)
{
    mxp__timebase_init(to, from->source);
    if (reserve(to, from->point_count, from->segment_count) != 0) {
        mxp__timebase_fini(to);
        return MXP_ENOMEM;
    }
    if (from->point_count != 0) {
        memcpy(to->points, from->points, from->point_count * sizeof *to->points);
    }
    if (from->segment_count != 0) {  // a file may have them without the points
        memcpy(to->segments, from->segments, from->segment_count * sizeof *to->segments);
    }
    to->point_count = from->point_count;
    to->segment_count = from->segment_count;
    to->residual_ns = from->residual_ns;
    to->jump_ns = from->jump_ns;
    to->jump_ticks = from->jump_ticks;
    return MXP_OK;
}

// ---- rates ------------------------------------------------------------------------------------

static uint64_t mult_from_rate(double ns_per_tick)
{
    double mult = ns_per_tick * (double)mult_one + 0.5;
    return mult >= (double)mult_max ? mult_max : mult < 1 ? 1 : (uint64_t)mult;
}

// Rounded up, because conversion rounds down: so the end of an interval of up to 2^32 ticks
// converts to exactly `ns`.
static uint64_t mult_from_interval(uint64_t ns, uint64_t ticks)
{
    mxp_uint128 mult = (((mxp_uint128)ns << 32) + ticks - 1) / ticks;
    return mult > mult_max ? mult_max : mult < 1 ? 1 : (uint64_t)mult;
}

static double rate_of(const mxp_clock_segment *segment)
{
    return (double)segment->mult / (double)mult_one;
}

static uint64_t provisional_mult(uint32_t source)
{
    bool is_counter = source == MXP_CLOCK_SOURCE_TSC || source == MXP_CLOCK_SOURCE_ARM;
    uint64_t hz = is_counter ? mxp__cpu_counter_hz() : 0;
    return hz != 0 ? mult_from_rate(1e9 / (double)hz) : mult_one;
}

// Trace time of a point by the system's clock.
static int64_t measured_ns(const mxp_timebase *timebase, const mxp_clock_point *point)
{
    return (int64_t)(point->raw_ns - timebase->points[0].raw_ns) - timebase->jump_ns;
}

// How far a point may be from the truth: half its bracket, at least half a tick, and a ns of RAW.
static double uncertainty_ns(const mxp_clock_point *point, double rate)
{
    return (double)(point->bracket_ticks + 1) / 2 * rate + 1;
}

// ---- adding -----------------------------------------------------------------------------------

// What a new point says about the newest segment.
typedef struct finding {
    uint64_t interval_ticks;  // since the point before
    int64_t before_ns;  // trace time of the point before, final
    int64_t point_ns;  // trace time of the new point as measured
    double interval_ns;
    double miss_ns;  // measured minus what the newest segment says
    double uncertainty_ns;
} finding;

static finding examine(const mxp_timebase *timebase, const mxp_clock_point *point)
{
    const mxp_clock_segment *segment = &timebase->segments[timebase->segment_count - 1];
    uint64_t before_ticks = timebase->points[timebase->point_count - 1].ticks;
    finding found = {
        .interval_ticks = point->ticks - before_ticks,
        .before_ns = mxp__segment_ns(segment, before_ticks),
        .point_ns = measured_ns(timebase, point),
        .uncertainty_ns = uncertainty_ns(point, rate_of(segment)),
    };
    found.interval_ns = (double)found.interval_ticks * rate_of(segment);
    found.miss_ns = (double)(found.point_ns - mxp__segment_ns(segment, point->ticks));
    return found;
}

// Whether no drift can explain the miss. Only where the rate is known well enough to tell, and not
// twice in a row: the second time it is the rate that has changed (a machine moved to another
// host).
static bool is_jump(const mxp_timebase *timebase, const finding *found)
{
    const mxp_clock_point *first = &timebase->points[0];
    const mxp_clock_point *last = &timebase->points[timebase->point_count - 1];
    double rate = mxp__timebase_ns_per_tick(timebase);
    double known_ns = (double)(last->ticks - first->ticks) * rate;
    if (timebase->jump_ticks == last->ticks || known_ns < horizon_least_ns) {
        return false;
    }
    double ends_ns = uncertainty_ns(first, rate) + uncertainty_ns(last, rate);
    double doubt_ns = found->uncertainty_ns + found->interval_ns * ends_ns / known_ns;
    return size_of(found->miss_ns) > rate_change_max * found->interval_ns + 4 * doubt_ns;
}

static double spacing_least_ns(const mxp_timebase *timebase, const mxp_clock_point *point)
{
    double trace_ticks = (double)(point->ticks - timebase->points[0].ticks);
    bool dense = timebase->segment_count >= SEGMENTS_DENSE;
    return dense ? trace_ticks / SEGMENTS_PER_TRACE * mxp__timebase_ns_per_tick(timebase) : 0;
}

// The rate up to `point` from the newest point that is `horizon_ns` before it, or the oldest since
// the clocks jumped. From measured to measured: what the segments are off must not feed back.
static double measured_rate(const mxp_timebase *timebase, const mxp_clock_point *point,
                            double horizon_ns)
{
    size_t i = timebase->point_count - 1;
    double raw_ns = (double)(int64_t)(point->raw_ns - timebase->points[i].raw_ns);
    while (raw_ns < horizon_ns && i > 0 && timebase->points[i - 1].ticks >= timebase->jump_ticks) {
        i--;
        raw_ns = (double)(int64_t)(point->raw_ns - timebase->points[i].raw_ns);
    }
    return raw_ns / (double)(point->ticks - timebase->points[i].ticks);
}

// The rate of a segment that begins at the point before: over a long interval the one that meets
// the new point, else the one that, continued, meets RAW at the horizon. 0 if the points give no
// sensible rate.
static uint64_t steer(const mxp_timebase *timebase, const mxp_clock_point *point,
                      const finding *found)
{
    double horizon_ns = larger(larger(horizon_least_ns, spacing_least_ns(timebase, point)),
                               horizon_uncertainties * found->uncertainty_ns);
    int64_t wanted_ns = found->point_ns - found->before_ns;
    if (found->interval_ns >= horizon_ns) {
        return wanted_ns <= 0 ? 0 : mult_from_interval((uint64_t)wanted_ns, found->interval_ticks);
    }
    double rate = measured_rate(timebase, point, horizon_ns);
    double beyond_ns = horizon_ns - found->interval_ns;
    double horizon_ticks = (double)found->interval_ticks + beyond_ns / rate;
    double slope = ((double)wanted_ns + beyond_ns) / horizon_ticks;
    return rate > 0 && slope > 0 ? mult_from_rate(slope) : 0;
}

static void define_first_segment(mxp_timebase *timebase, const mxp_clock_point *point)
{
    mxp_clock_segment *segment = &timebase->segments[0];
    int64_t ns = measured_ns(timebase, point);
    if (ns > 0) {
        segment->mult = mult_from_interval((uint64_t)ns, point->ticks - segment->ticks0);
    }
}

static void extend(mxp_timebase *timebase, const mxp_clock_point *point)
{
    const finding found = examine(timebase, point);
    timebase->residual_ns = larger(timebase->residual_ns, size_of(found.miss_ns));
    if (is_jump(timebase, &found)) {
        timebase->jump_ns += (int64_t)found.miss_ns;
        timebase->jump_ticks = point->ticks;
        return;
    }
    // A segment that agrees with the point within the uncertainty continues.
    const mxp_clock_segment *segment = &timebase->segments[timebase->segment_count - 1];
    double spacing_ns = (double)(point->ticks - segment->ticks0) * rate_of(segment);
    if (size_of(found.miss_ns) <= found.uncertainty_ns ||
        spacing_ns < spacing_least_ns(timebase, point)) {
        return;
    }
    uint64_t mult = steer(timebase, point, &found);
    if (mult != 0) {
        uint64_t ticks0 = point->ticks - found.interval_ticks;
        timebase->segments[timebase->segment_count++] =
            (mxp_clock_segment){.ticks0 = ticks0, .ns0 = found.before_ns, .mult = mult};
    }
}

// Drops every second point between the first and the last.
static void thin_points(mxp_timebase *timebase)
{
    mxp_clock_point *points = timebase->points;
    size_t kept = 1;
    for (size_t i = 2; i + 1 < timebase->point_count; i += 2) {
        points[kept++] = points[i];
    }
    points[kept++] = points[timebase->point_count - 1];
    timebase->point_count = kept;
}

#ifndef NDEBUG
// For asserts: the trace time of the newest point, once the conversion up to it is final.
static int64_t final_ns(const mxp_timebase *timebase, const mxp_clock_point *point)
{
    return timebase->point_count > 1 ? mxp__timebase_ns(timebase, point->ticks) : 0;
}
#endif

int mxp__timebase_add(mxp_timebase *timebase, const mxp_clock_point *point)
{
    size_t count = timebase->point_count;
#ifndef NDEBUG
    const mxp_clock_point newest = count > 0 ? timebase->points[count - 1] : *point;
    const int64_t newest_ns = final_ns(timebase, &newest);
#endif
    if (count != 0 && point->ticks <= timebase->points[count - 1].ticks) {
        return MXP_OK;
    }
    size_t needed = count < POINTS_MAX ? count + 1 : POINTS_MAX;
    if (reserve(timebase, needed, timebase->segment_count + 1) != 0) {
        return MXP_ENOMEM;
    }
    if (count == 0) {
        timebase->segments[timebase->segment_count++] =
            (mxp_clock_segment){.ticks0 = point->ticks, .mult = provisional_mult(timebase->source)};
    } else if (count == 1) {
        define_first_segment(timebase, point);
    } else {
        extend(timebase, point);
    }
    if (count == POINTS_MAX) {
        thin_points(timebase);
    }
    timebase->points[timebase->point_count++] = *point;
    assert((count < 2 || final_ns(timebase, &newest) == newest_ns) &&
           "a point changes a conversion that was final");
    return MXP_OK;
}

// ---- converting -------------------------------------------------------------------------------

double mxp__timebase_ns_per_tick(const mxp_timebase *timebase)
{
    if (timebase->point_count < 2) {
        return timebase->segment_count == 0 ? 1 : rate_of(&timebase->segments[0]);
    }
    uint64_t first = timebase->points[0].ticks;
    uint64_t last = timebase->points[timebase->point_count - 1].ticks;
    int64_t ns;  // segments of a damaged file may lie anywhere
    const bool is_far = __builtin_sub_overflow(mxp__timebase_ns(timebase, last),
                                               mxp__timebase_ns(timebase, first), &ns);
    return !is_far && ns > 0 ? (double)ns / (double)(last - first)
                             : rate_of(&timebase->segments[0]);
}

static bool is_in(const mxp_timebase *timebase, size_t i, uint64_t ticks)
{
    return i < timebase->segment_count && timebase->segments[i].ticks0 <= ticks &&
           (i + 1 == timebase->segment_count || ticks < timebase->segments[i + 1].ticks0);
}

size_t mxp__timebase_find(const mxp_timebase *timebase, uint64_t ticks, size_t hint)
{
    if (is_in(timebase, hint, ticks)) {
        return hint;
    }
    if (is_in(timebase, hint + 1, ticks)) {
        return hint + 1;
    }
    size_t low = 0, high = timebase->segment_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (timebase->segments[mid].ticks0 <= ticks) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low;
}

int64_t mxp__timebase_ns(const mxp_timebase *timebase, uint64_t ticks)
{
    if (timebase->segment_count == 0) {
        return 0;
    }
    return mxp__segment_ns(&timebase->segments[mxp__timebase_find(timebase, ticks, 0)], ticks);
}

// The smallest ticks at which the segment, going on in both directions, is not below `ns`.
static uint64_t segment_ticks(const mxp_clock_segment *segment, int64_t ns)
{
    if (segment->mult == 0) {
        return segment->ticks0;
    }
    if (ns >= segment->ns0) {
        mxp_uint128 distance = (mxp_uint128)((uint64_t)ns - (uint64_t)segment->ns0) << 32;
        mxp_uint128 ticks = (distance + segment->mult - 1) / segment->mult;
        return ticks > UINT64_MAX - segment->ticks0 ? UINT64_MAX
                                                    : segment->ticks0 + (uint64_t)ticks;
    }
    mxp_uint128 distance = (mxp_uint128)((uint64_t)segment->ns0 - (uint64_t)ns) << 32;
    mxp_uint128 ticks = distance / segment->mult;
    return ticks > segment->ticks0 ? 0 : segment->ticks0 - (uint64_t)ticks;
}

uint64_t mxp__timebase_ticks(const mxp_timebase *timebase, int64_t ns)
{
    if (timebase->segment_count == 0) {
        return 0;
    }
    // The last segment that begins below ns: where one begins, the one before may be there already.
    size_t low = 0, high = timebase->segment_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (timebase->segments[mid].ns0 < ns) {
            low = mid;
        } else {
            high = mid;
        }
    }
    uint64_t ticks = segment_ticks(&timebase->segments[low], ns);
    if (low + 1 < timebase->segment_count && ticks > timebase->segments[low + 1].ticks0) {
        return timebase->segments[low + 1].ticks0;
    }
    return ticks;
}
