// SPDX-License-Identifier: Apache-2.0
// The pools of all devices. Pools are made on first use and live as long as the process.
//
// Fork. The forking thread holds every pool's lock across it. Its handlers are installed when the
// library is loaded, after the session's and before the engine's: so the engine, whose operations
// allocate, comes to rest first, then the pools are locked, then the recorder, which they call.
#include "runtime/storage/storage.h"

#include <assert.h>
#include <mxprof/error.h>
#include <mxprof/format.h>
#include <mxprof/profiler.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/device_name.h"
#include "base/fail.h"
#include "runtime/storage/allocation_csv.h"
#include "runtime/storage/pool.h"

static mxp_lock create_lock = MXP__LOCK_INIT;
static MXP_ATOMIC(mxn_memory_pool *) pools[MXN__DEVICES];  // written once, under create_lock

mxn_memory_pool *mxn__pool_find(uint32_t device)
{
    return device < MXN__DEVICES ? mxp_atomic_load_acquire(&pools[device]) : NULL;
}

static int read_config(uint32_t device, mxn_pool_config *config)
{
    int error =
        mxn__pool_config_read(device == MXP_DEVICE_CPU_PINNED ? "CPU_PINNED" : "CPU", config);
    if (device == MXP_DEVICE_CPU_SHARED) {
        config->type = MXN__POOL_NONE;  // another process may still look at a freed block
    }
    return error;
}

static int create_locked(uint32_t device, mxn_memory_pool **made)
{
    assert(mxp__lock_is_held(&create_lock));
    mxn_pool_config config;
    int error = read_config(device, &config);
    if (error != MXP_OK) {
        return error;
    }
    mxn_memory_pool *pool = mxp__alloc(sizeof *pool);
    if (pool == NULL) {
        return mxp__fail_memory("the memory pool of a device");
    }
    char name[MXP__DEVICE_NAME_CHARS + 8] = "Pool: ";
    mxp__device_name(device, name + strlen(name), MXP__DEVICE_NAME_CHARS);
    pool->config = config;
    pool->device = device;
    pool->lock = (mxp_lock)MXP__LOCK_INIT;
    pool->counter = mxp_intern("Pool Memory", name, MXP_STYLE_COUNTER, MXP_UNIT_BYTES);
    pool->unknown = mxp_string("unknown");
    pool->from_system = mxp_span_name("memory", "from system");
    pool->to_system = mxp_span_name("memory", "to system");
    mxp_atomic_store_release(&pools[device], pool);  // pairs with mxn__pool_find
    *made = pool;
    return MXP_OK;
}

static int create(uint32_t device, mxn_memory_pool **pool)
{
    bool is_cpu = device < MXP_DEVICE_GPU || device == MXP_DEVICE_CPU_PINNED ||
                  device == MXP_DEVICE_CPU_SHARED;
    if (!is_cpu) {
        char name[MXP__DEVICE_NAME_CHARS];
        mxp__device_name(device, name, sizeof name);
        return mxp__fail(MXP_EINVAL, "%s: no such device: this library has cpu devices only", name);
    }
    mxn__allocation_csv_observe();
    mxp__lock(&create_lock);
    int error = MXP_OK;
    *pool = mxn__pool_find(device);
    if (*pool == NULL) {
        error = create_locked(device, pool);
    }
    mxp__unlock(&create_lock);
    return error;
}

// ---- blocks -----------------------------------------------------------------------------------
int mxn_storage_alloc(uint32_t device, uint64_t bytes, const mxn_tag *tag, mxn_allocation **block)
{
    static const mxn_tag no_tag = {0};
    *block = NULL;
    if (bytes == 0) {
        return MXP_OK;
    }
    mxn_memory_pool *pool = mxn__pool_find(device);
    int error = pool != NULL ? MXP_OK : create(device, &pool);
    return error == MXP_OK ? mxn__pool_alloc(pool, bytes, tag != NULL ? tag : &no_tag, block)
                           : error;
}

void mxn_storage_free(mxn_allocation *block)
{
    if (block != NULL) {
        mxn__pool_free(mxn__pool_find(block->device), block, false);
    }
}

void mxn_storage_free_direct(mxn_allocation *block)
{
    if (block != NULL) {
        mxn__pool_free(mxn__pool_find(block->device), block, true);
    }
}

void mxn_storage_release(uint32_t device)
{
    mxn_memory_pool *pool = mxn__pool_find(device);
    if (pool != NULL) {
        mxn__pool_release(pool);
    }
}

void mxn_storage_census(void)
{
    for (uint32_t device = 0; device < MXN__DEVICES && mxp_enabled(MXP_CLASS_MEMORY); device++) {
        mxn_memory_pool *pool = mxn__pool_find(device);
        if (pool != NULL) {
            mxn__pool_census(pool);
        }
    }
}

void mxn_storage_counts_get(uint32_t device, mxn_storage_counts *counts)
{
    mxn_memory_pool *pool = mxn__pool_find(device);
    *counts = (mxn_storage_counts){0};
    if (pool != NULL) {
        mxp__lock(&pool->lock);
        *counts = pool->counts;
        mxp__unlock(&pool->lock);
    }
}

// ---- fork -------------------------------------------------------------------------------------
static void for_each_pool(void (*act)(mxp_lock *lock))
{
    for (uint32_t device = 0; device < MXN__DEVICES; device++) {
        mxn_memory_pool *pool = mxp_atomic_load(&pools[device]);
        if (pool != NULL) {
            act(&pool->lock);
        }
    }
}

static void prepare(void)
{
    mxp__lock(&create_lock);
    for_each_pool(mxp__lock);
}

// In parent and child: the forking thread is in both.
static void done(void)
{
    for_each_pool(mxp__unlock);
    mxp__unlock(&create_lock);
}

__attribute__((constructor)) static void install(void)
{
    mxp_session_get();  // installs its own handlers
    pthread_atfork(prepare, done, done);
}
