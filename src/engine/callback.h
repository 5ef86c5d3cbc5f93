// SPDX-License-Identifier: Apache-2.0
// What operations pushed inside a callback are called in records.
#ifndef MXN_ENGINE_CALLBACK_H
#define MXN_ENGINE_CALLBACK_H

#include "engine/engine_thread.h"

mxp_name mxn__callback_name(const mxn_callback *callback, const mxn_operation *op);

#endif
