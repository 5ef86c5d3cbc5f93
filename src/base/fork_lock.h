// SPDX-License-Identifier: Apache-2.0
// A lock that is always free in a forked child. The thread that held it in the parent does not
// exist there. Use it for data that is valid, or that `in_child` can reset, wherever its holder was
// stopped. Data that must be consistent in the child needs fork handlers that hold its lock across
// the fork instead (src/runtime/storage).
#ifndef MXP_BASE_FORK_LOCK_H
#define MXP_BASE_FORK_LOCK_H

#include "base/lock.h"

typedef struct mxp_fork_lock {
    mxp_lock lock;
    void (*in_child)(void);  // resets the data in the child, with the lock free; may be null
    mxp_atomic_u32 listed;
    struct mxp_fork_lock *next;
} mxp_fork_lock;

#define MXP__FORK_LOCK_INIT(function)                  \
    {                                                  \
        .lock = MXP__LOCK_INIT, .in_child = (function) \
    }

void mxp__fork_lock_list_slow(mxp_fork_lock *lock);

// Registers the lock: children that are forked from now on find it free. mxp__fork_lock does this.
// Callers that take `lock->lock` directly must register it first. The lock must live as long as the
// process. Thread-safe.
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
    assert(mxp_atomic_load(&lock->listed) != 0 && "a fork lock is taken before it is registered");
    mxp__unlock(&lock->lock);
}

#endif
