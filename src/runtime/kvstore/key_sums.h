// SPDX-License-Identifier: Apache-2.0
// Values of one key, summed on this machine. Private to kvstore/.
#ifndef MXN_KVSTORE_KEY_SUMS_H
#define MXN_KVSTORE_KEY_SUMS_H

#include "runtime/kvstore/key_groups.h"

// The sum of the values of group number `at`, on which there is a reference then: a single value of
// the stored type itself, else the entry's own sum. `keeps_stored`: the sum must not be made where
// the stored array is.
int mxn__kv_merge(const mxn_kv_groups *groups, uint32_t at, mxn_array *const *values,
                  const mxn_push_options *options, bool keeps_stored, mxn_array **merged);

#endif
