// SPDX-License-Identifier: Apache-2.0
// A lock for a few instructions, cheaper than a mutex where nobody else is there. Never held while
// anything is called that could block.
#ifndef MXN_ENGINE_SPINLOCK_H
#define MXN_ENGINE_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu/cpu.h"
#include "base/os/os.h"
#include "base/atomic.h"

enum { MXN__SPINS_BEFORE_YIELD = 64 };

typedef struct mxn_spinlock {
    mxp_atomic_u32 word;  // 1: held
} mxn_spinlock;

static inline void mxn__spin_lock(mxn_spinlock *lock)
{
    while (__builtin_expect(mxp_atomic_exchange_acquire(&lock->word, 1) != 0, 0)) {
        for (unsigned tries = 1; mxp_atomic_load(&lock->word) != 0; tries++) {
            if (tries % MXN__SPINS_BEFORE_YIELD == 0) {
                mxp__os_yield();
            } else {
                mxp__cpu_relax();
            }
        }
    }
}

static inline void mxn__spin_unlock(mxn_spinlock *lock)
{
    mxp_atomic_store_release(&lock->word, 0);
}

#endif
