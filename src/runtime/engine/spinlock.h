// SPDX-License-Identifier: Apache-2.0
// A lock for a few instructions, cheaper than a mutex where nobody else is there. Never held while
// anything is called that could block.
#ifndef MXN_ENGINE_SPINLOCK_H
#define MXN_ENGINE_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu/cpu.h"
#include "base/os/os.h"

enum { MXN__SPINS_BEFORE_YIELD = 64 };

typedef struct mxn_spinlock {
    uint32_t word;  // 1: held
} mxn_spinlock;

static inline void mxn__spin_lock(mxn_spinlock *lock)
{
    while (__builtin_expect(__atomic_exchange_n(&lock->word, 1, __ATOMIC_ACQUIRE) != 0, 0)) {
        for (unsigned tries = 1; __atomic_load_n(&lock->word, __ATOMIC_RELAXED) != 0; tries++) {
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
    __atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

#endif
