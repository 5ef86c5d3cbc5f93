// SPDX-License-Identifier: Apache-2.0
// One thread waits for one event.
#ifndef MXN_ENGINE_WAITER_H
#define MXN_ENGINE_WAITER_H

#include <stdbool.h>

#include "base/atomic.h"

// On the stack of the thread that waits. Do not touch it after signalling it.
typedef struct mxn_waiter {
    mxp_atomic_u32 word;  // MXN__WAITER_*
    uint32_t operation;  // id of the one that signals, written before it does; 0: unknown
} mxn_waiter;

// What is known of a wait that is over, for its record.
typedef struct mxn_waited {
    uint32_t operation;  // that ended it, 0: unknown
    bool slept;
} mxn_waited;
enum {
    MXN__WAITER_WAITING = 0,
    MXN__WAITER_SIGNALLED = 1,
    MXN__WAITER_SLEEPING = 2,
    MXN__WAITER_LEFT = 3  // by who waited: it is on the heap, and the one who signals frees it
};

void mxn__waiter_signal(mxn_waiter *waiter);
mxn_waited mxn__waiter_wait(mxn_waiter *waiter);
// The part of a wait that burns time: false if it was signalled meanwhile.
bool mxn__waiter_begin_sleep(mxn_waiter *waiter);
static inline bool mxn__waiter_is_signalled(const mxn_waiter *waiter)
{
    return mxp_atomic_load_acquire(&waiter->word) == MXN__WAITER_SIGNALLED;
}

#endif
