// SPDX-License-Identifier: Apache-2.0
// Taps: other tools that want each span as it is recorded. Whoever calls them takes no lock: a slot
// that changes while it is read counts as free, which it was in between.
#include "profiler/recorder/record/tap.h"

#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"

// Null takes the tap out of the slot.
static __attribute__((cold)) void change(mxp_tap_slot *slot, mxp_tap tap, void *context,
                                         uint32_t phases)
{
    assert(mxp__drain_is_held());
    mxp_atomic_add_acquire(&slot->version, 1);
    mxp_atomic_store_release(&slot->tap, tap);
    mxp_atomic_store_release(&slot->context, context);
    mxp_atomic_store_release(&slot->phases, phases);
    mxp_atomic_add_release(&slot->version, 1);
}

// What a slot held at one moment.
typedef struct slot_content {
    mxp_tap tap;
    void *context;
    uint32_t phases;
} slot_content;

// Acquire throughout: the version is read again after the others. Pairs with `change`.
static inline bool read_slot(const mxp_tap_slot *slot, slot_content *content)
{
    uint32_t version = mxp_atomic_load_acquire(&slot->version);
    content->tap = mxp_atomic_load_acquire(&slot->tap);
    content->context = mxp_atomic_load_acquire(&slot->context);
    content->phases = mxp_atomic_load_acquire(&slot->phases);
    return content->tap != NULL && version % 2 == 0 && version == mxp_atomic_load(&slot->version);
}

static __attribute__((cold)) void gate_bit(uint32_t bit, bool set)
{
    if (set) {
        mxp_atomic_or_seq_cst(&mxp_control.gate, bit);
    } else {
        mxp_atomic_and_seq_cst(&mxp_control.gate, ~bit);
    }
}

// The clock is chosen by now, so nobody else changes these bits.
static __attribute__((cold)) void update_gate(void)
{
    uint32_t phases = 0, end = 0;
    for (uint32_t i = 0; i < MXP__TAPS_MAX; i++) {
        uint32_t asked = mxp_atomic_own(&mxp__rec.taps[i].phases);
        phases |= asked;
        end = asked != 0 ? i + 1 : end;
    }
    mxp_atomic_store(&mxp__rec.taps_end, end);
    gate_bit(MXP_GATE_TAP, phases != 0);
    gate_bit(MXP_GATE_LONG_BEGIN, (phases & MXP_TAP_BEGIN) != 0 || !mxp__clock_is_counter());
}

__attribute__((cold)) int mxp__tap_add(mxp_tap tap, void *context, uint32_t phases)
{
    bool added = false;
    mxp__clock_source();
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && !added; i++) {
        if (mxp_atomic_own(&mxp__rec.taps[i].tap) == NULL) {
            change(&mxp__rec.taps[i], tap, context, phases);
            added = true;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return added ? MXP_OK
                 : mxp__fail(MXP_ESTATE, "no more than %d taps at a time: remove one first",
                             MXP__TAPS_MAX);
}

__attribute__((cold)) int mxp_tap_add_for(mxp_tap tap, void *context, uint32_t phases)
{
    if (tap == NULL) {
        return mxp__fail(MXP_EINVAL, "mxp_tap_add: the tap is null");
    }
    if (phases == 0 || (phases & ~(uint32_t)MXP_TAP_ALL) != 0) {
        return mxp__fail(MXP_EINVAL, "mxp_tap_add_for: the phases are not a sum of MXP_TAP_*");
    }
    return mxp__tap_add(tap, context, phases);
}

__attribute__((cold)) int mxp_tap_add(mxp_tap tap, void *context)
{
    return mxp_tap_add_for(tap, context, MXP_TAP_END | MXP_TAP_WHOLE | MXP_TAP_INSTANT);
}

__attribute__((cold)) int mxp_tap_remove(mxp_tap tap, void *context)
{
    bool removed = false;
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && !removed; i++) {
        mxp_tap_slot *slot = &mxp__rec.taps[i];
        if (tap != NULL && mxp_atomic_own(&slot->tap) == tap &&
            mxp_atomic_own(&slot->context) == context) {
            change(slot, NULL, NULL, 0);
            removed = true;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return removed ? MXP_OK
                   : mxp__fail(MXP_EINVAL, "mxp_tap_remove: no such tap with this context");
}

// What a tap that asks for `phases` is told in this phase; 0: nothing.
static uint32_t told_as(uint32_t phases, uint32_t phase)
{
    const bool begins = (phases & MXP_TAP_BEGIN) != 0;
    if (phase == MXP__TAP_STOPPED) {
        return begins ? 0 : phases & MXP_TAP_WHOLE;
    }
    if (phase == MXP__TAP_LATE) {
        return begins ? phases & MXP_TAP_END : 0;
    }
    if (phase == MXP__TAP_OBJECT) {
        return phases == MXP__TAP_SENDER ? 0 : phases & MXP_TAP_WHOLE;
    }
    return phases & phase;
}

void mxp__tap_call(mxp_told *told)
{
    const uint32_t phase = told->event.phase;
    told->event.size_bytes = sizeof told->event;
    const uint32_t end = mxp_atomic_load(&mxp__rec.taps_end);
    for (uint32_t i = 0; i < end; i++) {
        slot_content content;
        if (read_slot(&mxp__rec.taps[i], &content)) {
            told->event.phase = told_as(content.phases, phase);
            if (told->event.phase != 0) {
                content.tap(content.context, &told->event);
            }
        }
    }
}

void mxp__tap_span(uint32_t phase, const mxp_span *span)
{
    const mxp_recorder *self = mxp_self;
    uint32_t depth = self != NULL ? mxp_atomic_own(&self->depth) : 0;
    mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_SPAN,
                                        .name = span->name,
                                        .phase = phase,
                                        .begin_ticks = span->begin_ticks,
                                        .end_ticks = span->end_ticks,
                                        .depth = depth - (phase == MXP_TAP_BEGIN ? 1 : 0)},
                              .lane = span->lane});
}
