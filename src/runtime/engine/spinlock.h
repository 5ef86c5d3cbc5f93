// SPDX-License-Identifier: Apache-2.0
// A lock for a few instructions, cheaper than a mutex where nobody else is there. Never held while
// anything is called that could block. Debug builds know who holds it.
//
// The profiler has one of its own (profiler/spin.h), which a signal handler may meet: it must say
// who holds it, in every build, and may refuse. Both would pay here for what only one needs.
#ifndef MXN_ENGINE_SPINLOCK_H
#define MXN_ENGINE_SPINLOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/os/os.h"

enum { MXN__SPINS_BEFORE_YIELD = 64 };

typedef struct mxn_spinlock {
    mxp_atomic_u32 word;  // 0: free; else held, in debug builds by whom
} mxn_spinlock;

#ifndef NDEBUG
static inline uint32_t mxn__spin_me(void)
{
    return (uint32_t)((uintptr_t)pthread_self() >> 4) | 1;
}
// For asserts: the calling thread holds the lock.
static inline bool mxn__spin_is_held(const mxn_spinlock *lock)
{
    return mxp_atomic_load(&lock->word) == mxn__spin_me();
}
static inline bool mxn__spin_try(mxn_spinlock *lock)
{
    uint32_t free = 0;
    return mxp_atomic_cas_acquire(&lock->word, &free, mxn__spin_me());
}
#else
static inline bool mxn__spin_try(mxn_spinlock *lock)
{
    return mxp_atomic_exchange_acquire(&lock->word, 1) == 0;
}
#endif

static inline void mxn__spin_lock(mxn_spinlock *lock)
{
    while (__builtin_expect(!mxn__spin_try(lock), 0)) {
        for (unsigned tries = 1; mxp_atomic_load(&lock->word) != 0; tries++) {
            if (tries % MXN__SPINS_BEFORE_YIELD == 0) {
                mxp__os_yield();
            } else {
                mxp__cpu_relax();
            }
        }
    }
}

// By the thread that holds it.
static inline void mxn__spin_unlock(mxn_spinlock *lock)
{
    assert(mxn__spin_is_held(lock));
    mxp_atomic_store_release(&lock->word, 0);
}

// In a forked child: the lock is free again, whoever held it in the parent.
static inline void mxn__spin_reset(mxn_spinlock *lock)
{
    mxp_atomic_set(&lock->word, 0);
}

#endif
