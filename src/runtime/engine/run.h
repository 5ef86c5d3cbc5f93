// SPDX-License-Identifier: Apache-2.0
// Running an operation to its end, on whatever thread.
#ifndef MXN_ENGINE_RUN_H
#define MXN_ENGINE_RUN_H

#include "runtime/engine/engine_error.h"
#include "runtime/engine/engine_thread.h"
#include "base/atomic.h"

// One thread waits for one event, on its stack. The one who signals does not touch it afterwards.
typedef struct mxn_waiter {
    mxp_atomic_u32 word;  // MXN__WAITER_*
} mxn_waiter;
enum {
    MXN__WAITER_WAITING = 0,
    MXN__WAITER_SIGNALLED = 1,
    MXN__WAITER_SLEEPING = 2,
    MXN__WAITER_LEFT = 3  // by who waited: it is on the heap, and the one who signals frees it
};

void mxn__waiter_signal(mxn_waiter *waiter);
void mxn__waiter_wait(mxn_waiter *waiter);
// The part of a wait that burns time: false if it was signalled meanwhile.
bool mxn__waiter_begin_sleep(mxn_waiter *waiter);
static inline bool mxn__waiter_is_signalled(const mxn_waiter *waiter)
{
    return mxp_atomic_load_acquire(&waiter->word) == MXN__WAITER_SIGNALLED;
}

// A push under NaiveEngine, on the pusher's stack.
typedef struct mxn_naive_call {
    mxn_waiter over;
    mxn_error *error;
    const mxn_operation *op;  // holds its variables until it is over
    struct mxn_naive_call *outer;  // of the operation that pushed this one
    mxn_operation *deletions;  // of variables it holds: pushed when it is over
} mxn_naive_call;

// Runs an operation whose tickets are shown. `start_ticks`: when it began, 0 if the clock must
// tell.
void mxn__operation_run(mxn_thread *self, mxn_operation *op, uint64_t start_ticks);

// Frees an operation that was never queued, its deleter called.
void mxn__operation_drop(mxn_thread *self, mxn_operation *op);

// Hands operations released by a completion to their queues, or parks them on their next variable.
void mxn__released_queue(mxn_operation *chain);

// How many queue entries are not over.
uint64_t mxn__engine_pending(void);
// Returns when there is none.
void mxn__idle_wait(void);
// The same, or false once this thread is interrupted.
bool mxn__idle_wait_or_leave(void);
// Wakes those who wait for that, if it is so. Workers call it before they rest.
void mxn__idle_check(void);

#endif
