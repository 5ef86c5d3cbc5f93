// SPDX-License-Identifier: Apache-2.0
// A spin lock for a few instructions that may be taken in a signal handler. It knows its owner: a
// handler that has interrupted the owner gets a refusal instead of waiting for ever.
//
// The engine has one of its own (runtime/engine/spinlock.h): no handler takes that, so it is one
// exchange without an owner. The owner here is the address of a thread's mxp_self, which only this
// library has without a call.
#ifndef MXP_PROF_SPIN_H
#define MXP_PROF_SPIN_H

#include <assert.h>
#include <mxprof/record_inline.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/os/os.h"

typedef struct mxp_spin {
    MXP_ATOMIC(uintptr_t) owner;  // address of the owner's mxp_self, 0: free
} mxp_spin;

// Waits for the lock, which `owner` had. Never inlined, so that taking a free lock is short.
static __attribute__((cold, noinline, unused)) bool mxp__spin_wait(mxp_spin *spin, uintptr_t owner)
{
    const uintptr_t me = (uintptr_t)&mxp_self;
    for (unsigned tries = 1; owner != me; tries++) {
        if (tries % 64 == 0) {
            mxp__os_wait_turn(tries / 64);
        } else {
            mxp__cpu_relax();
        }
        owner = 0;
        if (mxp_atomic_cas_acquire(&spin->owner, &owner, me)) {
            return true;
        }
    }
    return false;
}

// False if this very thread holds it already (we are in a signal handler): the caller must give up.
static inline bool mxp__spin_lock(mxp_spin *spin)
{
    uintptr_t owner = 0;
    bool taken = mxp_atomic_cas_acquire(&spin->owner, &owner, (uintptr_t)&mxp_self);
    return __builtin_expect(taken, 1) || mxp__spin_wait(spin, owner);
}

static inline bool mxp__spin_is_held(const mxp_spin *spin)
{
    return mxp_atomic_load(&spin->owner) == (uintptr_t)&mxp_self;
}

// By the thread that holds it.
static inline void mxp__spin_unlock(mxp_spin *spin)
{
    assert(mxp__spin_is_held(spin));
    mxp_atomic_store_release(&spin->owner, 0);
}

#endif
