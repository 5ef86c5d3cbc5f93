// SPDX-License-Identifier: Apache-2.0
// A turn: the right of one thread to use a resource for a long time without the session's lock. The
// thread that has the turn gives the lock up while it formats or writes. It is inside of a call all
// the time (profiler/inside.h), so it is not cancelled before it gives the turn.
#ifndef MXP_SESSION_TURN_H
#define MXP_SESSION_TURN_H

#include <pthread.h>
#include <stdbool.h>

#include "base/lock.h"

typedef struct mxp_turn {
    pthread_cond_t given;  // with the session's lock
    bool taken;
} mxp_turn;

// Release and reacquire the session's lock around slow work.
void mxp__lock_give_up(mxp_lock *lock);
void mxp__lock_take_back(mxp_lock *lock);

void mxp__turn_init(mxp_turn *turn);  // also in a forked child, whose parent may have taken it
void mxp__turn_take_locked(mxp_turn *turn, mxp_lock *lock);  // waits with the lock given up
void mxp__turn_give_locked(mxp_turn *turn);

#endif
