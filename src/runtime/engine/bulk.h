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

#endif
