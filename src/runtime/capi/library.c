// SPDX-License-Identifier: Apache-2.0
// MXNet's functions about the library as a whole: version, features, seeds, shutdown, threads.
#include <errno.h>
#include <mxnet/c_api.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/package_call.h"
#include "runtime/engine/engine.h"
#include "runtime/kvstore/kvstore.h"
#include "runtime/parallel/thread_pool.h"
#include "runtime/storage/storage.h"
#include "runtime/tensor/resource.h"
#include "runtime/tensor/tensor.h"

enum { MXNET_VERSION = 20000 };

int MXGetVersion(int *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        *out = MXNET_VERSION;
    }
    return mxn__api_end(&call, error);
}

int MXGetEnv(const char *name, const char **value)
{
    MXN_API_CALL();
    int error = mxn__check_given(name, "name");
    if (error == MXP_OK) {
        error = mxn__check_given(value, "value");
    }
    if (error == MXP_OK) {
        *value = getenv(name);
    }
    return mxn__api_end(&call, error);
}

int MXSetEnv(const char *name, const char *value)
{
    MXN_API_CALL();
    int error = mxn__check_given(name, "name");
    if (error == MXP_OK && (value != NULL ? setenv(name, value, 1) : unsetenv(name)) != 0) {
        error = mxp__fail(MXP_EINVAL, "the variable '%s' cannot be set: %s", name, strerror(errno));
    }
    return mxn__api_end(&call, error);
}

static const struct LibFeature features[] = {
#define X(name, enabled) {name, enabled},
#include "runtime/capi/lib_features.def"
#undef X
};

int MXLibInfoFeatures(const struct LibFeature **libFeature, size_t *size)
{
    MXN_API_CALL();
    int error = mxn__check_given(libFeature, "libFeature");
    if (error == MXP_OK) {
        error = mxn__check_given(size, "size");
    }
    if (error == MXP_OK) {
        *libFeature = features;
        *size = sizeof(features) / sizeof(features[0]);
    }
    return mxn__api_end(&call, error);
}

int MXRandomSeed(int seed)
{
    MXN_API_CALL();
    return mxn__api_end(&call, mxn_random_seed(seed));
}

int MXRandomSeedContext(int seed, int dev_type, int dev_id)
{
    MXN_API_CALL();
    mxn_context context = {dev_type, dev_id};
    int error = mxn_context_check(context);
    return mxn__api_end(&call, error != MXP_OK ? error : mxn_random_seed_context(seed, context));
}

int MXNotifyShutdown(void)
{
    MXN_API_CALL();
    mxn_kvstore_close_all();  // other workers may still need this process's owner
    return mxn__api_end(&call, mxn_engine_shutdown());
}

typedef int interrupt_function(void);
static MXP_ATOMIC(interrupt_function *) interrupt_wanted;

static bool is_interrupt_wanted(void)
{
    interrupt_function *wanted = mxp_atomic_load_acquire(&interrupt_wanted);
    return wanted != NULL && wanted() != 0;
}

int MXEngineSetInterrupt(int (*wanted)(void), uintptr_t thread)
{
    mxp_atomic_store_release(&interrupt_wanted, wanted);
    mxn_interrupt_set(wanted != NULL ? is_interrupt_wanted : NULL, thread);
    return MXP_OK;
}

int MXEngineDropPending(void)
{
    mxn_engine_drop_pending();
    return MXP_OK;
}

int MXEngineSetBulkSize(int bulk_size, int *prev_bulk_size)
{
    MXN_API_CALL();
    int error = MXP_OK;
    if (bulk_size < 0) {
        error = mxp__fail(MXP_EINVAL, "bulk_size is %d: it must be at least 0 (off)", bulk_size);
    } else {
        int previous = mxn_bulk_size_set(bulk_size);
        if (prev_bulk_size != NULL) {
            *prev_bulk_size = previous;
        }
    }
    return mxn__api_end(&call, error);
}

int MXGetGPUCount(int *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(out, "out");
    if (error == MXP_OK) {
        *out = 0;
    }
    return mxn__api_end(&call, error);
}

int MXGetGPUMemoryInformation64(int dev, uint64_t *free_mem, uint64_t *total_mem)
{
    MXN_API_CALL();
    (void)free_mem;
    (void)total_mem;
    return mxn__api_end(&call, mxn_context_check((mxn_context){MXN_GPU, dev}));
}

int MXGetGPUMemoryInformation(int dev, int *free_mem, int *total_mem)
{
    MXN_API_CALL();
    (void)free_mem;
    (void)total_mem;
    return mxn__api_end(&call, mxn_context_check((mxn_context){MXN_GPU, dev}));
}

int MXStorageEmptyCache(int dev_type, int dev_id)
{
    MXN_API_CALL();
    mxn_context context = {dev_type, dev_id};
    int error = mxn_context_check(context);
    if (error == MXP_OK) {
        mxn_storage_release(dev_type == MXN_CPU_PINNED   ? MXP_DEVICE_CPU_PINNED
                            : dev_type == MXN_CPU_SHARED ? MXP_DEVICE_CPU_SHARED
                                                         : (uint32_t)dev_id);
    }
    return mxn__api_end(&call, error);
}

int MXSetNumOMPThreads(int thread_num)
{
    MXN_API_CALL();
    int error = MXP_OK;
    if (thread_num < 1) {
        error = mxp__fail(MXP_EINVAL, "thread_num is %d: it must be at least 1", thread_num);
    } else {
        mxn_thread_pool_resize(thread_num);
    }
    return mxn__api_end(&call, error);
}
