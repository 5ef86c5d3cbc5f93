// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of key-value stores: checks and forwarding to kvstore/.
#include "runtime/kvstore/kvstore.h"

#include <mxnet/c_api.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/kvstore_handle.h"

// ---- life --------------------------------------------------------------------------------------
int MXKVStoreCreate(const char *type, KVStoreHandle *out)
{
    MXN_API_CALL();
    mxn_kvstore_object *made = NULL;
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        error = mxn__check_given(type, "type");
    }
    if (error == MXP_OK) {
        error = mxn__kvstore_object_new(type, &made);
    }
    if (error == MXP_OK) {
        error = mxn__object_new(MXN_OBJECT_KVSTORE, made, out);
        if (error != MXP_OK) {
            mxn__kvstore_object_free(made);
        }
    }
    return mxn__api_end(&call, error);
}

int MXKVStoreFree(KVStoreHandle handle)
{
    MXN_API_CALL();
    void *object = NULL;
    int error = mxn__object_take(MXN_OBJECT_KVSTORE, handle, "handle", &object);
    mxn__kvstore_object_free(object);
    return mxn__api_end(&call, error);
}

int MXKVStoreGetType(KVStoreHandle handle, const char **type)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, type, &store);
    if (error == MXP_OK) {
        *type = mxn_kvstore_type(store);
    }
    return mxn__api_end(&call, error);
}

int MXKVStoreGetRank(KVStoreHandle handle, int *ret)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, ret, &store);
    if (error == MXP_OK) {
        *ret = mxn_kvstore_rank(store);
    }
    return mxn__api_end(&call, error);
}

int MXKVStoreGetGroupSize(KVStoreHandle handle, int *ret)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, ret, &store);
    if (error == MXP_OK) {
        *ret = mxn_kvstore_size(store);
    }
    return mxn__api_end(&call, error);
}

// ---- groups of processes -----------------------------------------------------------------------
int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char **keys,
                                    const char **vals)
{
    MXN_API_CALL();
    (void)num_params;
    (void)keys;
    (void)vals;
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get(handle, &store);
    if (error == MXP_OK) {
        error = mxp__fail(MXP_ENOTSUP,
                          "Gradient compression is not supported for this type of kvstore: what "
                          "'%s' sums stays in this process",
                          mxn_kvstore_type(store));
    }
    return mxn__api_end(&call, error);
}

int MXKVStoreBarrier(KVStoreHandle handle)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    return mxn__api_end(&call, mxn__kvstore_get(handle, &store));
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit)
{
    MXN_API_CALL();
    (void)barrier_before_exit;
    mxn_kvstore *store = NULL;
    return mxn__api_end(&call, mxn__kvstore_get(handle, &store));
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body)
{
    MXN_API_CALL();
    (void)cmd_id;
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get(handle, &store);
    return mxn__api_end(&call, error != MXP_OK ? error : mxn__check_given(cmd_body, "cmd_body"));
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                       void *controller_handle)
{
    MXN_API_CALL();
    (void)controller, (void)controller_handle;
    mxn_kvstore *store = NULL;
    return mxn__api_end(&call, mxn__kvstore_get(handle, &store));
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int *number,
                            const int timeout_sec)
{
    MXN_API_CALL();
    (void)node_id, (void)timeout_sec;
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, number, &store);
    if (error == MXP_OK) {
        *number = 0;
    }
    return mxn__api_end(&call, error);
}

int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals)
{
    MXN_API_CALL();
    int error = mxn__check_texts(num_vars, keys, "keys");
    return mxn__api_end(&call, error != MXP_OK ? error : mxn__check_texts(num_vars, vals, "vals"));
}
