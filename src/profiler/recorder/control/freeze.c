// SPDX-License-Identifier: Apache-2.0
// The freezing side of the handshake of profiler/recorder/protocol.h: holds every recording thread
// outside of its records, and lets them go on. Under the drain lock.
#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/mend.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"

// The tries of a wait for one thread, which may be preempted inside a record. The first ones yield,
// later ones sleep. A thread that takes longer becomes silent and is not waited for again
// (silent.h).
enum { YIELDS = 1000 };
static unsigned patience = YIELDS + 1000;

void mxp__freeze_patience(unsigned tries)
{
    patience = tries;
}

static bool wait_more(unsigned *tries)
{
    MXP_TEST_POINT(WAIT);
    if (*tries < YIELDS) {
        mxp__os_yield();
    } else {
        mxp__os_sleep_us(1000);
    }
    return ++*tries < patience;
}

static mxp_atomic_bool barrier_refused;

bool mxp__barrier_is_refused(void)
{
    return mxp_atomic_load(&barrier_refused);
}

static mxp_atomic_u32 my_busy;  // `busy` of the freezing thread before the freeze

// During a freeze `busy` of the freezing thread is set for the sake of handlers on it, so my_busy
// tells whether it was in a record.
static bool is_inside(const mxp_thread *thread)
{
    return &thread->hot == mxp_self ? mxp_atomic_load(&my_busy) != 0 : mxp__is_busy(&thread->hot);
}

// Waits until the thread is outside of a record. One that was seen outside may be busy again by
// now, but then it waits for the end of the freeze before it does anything.
static void wait_for_thread(mxp_thread *thread)
{
    unsigned tries = 0;
    bool inside, silent = mxp__thread_is_silent(thread);
    do {
        inside = is_inside(thread);
    } while (inside && !silent && &thread->hot != mxp_self && wait_more(&tries));
    MXP_TEST_POINT(LOOK);
    if (!inside) {
        if (silent) {
            mxp__thread_answer(thread);
            mxp__thread_queue_late(thread);
        }
        if (thread->stranded != 0) {
            mxp__store_unmap_thread(thread, true);
        }
        return;
    }
    if (!silent && &thread->hot != mxp_self) {
        mxp__thread_silence(thread);
    }
    thread->left_out = mxp__thread_is_silent(thread);
}

// Waits until no other thread is inside a record, except silent ones. Afterwards everything
// recorded before can be read.
static void quiesce(void)
{
    if (!mxp__os_barrier_all_threads()) {
        mxp_atomic_store(&barrier_refused, true);
        mxp__os_sleep_us(1000);  // long enough for nearly any store buffer
    }
    unsigned tries = 0;
    while (mxp__threads_registering() != 0 && wait_more(&tries)) {
    }
    if (mxp__threads_registering() != 0) {
        mxp__threads_give_up_registering();
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        wait_for_thread(thread);
    }
}

static MXP_ATOMIC(
    uintptr_t) freezer;  // address of the freezing thread's mxp_self; 0: nobody freezes

bool mxp__freeze_is_ours(void)
{
    return mxp_atomic_load(&freezer) == (uintptr_t)&mxp_self;
}

void mxp__freeze(void)
{
    assert(mxp__drain_is_held());
    assert(!mxp__freeze_is_ours() && "who has frozen the others freezes them again");
    mxp_atomic_set(&my_busy, 0);
    mxp_atomic_store(&freezer, (uintptr_t)&mxp_self);
    if (mxp_self != NULL) {  // a handler on this thread must not wait for us
        (void)mxp__emit_is_inside((mxp_thread *)mxp_self);  // one that was left by a jump is over
        mxp_atomic_set(&my_busy, mxp__busy_anywhere(mxp_self));
    }
    mxp_atomic_or_seq_cst(&mxp_control.gate, MXP_GATE_HOLD);
    quiesce();
    mxp__mend_threads();
}

void mxp__thaw(void)
{
    assert(mxp__freeze_is_ours());
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        thread->left_out = 0;
    }
    mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)MXP_GATE_HOLD);
    mxp__os_word_wake(&mxp_control.gate, true);
    mxp_atomic_store(&freezer, 0);
    if (mxp_self != NULL) {
        mxp__busy_again(mxp_self, mxp_atomic_own(&my_busy));
    }
}
