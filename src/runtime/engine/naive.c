// SPDX-License-Identifier: Apache-2.0
// Waiting here is looking again, with longer and longer breaks: it happens only when several
// threads push conflicting operations, which this engine, made for debugging, need not do fast.
#include "runtime/engine/naive.h"

#include "base/fail.h"
#include "runtime/engine/deletion.h"
#include "runtime/engine/push.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

enum { YIELDS = 1000, BREAK_US = 50 };

void mxn__naive_wait(bool (*pending)(const void *context), const void *context)
{
    const uint32_t spins = mxn__wait_spins();
    for (uint32_t i = 0; pending(context); i++) {
        if (i < spins) {
            mxp__cpu_relax();
        } else if (i < spins + YIELDS) {
            mxp__os_yield();
        } else {
            mxp__os_sleep_us(BREAK_US);
        }
    }
}

static bool not_ready(const void *op)
{
    return !mxn__operation_ready(op);
}

static bool holds(const mxn_naive_call *call, const mxn_use *needed)
{
    const mxn_operation *op = call->op;
    if (mxn__waiter_is_signalled(&call->over)) {  // an asynchronous one, and its function continues
        return false;
    }
    for (uint32_t i = 0; i < op->count; i++) {
        if (mxn__use_var(&op->uses[i]) == mxn__use_var(needed) &&
            (mxn__use_writes(&op->uses[i]) || mxn__use_writes(needed))) {
            return true;
        }
    }
    return false;
}

// Whether an operation this thread is inside of holds what `op` needs: that would wait for itself.
static bool holds_needed(const mxn_thread *self, const mxn_operation *op)
{
    for (const mxn_naive_call *call = self->naive_call; call != NULL; call = call->outer) {
        for (uint32_t i = 0; i < op->count; i++) {
            if (holds(call, &op->uses[i])) {
                return true;
            }
        }
    }
    return false;
}

bool mxn__naive_postpone(mxn_thread *self, mxn_operation *deletion)
{
    mxn_naive_call *holder = NULL;
    for (mxn_naive_call *call = self->naive_call; call != NULL; call = call->outer) {
        holder = holds(call, &deletion->uses[0]) ? call : holder;
    }
    if (holder == NULL) {
        return false;
    }
    deletion->next = holder->deletions;
    holder->deletions = deletion;
    return true;
}

static int refuse_needed(const mxn_thread *self, const mxn_operation *op)
{
    return !holds_needed(self, op)
               ? MXP_OK
               : mxp__fail(MXP_ESTATE, "an operation pushed one that needs a variable it holds "
                                       "itself: NaiveEngine cannot run it");
}

static int try_publish(mxn_operation *op)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    int code = mxn__uses_check_locked(op);
    if (code == MXP_OK) {
        mxn__operation_publish_locked(op);
        mxn__engine.pushed++;
    }
    mxn__spin_unlock(&mxn__engine.push_lock);
    return code;
}

static int publish(mxn_thread *self, mxn_operation *op)
{
    int code;
    while ((code = try_publish(op)) == MXN__CHECK_RENEW) {
        code = mxn__uses_renew(self, op);
        if (code != MXP_OK) {
            break;
        }
    }
    return code;
}

int mxn__naive_push(mxn_thread *self, mxn_operation *op, unsigned how)
{
    int code = self->naive_call != NULL ? refuse_needed(self, op) : MXP_OK;
    if (code == MXP_OK) {
        code = publish(self, op);
    }
    if (code != MXP_OK) {
        if ((how & MXN__PUSH_KEPT) == 0) {
            mxn__operation_drop(self, op);
        }
        return code;
    }
    mxn_naive_call call = {.op = op, .outer = self->naive_call};
    mxn__naive_wait(not_ready, op);
    op->next = (void *)&call;
    self->naive_call = &call;
    mxn__operation_run(self, op, 0);
    mxn__waiter_wait(&call.over);
    self->naive_call = call.outer;
    op->flags = 0;  // its deleter was called
    mxn__operation_drop(self, op);
    while (call.deletions != NULL) {
        mxn_operation *deletion = call.deletions;
        call.deletions = deletion->next;
        mxn__deletion_push(self, deletion);
    }
    return call.error != NULL ? mxn__error_deliver_this(call.error) : MXP_OK;
}
