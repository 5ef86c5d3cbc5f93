// SPDX-License-Identifier: Apache-2.0
// A small mutex that may be held across fork handlers and is safe in static storage.
#ifndef MXP_BASE_LOCK_H
#define MXP_BASE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct mxp_lock {
    pthread_mutex_t mutex;
} mxp_lock;

#define MXP__LOCK_INIT            \
    {                             \
        PTHREAD_MUTEX_INITIALIZER \
    }

static inline void mxp__lock(mxp_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}
static inline bool mxp__try_lock(mxp_lock *lock)
{
    return pthread_mutex_trylock(&lock->mutex) == 0;
}
static inline void mxp__unlock(mxp_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
// In a forked child: the lock is free again, whoever held it in the parent.
static inline void mxp__lock_reset(mxp_lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
}

#endif
