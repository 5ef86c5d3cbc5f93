// SPDX-License-Identifier: Apache-2.0
// Callbacks, as pushes and waits see them: what operations pushed inside one are called in records.
#ifndef MXN_ENGINE_CALLBACK_H
#define MXN_ENGINE_CALLBACK_H

#include "runtime/engine/engine_thread.h"

// Whether an operation the thread runs a callback of writes the variable, or, with `any`, uses it.
bool mxn__callback_holds(const mxn_thread *self, const mxn_var *var, bool any);

// Tells the thread's callback that a wait begins or has ended.
void mxn__callback_waits(const mxn_thread *self, bool begins);

mxp_name mxn__callback_name(const mxn_callback *callback, const mxn_operation *op);

#endif
