// SPDX-License-Identifier: Apache-2.0
// What a thread counts of the records that it loses: windows of time by reason, and a sum by reason
// in its page, where a reader finds it after a crash.
#include "base/atomic.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/thread.h"

static uint64_t add_reason(uint64_t packed, uint32_t reason, uint64_t count)
{
    unsigned shift = (reason - MXP_LOSS_MISUSE) * MXP_REASON_BITS;
    uint64_t most = (UINT64_C(1) << MXP_REASON_BITS) - 1;
    uint64_t counted = packed >> shift & most;
    uint64_t now = count > most - counted ? most : counted + count;
    return packed + ((now - counted) << shift);
}

uint64_t mxp__reasons_sum(uint64_t packed, uint64_t more)
{
    for (uint32_t reason = MXP_LOSS_MISUSE; reason <= MXP_LOSS_NO_NUMBER; reason++) {
        unsigned shift = (reason - MXP_LOSS_MISUSE) * MXP_REASON_BITS;
        packed = add_reason(packed, reason, more >> shift & ((1u << MXP_REASON_BITS) - 1));
    }
    return packed | (more & MXP_REASON_FILE_LIMIT);
}

// Counts a loss by reason where a reader finds it after a crash. `lost` counts it as well. Of a
// file that may not grow there is a bit: nearly all that is counted under no other reason is lost
// for it.
static void note_reason(mxp_thread *self, uint32_t reason, uint64_t count)
{
    if (reason >= MXP_LOSS_MISUSE && reason <= MXP_LOSS_NO_NUMBER) {
        mxp_atomic_set(&self->hot.reserved[2],
                       add_reason(mxp_atomic_own(&self->hot.reserved[2]), reason, count));
    } else if (reason == MXP_LOSS_FILE_LIMIT) {
        mxp_atomic_set(&self->hot.reserved[2],
                       mxp_atomic_own(&self->hot.reserved[2]) | MXP_REASON_FILE_LIMIT);
    }
}

void mxp__thread_lose(mxp_thread *self, uint32_t reason, uint64_t count, uint64_t now)
{
    assert(mxp__is_in_record(self) || mxp__nobody_records());
    mxp_atomic_add(&self->lost, count);
    self->lost_before += count;
    note_reason(self, reason, count);
    if (self->file_offset == 0) {
        mxp__store_count_unmapped(count);
    }
    mxp_loss_window *window = NULL;
    for (size_t i = 0; i < MXP__LOSS_WINDOWS && window == NULL; i++) {
        mxp_loss_window *each = &self->loss[i];
        bool last = i + 1 == MXP__LOSS_WINDOWS;
        if (each->reason == 0) {
            *each = (mxp_loss_window){.reason = reason, .open = 1, .from_ticks = now};
        }
        if (each->reason == reason && (each->open || last)) {
            window = each;
        } else if (last) {
            each->reason = MXP_LOSS_SEVERAL;  // out of windows: the last one takes everything
            window = each;
        }
    }
    window->count += count;
    window->to_ticks = now;
}
