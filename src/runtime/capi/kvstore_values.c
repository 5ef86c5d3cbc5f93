// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that move values into key-value stores and out of them: checks and forwarding.
// Each comes with keys that are numbers and, in Ex, with texts.
#include <mxnet/c_api.h>

#include "runtime/capi/kvstore_handle.h"

static mxn_kv_keys numbers(uint32_t count, const int *keys)
{
    return (mxn_kv_keys){count, keys, NULL};
}

static mxn_kv_keys texts(uint32_t count, const char **keys)
{
    return (mxn_kv_keys){count, NULL, keys};
}

static int check_arrays(const mxn_kv_keys *keys, NDArrayHandle *vals, const char *what)
{
    if (keys->count == 0) {
        return MXP_OK;
    }
    int error = mxn__check_given(
        keys->texts != NULL ? (const void *)keys->texts : (const void *)keys->numbers, "keys");
    if (error == MXP_OK) {
        error = mxn__check_given(vals, what);
    }
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        error = mxn_array_check(vals[i], what);
    }
    return error;
}

static int check(KVStoreHandle handle, const mxn_kv_keys *keys, NDArrayHandle *vals,
                 mxn_kvstore **store)
{
    int error = mxn__kvstore_get(handle, store);
    return error == MXP_OK ? check_arrays(keys, vals, "vals") : error;
}

// ---- one list ----------------------------------------------------------------------------------
static int init(KVStoreHandle handle, mxn_kv_keys keys, NDArrayHandle *vals)
{
    mxn_kvstore *store = NULL;
    int error = check(handle, &keys, vals, &store);
    return error == MXP_OK ? mxn_kvstore_init(store, &keys, (mxn_array *const *)vals) : error;
}

static int push(KVStoreHandle handle, mxn_kv_keys keys, NDArrayHandle *vals, int priority)
{
    mxn_kvstore *store = NULL;
    int error = check(handle, &keys, vals, &store);
    return error == MXP_OK ? mxn_kvstore_push(store, &keys, (mxn_array *const *)vals, priority)
                           : error;
}

static int pull(KVStoreHandle handle, mxn_kv_keys keys, NDArrayHandle *vals, int priority)
{
    mxn_kvstore *store = NULL;
    int error = check(handle, &keys, vals, &store);
    return error == MXP_OK ? mxn_kvstore_pull(store, &keys, (mxn_array *const *)vals, priority)
                           : error;
}

static int pull_rows(KVStoreHandle handle, mxn_kv_keys keys, NDArrayHandle *vals)
{
    mxn_kvstore *store = NULL;
    int error = check(handle, &keys, vals, &store);
    return error != MXP_OK
               ? error
               : mxp__fail(MXP_ENOTSUP, "Expected row_sparse storage type for row_sparse_pull "
                                        "values, but detected storage type 0: arrays are dense");
}

int MXKVStoreInit(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals)
{
    MXN_API_CALL();
    return mxn__api_end(&call, init(handle, numbers(num, keys), vals));
}

int MXKVStoreInitEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals)
{
    MXN_API_CALL();
    return mxn__api_end(&call, init(handle, texts(num, keys), vals));
}

int MXKVStorePush(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, push(handle, numbers(num, keys), vals, priority));
}

int MXKVStorePushEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, push(handle, texts(num, keys), vals, priority));
}

int MXKVStorePull(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                  int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, pull(handle, numbers(num, keys), vals, priority));
}

int MXKVStorePullEx(KVStoreHandle handle, uint32_t num, const char **keys, NDArrayHandle *vals,
                    int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, pull(handle, texts(num, keys), vals, priority));
}

int MXKVStorePullWithSparse(KVStoreHandle handle, uint32_t num, const int *keys,
                            NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    MXN_API_CALL();
    (void)ignore_sparse;
    return mxn__api_end(&call, pull(handle, numbers(num, keys), vals, priority));
}

int MXKVStorePullWithSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                              NDArrayHandle *vals, int priority, bool ignore_sparse)
{
    MXN_API_CALL();
    (void)ignore_sparse;
    return mxn__api_end(&call, pull(handle, texts(num, keys), vals, priority));
}

int MXKVStorePullRowSparse(KVStoreHandle handle, uint32_t num, const int *keys, NDArrayHandle *vals,
                           const NDArrayHandle *row_ids, int priority)
{
    MXN_API_CALL();
    (void)row_ids;
    (void)priority;
    return mxn__api_end(&call, pull_rows(handle, numbers(num, keys), vals));
}

int MXKVStorePullRowSparseEx(KVStoreHandle handle, uint32_t num, const char **keys,
                             NDArrayHandle *vals, const NDArrayHandle *row_ids, int priority)
{
    MXN_API_CALL();
    (void)row_ids;
    (void)priority;
    return mxn__api_end(&call, pull_rows(handle, texts(num, keys), vals));
}

// ---- two lists ---------------------------------------------------------------------------------
static int push_and_pull(KVStoreHandle handle, mxn_kv_keys vkeys, mxn_kv_keys okeys,
                         NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    mxn_kvstore *store = NULL;
    int error = check_arrays(&okeys, outs, "outs");
    error = error == MXP_OK ? check(handle, &vkeys, vals, &store) : error;
    return error == MXP_OK ? mxn_kvstore_pushpull(store, &vkeys, (mxn_array *const *)vals, &okeys,
                                                  (mxn_array *const *)outs, priority)
                           : error;
}

static int init_and_pull(KVStoreHandle handle, mxn_kv_keys vkeys, mxn_kv_keys okeys,
                         NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    int error = check_arrays(&okeys, outs, "outs");
    error = error == MXP_OK ? init(handle, vkeys, vals) : error;
    return error == MXP_OK ? pull(handle, okeys, outs, priority) : error;
}

int MXKVStorePushPull(KVStoreHandle handle, mx_uint vnum, const int *vkeys, mx_uint onum,
                      const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, push_and_pull(handle, numbers(vnum, vkeys), numbers(onum, okeys),
                                             vals, outs, priority));
}

int MXKVStorePushPullEx(KVStoreHandle handle, mx_uint vnum, const char **vkeys, mx_uint onum,
                        const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXN_API_CALL();
    return mxn__api_end(
        &call, push_and_pull(handle, texts(vnum, vkeys), texts(onum, okeys), vals, outs, priority));
}

int MXKVStoreBroadcast(KVStoreHandle handle, mx_uint vnum, const int *vkeys, mx_uint onum,
                       const int *okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXN_API_CALL();
    return mxn__api_end(&call, init_and_pull(handle, numbers(vnum, vkeys), numbers(onum, okeys),
                                             vals, outs, priority));
}

int MXKVStoreBroadcastEx(KVStoreHandle handle, mx_uint vnum, const char **vkeys, mx_uint onum,
                         const char **okeys, NDArrayHandle *vals, NDArrayHandle *outs, int priority)
{
    MXN_API_CALL();
    return mxn__api_end(
        &call, init_and_pull(handle, texts(vnum, vkeys), texts(onum, okeys), vals, outs, priority));
}
