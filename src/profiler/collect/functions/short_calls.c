// SPDX-License-Identifier: Apache-2.0
// Calls shorter than a limit that have no recorded calls below them are not written: how many they
// were and how long they took become arguments of the call around them.
#include <time.h>

#include "profiler/collect/functions/functions.h"

// When the library was loaded, by both clocks: a limit in microseconds is one of ticks.
static uint64_t begin_ticks, begin_ns;

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double ns_per_tick(void)
{
    const uint64_t ticks = mxp_ticks() - begin_ticks, ns = clock_ns() - begin_ns;
    return ticks != 0 ? (double)ns / (double)ticks : 1;
}

void mxp__short_calls_init(uint64_t min_us)
{
    enum { MEASURE_NS = 1000000 };
    begin_ns = clock_ns();
    begin_ticks = mxp_ticks();
    while (clock_ns() - begin_ns < MEASURE_NS) {
    }
    const double ticks = (double)min_us * 1000 / ns_per_tick();
    mxp__functions.min_ticks = ticks < 1 ? 1 : (uint64_t)ticks;
}

// Takes a span back that has just begun, as a record of no length. False: a stop has closed it, it
// is not the last one, or what else a record goes the long way for.
static bool take_back(uint64_t token, uint64_t now)
{
    uint64_t *words = mxp_inline_open(MXP_CLASS_USER, 0, now);
    if (words == NULL) {
        return false;
    }
    mxp_recorder *self = mxp_self;
    const uint32_t depth = mxp_atomic_own(&self->depth) - 1;
    mxp_open_span *slot = mxp_open_slot(self, depth);
    const bool may =
        token > mxp_atomic_load(&mxp_control.closed_ticks) && mxp_atomic_own(&slot->begin) == token;
    if (may) {
        mxp_atomic_store(&slot->begin, 0);
        mxp_atomic_store(&self->depth, depth);
    }
    mxp_inline_close(words);
    return may;
}

static void end_with_short_calls(const function_entry *entry)
{
    const double ns = (double)entry->short_ticks * ns_per_tick();
    const mxp_arg args[] = {
        mxp_u64(mxp_string("short calls"), entry->short_calls),
        mxp_u64(mxp_string("short calls ns"), (uint64_t)ns),
    };
    mxp_end_args(entry->name, entry->token, args, 2);
}

void mxp__short_calls_end(function_entry *entry)
{
    const uint64_t now = mxp_ticks(), ticks = now - entry->token;
    function_entry *around = entry - 1;
    if (entry->has_calls == 0 && ticks < mxp__functions.min_ticks && around->token != 0 &&
        take_back(entry->token, now)) {
        around->short_calls += entry->short_calls + 1;
        around->short_ticks += ticks;
        return;
    }
    around->has_calls = 1;
    if (entry->short_calls != 0) {
        end_with_short_calls(entry);
    } else {
        mxp_inline_end(entry->name, entry->token, now);
    }
}
