// SPDX-License-Identifier: Apache-2.0
// The records of a pool: its changes, in the order of the lock's holders, and what was live before
// the first of them.
#include <assert.h>

#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "runtime/storage/pool.h"

void mxn__pool_record_held_locked(mxn_memory_pool *pool)
{
    assert(mxp__lock_is_held(&pool->lock));
    uint64_t epoch = mxp_atomic_load(&mxp_control.closed_ticks);
    if (pool->counts.held_bytes != pool->shown_bytes || epoch != pool->shown_epoch) {
        pool->shown_bytes = pool->counts.held_bytes;
        pool->shown_epoch = epoch;
        mxp_counter_u64(MXP_CLASS_MEMORY, pool->counter, pool->shown_bytes);
    }
}

// The stamps of records must be in the order of the lock's holders.
static void emit_locked(mxn_memory_pool *pool, const mxn_allocation *block, uint32_t flags)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxp__cpu_counter_fence();
    mxp_memory_emit(&(mxp_memory){
        .name = block->tag.name == MXP_NAME_NONE ? pool->unknown : block->tag.name,
        .scope = block->tag.scope,
        .block = (uint64_t)(uintptr_t)block->data,
        .device = pool->device,
        .flags = flags,
        .category = block->tag.category,
        .requested_bytes = block->requested_bytes,
        .rounded_bytes = block->rounded_bytes,
        .live_bytes = pool->counts.live_bytes,
    });
}

void mxn__pool_record_locked(mxn_memory_pool *pool, const mxn_allocation *block, uint32_t flags)
{
    emit_locked(pool, block, flags);
    mxn__pool_record_held_locked(pool);
}

static void record_live_locked(mxn_memory_pool *pool)
{
    mxn_allocation rest = {.tag = {.name = pool->unknown}};
    uint32_t count = 0;
    for (const mxn_slab *slab = pool->slabs; slab != NULL; slab = slab->next) {
        for (int i = 0; i < MXN__SLAB_BLOCKS; i++) {
            const mxn_allocation *block = &slab->blocks[i];
            if (block->live && count++ < MXN__CENSUS_BLOCKS) {
                emit_locked(pool, block, MXP_MEMORY_CENSUS);
            } else if (block->live) {
                rest.requested_bytes += block->requested_bytes;
                rest.rounded_bytes += block->rounded_bytes;
            }
        }
    }
    if (count > MXN__CENSUS_BLOCKS) {
        emit_locked(pool, &rest, MXP_MEMORY_CENSUS);
    }
}

void mxn__pool_begin_records_locked(mxn_memory_pool *pool)
{
    assert(mxp__lock_is_held(&pool->lock));
    uint64_t epoch = mxp_atomic_load(&mxp_control.closed_ticks);
    if (pool->census_epoch != epoch) {
        pool->census_epoch = epoch;
        record_live_locked(pool);
    }
}

void mxn__pool_census(mxn_memory_pool *pool)
{
    mxp__lock(&pool->lock);
    mxn__pool_records_locked(pool);
    mxp__unlock(&pool->lock);
}
