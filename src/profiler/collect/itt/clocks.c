// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/itt/clocks.h"

#include "profiler/collect/arena.h"
#include "profiler/collect/settings.h"
#include "profiler/spin.h"

struct itt_clock {  // the first members are the interface's
    itt_clock_info info;
    itt_read_clock read;
    void *data;
    int extra1;
    void *extra2;
    itt_clock *next;
    uint64_t base_ticks;  // when the clock showed its base
};

static struct {
    mxp_spin lock;
    itt_clock *first;
} clocks;

// The callback is the program's: it is called outside of the lock.
static void read_pair(itt_clock *clock)
{
    itt_clock_info info = {0, 0};
    const uint64_t before = mxp_ticks();
    clock->read(&info, clock->data);
    const uint64_t after = mxp_ticks();
    if (mxp__spin_lock(&clocks.lock)) {
        clock->info = info;
        clock->base_ticks = before + (after - before) / 2;
        mxp__spin_unlock(&clocks.lock);
    }
}

itt_clock *mxp__itt_clock_domain_create(itt_read_clock read, void *data)
{
    itt_clock *clock = read != NULL ? mxp__arena_take(sizeof *clock) : NULL;
    if (clock == NULL) {
        return NULL;
    }
    clock->read = read;
    clock->data = data;
    read_pair(clock);
    if (mxp__spin_lock(&clocks.lock)) {
        clock->next = clocks.first;
        clocks.first = clock;
        mxp__spin_unlock(&clocks.lock);
    }
    return clock;
}

void mxp__itt_clock_domain_reset(void)
{
    itt_clock *each = NULL;
    if (mxp__spin_lock(&clocks.lock)) {
        each = clocks.first;
        mxp__spin_unlock(&clocks.lock);
    }
    for (; each != NULL; each = each->next) {  // clocks stay, and new ones come in front
        read_pair(each);
    }
}

static uint64_t convert(itt_clock_info info, uint64_t base_ticks, unsigned long long stamp)
{
    const double rate = mxp__collect_ns_per_tick();
    if (info.frequency_hz == 0 || rate <= 0) {
        return mxp_ticks();
    }
    const double units = (double)(long long)(stamp - info.base);
    const double ticks = units * (1e9 / (double)info.frequency_hz) / rate;
    const double most = (double)(UINT64_C(1) << 62);
    if (!(ticks > -most && ticks < most) || (double)base_ticks + ticks < 1) {
        return mxp_ticks();
    }
    return base_ticks + (uint64_t)(int64_t)ticks;
}

uint64_t mxp__itt_ticks(const itt_clock *clock, unsigned long long stamp)
{
    if (clock == NULL) {
        return stamp != 0 ? stamp : mxp_ticks();
    }
    if (!mxp__spin_lock(&clocks.lock)) {
        return mxp_ticks();
    }
    const itt_clock_info info = clock->info;
    const uint64_t base_ticks = clock->base_ticks;
    mxp__spin_unlock(&clocks.lock);
    return convert(info, base_ticks, stamp);
}
