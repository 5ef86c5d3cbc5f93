// SPDX-License-Identifier: Apache-2.0
// What kinds of stores are to kvstore.c: a table of functions. Private to kvstore/.
//
// Arguments are checked: there is at least one key, all of the store's kind, arrays have a shape.
#ifndef MXN_KVSTORE_STORE_OPS_H
#define MXN_KVSTORE_STORE_OPS_H

#include "runtime/kvstore/key_groups.h"

typedef struct mxn_kvstore_ops {
    void (*free)(mxn_kvstore *store);  // all but the head, which kvstore.c frees
    int (*rank)(const mxn_kvstore *store);
    int (*size)(const mxn_kvstore *store);
    // Keys that are new and differ.
    int (*init)(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values);
    // `groups` are of `values`, all keys known, all shapes right; of pushpull `outs` are, too.
    int (*push)(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values,
                int priority);
    int (*pull)(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *outs,
                int priority);
    // Null: a push and a pull. The keys of both lists are the same.
    int (*pushpull)(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values,
                    const mxn_kv_groups *out_groups, mxn_array *const *outs, int priority);
    int (*set_updater)(mxn_kvstore *store, mxn_kv_update update, void *context);
    int (*barrier)(mxn_kvstore *store);
    int (*set_compression)(mxn_kvstore *store, float threshold);  // null: refused
    int (*command)(mxn_kvstore *store, int number, const char *body);
    int (*profile)(mxn_kvstore *store, const mxn_kv_profile *command);
    int (*serve)(mxn_kvstore *store, mxn_kv_control control, void *context);
    int (*dead)(mxn_kvstore *store, int *count);
    bool (*has_servers)(const mxn_kvstore *store);  // null: no
} mxn_kvstore_ops;

// The head of every store.
struct mxn_kvstore {
    const mxn_kvstore_ops *ops;
    uint64_t bytes;  // of the whole struct
    char *type;  // in lower case
    mxn_kv_entries entries;
    bool is_pushing;  // an updater is running
};

int mxn__local_store_new(mxn_kvstore **store);
int mxn__worker_store_new(bool is_async, mxn_kvstore **store);

#endif
