// SPDX-License-Identifier: Apache-2.0
// What all kinds of stores share: which kind a type is, checks of keys and arrays, and grouping.
#include "runtime/kvstore/kvstore.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/store_ops.h"

// ---- life --------------------------------------------------------------------------------------
static int make(const char *type, mxn_kvstore **store)
{
    if (strstr(type, "dist") != NULL) {
        return mxn__worker_store_new(strstr(type, "_async") != NULL, store);
    }
    if (strstr(type, "nccl") != NULL) {
        return mxp__fail(MXP_ENOTSUP, "compile with USE_NCCL=1 to use %s: this library has no GPUs",
                         type);
    }
    if (strncmp(type, "local", 5) != 0 && strncmp(type, "device", 6) != 0) {
        return mxp__fail(MXP_EINVAL,
                         "there is no key-value store '%s'; there are 'local', 'device', "
                         "'dist_sync', 'dist_device_sync' and 'dist_async'",
                         type);
    }
    return mxn__local_store_new(store);
}

int mxn_kvstore_new(const char *type, mxn_kvstore **store)
{
    *store = NULL;
    char *lower = mxp__strdup(type);
    if (lower == NULL) {
        return mxp__fail_memory("a key-value store");
    }
    for (char *at = lower; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    int error = make(lower, store);
    if (error != MXP_OK) {
        mxp__strfree(lower);
        return error;
    }
    (*store)->type = lower;
    return MXP_OK;
}

void mxn_kvstore_free(mxn_kvstore *store)
{
    if (store != NULL) {
        store->ops->free(store);
        mxn__kv_fini(&store->entries);
        mxp__strfree(store->type);
        mxp__free(store, store->bytes);
    }
}

const char *mxn_kvstore_type(const mxn_kvstore *store)
{
    return store->type;
}

int mxn_kvstore_rank(const mxn_kvstore *store)
{
    return store->ops->rank(store);
}

int mxn_kvstore_size(const mxn_kvstore *store)
{
    return store->ops->size(store);
}

int mxn_kvstore_set_updater(mxn_kvstore *store, mxn_kv_update update, void *context)
{
    return store->ops->set_updater(store, update, context);
}

int mxn_kvstore_barrier(mxn_kvstore *store)
{
    return store->ops->barrier(store);
}

int mxn_kvstore_set_compression(mxn_kvstore *store, const char *type, float threshold)
{
    if (store->ops->set_compression == NULL) {
        return mxp__fail(MXP_ENOTSUP,
                         "Gradient compression is not supported for this type of kvstore: what "
                         "'%s' sums is not sent",
                         store->type);
    }
    if (type == NULL) {
        return mxp__fail(MXP_EINVAL, "Required parameter type of string is not presented: '2bit'");
    }
    if (strcmp(type, "2bit") != 0) {
        return mxp__fail(MXP_EINVAL, "Unknown type for gradient compression %.40s: there is '2bit'",
                         type);
    }
    return store->ops->set_compression(store, threshold);
}

int mxn_kvstore_command(mxn_kvstore *store, int number, const char *body)
{
    return store->ops->command(store, number, body);
}

int mxn_kvstore_profile(mxn_kvstore *store, const mxn_kv_profile *command)
{
    return store->ops->profile(store, command);
}

int mxn_kvstore_serve(mxn_kvstore *store, mxn_kv_control control, void *context)
{
    return store->ops->serve(store, control, context);
}

bool mxn_kvstore_has_servers(const mxn_kvstore *store)
{
    return store->ops->has_servers != NULL && store->ops->has_servers(store);
}

int mxn_kvstore_dead(mxn_kvstore *store, int *count)
{
    return store->ops->dead(store, count);
}

// ---- values ------------------------------------------------------------------------------------
int mxn_kvstore_init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values)
{
    int error = mxn__kv_check_kind(&store->entries, keys);
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = mxn__kv_check_new(&store->entries, keys, i);
    }
    return error == MXP_OK && keys->count > 0 ? store->ops->init(store, keys, values) : error;
}

static int check_push(mxn_kvstore *store, const mxn_kv_keys *keys)
{
    int error = mxn__kv_check_kind(&store->entries, keys);
    return error == MXP_OK && store->is_pushing
               ? mxp__fail(MXP_ESTATE, "an updater must not push to the store that has called it")
               : error;
}

int mxn_kvstore_push(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                     int priority)
{
    mxn_kv_groups groups;
    int error = check_push(store, keys);
    if (error != MXP_OK || keys->count == 0) {
        return error;
    }
    error = mxn__kv_group(&store->entries, keys, values, false, &groups);
    if (error == MXP_OK) {
        store->is_pushing = true;
        error = store->ops->push(store, &groups, values, priority);
        store->is_pushing = false;
        mxn__kv_groups_fini(&groups);
    }
    return error;
}

int mxn_kvstore_pull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *outs,
                     int priority)
{
    mxn_kv_groups groups;
    int error = mxn__kv_check_kind(&store->entries, keys);
    if (error != MXP_OK || keys->count == 0) {
        return error;
    }
    error = mxn__kv_group(&store->entries, keys, outs, true, &groups);
    if (error == MXP_OK) {
        error = store->ops->pull(store, &groups, outs, priority);
        mxn__kv_groups_fini(&groups);
    }
    return error;
}

static int check_same_keys(const mxn_kv_groups *a, const mxn_kv_groups *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = a->entries[i] == b->entries[i];
    }
    return same ? MXP_OK
                : mxp__fail(MXP_EINVAL, "pushpull: values and outs must have the same keys, in one "
                                        "order");
}

static int pushpull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                    const mxn_kv_keys *out_keys, mxn_array *const *outs, int priority)
{
    mxn_kv_groups groups, of_outs;
    int error = mxn__kv_group(&store->entries, keys, values, false, &groups);
    if (error != MXP_OK) {
        return error;
    }
    error = mxn__kv_group(&store->entries, out_keys, outs, true, &of_outs);
    if (error == MXP_OK) {
        error = check_same_keys(&groups, &of_outs);
        error = error == MXP_OK
                    ? store->ops->pushpull(store, &groups, values, &of_outs, outs, priority)
                    : error;
        mxn__kv_groups_fini(&of_outs);
    }
    mxn__kv_groups_fini(&groups);
    return error;
}

int mxn_kvstore_pushpull(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values,
                         const mxn_kv_keys *out_keys, mxn_array *const *outs, int priority)
{
    if (store->ops->pushpull != NULL && keys->count > 0) {
        int error = check_push(store, keys);
        error = error == MXP_OK ? mxn__kv_check_kind(&store->entries, out_keys) : error;
        return error == MXP_OK ? pushpull(store, keys, values, out_keys, outs, priority) : error;
    }
    int error = mxn_kvstore_push(store, keys, values, priority);
    return error == MXP_OK ? mxn_kvstore_pull(store, out_keys, outs, priority) : error;
}
