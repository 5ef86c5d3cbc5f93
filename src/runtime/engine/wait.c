// SPDX-License-Identifier: Apache-2.0
// Synchronisation points: where errors of operations surface.
#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/engine/bulk.h"
#include "runtime/engine/callback.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/interrupt.h"
#include "runtime/engine/naive.h"
#include "runtime/engine/operation_record.h"
#include "runtime/engine/push.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

static int do_nothing(const mxn_run *run, void *argument)
{
    (void)run;
    (void)argument;
    return MXP_OK;
}

// What a wait's own operation does: whoever waits will say which one it was.
static int tell_waiter(const mxn_run *run, void *waiter)
{
    (void)run;
    ((mxn_waiter *)waiter)->operation = mxn__self->running->id;
    return MXP_OK;
}

// ---- records ----------------------------------------------------------------------------------

// begin_ticks 0: not to be recorded.
static mxp_wait begin_record(uint32_t what)
{
    const uint64_t now = mxp_enabled(MXN__RECORD_CLASSES) ? mxp_ticks() : 0;
    return (mxp_wait){.what = what, .begin_ticks = now};
}

static mxp_name name_of(uint32_t what)
{
    static mxp_atomic_u32 write_name, all_name;
    switch (what) {
    case MXP_WAIT_UNUSED:
        return mxp__span_name_once(&write_name, "operator", "WaitToWrite");
    case MXP_WAIT_ALL:
        return mxp__span_name_once(&all_name, "operator", "WaitForAll");
    default:
        return mxn__engine.name_wait;
    }
}

static void end_record(const mxn_thread *self, const mxn_waited *waited, mxp_wait *wait)
{
    if (__builtin_expect(wait->begin_ticks == 0, 1)) {
        return;
    }
    wait->name = name_of(wait->what);
    wait->ended_by = waited->operation;
    wait->flags |=
        (waited->slept ? MXP_WAIT_SLEPT : 0u) | (self->callback != NULL ? MXP_WAIT_IN_CUSTOM : 0u);
    wait->end_ticks = (wait->flags & MXP_WAIT_BLOCKED) != 0 ? 0 : wait->begin_ticks;
    mxp_wait_emit(MXN__RECORD_CLASSES, wait);
}

// ---- one variable -----------------------------------------------------------------------------

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

// The one that was taken, if there is one.
static int wait_for(mxn_waiter *taken, mxn_waiter *own, mxn_waited *waited)
{
    if (taken == NULL) {
        *waited = mxn__waiter_wait(own);
        return MXP_OK;
    }
    return mxn__waiter_wait_or_leave(taken, waited) ? MXP_OK : mxn__fail_interrupted();
}

// The push is the begin of the wait, unless that has pushed something before.
static int push_wait(mxn_thread *self, mxn_var *var, mxp_wait *wait, mxn_waited *waited)
{
    mxn_waiter own = {0};
    mxn_waiter *taken = mxn__waiter_take();
    const mxn_work work = {.function.sync = tell_waiter,
                           .push_ticks = wait->what == MXP_WAIT_WRITTEN ? wait->begin_ticks : 0,
                           .argument = taken != NULL ? taken : &own,
                           .reads = &var,
                           .read_count = 1,
                           .name = mxn__engine.name_wait};
    int code = push_now(self, &work, MXN__OP_WAIT);
    if (code == MXP_OK) {
        wait->flags |= MXP_WAIT_BLOCKED;
        mxn__callback_waits(self, true);
        code = wait_for(taken, &own, waited);
        mxn__callback_waits(self, false);
    } else if (taken != NULL) {
        mxn__waiter_give(taken);
    }
    return code;
}

static int wait_written(mxn_thread *self, mxn_var *var, mxp_wait *wait)
{
    int code = MXP_OK;
    mxn_waited waited = {0};
    const uint32_t position = mxn__push_position();
    if (mxn__var_write_pending(var)) {
        if (self->running != NULL || mxn__callback_holds(self, var, false)) {
            return refuse_inside();
        }
        if (mxn__engine_naive()) {
            wait->flags |= MXP_WAIT_BLOCKED;
            mxn__naive_wait(write_pending, var);
        } else {
            code = push_wait(self, var, wait, &waited);
        }
    }
    wait->variable = var->id;
    end_record(self, &waited, wait);
    return code != MXP_OK ? code : mxn__error_deliver(var, position);
}

int mxn_var_wait(mxn_var *var)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    mxp_wait wait = begin_record(MXP_WAIT_WRITTEN);
    return wait_written(self, var, &wait);
}

int mxn_var_error(mxn_var *var)
{
    return mxn__error_deliver(var, mxn__push_position());
}

int mxn_var_wait_write(mxn_var *var)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    mxp_wait wait = begin_record(MXP_WAIT_UNUSED);
    if (mxn__var_pending(var)) {
        if (self->running != NULL || mxn__callback_holds(self, var, true)) {
            return refuse_inside();
        }
        if (mxn__engine_naive()) {
            wait.flags = MXP_WAIT_BLOCKED;
            mxn__naive_wait(anything_pending, var);
        } else {
            const mxn_work work = {.function.sync = do_nothing, .writes = &var, .write_count = 1};
            code = push_now(self, &work, 0);
            if (code != MXP_OK) {
                return code;
            }
            mxn__var_count_write(var, -1);
        }
    }
    return wait_written(self, var, &wait);
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

int mxn_wait_all(void)
{
    mxn_thread *self;
    int code = begin_wait(&self);
    if (code != MXP_OK) {
        return code;
    }
    if (self->running == NULL && self->callback == NULL) {
        mxp_wait wait = begin_record(MXP_WAIT_ALL);
        mxn_waited waited = {0};
        wait.flags = wait.begin_ticks != 0 && mxn__engine_pending() != 0 ? MXP_WAIT_BLOCKED : 0u;
        mxn__stamps_begin_leaving();
        const bool idle = mxn__idle_wait_or_leave(&waited.slept);
        end_record(self, &waited, &wait);
        if (!idle) {
            mxn__stamps_stay();
            return mxn__fail_interrupted();
        }
        mxn__stamps_leave();
    } else if (mxn__engine_pending() > depth_of(self)) {
        return refuse_inside();
    }
    return mxn__error_deliver_first();
}
