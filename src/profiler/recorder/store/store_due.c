// SPDX-License-Identifier: Apache-2.0
// See store_due.h. The lock is taken before that of the names and the pool's. What was planned is
// freed only where memory may be freed.
#include "profiler/recorder/store/store_due.h"

#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/no_cancel.h"
#include "profiler/recorder/store/clock_owner.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/modules.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/spin.h"

static struct {
    mxp_spin lock;
    mxp_atomic_bool wanted;
    mxp_recording_file *store;  // what was planned, and not made
    mxp_file_header header;
    void *sections;
    size_t sections_bytes;
} due;

static void free_plan(void)
{
    if (due.store != NULL) {
        mxp__mapped_file_close(&due.store->file);
        mxp__free(due.store, sizeof *due.store);
    }
    mxp__free(due.sections, due.sections_bytes);
    due.store = NULL;
    due.sections = NULL;
}

bool mxp__store_forget_due(void)
{
    mxp__spin_lock(&due.lock);
    bool was = mxp_atomic_own(&due.wanted);
    mxp_atomic_store(&due.wanted, false);
    mxp__spin_unlock(&due.lock);
    free_plan();
    return was;
}

int mxp__store_plan(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                    const void *sections, size_t sections_bytes)
{
    mxp__store_forget_due();
    due.store = mxp__alloc(sizeof *due.store);
    due.sections = mxp__alloc(sections_bytes);
    due.sections_bytes = sections_bytes;
    int error = due.store != NULL && due.sections != NULL
                    ? mxp__mapped_file_plan(&due.store->file, path, mxp__store_page_up(limit_bytes))
                    : mxp__fail_memory("the recording file");
    if (error != MXP_OK) {
        free_plan();
        return error;
    }
    mxp_atomic_set(&due.store->chunks, 1);
    due.header = *header;
    memcpy(due.sections, sections, sections_bytes);
    mxp_atomic_store_release(&due.wanted, true);
    return MXP_OK;
}

bool mxp__store_is_due(void)
{
    return mxp_atomic_load_acquire(&due.wanted);
}

static bool make(mxp_recording_file *store)
{
    if (!mxp__mapped_file_make(&store->file) ||
        !mxp__store_fill(store, &due.header, due.sections, due.sections_bytes) ||
        !mxp__mapped_file_publish_made(&store->file)) {
        return false;
    }
    mxp__rescue_guard(store);
    mxp_atomic_store_release(&mxp__store_active, store);
    mxp__names_each(mxp__store_add_name);
    mxp__modules_store();
    mxp__clock_owner_store();
    mxp__store_map_standing();
    return true;
}

bool mxp__store_make_due(bool *made)
{
    *made = false;
    if (!mxp__store_is_due()) {
        return true;
    }
    const int cancel = mxp__cancel_off();
    mxp__spin_lock(&due.lock);
    bool named = mxp_atomic_own(&due.wanted) && mxp__names_try_lock();
    if (named) {
        *made = make(due.store);
        due.store = *made ? NULL : due.store;
        mxp_atomic_store(&due.wanted, false);
        mxp__names_unlock();
    }
    bool settled = !mxp_atomic_own(&due.wanted);
    mxp__spin_unlock(&due.lock);
    mxp__cancel_back(cancel);
    return settled;
}

void mxp__store_due_fork_prepare(void)
{
    mxp__spin_lock(&due.lock);
}

void mxp__store_due_fork_parent(void)
{
    mxp__spin_unlock(&due.lock);
}

void mxp__store_due_fork_child(void)
{
    mxp_atomic_set(&due.wanted, false);
    mxp__spin_unlock(&due.lock);
    free_plan();
}
