// SPDX-License-Identifier: Apache-2.0
// MXNet's functions of key-value stores: checks and forwarding to kvstore/.
#include "runtime/kvstore/kvstore.h"

#include <mxnet/c_api.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/kvstore_handle.h"
#include "runtime/capi/package_call.h"

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

int MXKVStoreHasServers(KVStoreHandle handle, int *ret)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, ret, &store);
    if (error == MXP_OK) {
        *ret = mxn_kvstore_has_servers(store);
    }
    return mxn__api_end(&call, error);
}

// ---- groups of processes -----------------------------------------------------------------------
// Other keys are left alone, as in MXNet.
static int read_compression(uint32_t count, const char **keys, const char **values,
                            const char **type, float *threshold)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(keys[i], "type") == 0) {
            *type = values[i];
        } else if (strcmp(keys[i], "threshold") == 0) {
            char *end = NULL;
            *threshold = strtof(values[i], &end);
            if (end == values[i] || *end != '\0') {
                return mxp__fail(MXP_EVALUE,
                                 "Invalid Parameter format for threshold expect float but "
                                 "value='%.40s'",
                                 values[i]);
            }
        }
    }
    return MXP_OK;
}

int MXKVStoreSetGradientCompression(KVStoreHandle handle, uint32_t num_params, const char **keys,
                                    const char **vals)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    const char *type = NULL;
    float threshold = 0.5f;
    int error = mxn__kvstore_get(handle, &store);
    error = error == MXP_OK ? mxn__check_texts(num_params, keys, "keys") : error;
    error = error == MXP_OK ? mxn__check_texts(num_params, vals, "vals") : error;
    error = error == MXP_OK ? read_compression(num_params, keys, vals, &type, &threshold) : error;
    error = error == MXP_OK ? mxn_kvstore_set_compression(store, type, threshold) : error;
    return mxn__api_end(&call, error);
}

int MXKVStoreBarrier(KVStoreHandle handle)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get(handle, &store);
    return mxn__api_end(&call, error == MXP_OK ? mxn_kvstore_barrier(store) : error);
}

int MXKVStoreSetBarrierBeforeExit(KVStoreHandle handle, const int barrier_before_exit)
{
    MXN_API_CALL();
    (void)barrier_before_exit;  // there always is one
    mxn_kvstore *store = NULL;
    return mxn__api_end(&call, mxn__kvstore_get(handle, &store));
}

int MXKVStoreSendCommmandToServers(KVStoreHandle handle, int cmd_id, const char *cmd_body)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get(handle, &store);
    error = error == MXP_OK ? mxn__check_given(cmd_body, "cmd_body") : error;
    return mxn__api_end(&call,
                        error == MXP_OK ? mxn_kvstore_command(store, cmd_id, cmd_body) : error);
}

int MXKVStoreRunServer(KVStoreHandle handle, MXKVStoreServerController controller,
                       void *controller_handle)
{
    MXN_API_CALL();
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get(handle, &store);
    return mxn__api_end(
        &call, error == MXP_OK ? mxn_kvstore_serve(store, controller, controller_handle) : error);
}

int MXKVStoreGetNumDeadNode(KVStoreHandle handle, const int node_id, int *number,
                            const int timeout_sec)
{
    MXN_API_CALL();
    (void)node_id, (void)timeout_sec;
    mxn_kvstore *store = NULL;
    int error = mxn__kvstore_get_for(handle, number, &store);
    return mxn__api_end(&call, error == MXP_OK ? mxn_kvstore_dead(store, number) : error);
}

int MXInitPSEnv(uint32_t num_vars, const char **keys, const char **vals)
{
    MXN_API_CALL();
    int error = mxn__check_texts(num_vars, keys, "keys");
    error = error == MXP_OK ? mxn__check_texts(num_vars, vals, "vals") : error;
    for (uint32_t i = 0; error == MXP_OK && i < num_vars; i++) {
        error = setenv(keys[i], vals[i], 1) == 0
                    ? MXP_OK
                    : mxp__fail(MXP_EINVAL, "'%s' is no name of a variable", keys[i]);
    }
    return mxn__api_end(&call, error);
}
