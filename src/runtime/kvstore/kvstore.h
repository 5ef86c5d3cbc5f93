// SPDX-License-Identifier: Apache-2.0
// Folder runtime/kvstore: arrays by key, summed over devices, with an updater.
//
// A store has one array for each key. Values that are pushed are summed; the sum replaces the
// stored array, or an updater makes the new one of both. All runs through the engine: what is
// pulled is what was pushed before.
//
// Keys are numbers or texts, in one store always the same kind: the first call decides. A key that
// is in a call several times has several values, which are summed in their order; keys take their
// turns in the order in which they first come.
//
// One thread at a time uses a store. Arrays are the caller's, who may release them once a call
// returns. Functions that can fail return 0 or a negative MXP_E code with the detail set, which
// names the key; then nothing was changed, but for the keys before one whose operations could not
// be pushed.
#ifndef MXN_KVSTORE_KVSTORE_H
#define MXN_KVSTORE_KVSTORE_H

#include <stdint.h>

#include "runtime/tensor/tensor.h"

typedef struct mxn_kvstore mxn_kvstore;

// One of the lists is null.
typedef struct mxn_kv_keys {
    uint32_t count;
    const int *numbers;
    const char *const *texts;
} mxn_kv_keys;

// Makes the new stored array of what was received and the old one; both are valid for the call.
// `text` is null in a store of numbers; in one of texts `number` counts keys as they were made.
typedef void (*mxn_kv_update)(const char *text, int number, mxn_array *received, mxn_array *stored,
                              void *context);

// `type` in any case: "local..." or "device...", which differ on GPUs alone. MXP_ENOTSUP: stores
// over several processes. MXP_EINVAL: unknown; names those there are.
int mxn_kvstore_new(const char *type, mxn_kvstore **store);
void mxn_kvstore_free(mxn_kvstore *store);  // null does nothing
const char *mxn_kvstore_type(const mxn_kvstore *store);  // in lower case; lives as long
int mxn_kvstore_rank(const mxn_kvstore *store);
int mxn_kvstore_size(const mxn_kvstore *store);  // of the group: 1

// Keeps copies, in pinned memory. MXP_EINVAL: a key that is there.
int mxn_kvstore_init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values);
// A single value of the stored type is not copied: without an updater it becomes the stored array,
// whose memory it shares. MXP_EINVAL: a key that is not there; a value of another shape.
int mxn_kvstore_push(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                     int priority);
// Copies the stored array to each of `outs`, converting to its type.
int mxn_kvstore_pull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *outs,
                     int priority);
// Null: what is pushed replaces what is stored. It is called on the thread that pushes, and must
// not push to this store itself: MXP_ESTATE.
void mxn_kvstore_set_updater(mxn_kvstore *store, mxn_kv_update update, void *context);

#endif
