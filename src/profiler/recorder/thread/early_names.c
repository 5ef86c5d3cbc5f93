// SPDX-License-Identifier: Apache-2.0
// See early_names.h, and mxp_thread_name_of in <mxprof/foreign.h>.
#include "profiler/recorder/thread/early_names.h"

#include <mxprof/error.h>
#include <mxprof/foreign.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/thread.h"
#include "profiler/spin.h"

enum { EARLY_MAX = 256 };

static struct {
    mxp_spin lock;
    mxp_atomic_u32 count;  // under the lock; a thread that registers looks at it before
    struct {
        uint32_t tid, name;
    } entries[EARLY_MAX];
} early;

static uint32_t place_of(uint32_t tid)
{
    uint32_t i = 0, count = mxp_atomic_own(&early.count);
    while (i < count && early.entries[i].tid != tid) {
        i++;
    }
    return i;
}

// A handler that has interrupted the holder of the lock, on its thread, goes without.
uint32_t mxp__early_name_take(uint32_t tid)
{
    uint32_t name = MXP_NAME_NONE;
    if (mxp_atomic_load(&early.count) == 0 || !mxp__spin_lock(&early.lock)) {
        return MXP_NAME_NONE;
    }
    uint32_t i = place_of(tid), count = mxp_atomic_own(&early.count);
    if (i < count) {
        name = early.entries[i].name;
        early.entries[i] = early.entries[count - 1];
        mxp_atomic_store(&early.count, count - 1);
    }
    mxp__spin_unlock(&early.lock);
    return name;
}

// Another thread of the parent may have held the lock.
void mxp__early_names_fork_child(void)
{
    mxp_atomic_set(&early.lock.owner, 0);
    mxp_atomic_set(&early.count, 0);
}

static bool put(uint32_t tid, uint32_t name)
{
    if (!mxp__spin_lock(&early.lock)) {
        return false;
    }
    uint32_t i = place_of(tid), count = mxp_atomic_own(&early.count);
    bool fits = i < EARLY_MAX;
    if (fits) {
        early.entries[i].tid = tid;
        early.entries[i].name = name;
        mxp_atomic_store(&early.count, i == count ? count + 1 : count);
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
