// SPDX-License-Identifier: Apache-2.0
// Waits that a front end may end. One thread, that which handles a program's signals, is asked now
// and then whether to continue; all others wait as long as it takes.
#ifndef MXN_ENGINE_INTERRUPT_H
#define MXN_ENGINE_INTERRUPT_H

#include "runtime/engine/waiter.h"

// Whether this thread is asked, and is not being asked right now.
bool mxn__may_interrupt(void);
// Asks; true: the wait is to end. To be called where nothing is locked.
bool mxn__is_interrupted(void);
// MXP_ESTATE with the detail line.
int mxn__fail_interrupted(void);

// Sleeps while *word is `expected`, for as long as a thread may go without being asked.
void mxn__word_wait_a_while(const mxp_atomic_u32 *word, uint32_t expected);

// A waiter that may be left before it is signalled: then whoever signals it frees it. Null where
// this thread cannot be interrupted, or without memory.
mxn_waiter *mxn__waiter_take(void);
// As mxn__waiter_wait; false: it was left. The waiter is gone afterwards.
bool mxn__waiter_wait_or_leave(mxn_waiter *waiter, mxn_waited *waited);
// One that nobody will signal.
void mxn__waiter_give(mxn_waiter *waiter);

#endif
