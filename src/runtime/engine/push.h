// SPDX-License-Identifier: Apache-2.0
// Making operations and handing them over.
#ifndef MXN_ENGINE_PUSH_H
#define MXN_ENGINE_PUSH_H

#include "runtime/engine/engine_thread.h"

// An operation of `work`, not queued yet; null with the detail set. `flags` MXN__OP_*, `queue`
// MXN__QUEUE_*.
mxn_operation *mxn__operation_make(mxn_thread *self, const mxn_work *work, uint16_t flags,
                                   uint8_t queue);
// The same bare: `uses` places to be filled in.
mxn_operation *mxn__operation_take(mxn_thread *self, uint32_t uses, bool extra);

enum {
    MXN__PUSH_INLINE = 1,  // runs it here if it is ready
    MXN__PUSH_KEPT = 2  // what could not be queued stays the caller's
};
// Queues `op`, or, with NaiveEngine, runs it. On failure it is dropped, unless KEPT.
int mxn__operation_push(mxn_thread *self, mxn_operation *op, unsigned how);

// Under the push lock. Refuses variables that are deleted or there twice; marks them. Or answers
// MXN__CHECK_RENEW: mxn__uses_renew must be called first, without the lock.
enum { MXN__CHECK_RENEW = 1 };  // errors are below 0
int mxn__uses_check_locked(const mxn_operation *op);
int mxn__uses_renew(mxn_thread *self, const mxn_operation *op);
// Under the push lock, after the check and the reservations: takes tickets and an id, queues.
void mxn__operation_publish_locked(mxn_operation *op);
// Under the push lock: takes an id for the records.
uint32_t mxn__operation_id_locked(void);

// Whether an operation of `flags` pushed now will be recorded, and the mark and stamp of one that
// will.
bool mxn__push_is_recorded(uint16_t flags);
void mxn__push_stamp(mxn_thread *self, mxn_operation *op, uint64_t push_ticks);

#endif
