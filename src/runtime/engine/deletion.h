// SPDX-License-Identifier: Apache-2.0
// The end of variables.
#ifndef MXN_ENGINE_DELETION_H
#define MXN_ENGINE_DELETION_H

#include "runtime/engine/engine_thread.h"

// Queues a deletion. If that cannot be done, waits until the variable is idle and deletes at once.
void mxn__deletion_push(mxn_thread *self, mxn_operation *op);

#endif
