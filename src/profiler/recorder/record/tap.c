// SPDX-License-Identifier: Apache-2.0
// Taps: other tools that want each span as it is recorded. Whoever calls them takes no lock: a slot
// that changes while it is read counts as free, which it was in between.
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"

// Null takes the tap out of the slot.
static void change(mxp_tap_slot *slot, mxp_tap tap, void *context)
{
    assert(mxp__drain_is_held());
    mxp_atomic_add_acquire(&slot->version, 1);
    mxp_atomic_store_release(&slot->tap, tap);
    mxp_atomic_store_release(&slot->context, context);
    mxp_atomic_add_release(&slot->version, 1);
}

// Acquire throughout: the version is read again after the others. Pairs with `change`.
static bool read_slot(const mxp_tap_slot *slot, mxp_tap *tap, void **context)
{
    uint32_t version = mxp_atomic_load_acquire(&slot->version);
    *tap = mxp_atomic_load_acquire(&slot->tap);
    *context = mxp_atomic_load_acquire(&slot->context);
    return *tap != NULL && version % 2 == 0 && version == mxp_atomic_load(&slot->version);
}

static void update_gate(void)
{
    bool any = false;
    for (int i = 0; i < MXP__TAPS_MAX; i++) {
        any = any || mxp_atomic_own(&mxp__rec.taps[i].tap) != NULL;
    }
    if (any) {
        mxp_atomic_or_seq_cst(&mxp_control.gate, MXP_GATE_TAP);
    } else {
        mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)MXP_GATE_TAP);
    }
}

int mxp_tap_add(mxp_tap tap, void *context)
{
    if (tap == NULL) {
        return mxp__fail(MXP_EINVAL, "mxp_tap_add: the tap is null");
    }
    bool added = false;
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && !added; i++) {
        if (mxp_atomic_own(&mxp__rec.taps[i].tap) == NULL) {
            change(&mxp__rec.taps[i], tap, context);
            added = true;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return added ? MXP_OK
                 : mxp__fail(MXP_ESTATE, "no more than %d taps at a time: remove one first",
                             MXP__TAPS_MAX);
}

int mxp_tap_remove(mxp_tap tap, void *context)
{
    bool removed = false;
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && !removed; i++) {
        mxp_tap_slot *slot = &mxp__rec.taps[i];
        if (tap != NULL && mxp_atomic_own(&slot->tap) == tap &&
            mxp_atomic_own(&slot->context) == context) {
            change(slot, NULL, NULL);
            removed = true;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return removed ? MXP_OK
                   : mxp__fail(MXP_EINVAL, "mxp_tap_remove: no such tap with this context");
}

void mxp__tap_call(int kind, uint32_t name, uint64_t begin_ticks, uint64_t end_ticks)
{
    const mxp_tap_event event = {.size_bytes = sizeof event,
                                 .kind = (uint32_t)kind,
                                 .name = name,
                                 .begin_ticks = begin_ticks,
                                 .end_ticks = end_ticks};
    for (int i = 0; i < MXP__TAPS_MAX; i++) {
        mxp_tap tap;
        void *context;
        if (read_slot(&mxp__rec.taps[i], &tap, &context)) {
            tap(context, &event);
        }
    }
}
