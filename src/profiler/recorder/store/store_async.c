// SPDX-License-Identifier: Apache-2.0
// The table of open asynchronous spans in the recording file: made when the first of them begins,
// because most programs have none.
#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/async_table.h"
#include "profiler/recorder/thread/rules.h"

static mxp_spin making;

// Other things need the file more: it is not made where they would be short of space.
static uint64_t left_for_others(const mxp_recording_file *store)
{
    return store->file.limit_bytes / 8;
}

static void make(mxp_recording_file *store, bool copy)
{
    mxp_open_section *section = (mxp_open_section *)mxp__store_allocate_but(
        store, MXP_SECTION_OPEN, mxp__store_page_up(sizeof *section), left_for_others(store));
    if (section == NULL) {
        mxp_atomic_store(&store->refuses_async, true);
        return;
    }
    section->section.payload_bytes = sizeof *section - sizeof section->section;
    mxp__async_show(section, copy);
}

void mxp__store_show_async(bool copy)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store == NULL || mxp__store_is_damaged(store) || mxp_atomic_load(&store->refuses_async) ||
        !mxp__spin_lock(&making)) {
        return;
    }
    if (!mxp__async_is_shown()) {
        make(store, copy);
    }
    mxp__spin_unlock(&making);
}

// A thread that does not answer may be about to write into the table: the mapping then stays.
void mxp__store_hide_async(mxp_recording_file *store, bool keep_mapping)
{
    assert(mxp__nobody_records());
    if (mxp__async_is_shown() && keep_mapping) {
        mxp_atomic_add(&store->chunks, 1);
    }
    mxp__async_show(NULL, false);
}

void mxp__store_async_fork_child(void)
{
    mxp_atomic_set(&making.owner, 0);
    mxp__async_fork_child();
}
