// SPDX-License-Identifier: Apache-2.0
// See trigger.h. Steps of a thread are told apart by nothing: a program that marks steps does so on
// one thread. What two would mix up is the running median, not the trace; so everything is
// atomic, and nothing ordered.
#include "profiler/recorder/record/trigger.h"

#include <string.h>

#include "base/atomic.h"

enum { MEDIAN_OF = 33, MEDIAN_LEAST = 8 };

static struct {
    mxp_atomic_u64 step_factor, counter_above;  // bits of a double
    mxp_atomic_u32 counter;
    mxp_atomic_bool armed;  // steps or counters are looked at
    MXP_ATOMIC(int) asked;
    mxp_atomic_bool counter_was_above;
    mxp_atomic_u64 last_step;  // ticks, 0: none yet
    mxp_atomic_u64 steps[MEDIAN_OF];  // durations of the last ones
    mxp_atomic_u32 count;
} trigger;

static double load_double(const mxp_atomic_u64 *place)
{
    uint64_t bits = mxp_atomic_load(place);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void store_double(mxp_atomic_u64 *place, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    mxp_atomic_store(place, bits);
}

// What was asked for by the triggers before is nobody's any more; by hand, it is.
static void take_back(void)
{
    int asked = mxp_atomic_load(&trigger.asked);
    if (asked != MXP__TRIGGER_SIGNAL) {
        mxp_atomic_cas(&trigger.asked, &asked, MXP__TRIGGER_NONE);
    }
}

void mxp__triggers_set(const mxp_triggers *triggers)
{
    mxp_atomic_store(&trigger.armed, false);
    take_back();
    store_double(&trigger.step_factor, triggers->step_factor);
    mxp_atomic_store(&trigger.counter, triggers->counter);
    store_double(&trigger.counter_above, triggers->counter_above);
    mxp_atomic_store(&trigger.count, 0);
    mxp_atomic_store(&trigger.last_step, 0);
    mxp_atomic_store(&trigger.counter_was_above, false);
    bool armed = triggers->step_factor > 0 || triggers->counter != 0;
    mxp_atomic_store_release(&trigger.armed, armed);  // pairs with mxp__triggers_armed
}

bool mxp__triggers_armed(void)
{
    return mxp_atomic_load_acquire(&trigger.armed);
}

// A signal's snapshot is never left out, so nothing takes its place.
void mxp__trigger_ask(int reason)
{
    int asked = MXP__TRIGGER_NONE;
    if (reason == MXP__TRIGGER_SIGNAL) {
        mxp_atomic_store(&trigger.asked, reason);
    } else {
        mxp_atomic_cas(&trigger.asked, &asked, reason);
    }
}

int mxp__trigger_take(void)
{
    return mxp_atomic_exchange(&trigger.asked, MXP__TRIGGER_NONE);
}

// Insertion sort of a copy: a few dozen numbers, once a step.
static uint64_t median(uint32_t steps)
{
    uint64_t sorted[MEDIAN_OF];
    uint32_t count = steps < MEDIAN_OF ? steps : MEDIAN_OF;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t step = mxp_atomic_load(&trigger.steps[i]);
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > step; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = step;
    }
    return sorted[count / 2];
}

// `begin`: of the next step; 0: there is none yet.
static void end_step(uint64_t now, uint64_t begin)
{
    double factor = mxp__triggers_armed() ? load_double(&trigger.step_factor) : 0;
    if (factor <= 0) {
        return;
    }
    uint64_t before = mxp_atomic_exchange(&trigger.last_step, begin);
    if (before == 0 || now <= before) {
        return;
    }
    uint64_t took = now - before;
    uint32_t count = mxp_atomic_add(&trigger.count, 1);
    if (count >= MEDIAN_LEAST && (double)took > factor * (double)median(count)) {
        mxp__trigger_ask(MXP__TRIGGER_STEP);
    }
    mxp_atomic_store(&trigger.steps[count % MEDIAN_OF], took);
}

void mxp__trigger_step(uint64_t now)
{
    end_step(now, now);
}

void mxp__trigger_step_end(uint64_t now)
{
    end_step(now, 0);
}

void mxp__trigger_step_forget(void)
{
    mxp_atomic_store(&trigger.last_step, 0);
}

void mxp__trigger_counter(mxp_name name, double value)
{
    if (!mxp__triggers_armed() || name != mxp_atomic_load(&trigger.counter)) {
        return;
    }
    bool above = value > load_double(&trigger.counter_above);
    bool was_above = mxp_atomic_exchange(&trigger.counter_was_above, above);
    if (above && !was_above) {
        mxp__trigger_ask(MXP__TRIGGER_COUNTER);
    }
}
