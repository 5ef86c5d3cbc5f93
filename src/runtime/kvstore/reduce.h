// SPDX-License-Identifier: Apache-2.0
// Sums of arrays. Private to kvstore/.
#ifndef MXN_KVSTORE_REDUCE_H
#define MXN_KVSTORE_REDUCE_H

#include "runtime/tensor/tensor.h"

// Pushes "KVStoreReduce": adds the `count` arrays in `more` to `sum`, one after the other. All have
// one shape and type.
int mxn__kv_reduce(mxn_array *sum, uint32_t count, mxn_array *const *more, int priority);

#endif
