// SPDX-License-Identifier: Apache-2.0
// The compute worker and its queue: operations in the order of their pushes, one consumer.
#ifndef MXN_ENGINE_COMPUTE_H
#define MXN_ENGINE_COMPUTE_H

#include "runtime/engine/operation.h"

// Under the push lock: makes sure that one more operation fits. MXP_ENOMEM.
int mxn__compute_reserve_locked(void);
// Under the push lock, after a reservation: the operation is the worker's.
void mxn__compute_put_locked(mxn_operation *op);
// After the lock: wakes the worker if it sleeps, starts it if it is not there.
void mxn__compute_wake(void);

// An operation that was parked and may run now. From any thread.
void mxn__compute_release(mxn_operation *op);

// Before the lock: waits a little while the queue is long and gets shorter. Never on a worker.
void mxn__compute_back_pressure(void);

// 0, or MXP_ENOMEM if there is no thread to be had. Starting twice does nothing.
int mxn__compute_start(void);
// Whether there is a worker that has not ended.
bool mxn__compute_is_there(void);
// Ends the worker after the last queued operation.
void mxn__compute_stop(void);
// In a forked child: the worker is not here.
void mxn__compute_fork_child(void);

#endif
