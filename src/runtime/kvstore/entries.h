// SPDX-License-Identifier: Apache-2.0
// The keys of a store. Private to kvstore/.
#ifndef MXN_KVSTORE_ENTRIES_H
#define MXN_KVSTORE_ENTRIES_H

#include "base/id_map.h"
#include "runtime/kvstore/kvstore.h"

typedef struct mxn_kv_entry {
    struct mxn_kv_entry *next;  // of all, the newest first
    struct mxn_kv_entry *same;  // another text of this hash
    char *text;  // null: the number is the key
    int number;
    uint32_t place;  // of a store over processes: how many keys came before
    mxn_array *stored;
    mxn_array *merged;  // where sums are made; null before the first
    mxn_array **copies;  // of the values that are added to the first
    uint32_t copy_count;
    // Where pushes are compressed, null before the first: what was not sent yet, and what is.
    mxn_array *residual, *words;
    // In the call that is under way: whether a value of it was seen, its group, its latest value.
    bool is_grouped;
    uint32_t group, last;
} mxn_kv_entry;

enum { MXN_KV_UNKNOWN, MXN_KV_NUMBERS, MXN_KV_TEXTS };

typedef struct mxn_kv_entries {
    int kind;  // MXN_KV_*
    mxp_id_map map;  // number, or hash of the text, to the first entry
    mxn_kv_entry *newest;
    int count;
} mxn_kv_entries;

// MXP_EINVAL: keys of the other kind than before, null texts.
int mxn__kv_check_kind(mxn_kv_entries *entries, const mxn_kv_keys *keys);
// Null: not there. The key is number `index` of the list.
mxn_kv_entry *mxn__kv_find(const mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index);
// A new entry with this stored array, which is the entry's from now on. MXP_ENOMEM: it is not.
int mxn__kv_add(mxn_kv_entries *entries, const mxn_kv_keys *keys, uint32_t index,
                mxn_array *stored);
void mxn__kv_fini(mxn_kv_entries *entries);
// The text of a key for messages: `buffer`, or the text itself.
const char *mxn__kv_key_text(const mxn_kv_keys *keys, uint32_t index, char buffer[32]);

// Lets go of what the sums are made in.
void mxn__kv_drop_sums(mxn_kv_entry *entry);

#endif
