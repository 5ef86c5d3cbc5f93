// SPDX-License-Identifier: Apache-2.0
// A waiter looks for about as long as a worker looks for work, or not at all, then sleeps on its
// word.
#include "runtime/engine/waiter.h"

#include "base/alloc.h"
#include "runtime/engine/engine_state.h"

void mxn__waiter_signal(mxn_waiter *waiter)
{
    uint32_t before = mxp_atomic_exchange_acq_rel(&waiter->word, MXN__WAITER_SIGNALLED);
    if (before == MXN__WAITER_SLEEPING) {
        mxp__os_word_wake(&waiter->word, false);
    } else if (before == MXN__WAITER_LEFT) {
        mxp__free(waiter, sizeof *waiter);
    }
}

bool mxn__waiter_begin_sleep(mxn_waiter *waiter)
{
    for (uint32_t i = mxn__wait_spins(); i > 0; i--) {
        if (mxn__waiter_is_signalled(waiter)) {
            return false;
        }
        mxp__cpu_relax();
    }
    uint32_t expected = MXN__WAITER_WAITING;
    return mxp_atomic_cas_acq_rel(&waiter->word, &expected, MXN__WAITER_SLEEPING);
}

mxn_waited mxn__waiter_wait(mxn_waiter *waiter)
{
    const bool slept = mxn__waiter_begin_sleep(waiter);
    while (!mxn__waiter_is_signalled(waiter)) {
        mxp__os_word_wait(&waiter->word, MXN__WAITER_SLEEPING);
    }
    return (mxn_waited){waiter->operation, slept};
}
