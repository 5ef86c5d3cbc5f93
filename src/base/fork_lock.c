// SPDX-License-Identifier: Apache-2.0
// All registered locks are on one list, which one fork handler walks in the child. A fork may
// happen at any point of a registration: `listed` is therefore set last, and the list is searched
// before a lock is added.
#include "base/fork_lock.h"

static mxp_lock list_lock = MXP__LOCK_INIT;
static MXP_ATOMIC(mxp_fork_lock *) list;

static void free_in_child(void)
{
    mxp__lock_reset(&list_lock);
    for (mxp_fork_lock *lock = mxp_atomic_own(&list); lock != NULL; lock = lock->next) {
        mxp__lock_reset(&lock->lock);
        if (lock->in_child != NULL) {
            lock->in_child();
            assert(!mxp__lock_is_held(&lock->lock) && "in_child leaves its lock taken");
        }
    }
}

static void install(void)
{
    pthread_atfork(NULL, NULL, free_in_child);
}

void mxp__fork_lock_list_slow(mxp_fork_lock *lock)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    mxp__lock(&list_lock);
    const mxp_fork_lock *known = mxp_atomic_own(&list);
    while (known != NULL && known != lock) {
        known = known->next;
    }
    if (known == NULL) {
        lock->next = mxp_atomic_own(&list);
        mxp_atomic_store_release(&list, lock);  // for a fork by another thread
    }
    mxp_atomic_store(&lock->listed, 1u);
    mxp__unlock(&list_lock);
}
