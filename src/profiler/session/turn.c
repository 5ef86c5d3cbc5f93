// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/turn.h"

#include <assert.h>

#include "profiler/inside.h"
#include "profiler/pages.h"

void mxp__lock_give_up(mxp_lock *lock)
{
    mxp__realloc_guard(true);
    mxp__unlock(lock);
}

void mxp__lock_take_back(mxp_lock *lock)
{
    mxp__lock(lock);
    mxp__realloc_guard(false);
}

void mxp__turn_init(mxp_turn *turn)
{
    turn->taken = false;
    pthread_cond_init(&turn->given, NULL);
}

void mxp__turn_take_locked(mxp_turn *turn, mxp_lock *lock)
{
    assert(mxp__lock_is_held(lock));
    assert(mxp__is_inside() && "who takes a turn could be cancelled");
    while (turn->taken) {
        mxp__lock_wait(lock, &turn->given);
    }
    turn->taken = true;
}

void mxp__turn_give_locked(mxp_turn *turn)
{
    assert(turn->taken && "a turn is given that nobody has");
    turn->taken = false;
    pthread_cond_broadcast(&turn->given);
}
