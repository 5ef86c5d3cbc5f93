// SPDX-License-Identifier: Apache-2.0
// Space in a recording file. It is allocated at the file's end under the pool lock, for a few
// instructions. The system calls that extend the file run outside of that lock, in one thread at a
// time: in the background thread ahead of time, or in a thread that finds no space ready. Meanwhile
// other threads may allocate what is ready.
#include "profiler/recorder/store/store_space.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/os/no_cancel.h"
#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/test_point.h"
#include "profiler/recorder/thread/rules.h"

enum {
    PREPARE_BYTES =
        256 << 10,  // of it at a time: others who need it wait some tens of microseconds
    AHEAD_MOST_BYTES = 16 << 20,
    STEP_LEAST_BYTES = 256 << 10,  // by which the file grows: an eighth of it within these bounds
    STEP_MOST_BYTES = 16 << 20,
    REFUSED_NS = 10000000  // a full disk is not asked again for so long: each record would ask
};

static mxp_spin growing;  // held across system calls

// ---- what the system does ----------------------------------------------------------------------
static bool was_refused(const mxp_recording_file *store, uint64_t end)
{
    return store->refused_ns != 0 && end >= store->refused_bytes &&
           mxp__os_monotonic_ns() - store->refused_ns < REFUSED_NS;
}

static bool reserve(mxp_recording_file *store, uint64_t end)
{
    if (end <= mxp_atomic_own(&store->file.reserved_bytes)) {
        return true;
    }
    if (end > store->file.limit_bytes || was_refused(store, end)) {
        return false;
    }
    uint64_t step = end / 8;
    step = step < STEP_LEAST_BYTES ? STEP_LEAST_BYTES : step;
    step = step > STEP_MOST_BYTES ? STEP_MOST_BYTES : step;
    uint64_t wanted = mxp__store_page_up(end + step);
    wanted = wanted < store->file.limit_bytes ? wanted : store->file.limit_bytes;
    const bool reserved = mxp__mapped_file_reserve(&store->file, wanted) ||
                          mxp__mapped_file_reserve(&store->file, end);  // a full disk's last bytes
    store->refused_ns = reserved ? 0 : mxp__os_monotonic_ns();
    store->refused_bytes = end;
    return reserved;
}

// Writes zeros to the pages after `used`. False: the file was emptied meanwhile. Space is allocated
// only when it is prepared, so the zeros overwrite no section.
static bool prepare(mxp_recording_file *store, uint64_t used, uint64_t end)
{
    if (end <= mxp_atomic_own(&store->file.prepared_bytes)) {
        return true;
    }
    uint64_t to = end + PREPARE_BYTES;
    to = to < mxp_atomic_own(&store->file.reserved_bytes)
             ? to
             : mxp_atomic_own(&store->file.reserved_bytes);
    mxp__mapped_file_prepare(&store->file, used, to);
    return mxp__rescue_check(store);
}

static bool is_ready(const mxp_recording_file *store, uint64_t end)
{
    return end <= mxp_atomic_load_acquire(&store->file.reserved_bytes) &&
           end <= mxp_atomic_load_acquire(&store->file.prepared_bytes);
}

// False: the file or disk is full, or this is a signal handler that has interrupted grow itself.
static bool grow(mxp_recording_file *store, uint64_t used, uint64_t end)
{
    const int cancel = mxp__cancel_off();
    bool ready = false;
    if (mxp__spin_lock(&growing)) {
        ready = is_ready(store, end);
        if (!ready) {
            MXP_TEST_POINT(GROW);
            ready = reserve(store, end) && prepare(store, used, end);
        }
        mxp__spin_unlock(&growing);
    }
    mxp__cancel_back(cancel);
    return ready;
}

// ---- taking ------------------------------------------------------------------------------------
// The header is written before the space counts as used, so that the sections form a chain at any
// time.
static mxp_section *put_header(mxp_recording_file *store, unsigned type, uint64_t size_bytes)
{
    mxp_section *section = (mxp_section *)(store->file.base + store->used_bytes);
    assert(mxp__spin_is_held(&mxp__pool_lock));
    assert(size_bytes % MXP__STORE_PAGE_BYTES == 0 && "a section is no whole pages");
    assert(store->used_bytes + size_bytes <= store->file.limit_bytes &&
           "a section goes beyond its file");
    section->length_bytes = size_bytes;
    section->type = (uint16_t)type;
    mxp_word_store_release(&section->magic, MXP_SECTION_MAGIC);
    store->used_bytes += size_bytes;
    return section;
}

mxp_section *mxp__store_allocate_but(mxp_recording_file *store, unsigned type, uint64_t size_bytes,
                                     uint64_t left_bytes)
{
    mxp_section *section = NULL;
    uint64_t used;
    bool has_space;
    do {
        if (mxp__store_is_damaged(store) || !mxp__spin_lock(&mxp__pool_lock)) {
            return NULL;
        }
        used = store->used_bytes;
        has_space = used + size_bytes + left_bytes <= store->file.limit_bytes;
        if (has_space && is_ready(store, used + size_bytes)) {
            section = put_header(store, type, size_bytes);
        }
        mxp__spin_unlock(&mxp__pool_lock);
    } while (section == NULL && has_space && grow(store, used, used + size_bytes));
    return section;
}

mxp_section *mxp__store_allocate(mxp_recording_file *store, unsigned type, uint64_t size_bytes)
{
    return mxp__store_allocate_but(store, type, size_bytes, 0);
}

// ---- lost for want of space --------------------------------------------------------------------
uint32_t mxp__store_lose(void)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store == NULL) {
        return MXP_LOSS_MEMORY_FULL;
    }
    const uint32_t refusal = mxp_atomic_load(&store->file.refusal);
    mxp_atomic_store(&store->refusal, refusal);
    return refusal == EFBIG ? MXP_LOSS_FILE_LIMIT : MXP_LOSS_MEMORY_FULL;
}

int mxp__store_refusal(const char **path)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    const uint32_t refusal = store == NULL ? 0 : mxp_atomic_load(&store->refusal);
    const bool is_no_space = refusal == EFBIG || refusal == ENOSPC || refusal == EDQUOT;
    if (!is_no_space || store->refusal_told) {
        return 0;
    }
    store->refusal_told = true;
    *path = store->file.path;
    return (int)refusal;
}

// ---- spare chunks ------------------------------------------------------------------------------
// Linked through the checksum, as free slabs are.
mxp_chunk_header *mxp__store_take_spare(mxp_recording_file *store)
{
    if (mxp_atomic_load(&store->spare) == NULL || !mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_chunk_header *chunk = mxp_atomic_load(&store->spare);
    if (chunk != NULL) {
        mxp_atomic_store(&store->spare, (mxp_chunk_header *)(uintptr_t)chunk->section.checksum);
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return chunk;
}

bool mxp__store_give_spare(mxp_recording_file *store, mxp_chunk_header *chunk)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    chunk->section.checksum = (uintptr_t)mxp_atomic_load(&store->spare);
    mxp_atomic_store(&store->spare, chunk);
    mxp__spin_unlock(&mxp__pool_lock);
    return true;
}

// ---- ahead -------------------------------------------------------------------------------------
// A piece further to what has to be ready by then: as much as was used since the last time. At the
// first look it is only seen how much is used.
static bool grow_ahead(mxp_recording_file *store)
{
    if (mxp__store_is_damaged(store) || !mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    uint64_t used = store->used_bytes, more = used - store->looked_at_bytes;
    mxp__spin_unlock(&mxp__pool_lock);
    more = more < PREPARE_BYTES ? PREPARE_BYTES : more;
    more = more > AHEAD_MOST_BYTES ? AHEAD_MOST_BYTES : more;
    bool first = store->looked_at_bytes == 0, idle = store->looked_at_bytes == used;
    uint64_t wanted = used + more < store->file.limit_bytes ? used + more : store->file.limit_bytes;
    if (first || idle || is_ready(store, wanted)) {
        store->looked_at_bytes = used;
        return false;
    }
    uint64_t next = mxp_atomic_own(&store->file.prepared_bytes) > used
                        ? mxp_atomic_own(&store->file.prepared_bytes)
                        : used;
    next = mxp__store_page_up(next + 1);
    return reserve(store, next) && prepare(store, used, next);
}

void mxp__store_keep_ahead(void)
{
    bool more = true;
    while (more && mxp__spin_lock(&growing)) {
        mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
        MXP_TEST_POINT(GROW);
        more = store != NULL && grow_ahead(store);
        mxp__spin_unlock(&growing);
    }
}

void mxp__store_wait_ahead(void)
{
    if (mxp__spin_lock(&growing)) {
        mxp__spin_unlock(&growing);
    }
}

void mxp__store_space_fork_child(void)
{
    mxp_atomic_set(&growing.owner, 0);
}
