// SPDX-License-Identifier: Apache-2.0
// A small mutex that may be held across fork handlers and is safe in static storage.
#ifndef MXP_BASE_LOCK_H
#define MXP_BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/atomic.h"

typedef struct mxp_lock {
    pthread_mutex_t mutex;
#ifndef NDEBUG
    mxp_atomic_u64 owner;  // who holds it; 0: nobody
#endif
} mxp_lock;

#ifndef NDEBUG
#define MXP__LOCK_INIT             \
    {                              \
        PTHREAD_MUTEX_INITIALIZER, \
        {                          \
            0                      \
        }                          \
    }
static inline void mxp__lock_note_owner(mxp_lock *lock, uint64_t owner)
{
    mxp_atomic_store(&lock->owner, owner);
}
static inline uint64_t mxp__lock_me(void)
{
    return (uint64_t)(uintptr_t)pthread_self();
}
// For asserts: the calling thread holds the lock.
static inline bool mxp__lock_is_held(const mxp_lock *lock)
{
    return mxp_atomic_load(&lock->owner) == mxp__lock_me();
}
#else
#define MXP__LOCK_INIT            \
    {                             \
        PTHREAD_MUTEX_INITIALIZER \
    }
#define mxp__lock_note_owner(lock, owner) ((void)0)
#endif

static inline void mxp__lock(mxp_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    mxp__lock_note_owner(lock, mxp__lock_me());
}
static inline bool mxp__try_lock(mxp_lock *lock)
{
    if (pthread_mutex_trylock(&lock->mutex) != 0) {
        return false;
    }
    mxp__lock_note_owner(lock, mxp__lock_me());
    return true;
}
// By the thread that holds it.
static inline void mxp__unlock(mxp_lock *lock)
{
    assert(mxp__lock_is_held(lock));
    mxp__lock_note_owner(lock, 0);
    pthread_mutex_unlock(&lock->mutex);
}
// Waits for a signal of `cond`, without the lock meanwhile; may also return early.
static inline void mxp__lock_wait(mxp_lock *lock, pthread_cond_t *cond)
{
    pthread_cond_wait(cond, &lock->mutex);
    mxp__lock_note_owner(lock, mxp__lock_me());
}
// The same, at most until a time on the condition's clock. 0, or ETIMEDOUT.
static inline int mxp__lock_wait_until(mxp_lock *lock, pthread_cond_t *cond,
                                       const struct timespec *until)
{
    int error = pthread_cond_timedwait(cond, &lock->mutex, until);
    mxp__lock_note_owner(lock, mxp__lock_me());
    return error;
}
// In a forked child: the lock is free again, whoever held it in the parent.
static inline void mxp__lock_reset(mxp_lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
    mxp__lock_note_owner(lock, 0);
}

#endif
