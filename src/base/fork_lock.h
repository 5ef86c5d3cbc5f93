// SPDX-License-Identifier: Apache-2.0
// A lock that is free in a forked child, whoever held it in the parent: that thread is not there.
// For what is right again, or can be begun anew, wherever its holder was stopped. What must be
// whole in the child is locked across the fork instead, by handlers of its own
// (src/runtime/storage).
#ifndef MXP_BASE_FORK_LOCK_H
#define MXP_BASE_FORK_LOCK_H

#include "base/lock.h"

typedef struct mxp_fork_lock {
    mxp_lock lock;
    void (*in_child)(void);  // what else begins anew in the child, or null; the lock is free
    mxp_atomic_u32 listed;
    struct mxp_fork_lock *next;
} mxp_fork_lock;

#define MXP__FORK_LOCK_INIT(function)                  \
    {                                                  \
        .lock = MXP__LOCK_INIT, .in_child = (function) \
    }

void mxp__fork_lock_list_slow(mxp_fork_lock *lock);

// From now on a child finds it free. mxp__fork_lock does this; by hand it is for those who take
// `lock.lock` themselves, before the first time that matters. The lock must stay for good.
static inline void mxp__fork_lock_list(mxp_fork_lock *lock)
{
    if (mxp_atomic_load(&lock->listed) == 0) {
        mxp__fork_lock_list_slow(lock);
    }
}

static inline void mxp__fork_lock(mxp_fork_lock *lock)
{
    mxp__fork_lock_list(lock);
    mxp__lock(&lock->lock);
}

static inline void mxp__fork_unlock(mxp_fork_lock *lock)
{
    mxp__unlock(&lock->lock);
}

#endif
