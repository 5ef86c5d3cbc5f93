// SPDX-License-Identifier: Apache-2.0
// Taps: other tools that want each span as it is recorded. A slot's function is read after its
// context, so that a tap never runs with another's context.
#include "base/fail.h"
#include "prof/state.h"

static void update_gate(void)
{
    bool any = false;
    for (int i = 0; i < MXP__TAPS_MAX; i++) {
        any = any || mxp__rec.taps[i].tap != NULL;
    }
    if (any) {
        __atomic_fetch_or(&mxp_control.gate, MXP_GATE_TAP, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_and(&mxp_control.gate, ~(uint32_t)MXP_GATE_TAP, __ATOMIC_SEQ_CST);
    }
}

int mxp_tap_add(mxp_tap tap, void *context)
{
    if (tap == NULL) {
        return mxp__fail(MXP_EINVAL, "mxp_tap_add: the tap is null");
    }
    int error =
        mxp__fail(MXP_ESTATE, "no more than %d taps at a time: remove one first", MXP__TAPS_MAX);
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && error != MXP_OK; i++) {
        if (mxp__rec.taps[i].tap == NULL) {
            __atomic_store_n(&mxp__rec.taps[i].context, context, __ATOMIC_RELAXED);
            __atomic_store_n(&mxp__rec.taps[i].tap, tap, __ATOMIC_RELEASE);
            error = MXP_OK;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return error;
}

int mxp_tap_remove(mxp_tap tap, void *context)
{
    int error = mxp__fail(MXP_EINVAL, "mxp_tap_remove: no such tap with this context");
    mxp__drain_lock();
    for (int i = 0; i < MXP__TAPS_MAX && error != MXP_OK; i++) {
        mxp_tap_slot *slot = &mxp__rec.taps[i];
        if (tap != NULL && slot->tap == tap && slot->context == context) {
            __atomic_store_n(&slot->tap, NULL, __ATOMIC_RELEASE);
            error = MXP_OK;
        }
    }
    update_gate();
    mxp__drain_unlock();
    return error;
}

void mxp__tap_call(int kind, uint32_t name, uint64_t begin_ticks, uint64_t end_ticks)
{
    for (int i = 0; i < MXP__TAPS_MAX; i++) {
        mxp_tap tap = __atomic_load_n(&mxp__rec.taps[i].tap, __ATOMIC_ACQUIRE);
        if (tap != NULL) {
            tap(__atomic_load_n(&mxp__rec.taps[i].context, __ATOMIC_RELAXED), kind, name,
                begin_ticks, end_ticks);
        }
    }
}
