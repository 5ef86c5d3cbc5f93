// SPDX-License-Identifier: Apache-2.0
// Handing operations over.
#ifndef MXN_ENGINE_PUSH_H
#define MXN_ENGINE_PUSH_H

#include "runtime/engine/engine_thread.h"
#include "runtime/engine/operation_make.h"

enum {
    MXN__PUSH_INLINE = 1,  // runs it here if it is ready
    MXN__PUSH_KEPT = 2  // what could not be queued stays the caller's
};
// Queues `op`, or, with NaiveEngine, runs it. On failure it is dropped, unless KEPT.
int mxn__operation_push(mxn_thread *self, mxn_operation *op, unsigned how);

// Under the push lock. Refuses variables that are deleted or there twice; notes the visit. Or
// answers MXN__CHECK_RENEW: mxn__uses_renew must be called first, without the lock.
enum { MXN__CHECK_RENEW = 1 };  // errors are below 0
int mxn__uses_check_locked(const mxn_operation *op);
int mxn__uses_renew(mxn_thread *self, const mxn_operation *op);
// Under the push lock, after the check and the reservations: takes tickets and an id, queues.
void mxn__operation_publish_locked(mxn_operation *op);
// What mxn_push says of a work, with the detail set, and the MXN__OP_* of one that is right.
int mxn__work_check(const mxn_work *work);
uint16_t mxn__work_flags(const mxn_work *work);
// Under the push lock: takes an id for the records.
uint32_t mxn__operation_id_locked(void);

#endif
