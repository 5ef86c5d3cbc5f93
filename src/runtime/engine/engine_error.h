// SPDX-License-Identifier: Apache-2.0
// Errors of operations on their way to a synchronisation point. An error is shared by the variables
// it has spread to; delivering it once clears it for all of them. For operations that were pushed
// before the wait that delivers it, it is still there: whether one after a failed one is skipped
// depends on the order of pushes and waits, never on when a worker comes to it.
#ifndef MXN_ENGINE_ENGINE_ERROR_H
#define MXN_ENGINE_ENGINE_ERROR_H

#include "base/atomic.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/operation.h"

typedef struct mxn_error mxn_error;

// The calling thread's last error as an error of an operation that failed with `code`; it is now
// what the next mxn_wait_all reports, unless something failed before. Never null: without memory it
// is one that says so.
mxn_error *mxn__error_new(int code);

// The error `op` inherits from its variables, with a reference, or null. `op` is about to run, or
// has run: those that it overwrites have no error any more.
mxn_error *mxn__error_inherited(const mxn_operation *op);
// Gives it to all variables `op` writes, but resources, and those that it keeps if it was skipped.
void mxn__error_spread(mxn_error *error, const mxn_operation *op, bool skipped);
void mxn__error_release(mxn_error *error);  // null is fine

// Where the next push is in the order of all.
static inline uint32_t mxn__push_position(void)
{
    return mxp_atomic_load(&mxn__engine.next_id);
}
// Fails with the error of `var` and clears it for what is pushed from `position` on, or 0.
int mxn__error_deliver(mxn_var *var, uint32_t position);
// Fails with the first error there is and clears all, or 0.
int mxn__error_deliver_first(void);
// Fails with `error` itself and clears it; drops the reference.
int mxn__error_deliver_this(mxn_error *error);

// The variable goes: drops its reference.
void mxn__error_forget(mxn_var *var);

void mxn__errors_fork_prepare(void);
void mxn__errors_fork_parent(void);
void mxn__errors_fork_child(bool prepared);

#endif
