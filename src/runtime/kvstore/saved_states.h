// SPDX-License-Identifier: Apache-2.0
// States of an optimizer as bytes, between owners and worker 0. Private to the store over
// processes.
#ifndef MXN_KVSTORE_SAVED_STATES_H
#define MXN_KVSTORE_SAVED_STATES_H

#include "base/strbuf.h"
#include "runtime/tensor/tensor.h"

enum { MXN_KV_SAVED_ARRAYS = 8 };

// Of a key, or of a part of it.
typedef struct mxn_kv_saved {
    char *key;
    uint32_t updates;
    bool copy_first;  // the first array is a float32 copy of the weight
    bool
        is_unused;  // loaded, of the whole key, and not updated since: what was updated counts more
    uint64_t first;  // of the part's elements, within the key
    uint32_t count;
    mxn_array *arrays[MXN_KV_SAVED_ARRAYS];
} mxn_kv_saved;

typedef struct mxn_kv_saved_list {
    uint32_t count;
    mxn_kv_saved *items;
} mxn_kv_saved_list;

// Appends one. Waits for its arrays.
int mxn__kv_saved_write(const mxn_kv_saved *saved, mxp_strbuf *bytes);
// Reads what was appended, and adds it to the list, whose arrays are the list's. MXP_EFORMAT: not
// such bytes; then the list is as it was.
int mxn__kv_saved_read(const void *bytes, size_t length, mxn_kv_saved_list *list);
void mxn__kv_saved_fini(mxn_kv_saved_list *list);

#endif
