// SPDX-License-Identifier: Apache-2.0
// Taking blocks from a pool and giving them back. The system is asked with the lock released; the
// totals, the lists and the record of a change are one step under it.
#include "runtime/storage/pool.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/fail.h"
#include "base/os/memory.h"

// Reading how much memory is free costs as much as a small allocation: only for larger ones.
static const uint64_t reserve_matters_bytes = UINT64_C(1) << 20;

// ---- lists ------------------------------------------------------------------------------------
static mxn_bucket **slot_of(mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    uint64_t hash = rounded_bytes * UINT64_C(0x9e3779b97f4a7c15);
    return &pool->slots[hash >> 55];
}

static mxn_bucket *find_bucket_locked(mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxn_bucket *bucket = *slot_of(pool, rounded_bytes);
    while (bucket != NULL && bucket->rounded_bytes != rounded_bytes) {
        bucket = bucket->next;
    }
    return bucket;
}

static mxn_bucket *ensure_bucket_locked(mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxn_bucket *bucket = find_bucket_locked(pool, rounded_bytes);
    if (bucket == NULL && (bucket = mxp__alloc(sizeof *bucket)) != NULL) {
        mxn_bucket **slot = slot_of(pool, rounded_bytes);
        bucket->rounded_bytes = rounded_bytes;
        bucket->next = *slot;
        *slot = bucket;
    }
    return bucket;
}

static mxn_allocation *take_descriptor_locked(mxn_memory_pool *pool)
{
    assert(mxp__lock_is_held(&pool->lock));
    if (pool->spare == NULL) {
        mxn_slab *slab = mxp__alloc(sizeof *slab);
        if (slab == NULL) {
            return NULL;
        }
        slab->next = pool->slabs;
        pool->slabs = slab;
        for (int i = MXN__SLAB_BLOCKS - 1; i >= 0; i--) {
            slab->blocks[i].next = pool->spare;
            pool->spare = &slab->blocks[i];
        }
    }
    mxn_allocation *block = pool->spare;
    pool->spare = block->next;
    return block;
}

static mxn_allocation *take_unused_locked(mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxn_bucket *bucket = find_bucket_locked(pool, rounded_bytes);
    if (bucket == NULL || bucket->free == NULL) {
        return NULL;
    }
    mxn_allocation *block = bucket->free;
    assert(!block->live && pool->counts.unused_bytes >= rounded_bytes);
    bucket->free = block->next;
    pool->counts.unused_bytes -= rounded_bytes;
    pool->counts.reused++;
    block->reused = 1;
    return block;
}

// ---- allocation -------------------------------------------------------------------------------
static void begin_life_locked(mxn_memory_pool *pool, mxn_allocation *block, uint64_t bytes,
                              const mxn_tag *tag)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxn_storage_counts *counts = &pool->counts;
    block->profiled = mxn__pool_records_locked(pool);
    block->requested_bytes = bytes;
    block->tag = *tag;
    block->live = 1;
    counts->allocations++;
    counts->live_blocks++;
    counts->live_bytes += bytes;
    if (counts->live_bytes > counts->peak_bytes) {
        counts->peak_bytes = counts->live_bytes;
    }
    if (block->profiled) {
        mxn__pool_record_locked(pool, block, block->reused ? MXP_MEM_REUSED : 0);
    }
}

static bool reserve_is_left(const mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    uint64_t total = 0, available = 0;
    if (!mxp__os_memory(&total, &available)) {
        return true;
    }
    uint64_t reserve = total / 100 * pool->config.reserve_percent;
    return available >= rounded_bytes && available - rounded_bytes >= reserve;
}

static bool should_make_room(mxn_memory_pool *pool, uint64_t rounded_bytes)
{
    mxp__lock(&pool->lock);
    bool has_unused = pool->counts.unused_bytes != 0;
    mxp__unlock(&pool->lock);
    return has_unused && rounded_bytes >= reserve_matters_bytes &&
           !reserve_is_left(pool, rounded_bytes);
}

// ---- the system -------------------------------------------------------------------------------
static void *take(mxn_memory_pool *pool, uint64_t rounded_bytes, uint32_t *lead)
{
    uint64_t token = mxp_span_begin_in(MXP_CLASS_MEMORY, pool->from_system);
    void *data = mxn__memory_take(pool->device, rounded_bytes, lead);
    mxp_span_end(pool->from_system, token);
    return data;
}

static void give(mxn_memory_pool *pool, const mxn_allocation *parted)
{
    uint64_t token = mxp_span_begin_in(MXP_CLASS_MEMORY, pool->to_system);
    mxn__memory_give(pool->device, parted->data, parted->rounded_bytes, parted->lead_bytes);
    mxp_span_end(pool->to_system, token);
}

static void release_all(void)
{
    for (uint32_t device = 0; device < MXN__DEVICES; device++) {
        mxn_memory_pool *pool = mxn__pool_find(device);
        if (pool != NULL) {
            mxn__pool_release(pool);
        }
    }
}

static void *take_from_system(mxn_memory_pool *pool, uint64_t rounded_bytes, uint32_t *lead)
{
    if (should_make_room(pool, rounded_bytes)) {
        mxn__pool_release(pool);
    }
    void *data = take(pool, rounded_bytes, lead);
    if (data == NULL) {
        release_all();
        data = take(pool, rounded_bytes, lead);
    }
    return data;
}

static int alloc_slow(mxn_memory_pool *pool, uint64_t bytes, uint64_t rounded_bytes,
                      const mxn_tag *tag, mxn_allocation **block)
{
    uint32_t lead = 0;
    void *data = take_from_system(pool, rounded_bytes, &lead);
    if (data == NULL) {
        return mxn__owners_fail(pool, bytes, tag);
    }
    mxp__lock(&pool->lock);
    // The bucket is made now, so that giving the block back cannot fail.
    bool pooled = pool->config.type != MXN__POOL_NONE;
    bool ready = !pooled || ensure_bucket_locked(pool, rounded_bytes) != NULL;
    mxn_allocation *made = ready ? take_descriptor_locked(pool) : NULL;
    if (made != NULL) {
        *made = (mxn_allocation){.data = data,
                                 .rounded_bytes = rounded_bytes,
                                 .device = (uint8_t)pool->device,
                                 .lead_bytes = lead};
        pool->counts.system_allocations++;
        pool->counts.held_bytes += rounded_bytes;
        begin_life_locked(pool, made, bytes, tag);
    }
    mxp__unlock(&pool->lock);
    if (made == NULL) {
        give(pool,
             &(mxn_allocation){.data = data, .rounded_bytes = rounded_bytes, .lead_bytes = lead});
        return mxn__owners_fail(pool, bytes, tag);
    }
    *block = made;
    return MXP_OK;
}

int mxn__pool_alloc(mxn_memory_pool *pool, uint64_t bytes, const mxn_tag *tag,
                    mxn_allocation **block)
{
    uint64_t rounded_bytes = mxn__pool_round(&pool->config, bytes);
    if (rounded_bytes == 0) {
        return mxn__owners_fail(pool, bytes, tag);
    }
    mxp__lock(&pool->lock);
    mxn_allocation *found = take_unused_locked(pool, rounded_bytes);
    if (found != NULL) {
        begin_life_locked(pool, found, bytes, tag);
    }
    mxp__unlock(&pool->lock);
    if (found == NULL) {
        return alloc_slow(pool, bytes, rounded_bytes, tag, block);
    }
    *block = found;
    return MXP_OK;
}

// ---- release ----------------------------------------------------------------------------------
// Takes the memory away from a block that is in no list, and keeps its descriptor.
static mxn_allocation part_locked(mxn_memory_pool *pool, mxn_allocation *block)
{
    assert(mxp__lock_is_held(&pool->lock));
    assert(!block->live && pool->counts.held_bytes >= block->rounded_bytes);
    mxn_allocation parted = *block;
    pool->counts.system_frees++;
    pool->counts.held_bytes -= block->rounded_bytes;
    *block = (mxn_allocation){.next = pool->spare};
    pool->spare = block;
    return parted;
}

void mxn__pool_free(mxn_memory_pool *pool, mxn_allocation *block, bool direct)
{
    direct = direct || pool->config.type == MXN__POOL_NONE;
    mxn_allocation parted = {0};
    mxp__lock(&pool->lock);
    assert(block->live && "a block is freed twice");
    bool records = mxn__pool_records_locked(pool);
    assert(pool->counts.live_blocks > 0 && pool->counts.live_bytes >= block->requested_bytes);
    block->live = 0;
    pool->counts.frees++;
    pool->counts.live_blocks--;
    pool->counts.live_bytes -= block->requested_bytes;
    mxn_allocation record = *block;
    if (direct) {
        parted = part_locked(pool, block);
    } else {
        mxn_bucket *bucket = find_bucket_locked(pool, block->rounded_bytes);
        block->next = bucket->free;
        bucket->free = block;
        pool->counts.unused_bytes += block->rounded_bytes;
    }
    if (records) {
        mxn__pool_record_locked(pool, &record, MXP_MEM_FREE | (direct ? 0 : MXP_MEM_REUSED));
    }
    mxp__unlock(&pool->lock);
    if (direct) {
        give(pool, &parted);
    }
}

// One block at a time, so that the system is not called under the lock.
static bool release_one(mxn_memory_pool *pool, size_t slot, uint64_t *bytes)
{
    mxp__lock(&pool->lock);
    mxn_bucket *bucket = pool->slots[slot];
    while (bucket != NULL && bucket->free == NULL) {
        bucket = bucket->next;
    }
    mxn_allocation parted = {0};
    if (bucket != NULL) {
        mxn_allocation *block = bucket->free;
        bucket->free = block->next;
        pool->counts.unused_bytes -= block->rounded_bytes;
        parted = part_locked(pool, block);
        if (mxp_enabled(MXP_CLASS_MEMORY)) {
            mxn__pool_record_held_locked(pool);
        }
    }
    mxp__unlock(&pool->lock);
    if (parted.data != NULL) {
        give(pool, &parted);
        *bytes += parted.rounded_bytes;
    }
    return parted.data != NULL;
}

uint64_t mxn__pool_release(mxn_memory_pool *pool)
{
    uint64_t bytes = 0;
    for (size_t slot = 0; slot < MXN__POOL_SLOTS; slot++) {
        while (release_one(pool, slot, &bytes)) {
        }
    }
    return bytes;
}

// ---- looking ----------------------------------------------------------------------------------
static size_t copy_live_locked(const mxn_memory_pool *pool, mxn_allocation *blocks)
{
    assert(mxp__lock_is_held(&pool->lock));
    size_t count = 0;
    for (const mxn_slab *slab = pool->slabs; slab != NULL; slab = slab->next) {
        for (int i = 0; i < MXN__SLAB_BLOCKS; i++) {
            if (slab->blocks[i].live) {
                blocks[count++] = slab->blocks[i];
            }
        }
    }
    return count;
}

int mxn__pool_snapshot(mxn_memory_pool *pool, mxn_allocation **blocks, size_t *count,
                       size_t *capacity)
{
    *blocks = NULL;
    *count = *capacity = 0;
    for (;;) {
        mxp__lock(&pool->lock);
        size_t needed = pool->counts.live_blocks;
        bool fits = needed <= *capacity;
        if (fits) {
            *count = copy_live_locked(pool, *blocks);
        }
        mxp__unlock(&pool->lock);
        if (fits) {
            return MXP_OK;
        }
        // Others may allocate meanwhile: some space for that.
        if (mxp__grow(blocks, capacity, needed + needed / 8 + 16, sizeof **blocks) != MXP_OK) {
            mxp__free(*blocks, *capacity * sizeof **blocks);
            *blocks = NULL;
            return mxp__fail_memory("the list of allocations");
        }
    }
}
