// SPDX-License-Identifier: Apache-2.0
// Counters. The value changes and its sample is written under the object's lock, so that samples
// are in the order of the values. Values never wrap: they stop at 0 and at the maximum.
#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/fail.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/objects/handles.h"

static int lock_counter(mxp_handle counter, mxp_slot **slot)
{
    return mxp__slot_lock(counter, 1 << MXP__OBJECT_COUNTER, "Check  notnull: counter_handle",
                          slot);
}

static void store(mxp_slot *slot, uint64_t value)
{
    slot->value = value;
    if (mxp_enabled(MXP_CLASS_USER)) {
        mxp__counter_emit(slot->name, value, &slot->last_ticks);
    }
}

int mxp_counter_set(mxp_handle counter, uint64_t value)
{
    mxp_slot *slot;
    int error = lock_counter(counter, &slot);
    if (error == MXP_OK) {
        store(slot, value);
        mxp__slot_unlock(slot);
    }
    return error;
}

int mxp_counter_adjust(mxp_handle counter, int64_t delta)
{
    mxp_slot *slot;
    int error = lock_counter(counter, &slot);
    if (error != MXP_OK) {
        return error;
    }
    uint64_t magnitude = delta < 0 ? -(uint64_t)delta : (uint64_t)delta;  // exact for INT64_MIN too
    uint64_t value;
    if (delta < 0 && magnitude > slot->value) {
        value = 0;
        error =
            mxp__fail(MXP_EVALUE, "counter %s would fall below zero (%llu - %llu): it stays at 0",
                      slot->label, (unsigned long long)slot->value, (unsigned long long)magnitude);
    } else if (delta < 0) {
        value = slot->value - magnitude;
    } else if (__builtin_add_overflow(slot->value, magnitude, &value)) {
        value = UINT64_MAX;
        error = mxp__fail(MXP_EVALUE, "counter %s would pass 2^64-1: it stays there", slot->label);
    }
    store(slot, value);
    mxp__slot_unlock(slot);
    return error;
}
