// SPDX-License-Identifier: Apache-2.0
// Synchronisation points: where errors of operations surface.
#include "base/fail.h"
#include "engine/bulk.h"
#include "engine/callback.h"
#include "engine/naive.h"
#include "engine/operation_record.h"
#include "engine/push.h"
#include "engine/run.h"
#include "engine/variable.h"

static int do_nothing(const mxn_run *run, void *argument)
{
    (void)run;
    (void)argument;
    return MXP_OK;
}

// What every wait does first.
static int begin_wait(mxn_thread **self)
{
    *self = mxn__thread_self();
    int code = *self != NULL ? mxn__engine_ensure() : MXP_ENOMEM;
    return code == MXP_OK ? mxn__bulk_push(*self) : code;
}

static int refuse_inside(void)
{
    return mxp__fail(MXP_ESTATE, "waiting inside an operation: it would wait for itself. Wait "
                                 "before pushing it, or let it read the variable");
}

static bool write_pending(const void *var)
{
    return mxn__var_write_pending(var);
}

static bool anything_pending(const void *var)
{
    return mxn__var_pending(var);
}

// Not through mxn_push: whether an operation is needed depends on time, and bulks must not.
static int push_now(mxn_thread *self, const mxn_work *work, uint16_t flags)
{
    mxn_operation *op = mxn__operation_make(self, work, flags, MXN__QUEUE_COMPUTE);
    return op != NULL ? mxn__operation_push(self, op, 0) : MXP_ENOMEM;
}

static int push_wait(mxn_thread *self, mxn_var *var)
{
    mxn_waiter waiter = {0};
    const mxn_work work = {.function.sync = do_nothing,
                           .argument = &waiter,
                           .reads = &var,
                           .read_count = 1,
                           .name = mxn__engine.name_wait};
    int code = push_now(self, &work, MXN__OP_WAIT);
    if (code == MXP_OK) {
        mxn__callback_waits(self, true);
        mxn__waiter_wait(&waiter);
        mxn__callback_waits(self, false);
    }
    return code;
}

int mxn_var_wait(mxn_var *var)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    if (mxn__var_write_pending(var)) {
        if (self->running != NULL || mxn__callback_holds(self, var, false)) {
            return refuse_inside();
        }
        if (mxn__engine_naive()) {
            mxn__naive_wait(write_pending, var);
        } else if ((code = push_wait(self, var)) != MXP_OK) {
            return code;
        }
    }
    return mxn__error_deliver(var);
}

int mxn_var_error(mxn_var *var)
{
    return mxn__error_deliver(var);
}

int mxn_var_wait_write(mxn_var *var)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    if (mxn__var_pending(var)) {
        if (self->running != NULL || mxn__callback_holds(self, var, true)) {
            return refuse_inside();
        }
        if (mxn__engine_naive()) {
            mxn__naive_wait(anything_pending, var);
        } else {
            const mxn_work work = {.function.sync = do_nothing, .writes = &var, .write_count = 1};
            code = push_now(self, &work, 0);
            if (code != MXP_OK) {
                return code;
            }
        }
    }
    return mxn_var_wait(var);
}

// ---- everything -------------------------------------------------------------------------------

static uint64_t depth_of(const mxn_thread *self)
{
    uint64_t depth = 0;
    for (const mxn_naive_call *call = self->naive_call; call != NULL; call = call->outer) {
        depth += !mxn__waiter_is_signalled(&call->over);
    }
    return depth;
}

void mxn__idle_wait(void)
{
    for (uint32_t i = 0; i < mxn__engine.spins; i++) {
        if (mxn__engine_pending() == 0) {
            return;
        }
        mxp__cpu_relax();
    }
    __atomic_fetch_add(&mxn__engine.idle_waiters, 1, __ATOMIC_SEQ_CST);
    mxn__engine_barrier();  // pairs with the fence in mxn__idle_check
    for (;;) {
        uint32_t word = __atomic_load_n(&mxn__engine.idle_word, __ATOMIC_ACQUIRE);
        if (mxn__engine_pending() == 0) {
            break;
        }
        mxp__os_word_wait(&mxn__engine.idle_word, word);
    }
    __atomic_fetch_sub(&mxn__engine.idle_waiters, 1, __ATOMIC_SEQ_CST);
}

int mxn_wait_all(void)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    if (self->running == NULL && self->callback == NULL) {
        mxn__stamps_begin_leaving();
        mxn__idle_wait();
        mxn__stamps_leave();
    } else if (mxn__engine_pending() > depth_of(self)) {
        return refuse_inside();
    }
    return mxn__error_deliver_first();
}
