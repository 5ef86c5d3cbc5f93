// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that tell this process's part in a distributed program.
#include <mxnet/c_api.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/package_call.h"
#include "runtime/kvstore/kvstore.h"

static int answer(const char *role, int *ret)
{
    int error = mxn__check_given(ret, "ret");
    if (error == MXP_OK) {
        const char *own = getenv("DMLC_ROLE");
        *ret = strcmp(own == NULL ? "worker" : own, role) == 0;
    }
    return error;
}

int MXKVStoreIsWorkerNode(int *ret)
{
    MXN_API_CALL();
    return mxn__api_end(&call, answer("worker", ret));
}

int MXKVStoreIsServerNode(int *ret)
{
    MXN_API_CALL();
    return mxn__api_end(&call, answer("server", ret));
}

int MXKVStoreIsSchedulerNode(int *ret)
{
    MXN_API_CALL();
    return mxn__api_end(&call, answer("scheduler", ret));
}

int MXKVStoreSnapshotAll(const char *path, double last_ms)
{
    return mxn_kvstore_snapshot_all(path, last_ms) == MXP_OK ? 0 : -1;
}

int MXKVStoreAbandon(const char *why)
{
    int error = mxn__check_given(why, "why");
    if (error == MXP_OK) {
        mxn_kvstore_abandon_all(why);
    }
    return error == MXP_OK ? 0 : -1;
}
