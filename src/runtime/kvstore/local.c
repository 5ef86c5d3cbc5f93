// SPDX-License-Identifier: Apache-2.0
// The store of one process.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/key_sums.h"
#include "runtime/kvstore/store_ops.h"

typedef struct local_store {
    mxn_kvstore head;
    mxn_kv_update update;  // may be null
    void *context;
} local_store;

static local_store *local_of(mxn_kvstore *store)
{
    return (local_store *)store;
}

static void end(mxn_kvstore *store)
{
    (void)store;
}

static int rank(const mxn_kvstore *store)
{
    (void)store;
    return 0;
}

static int size(const mxn_kvstore *store)
{
    (void)store;
    return 1;
}

static int set_updater(mxn_kvstore *store, mxn_kv_update update, void *context)
{
    local_of(store)->update = update;
    local_of(store)->context = context;
    return MXP_OK;
}

// ---- values ------------------------------------------------------------------------------------
static int init_one(mxn_kvstore *store, const mxn_kv_keys *keys, uint32_t index, mxn_array *value)
{
    char buffer[32];
    mxn_array *stored = NULL;
    const mxn_tag tag = {.name = mxp_string(mxn__kv_key_text(keys, index, buffer)),
                         .scope = mxp_scope_current(),
                         .category = MXN_MEMORY_KVSTORE};
    int error = mxn_array_new(&value->shape, value->dtype, (mxn_context){MXN_CPU_PINNED, 0}, &tag,
                              true, &stored);
    if (error == MXP_OK) {
        error = mxn_array_copy(value, stored, NULL);
    }
    if (error == MXP_OK) {
        error = mxn__kv_add(&store->entries, keys, index, stored);
    }
    if (error != MXP_OK) {
        mxn_array_release(stored);
    }
    return error;
}

static int init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = init_one(store, keys, i, values[i]);
    }
    return error;
}

static int push_one(local_store *store, const mxn_kv_groups *groups, uint32_t at,
                    mxn_array *const *values, const mxn_push_options *options)
{
    mxn_kv_entry *entry = groups->entries[at];
    mxn_array *merged = NULL;
    int error = mxn__kv_merge(groups, at, values, options, store->update != NULL, &merged);
    if (error != MXP_OK) {
        return error;
    }
    if (store->update != NULL) {
        store->update(entry->text, entry->number, merged, entry->stored, store->context);
        mxn_array_release(merged);
    } else {
        mxn_array_release(entry->stored);
        entry->stored = merged;
    }
    return MXP_OK;
}

static int push(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values,
                int priority)
{
    const mxn_push_options options = {.priority = priority};
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < groups->count; i++) {
        error = push_one(local_of(store), groups, i, values, &options);
    }
    return error;
}

static int pull(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *outs,
                int priority)
{
    (void)store;
    const mxn_push_options options = {.priority = priority};
    int error = MXP_OK;
    for (uint32_t i = 0; i < groups->count; i++) {
        uint32_t out = groups->first[i];
        for (uint32_t copy = 0; error == MXP_OK && copy < groups->values[i]; copy++) {
            error = mxn_array_copy(groups->entries[i]->stored, outs[out], &options);
            out = groups->next[out];
        }
    }
    return error;
}

// ---- groups of processes -----------------------------------------------------------------------
static int barrier(mxn_kvstore *store)
{
    (void)store;
    return MXP_OK;
}

static int command(mxn_kvstore *store, int number, const char *body)
{
    (void)store, (void)number, (void)body;
    return MXP_OK;
}

static int profile(mxn_kvstore *store, const mxn_kv_profile *of)
{
    (void)store, (void)of;
    return mxp__fail(MXP_ENOTSUP,
                     "profile_process 'server': a key-value store of one process has no servers");
}

static int serve(mxn_kvstore *store, mxn_kv_control control, void *context)
{
    (void)store, (void)control, (void)context;
    return MXP_OK;
}

static int dead(mxn_kvstore *store, int *count)
{
    (void)store;
    *count = 0;
    return MXP_OK;
}

int mxn__local_store_new(mxn_kvstore **store)
{
    static const mxn_kvstore_ops ops = {.free = end,
                                        .rank = rank,
                                        .size = size,
                                        .init = init,
                                        .push = push,
                                        .pull = pull,
                                        .set_updater = set_updater,
                                        .barrier = barrier,
                                        .command = command,
                                        .profile = profile,
                                        .serve = serve,
                                        .dead = dead};
    local_store *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a key-value store");
    }
    made->head.ops = &ops;
    made->head.bytes = sizeof *made;
    *store = &made->head;
    return MXP_OK;
}
