// SPDX-License-Identifier: Apache-2.0
// The values of one call by key. Private to kvstore/.
#ifndef MXN_KVSTORE_KEY_GROUPS_H
#define MXN_KVSTORE_KEY_GROUPS_H

#include "runtime/kvstore/entries.h"

// Keys in the order in which they first come: `first` and `last` of an entry are its values, and
// `next` leads from one value to the next of its key.
typedef struct mxn_kv_groups {
    uint32_t count;
    mxn_kv_entry **entries;
    uint32_t *next;
    uint32_t *first, *values;  // of each entry: its first value, and how many it has
    uint32_t capacity;  // private
} mxn_kv_groups;

// `are_outs`: the arrays are written, for the error. MXP_EINVAL: a key that is not there, an array
// of another shape than the stored one.
int mxn__kv_group(const mxn_kv_entries *entries, const mxn_kv_keys *keys, mxn_array *const *values,
                  bool are_outs, mxn_kv_groups *groups);
void mxn__kv_groups_fini(mxn_kv_groups *groups);
// MXP_EINVAL: key number `index` is there, or comes before in the list.
int mxn__kv_check_new(const mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index);

#endif
