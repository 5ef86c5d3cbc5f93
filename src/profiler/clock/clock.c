// SPDX-License-Identifier: Apache-2.0
// Which clock a trace uses, and points at which all clocks are read together. There is no state:
// the caller keeps the choice.
#include "profiler/clock/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cpu/cpu.h"
#include "base/os/os.h"

// How often a point is tried. Where reading a clock is a system call, tries end early once they
// have taken too long.
enum { TRIES = 16, TRIES_AT_LEAST = 4, TRIES_NS = 50000 };

static uint32_t best_source(void)
{
    uint32_t counter = mxp__cpu_counter_source();
    bool usable = counter != 0 && mxp__cpu_counter_invariant() && mxp__os_trusts_cpu_counter();
    return usable ? counter : MXP_CLOCK_SOURCE_RAW;
}

uint32_t mxp__clock_choose(const char *forced, const char **warning)
{
    uint32_t best = best_source();
    *warning = NULL;
    if (forced == NULL || forced[0] == '\0') {
        return best;
    }
    if (strcmp(forced, "raw") == 0) {
        return MXP_CLOCK_SOURCE_RAW;
    }
    if (strcmp(forced, "monotonic") == 0) {
        return MXP_CLOCK_SOURCE_MONOTONIC;
    }
    if (strcmp(forced, "tsc") != 0) {
        *warning = "MXPROF_CLOCK is none of tsc, raw, monotonic: the best clock is used";
        return best;
    }
    uint32_t counter = mxp__cpu_counter_source();
    if (counter == 0) {
        *warning = "MXPROF_CLOCK=tsc: this processor has no counter, the best clock is used";
        return best;
    }
    if (counter != best) {
        *warning = "MXPROF_CLOCK=tsc: the system does not trust this processor's counter, "
                   "durations may be wrong";
    }
    return counter;
}

uint64_t mxp__clock_read_source(uint32_t source)
{
    switch (source) {
    case MXP_CLOCK_SOURCE_TSC:
    case MXP_CLOCK_SOURCE_ARM:
        return mxp__cpu_counter();
    case MXP_CLOCK_SOURCE_MONOTONIC:
        return mxp__os_monotonic_ns();
    default:
        return mxp__os_raw_ns();
    }
}

static uint64_t middle(uint64_t before, uint64_t after)
{
    return after > before ? before + (after - before) / 2 : before;
}

// RAW is read in the middle. The others are read before and after it and averaged, so that all
// values belong to the same time without a known rate. Returns how long it took, in ticks.
static uint64_t try_point(uint32_t source, mxp_clock_point *point)
{
    uint64_t begin = mxp__clock_read_source(source);
    uint64_t realtime = mxp__os_realtime_ns();
    uint64_t boottime = mxp__os_boottime_ns();
    uint64_t monotonic = mxp__os_monotonic_ns();
    uint64_t before = mxp__clock_read_source(source);
    point->raw_ns = mxp__os_raw_ns();
    uint64_t after = mxp__clock_read_source(source);
    point->monotonic_ns = middle(monotonic, mxp__os_monotonic_ns());
    point->boottime_ns = middle(boottime, mxp__os_boottime_ns());
    point->realtime_ns = middle(realtime, mxp__os_realtime_ns());
    uint64_t end = mxp__clock_read_source(source);
    point->ticks = middle(before, after);
    point->bracket_ticks = after - before;
    return end - begin;
}

void mxp__clock_take_point(uint32_t source, mxp_clock_point *point)
{
    uint64_t least_ticks = UINT64_MAX;
    uint64_t start_ns = mxp__os_raw_ns();
    for (int i = 0; i < TRIES; i++) {
        mxp_clock_point candidate;
        uint64_t width_ticks = try_point(source, &candidate);
        if (width_ticks < least_ticks) {
            least_ticks = width_ticks;
            *point = candidate;
        }
        if (i + 1 >= TRIES_AT_LEAST && candidate.raw_ns - start_ns > TRIES_NS) {
            break;
        }
    }
    // A clock that is itself the source has no distance from the ticks.
    if (source == MXP_CLOCK_SOURCE_RAW) {
        point->raw_ns = point->ticks;
    } else if (source == MXP_CLOCK_SOURCE_MONOTONIC) {
        point->monotonic_ns = point->ticks;
    }
}

const char *mxp__clock_source_name(uint32_t source)
{
    switch (source) {
    case MXP_CLOCK_SOURCE_TSC:
        return "tsc";
    case MXP_CLOCK_SOURCE_ARM:
        return "cntvct";
    case MXP_CLOCK_SOURCE_RAW:
        return "raw";
    case MXP_CLOCK_SOURCE_MONOTONIC:
        return "monotonic";
    default:
        return "unknown";
    }
}
