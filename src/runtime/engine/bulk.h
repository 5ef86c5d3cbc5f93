// SPDX-License-Identifier: Apache-2.0
// Bulks: synchronous operations a thread pushes in a row, collected and queued as one.
#ifndef MXN_ENGINE_BULK_H
#define MXN_ENGINE_BULK_H

#include "runtime/engine/engine_thread.h"

// Whether a bulk takes work like this.
bool mxn__bulk_takes(const mxn_work *work);
// Adds it; pushes the bulk before if it does not fit, and after if it is full. Consumes the
// argument of `work` in any case.
int mxn__bulk_add(mxn_thread *self, const mxn_work *work, uint16_t flags, uint8_t queue);
// Pushes what was collected.
int mxn__bulk_push(mxn_thread *self);

// ---- what collected bulks and templates have in common ----------------------------------------

// Under the push lock: gives the bulk the union of its members' variables, each written if any
// member writes it; it has space for all of them. Returns how many they are. `renew`: some of them
// must be renewed.
uint32_t mxn__bulk_unite_locked(mxn_operation *bulk, const mxn_operation *members, bool *renew);
// What the bulk's own record says, when it is pushed: `flags` beside those of every bulk;
// `push_ticks` 0: now.
void mxn__bulk_fill(mxn_thread *self, mxn_operation *bulk, uint16_t flags, uint64_t push_ticks);
// Takes one from `held` of each variable of `op`, and pushes the deletions that waited for it.
void mxn__bulk_let_go(mxn_thread *self, const mxn_operation *op);

#endif
