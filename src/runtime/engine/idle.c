// SPDX-License-Identifier: Apache-2.0
// Whoever waits for everything sleeps on one word, which a worker changes when it finds nothing
// pending before it rests: the handshake of protocol.h, with `idle_waiters` for ASLEEP and the
// worker on the side of the pusher.
#include "runtime/engine/idle.h"

#include "runtime/engine/engine_thread.h"
#include "runtime/engine/interrupt.h"
#include "runtime/engine/protocol.h"

uint64_t mxn__engine_pending(void)
{
    uint64_t retired = 0;
    for (uint32_t i = 0, count = mxn__thread_count(); i < count; i++) {
        retired += mxp_atomic_load_acquire(&mxn__thread_at((uint16_t)i)->counters.retired);
    }
    // Later than the sum, so that 0 means that it was true when `queued` was read.
    return mxp_atomic_load_acquire(&mxn__engine.queued) - retired;
}

void mxn__idle_check(void)
{
    mxn__engine_fence();  // pairs with the barrier in mxn__idle_wait
    if (__builtin_expect(mxp_atomic_load(&mxn__engine.idle_waiters) != 0, 0) &&
        mxn__engine_pending() == 0) {
        mxp_atomic_add_release(&mxn__engine.idle_word, 1);
        mxp__os_word_wake(&mxn__engine.idle_word, true);
    }
}

// False: `may_leave`, and this thread was interrupted.
static bool wait_until_idle(bool may_leave, bool *slept)
{
    *slept = false;
    for (uint32_t i = mxn__wait_spins(); i > 0; i--) {
        if (mxn__engine_pending() == 0) {
            return true;
        }
        mxp__cpu_relax();
    }
    bool leaves = false;
    mxp_atomic_add_seq_cst(&mxn__engine.idle_waiters, 1);
    mxn__engine_barrier();  // pairs with the fence in mxn__idle_check
    while (!leaves) {
        uint32_t word = mxp_atomic_load_acquire(&mxn__engine.idle_word);
        if (mxn__engine_pending() == 0) {
            break;
        }
        *slept = true;
        if (may_leave) {
            mxn__word_wait_a_while(&mxn__engine.idle_word, word);
            leaves = mxn__engine_pending() != 0 && mxn__is_interrupted();
        } else {
            mxp__os_word_wait(&mxn__engine.idle_word, word);
        }
    }
    mxp_atomic_sub_seq_cst(&mxn__engine.idle_waiters, 1);
    return !leaves;
}

void mxn__idle_wait(void)
{
    bool slept;
    wait_until_idle(false, &slept);
}

bool mxn__idle_wait_or_leave(bool *slept)
{
    return wait_until_idle(mxn__may_interrupt(), slept);
}
