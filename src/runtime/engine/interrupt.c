// SPDX-License-Identifier: Apache-2.0
// See interrupt.h. Whoever is asked may run code of the program, which may wait itself: it is not
// asked again meanwhile.
#include "runtime/engine/interrupt.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/engine/engine.h"

enum { ASK_MS = 40 };

typedef bool interrupt_function(void);

static MXP_ATOMIC(interrupt_function *) wanted;  // set after `asked`
static pthread_t asked;
static bool is_asking;  // of that thread, as is `spare`
static mxn_waiter *spare;

void mxn_interrupt_set(bool (*function)(void), uintptr_t thread)
{
    mxp_atomic_store_release(&wanted, NULL);
    asked = (pthread_t)thread;
    is_asking = false;
    mxp_atomic_store_release(&wanted, function);  // pairs with mxn__may_interrupt
}

bool mxn__may_interrupt(void)
{
    return mxp_atomic_load_acquire(&wanted) != NULL && pthread_equal(asked, pthread_self()) &&
           !is_asking;
}

bool mxn__is_interrupted(void)
{
    interrupt_function *function = mxp_atomic_load_acquire(&wanted);
    if (function == NULL) {
        return false;
    }
    is_asking = true;
    bool ends = function();
    is_asking = false;
    return ends;
}

int mxn__fail_interrupted(void)
{
    return mxp__fail(MXP_ESTATE, "the wait was interrupted; what it was for continues");
}

void mxn__word_wait_a_while(const mxp_atomic_u32 *word, uint32_t expected)
{
    mxp__os_word_wait_ms(word, expected, ASK_MS);
}

// ---- waiters ----------------------------------------------------------------------------------
mxn_waiter *mxn__waiter_take(void)
{
    if (!mxn__may_interrupt()) {
        return NULL;
    }
    mxn_waiter *waiter = spare != NULL ? spare : mxp__alloc(sizeof *waiter);
    spare = NULL;
    if (waiter != NULL) {
        *waiter = (mxn_waiter){0};
    }
    return waiter;
}

void mxn__waiter_give(mxn_waiter *waiter)
{
    if (spare == NULL && mxn__may_interrupt()) {
        spare = waiter;
    } else {
        mxp__free(waiter, sizeof *waiter);
    }
}

// False if it was signalled meanwhile.
static bool leave(mxn_waiter *waiter)
{
    uint32_t expected = MXN__WAITER_SLEEPING;
    return mxp_atomic_cas_acq_rel(&waiter->word, &expected, MXN__WAITER_LEFT);
}

bool mxn__waiter_wait_or_leave(mxn_waiter *waiter, mxn_waited *waited)
{
    bool ends = false;
    *waited = (mxn_waited){.slept = mxn__waiter_begin_sleep(waiter)};
    if (waited->slept) {
        while (!mxn__waiter_is_signalled(waiter) && !ends) {
            mxn__word_wait_a_while(&waiter->word, MXN__WAITER_SLEEPING);
            ends = !mxn__waiter_is_signalled(waiter) && mxn__is_interrupted();
        }
    }
    if (!(ends && leave(waiter))) {
        waited->operation = waiter->operation;
        mxn__waiter_give(waiter);
    }
    return !ends;
}
