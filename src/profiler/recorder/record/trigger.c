// SPDX-License-Identifier: Apache-2.0
// See trigger.h. Steps of a thread are told apart by nothing: a program that marks steps does so on
// one thread. What two would mix up is the running median, not the trace; so everything is atomic,
// and nothing ordered.
#include "profiler/recorder/record/trigger.h"

enum { MEDIAN_OF = 33, MEDIAN_LEAST = 8 };

static struct {
    mxp_triggers set;
    bool armed;  // steps or counters are looked at
    int asked;
    bool counter_was_above;
    uint64_t last_step;  // ticks, 0: none yet
    uint64_t steps[MEDIAN_OF];  // durations of the last ones
    uint32_t count;
} trigger;

static double load_double(const double *place)
{
    double value;
    __atomic_load(place, &value, __ATOMIC_RELAXED);
    return value;
}

static void store_double(double *place, double value)
{
    __atomic_store(place, &value, __ATOMIC_RELAXED);
}

// What was asked for by the triggers before is nobody's any more; by hand, it is.
static void take_back(void)
{
    int asked = __atomic_load_n(&trigger.asked, __ATOMIC_RELAXED);
    if (asked != MXP__TRIGGER_SIGNAL) {
        __atomic_compare_exchange_n(&trigger.asked, &asked, MXP__TRIGGER_NONE, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

void mxp__triggers_set(const mxp_triggers *triggers)
{
    __atomic_store_n(&trigger.armed, false, __ATOMIC_RELAXED);
    take_back();
    store_double(&trigger.set.step_factor, triggers->step_factor);
    __atomic_store_n(&trigger.set.counter, triggers->counter, __ATOMIC_RELAXED);
    store_double(&trigger.set.counter_above, triggers->counter_above);
    __atomic_store_n(&trigger.count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&trigger.last_step, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&trigger.counter_was_above, false, __ATOMIC_RELAXED);
    bool armed = triggers->step_factor > 0 || triggers->counter != 0;
    __atomic_store_n(&trigger.armed, armed, __ATOMIC_RELEASE);  // pairs with mxp__triggers_armed
}

bool mxp__triggers_armed(void)
{
    return __atomic_load_n(&trigger.armed, __ATOMIC_ACQUIRE);
}

// A signal's snapshot is never left out, so nothing takes its place.
void mxp__trigger_ask(int reason)
{
    int asked = MXP__TRIGGER_NONE;
    if (reason == MXP__TRIGGER_SIGNAL) {
        __atomic_store_n(&trigger.asked, reason, __ATOMIC_RELAXED);
    } else {
        __atomic_compare_exchange_n(&trigger.asked, &asked, reason, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
    }
}

int mxp__trigger_take(void)
{
    return __atomic_exchange_n(&trigger.asked, MXP__TRIGGER_NONE, __ATOMIC_RELAXED);
}

// Insertion sort of a copy: a few dozen numbers, once a step.
static uint64_t median(uint32_t steps)
{
    uint64_t sorted[MEDIAN_OF];
    uint32_t count = steps < MEDIAN_OF ? steps : MEDIAN_OF;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t step = __atomic_load_n(&trigger.steps[i], __ATOMIC_RELAXED);
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > step; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = step;
    }
    return sorted[count / 2];
}

void mxp__trigger_step(uint64_t now)
{
    double factor = mxp__triggers_armed() ? load_double(&trigger.set.step_factor) : 0;
    if (factor <= 0) {
        return;
    }
    uint64_t before = __atomic_exchange_n(&trigger.last_step, now, __ATOMIC_RELAXED);
    if (before == 0 || now <= before) {
        return;
    }
    uint64_t took = now - before;
    uint32_t count = __atomic_fetch_add(&trigger.count, 1, __ATOMIC_RELAXED);
    if (count >= MEDIAN_LEAST && (double)took > factor * (double)median(count)) {
        mxp__trigger_ask(MXP__TRIGGER_STEP);
    }
    __atomic_store_n(&trigger.steps[count % MEDIAN_OF], took, __ATOMIC_RELAXED);
}

void mxp__trigger_counter(mxp_name name, double value)
{
    if (!mxp__triggers_armed() || name != __atomic_load_n(&trigger.set.counter, __ATOMIC_RELAXED)) {
        return;
    }
    bool above = value > load_double(&trigger.set.counter_above);
    bool was_above = __atomic_exchange_n(&trigger.counter_was_above, above, __ATOMIC_RELAXED);
    if (above && !was_above) {
        mxp__trigger_ask(MXP__TRIGGER_COUNTER);
    }
}
