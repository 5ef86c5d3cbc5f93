// SPDX-License-Identifier: Apache-2.0
// See early_names.h, and mxp_thread_name_of in <mxprof/foreign.h>.
#include "profiler/recorder/thread/early_names.h"

#include <mxprof/error.h>
#include <mxprof/foreign.h>

#include "base/fail.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/thread.h"
#include "profiler/spin.h"

enum { EARLY_MAX = 256 };

static struct {
    mxp_spin lock;
    uint32_t count;
    struct {
        uint32_t tid, name;
    } entries[EARLY_MAX];
} early;

static uint32_t place_of(uint32_t tid)
{
    uint32_t i = 0;
    while (i < early.count && early.entries[i].tid != tid) {
        i++;
    }
    return i;
}

// A handler that has interrupted the holder of the lock, on its thread, goes without.
uint32_t mxp__early_name_take(uint32_t tid)
{
    uint32_t name = MXP_NAME_NONE;
    if (early.count == 0 || !mxp__spin_lock(&early.lock)) {
        return MXP_NAME_NONE;
    }
    uint32_t i = place_of(tid);
    if (i < early.count) {
        name = early.entries[i].name;
        early.entries[i] = early.entries[--early.count];
    }
    mxp__spin_unlock(&early.lock);
    return name;
}

static bool put(uint32_t tid, uint32_t name)
{
    if (!mxp__spin_lock(&early.lock)) {
        return false;
    }
    uint32_t i = place_of(tid);
    bool fits = i < EARLY_MAX;
    if (fits) {
        early.entries[i].tid = tid;
        early.entries[i].name = name;
        early.count += i == early.count;
    }
    mxp__spin_unlock(&early.lock);
    return fits;
}

// A thread's page may be exchanged while it records (store_threads.c), so its name is changed while
// nobody does.
static bool name_registered(uint32_t tid, uint32_t name)
{
    bool found = false;
    mxp__drain_lock();
    mxp__freeze();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->tid == tid && !mxp__thread_is_gone(thread) &&
            !mxp__thread_is_left_out(thread)) {
            mxp_atomic_store(&thread->name, name);
            found = true;
        }
    }
    mxp__thaw();
    mxp__drain_unlock();
    return found;
}

int mxp_thread_name_of(uint32_t tid, const char *name)
{
    if (tid == 0) {
        return mxp__fail(MXP_EINVAL, "mxp_thread_name_of: give the system's number of the thread, "
                                     "which is never 0");
    }
    uint32_t id = mxp_string(name);
    // Put down first: the thread may register at any time.
    bool kept = put(tid, id);
    if (name_registered(tid, id)) {
        mxp__early_name_take(tid);
        return MXP_OK;
    }
    return kept ? MXP_OK
                : mxp__fail(MXP_ENOMEM,
                            "mxp_thread_name_of: %d threads that have not recorded have names "
                            "already",
                            EARLY_MAX);
}
