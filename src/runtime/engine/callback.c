// SPDX-License-Identifier: Apache-2.0
// What a thread's pushes are about: its phase, and the callback of the program that it runs on
// behalf of an operation, outside of it. Callbacks nest where the engine runs everything inside the
// push.
#include "runtime/engine/callback.h"

#include <stdio.h>

#include "runtime/engine/engine_state.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

uint32_t mxn_phase_set(uint32_t phase)
{
    mxn_thread *self = mxn__thread_self();
    if (self == NULL) {
        return MXP_PHASE_NONE;
    }
    uint32_t before = self->phase;
    self->phase = phase & MXP_OP_PHASE_MASK;
    return before;
}

uint32_t mxn_phase(void)
{
    return mxn__self == NULL ? (uint32_t)MXP_PHASE_NONE : mxn__self->phase;
}

int mxn_callback_begin(mxn_callback *callback)
{
    mxn_thread *self = mxn__thread_self();
    if (self == NULL) {
        return MXP_ENOMEM;
    }
    callback->outer = self->callback;
    self->callback = callback;
    return MXP_OK;
}

int mxn_callback_end(const mxn_callback *callback)
{
    int error = mxn_bulk_flush();
    mxn__self->callback = callback->outer;
    return error;
}

static bool operation_holds(const mxn_operation *op, const mxn_var *var, bool any)
{
    for (uint32_t i = 0; op != NULL && i < op->count; i++) {
        if (mxn__use_var(&op->uses[i]) == var && (any || mxn__use_writes(&op->uses[i]))) {
            return true;
        }
    }
    return false;
}

bool mxn__callback_holds(const mxn_thread *self, const mxn_var *var, bool any)
{
    for (const mxn_callback *at = self->callback; at != NULL; at = at->outer) {
        if (operation_holds((const mxn_operation *)at->operation, var, any)) {
            return true;
        }
    }
    return false;
}

#ifndef NDEBUG
bool mxn_var_is_ours(const mxn_var *var, bool writes)
{
    const mxn_thread *self = mxn__self;
    if (self == NULL || self->running == NULL || operation_holds(self->running, var, !writes)) {
        return true;
    }
    for (const mxn_naive_call *call = self->naive_call; call != NULL; call = call->outer) {
        if (operation_holds(call->op, var, !writes)) {
            return true;
        }
    }
    return writes ? !mxn__var_pending(var) : !mxn__var_write_pending(var);
}
#endif

void mxn__callback_waits(const mxn_thread *self, bool begins)
{
    if (self->callback != NULL && self->callback->waits != NULL) {
        self->callback->waits(begins);
    }
}

// MXNet's arrays go with the last operation on them, on a worker: their ends are the callback's
// only where everything runs inside the push.
mxp_name mxn__callback_name(const mxn_callback *callback, const mxn_operation *op)
{
    enum { TEXT_MAX = 256 };
    bool ends_variable = (op->flags & MXN__OP_VAR_ENDS) != 0 && !mxn__engine_naive();
    if (callback->prefix == NULL || ends_variable) {
        return op->name;
    }
    char text[TEXT_MAX];
    snprintf(text, sizeof(text), "%s::%s", callback->prefix, mxp_name_text(op->name));
    return mxp_span_name("Custom Operator", text);
}
