// SPDX-License-Identifier: Apache-2.0
// NaiveEngine: operations run inside their push. Tickets keep the pushes of several threads in
// order.
#ifndef MXN_ENGINE_NAIVE_H
#define MXN_ENGINE_NAIVE_H

#include "runtime/engine/engine_thread.h"

// Runs `op` to its completion and fails with its error. It is gone afterwards; one that could not
// be run is dropped, unless `how` (push.h) keeps it.
int mxn__naive_push(mxn_thread *self, mxn_operation *op, unsigned how);

// Keeps a deletion back until the operation is over that this thread is inside of and that holds
// the variable. False: there is none.
bool mxn__naive_postpone(mxn_thread *self, mxn_operation *deletion);

// Waits by looking again until `pending(context)` is false.
void mxn__naive_wait(bool (*pending)(const void *context), const void *context);

#endif
