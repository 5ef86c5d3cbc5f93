// SPDX-License-Identifier: Apache-2.0
// Making operations.
#ifndef MXN_ENGINE_OPERATION_MAKE_H
#define MXN_ENGINE_OPERATION_MAKE_H

#include "runtime/engine/engine_thread.h"

// An operation of `work`, not queued yet; null with the detail set. `flags` MXN__OP_*, `queue`
// MXN__QUEUE_*.
mxn_operation *mxn__operation_make(mxn_thread *self, const mxn_work *work, uint16_t flags,
                                   uint8_t queue);
// The same bare: `uses` places to be filled in.
mxn_operation *mxn__operation_take(mxn_thread *self, uint32_t uses, bool extra);

// For what is pushed many times. A model is in zeroed memory of mxn__operation_bytes(variables
// of `work`, true), and always has the extra part. It is not pushed itself, but copies of it are,
// each made new by mxn__operation_renew before every push: `argument` and `push_ticks` are of that
// push.
void mxn__operation_model(mxn_operation *model, const mxn_work *work, uint16_t flags);
void mxn__operation_renew(mxn_thread *self, mxn_operation *copy, const mxn_operation *model,
                          void *argument, uint64_t push_ticks);

// Whether an operation of `flags` pushed now will be recorded, and the mark and stamp of one that
// will.
bool mxn__push_is_recorded(uint16_t flags);
void mxn__push_stamp(mxn_thread *self, mxn_operation *op, uint64_t push_ticks);

#endif
