// SPDX-License-Identifier: Apache-2.0
// A turn: what one thread at a time may use, for as long as it takes, without the session's lock.
// Who has it gives the lock up while it formats or writes.
#ifndef MXP_SESSION_TURN_H
#define MXP_SESSION_TURN_H

#include <pthread.h>
#include <stdbool.h>

#include "base/lock.h"

typedef struct mxp_turn {
    pthread_cond_t given;  // with the session's lock
    bool taken;
    int cancel_state;  // of the thread that has it: it is not cancelled before it gives it
} mxp_turn;

// The session's lock while something that lasts is done without it.
void mxp__lock_give_up(mxp_lock *lock);
void mxp__lock_take_back(mxp_lock *lock);

void mxp__turn_init(mxp_turn *turn);  // also in a forked child, whose parent may have taken it
void mxp__turn_take_locked(mxp_turn *turn, mxp_lock *lock);  // waits with the lock given up
void mxp__turn_give_locked(mxp_turn *turn);

#endif
