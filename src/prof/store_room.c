// SPDX-License-Identifier: Apache-2.0
// Room in a recording file: taken from its end under the pool lock, reserved with the system in
// larger steps.
#include "prof/store_room.h"

#include "prof/pool.h"
#include "prof/store_rescue.h"

enum {
    PREPARE_BYTES = 256 << 10,  // of it at a time: the lock is held for some tens of microseconds
    STEP_LEAST_BYTES = 256 << 10,  // by which the file grows: an eighth of it within these bounds
    STEP_MOST_BYTES = 16 << 20
};

static bool reserve(mxp_recording_file *store, uint64_t end)
{
    if (end <= store->file.reserved_bytes) {
        return true;
    }
    if (end > store->file.limit_bytes) {
        return false;
    }
    uint64_t step = end / 8;
    step = step < STEP_LEAST_BYTES ? STEP_LEAST_BYTES : step;
    step = step > STEP_MOST_BYTES ? STEP_MOST_BYTES : step;
    uint64_t wanted = mxp__store_page_up(end + step);
    wanted = wanted < store->file.limit_bytes ? wanted : store->file.limit_bytes;
    return mxp__mapped_file_reserve(&store->file, wanted) ||
           mxp__mapped_file_reserve(&store->file, end);  // the last bytes of a full disk
}

// False: the file was emptied meanwhile.
static bool prepare(mxp_recording_file *store, uint64_t end)
{
    if (end <= store->file.prepared_bytes) {
        return true;
    }
    uint64_t to = end + PREPARE_BYTES;
    to = to < store->file.reserved_bytes ? to : store->file.reserved_bytes;
    mxp__mapped_file_prepare(&store->file, store->used_bytes, to);
    return mxp__rescue_check(store);
}

// The header stands before the room counts as used, so that the sections are a chain at every
// moment.
mxp_section *mxp__store_take_room(mxp_recording_file *store, unsigned type, uint64_t size_bytes)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_section *section = NULL;
    if (store == mxp__store_active && !mxp__store_is_damaged(store) &&
        reserve(store, store->used_bytes + size_bytes) &&
        prepare(store, store->used_bytes + size_bytes)) {
        section = (mxp_section *)(store->file.base + store->used_bytes);
        section->length_bytes = size_bytes;
        section->type = (uint16_t)type;
        __atomic_store_n(&section->magic, MXP_SECTION_MAGIC, __ATOMIC_RELEASE);
        store->used_bytes += size_bytes;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return section;
}
