// SPDX-License-Identifier: Apache-2.0
// See trigger.h. Steps of a thread are told apart by nothing: a program that marks steps does so on
// one thread. What two would mix up is the running median, not the trace.
#include "prof/trigger.h"

enum { MEDIAN_OF = 33, MEDIAN_LEAST = 8 };

static struct {
    mxp_triggers set;
    bool armed;  // atomic: steps or counters are looked at
    int asked;  // atomic
    bool counter_was_above;
    uint64_t last_step;  // ticks, 0: none yet
    uint64_t steps[MEDIAN_OF];  // durations of the last ones
    uint32_t count;
} trigger;

void mxp__triggers_set(const mxp_triggers *triggers)
{
    __atomic_store_n(&trigger.armed, false, __ATOMIC_RELAXED);
    trigger.set = *triggers;
    trigger.count = 0;
    trigger.last_step = 0;
    trigger.counter_was_above = false;
    bool armed = triggers->step_factor > 0 || triggers->counter != 0;
    __atomic_store_n(&trigger.armed, armed, __ATOMIC_RELEASE);
}

bool mxp__triggers_armed(void)
{
    return __atomic_load_n(&trigger.armed, __ATOMIC_RELAXED);
}

void mxp__trigger_ask(int reason)
{
    __atomic_store_n(&trigger.asked, reason, __ATOMIC_RELAXED);
}

int mxp__trigger_take(void)
{
    return __atomic_exchange_n(&trigger.asked, MXP__TRIGGER_NONE, __ATOMIC_RELAXED);
}

// Insertion sort of a copy: a few dozen numbers, once a step.
static uint64_t median(void)
{
    uint64_t sorted[MEDIAN_OF];
    uint32_t count = trigger.count < MEDIAN_OF ? trigger.count : MEDIAN_OF;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > trigger.steps[i]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = trigger.steps[i];
    }
    return sorted[count / 2];
}

void mxp__trigger_step(uint64_t now)
{
    if (!mxp__triggers_armed() || trigger.set.step_factor <= 0) {
        return;
    }
    uint64_t before = trigger.last_step;
    trigger.last_step = now;
    if (before == 0 || now <= before) {
        return;
    }
    uint64_t took = now - before;
    if (trigger.count >= MEDIAN_LEAST &&
        (double)took > trigger.set.step_factor * (double)median()) {
        mxp__trigger_ask(MXP__TRIGGER_STEP);
    }
    trigger.steps[trigger.count++ % MEDIAN_OF] = took;
}

void mxp__trigger_counter(mxp_name name, double value)
{
    if (!mxp__triggers_armed() || name != trigger.set.counter) {
        return;
    }
    bool above = value > trigger.set.counter_above;
    if (above && !trigger.counter_was_above) {
        mxp__trigger_ask(MXP__TRIGGER_COUNTER);
    }
    trigger.counter_was_above = above;
}
