// SPDX-License-Identifier: Apache-2.0
// The clock of the records: which one is chosen, and what its ticks are worth. Points that relate
// it to the system's clocks are added under the session's lock.
#include <pthread.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "profiler/clock/clock.h"
#include "profiler/recorder/state.h"

// ---- which one ---------------------------------------------------------------------------------
static uint32_t chosen_source;
static const char *clock_warning;
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;
static mxp_atomic_bool counter_chosen;

static bool is_counter(uint32_t source)
{
    return source == MXP_CLOCK_SOURCE_TSC || source == MXP_CLOCK_SOURCE_ARM;
}

static void clock_pick(void)
{
    chosen_source = mxp__clock_choose(mxp__setting_text("MXPROF_CLOCK"), &clock_warning);
    if (is_counter(chosen_source)) {
        mxp_atomic_store(&counter_chosen, true);
        mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)MXP_GATE_LONG_BEGIN);
    }
}

uint32_t mxp__clock_source(void)
{
    pthread_once(&clock_once, clock_pick);
    return chosen_source;
}

bool mxp__clock_is_counter(void)
{
    return is_counter(mxp__clock_source());
}

const char *mxp__clock_warning(void)
{
    pthread_once(&clock_once, clock_pick);
    return clock_warning;
}

uint64_t mxp_clock_read(void)
{
#ifdef MXP_CPU_COUNTER
    if (mxp_atomic_load(&counter_chosen)) {  // sent the long way by a tap
        return mxp_cpu_counter();
    }
#endif
    return mxp__clock_read_source(mxp__clock_source());
}

// ---- what its ticks are worth ------------------------------------------------------------------
const mxp_timebase *mxp__recorder_timebase(int add_point)
{
    if (!mxp__rec.timebase_ready) {
        mxp__timebase_init(&mxp__rec.timebase, mxp__clock_source());
        mxp__rec.timebase_ready = 1;
        add_point = 1;
    }
    if (add_point) {
        mxp_clock_point point;
        mxp__clock_take_point(mxp__clock_source(), &point);
        mxp__timebase_add(&mxp__rec.timebase, &point);  // without memory the old points must do
        double mult = mxp__timebase_ns_per_tick(&mxp__rec.timebase) * 4294967296.0;
        mxp_atomic_store(&mxp__rec.ns_mult, (uint64_t)mult);
    }
    return &mxp__rec.timebase;
}

double mxp__recorder_ns_per_tick(void)
{
    return (double)mxp_atomic_load(&mxp__rec.ns_mult) / 4294967296.0;
}

// Too short to sleep.
static void wait_briefly(void)
{
    enum { BRIEF_NS = 200000 };
    uint64_t begin_ns = mxp__os_monotonic_ns();
    while (mxp__os_monotonic_ns() - begin_ns < BRIEF_NS) {
    }
}

// Two points a millisecond apart give the rate of the CPU's counter to some 30 ppm, before anything
// is converted with it; every later point makes it better.
static void calibrate_clock(bool brief)
{
    enum { INTERVAL_US = 1000 };
    mxp__recorder_timebase(1);
    if (!mxp__clock_is_counter()) {
        return;
    }
    if (brief) {
        wait_briefly();
    } else {
        mxp__os_sleep_us(INTERVAL_US);
    }
    mxp__recorder_timebase(1);
}

void mxp__recorder_calibrate(bool brief)
{
    if (!mxp__rec.timebase_ready) {
        calibrate_clock(brief);
    }
    if (mxp__rec.record_cost_ticks == 0) {
        mxp__rec.record_cost_ticks = mxp__measure_record_cost();
    }
}
