// SPDX-License-Identifier: Apache-2.0
// See pool.h. The most recently given chunk is taken first, since it is the warmest; those that
// have no place among the spare ones are linked through their headers' `next`, the newest first.
#include "profiler/recorder/memory/pool.h"

#include <string.h>

#include "base/atomic.h"
#include "profiler/pages.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/thread.h"

mxp_spin mxp__pool_lock;

enum {
    SPARES = 4096,
    RESERVE_CHUNKS_BYTES = MXP__POOL_RESERVE_BYTES - MXP__POOL_RESERVE_BLOCKS_BYTES
};

// The chunks given back last. A place is emptied by one exchange, so that nobody has to look into a
// chunk that may be somebody else's by then.
static struct {
    MXP_ATOMIC(mxp_chunk_header *) places[SPARES];
    mxp_atomic_u32 count;
    mxp_atomic_u32 top;  // where the last one was put or taken: a guess
} spares;

static struct {
    mxp_chunk_header *free_chunks;
    void *free_slabs;  // linked through their first word
    uint64_t free_chunk_count;
    mxp_atomic_u64 held_bytes;  // all chunks and slabs, free ones too
    mxp_atomic_u64 limit_bytes;
} pool = {.limit_bytes = {UINT64_C(1) << 30}};

void mxp__pool_limit(uint64_t limit_bytes)
{
    mxp_atomic_store(&pool.limit_bytes, limit_bytes);
}

uint64_t mxp__pool_limit_bytes(void)
{
    return mxp_atomic_load(&pool.limit_bytes);
}

uint64_t mxp__pool_held_bytes(void)
{
    return mxp_atomic_load(&pool.held_bytes);
}

// Reserves the bytes before mapping, so that racing threads cannot exceed the cap together.
static void *map_counted(uint64_t size_bytes, uint64_t beyond_bytes)
{
    uint64_t held = mxp_atomic_add(&pool.held_bytes, size_bytes) + size_bytes;
    void *pages = NULL;
    if (held <= mxp_atomic_load(&pool.limit_bytes) + beyond_bytes) {
        pages = mxp__pages_map(size_bytes);
    }
    if (pages == NULL) {
        mxp_atomic_sub(&pool.held_bytes, size_bytes);
    }
    return pages;
}

static void unmap_counted(void *pages, uint64_t size_bytes)
{
    mxp__pages_unmap(pages, size_bytes);
    uint64_t before = mxp_atomic_sub(&pool.held_bytes, size_bytes);
    assert(before >= size_bytes && "more memory is given back than was taken");
    (void)before;
}

// ---- spare chunks -----------------------------------------------------------------------------
static mxp_chunk_header *take_place(uint32_t at)
{
    mxp_chunk_header *chunk = NULL;
    if (mxp_atomic_load(&spares.places[at]) != NULL) {
        chunk = mxp_atomic_exchange_acquire(&spares.places[at], NULL);
    }
    if (chunk != NULL) {
        mxp_atomic_sub(&spares.count, 1);
        mxp_atomic_store(&spares.top, at);
    }
    return chunk;
}

mxp_chunk_header *mxp__pool_take_spare(void)
{
    mxp_chunk_header *chunk = NULL;
    uint32_t top = mxp_atomic_load(&spares.top);
    for (uint32_t i = 1; i <= SPARES && chunk == NULL && mxp_atomic_load(&spares.count) != 0; i++) {
        chunk = take_place((top - i) % SPARES);
    }
    return chunk;
}

// Under the lock. The newest is the warmest: it takes the place of an older one, which is returned.
static mxp_chunk_header *put_spare(mxp_chunk_header *chunk)
{
    uint32_t top = mxp_atomic_load(&spares.top);
    mxp_chunk_header *older = mxp_atomic_exchange_acq_rel(&spares.places[top], chunk);
    if (older == NULL) {
        mxp_atomic_add(&spares.count, 1);
    }
    mxp_atomic_store(&spares.top, (top + 1) % SPARES);
    return older;
}

static mxp_chunk_header *take_spare(void)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_chunk_header *chunk = pool.free_chunks;
    if (chunk != NULL) {
        pool.free_chunks = (mxp_chunk_header *)(uintptr_t)chunk->next;
        pool.free_chunk_count--;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return chunk != NULL ? chunk : mxp__pool_take_spare();
}

static mxp_chunk_header *take_chunk(uint64_t beyond_bytes)
{
    mxp_chunk_header *spare = take_spare();
    return spare != NULL ? spare : map_counted(MXP_CHUNK_BYTES, beyond_bytes);
}

mxp_chunk_header *mxp__pool_take_chunk(void)
{
    return take_chunk(0);
}

mxp_chunk_header *mxp__pool_take_reserve(void)
{
    return take_chunk(RESERVE_CHUNKS_BYTES);
}

mxp_chunk_header *mxp__pool_take_to_read(void)
{
    return take_chunk(UINT64_MAX / 2);
}

static void push_chunk(mxp_chunk_header *chunk)
{
    assert(mxp__spin_is_held(&mxp__pool_lock));
    chunk = put_spare(chunk);
    if (chunk == NULL) {
        return;
    }
    chunk->next = (uintptr_t)pool.free_chunks;
    pool.free_chunks = chunk;
    pool.free_chunk_count++;
}

// Whether more is held than recording may take, because a reader has taken it.
static bool holds_too_much(void)
{
    return mxp__pool_held_bytes() > mxp__pool_limit_bytes() + RESERVE_CHUNKS_BYTES;
}

void mxp__pool_give_chunk(mxp_chunk_header *chunk)
{
    if (holds_too_much() || !mxp__spin_lock(&mxp__pool_lock)) {
        unmap_counted(chunk, MXP_CHUNK_BYTES);
        return;
    }
    push_chunk(chunk);
    mxp__spin_unlock(&mxp__pool_lock);
}

void mxp__pool_drop_chunk(mxp_chunk_header *chunk)
{
    unmap_counted(chunk, MXP_CHUNK_BYTES);
}

bool mxp__pool_prefill(void)
{
    while (mxp__pool_held_bytes() + MXP_CHUNK_BYTES <= mxp_atomic_load(&pool.limit_bytes)) {
        mxp_chunk_header *chunk = map_counted(MXP_CHUNK_BYTES, 0);
        if (chunk == NULL) {
            return false;
        }
        for (size_t at = 0; at < MXP_CHUNK_BYTES; at += 4096) {
            ((volatile char *)chunk)[at] = 0;
        }
        mxp__pool_give_chunk(chunk);
    }
    return true;
}

// A spare chunk makes room for a slab.
static void *map_slab(uint64_t beyond_bytes)
{
    void *slab = map_counted(MXP__THREAD_SLAB_BYTES, beyond_bytes);
    mxp_chunk_header *spare = slab == NULL ? take_spare() : NULL;
    if (spare != NULL) {
        unmap_counted(spare, MXP_CHUNK_BYTES);
        slab = map_counted(MXP__THREAD_SLAB_BYTES, beyond_bytes);
    }
    return slab;
}

static void *take_slab(uint64_t beyond_bytes)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    void *slab = pool.free_slabs;
    if (slab != NULL) {
        pool.free_slabs = *(void **)slab;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    if (slab == NULL) {
        return map_slab(beyond_bytes);
    }
    memset(slab, 0, MXP__THREAD_SLAB_BYTES);
    return slab;
}

void *mxp__pool_take_slab(void)
{
    return take_slab(0);
}

void *mxp__pool_take_reserve_slab(void)
{
    return take_slab(MXP__POOL_RESERVE_BYTES);
}

void mxp__pool_give_slab(void *slab)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        unmap_counted(slab, MXP__THREAD_SLAB_BYTES);
        return;
    }
    *(void **)slab = pool.free_slabs;
    pool.free_slabs = slab;
    mxp__spin_unlock(&mxp__pool_lock);
}

static mxp_chunk_header *take_beyond(uint64_t keep_free_bytes)
{
    uint64_t free_chunks = 0;
    if (mxp__spin_lock(&mxp__pool_lock)) {
        free_chunks = pool.free_chunk_count + mxp_atomic_load(&spares.count);
        mxp__spin_unlock(&mxp__pool_lock);
    }
    return free_chunks * MXP_CHUNK_BYTES > keep_free_bytes ? take_spare() : NULL;
}

void mxp__pool_trim(uint64_t keep_free_bytes)
{
    mxp_chunk_header *chunk;
    while ((chunk = take_beyond(keep_free_bytes)) != NULL) {
        unmap_counted(chunk, MXP_CHUNK_BYTES);
    }
}

void mxp__pool_fork_child(void)
{
    mxp_atomic_set(&mxp__pool_lock.owner, 0);
    for (uint32_t i = 0; i < SPARES; i++) {
        if (mxp_atomic_load(&spares.places[i]) != NULL) {  // else the child would copy its page
            mxp_atomic_set(&spares.places[i], NULL);
        }
    }
    mxp_atomic_set(&spares.count, 0);
    pool.free_chunks = NULL;
    pool.free_slabs = NULL;
    pool.free_chunk_count = 0;
    mxp_atomic_set(&pool.held_bytes, 0);
}
