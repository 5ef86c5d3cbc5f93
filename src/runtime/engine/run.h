// SPDX-License-Identifier: Apache-2.0
// Running an operation to its end, on whatever thread.
#ifndef MXN_ENGINE_RUN_H
#define MXN_ENGINE_RUN_H

#include "runtime/engine/engine_error.h"
#include "runtime/engine/engine_thread.h"
#include "runtime/engine/variable.h"
#include "runtime/engine/waiter.h"

// A push under NaiveEngine, on the pusher's stack.
typedef struct mxn_naive_call {
    mxn_waiter over;
    mxn_error *error;
    const mxn_operation *op;  // holds its variables until it is over
    struct mxn_naive_call *outer;  // of the operation that pushed this one
    mxn_operation *deletions;  // of variables it holds: pushed when it is over
} mxn_naive_call;

// Runs an operation whose tickets are reached. `start_ticks`: when it began; 0 if the clock must
// tell, MXN__END_SLEPT if it must and the worker has slept until now.
void mxn__operation_run(mxn_thread *self, mxn_operation *op, uint64_t start_ticks);

// Frees an operation that was never queued, its deleter called.
void mxn__operation_drop(mxn_thread *self, mxn_operation *op);

// The variable goes: its error and its memory. Nothing uses it any more.
static inline void mxn__var_end(mxn_thread *self, mxn_var *var)
{
    mxn__error_forget(var);
    mxn__var_free(self, var);
}

// What a deletion does in place of a function.
void mxn__deletion_run(mxn_operation *op);

// Hands operations released by a completion to their queues, parks them on their next variable, or
// runs those that have no queue.
// In dispatch.c, above: the queues know how an operation runs, and no operation knows its queue.
void mxn__released_queue(mxn_operation *chain);

#endif
