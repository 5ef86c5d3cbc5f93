// SPDX-License-Identifier: Apache-2.0
// A deletion is an operation that writes the variable and whose deleter is its function; after it
// nothing can be pushed, so its end gives the variable's memory back.
#include "runtime/engine/deletion.h"

#include <assert.h>

#include "runtime/engine/bulk.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/naive.h"
#include "runtime/engine/push.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

enum { BREAK_US = 50 };

static void delete_unused(mxn_thread *self, mxn_var *var, void (*release)(void *), void *argument)
{
    if (release != NULL) {
        release(argument);
    }
    assert(!mxn__var_pending(var) && "a variable is freed while operations use it");
    mxn__var_end(self, var);
}

void mxn__deletion_push(mxn_thread *self, mxn_operation *op)
{
    mxn_var *var = mxn__use_var(&op->uses[0]);
    if (self->naive_call != NULL && mxn__naive_postpone(self, op)) {
        return;
    }
    int code;
    while ((code = mxn__operation_push(self, op, MXN__PUSH_INLINE | MXN__PUSH_KEPT)) ==
               MXP_ENOMEM &&
           mxn__var_pending(var)) {
        mxp__os_sleep_us(BREAK_US);
    }
    if (code == MXP_ENOMEM) {
        mxn__deletion_run(op);
        mxn__var_end(self, var);
    }
    if (code != MXP_OK) {
        mxn__operation_drop(self, op);
    }
}

static bool is_used(mxn_var *var)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    bool held = var->held != 0;
    mxn__spin_unlock(&mxn__engine.push_lock);
    return held || mxn__var_pending(var);
}

// For lack of memory until there is some or nothing uses the variable any more: then null. To wait
// for the second alone is not possible in an operation, which may be what uses it or what those
// that do are waiting for.
static mxn_operation *make_or_outlast(mxn_thread *self, const mxn_work *work)
{
    mxn_operation *op = NULL;
    while ((op = mxn__operation_make(self, work, MXN__OP_DELETE | MXN__OP_VAR_ENDS,
                                     MXN__QUEUE_COMPUTE)) == NULL &&
           is_used(work->writes[0])) {
        mxn__bulk_push(self);
        mxp__os_sleep_us(BREAK_US);
    }
    return op;
}

// Whether the deletion must wait for bulks that use the variable and were not pushed yet. It pushes
// none itself: bulks do not depend on when arrays are let go of.
static bool deferred(mxn_var *var, mxn_operation *op)
{
    mxn__spin_lock(&mxn__engine.push_lock);
    bool wait = var->held != 0 && var->deferred == NULL && var->visited != MXN__VISITED_DELETED;
    if (wait) {
        var->deferred = op;
    }
    mxn__spin_unlock(&mxn__engine.push_lock);
    return wait;
}

void mxn_var_delete(mxn_var *var, void (*release)(void *argument), void *argument, uint32_t device)
{
    if (var == NULL) {
        return;
    }
    mxn_thread *self = mxn__thread_at_last();
    if (mxn__engine_ensure() != MXP_OK) {
        // At the end of the process something may be under way all the same: it keeps its memory.
        if (!is_used(var)) {
            delete_unused(self, var, release, argument);
        }
        return;
    }
    const mxn_work work = {.argument = argument,
                           .deleter = release,
                           .writes = &var,
                           .write_count = 1,
                           .device = device,
                           .name = mxn__engine.name_delete};
    mxn_operation *op = make_or_outlast(self, &work);
    if (op == NULL) {
        delete_unused(self, var, release, argument);
    } else if (!deferred(var, op)) {
        mxn__deletion_push(self, op);
    }
}
