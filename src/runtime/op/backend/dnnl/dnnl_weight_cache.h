// SPDX-License-Identifier: Apache-2.0
// Copies of weights in the library's layout, each valid for one version of its variable. Under the
// lock of dnnl_primitive.c. Private to op/backend/dnnl.
#ifndef MXN_OP_BACKEND_DNNL_DNNL_WEIGHT_CACHE_H
#define MXN_OP_BACKEND_DNNL_DNNL_WEIGHT_CACHE_H

#include "runtime/op/registry/declare.h"

enum { MXN_CACHED_WEIGHTS_MAX = 256 };

// Memory for the weight at `ref` as the problem number `problem` wants it; *valid: it holds this
// version already, else the caller fills it now. False: it cannot be cached (no memory, or the
// program writes the weight without the engine's knowledge).
bool mxn__cached_weight_find(const mxn_buffer_ref *ref, uint64_t problem, uint64_t bytes,
                             void **data, bool *valid);

#endif
