// SPDX-License-Identifier: Apache-2.0
// Where a thread's next chunk comes from: the open file, memory, or the oldest records of a ring.
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/store/store_space.h"

// What the chunks of a ring may take of a file: three quarters of it, without half a megabyte. The
// rest is for the first sections, names, threads, and records while the ring is pinned.
static uint64_t ring_bytes(const mxp_recording_file *store)
{
    enum { LEFT_BYTES = 512 << 10 };
    uint64_t limit = store->file.limit_bytes;
    uint64_t space = limit > 2 * LEFT_BYTES ? limit - LEFT_BYTES : limit / 2;
    return space / 4 * 3;
}

// Whether the ring holds more than it may, because it was pinned.
static bool ring_is_over_full(const mxp_recording_file *store)
{
    if (store == NULL) {
        return mxp__pool_held_bytes() > mxp__pool_limit_bytes();
    }
    uint64_t chunks = mxp_atomic_load(&store->chunks);
    return (chunks - 1) * MXP_CHUNK_BYTES >= ring_bytes(store);
}

// A chunk is counted before it is taken, so that racing threads together take at most `most_bytes`.
static mxp_chunk_header *take_from_file(mxp_recording_file *store, uint64_t most_bytes,
                                        uint64_t left_bytes)
{
    mxp_chunk_header *chunk = NULL;
    uint64_t before = mxp_atomic_add(&store->chunks, 1);
    if (before * MXP_CHUNK_BYTES < most_bytes) {
        chunk = mxp__store_take_spare(store);
        chunk = chunk != NULL ? chunk
                              : (mxp_chunk_header *)mxp__store_allocate_but(
                                    store, MXP_SECTION_CHUNK, MXP_CHUNK_BYTES, left_bytes);
    }
    if (chunk == NULL) {
        mxp_atomic_sub(&store->chunks, 1);
    }
    return chunk;
}

static void give_back(mxp_recording_file *store, mxp_chunk_header *chunk)
{
    if (store == NULL) {
        mxp__pool_drop_chunk(chunk);
    } else if (mxp__store_give_spare(store, chunk)) {
        mxp_atomic_sub(&store->chunks, 1);
    }
}

// Takes the oldest chunk. While the ring holds too many, up to two more are given back. So the
// spare memory is free again soon after a pin, and no single record waits for all of it.
static mxp_chunk_header *take_oldest(mxp_recording_file *store)
{
    mxp_chunk_header *chunk = mxp__ring_take();
    for (int i = 0; i < 2 && chunk != NULL && ring_is_over_full(store); i++) {
        mxp_chunk_header *next = mxp__ring_take();
        if (next == NULL) {
            break;
        }
        give_back(store, next);
    }
    return chunk;
}

mxp_chunk_header *mxp__store_take_chunk(void)
{
    mxp_recording_file *store = mxp__store_usable();
    uint64_t most = store != NULL && mxp__ring_is_on() ? ring_bytes(store) : UINT64_MAX;
    mxp_chunk_header *chunk =
        store != NULL ? take_from_file(store, most, 0) : mxp__pool_take_chunk();
    return chunk == NULL && mxp__ring_is_on() ? take_oldest(store) : chunk;
}

// Takes a chunk from the part of the file that a ring leaves free. Half of that part, at most a
// megabyte, is kept for threads and names.
static mxp_chunk_header *take_more_of_file(mxp_recording_file *store)
{
    enum { MOST_BYTES = 1 << 20 };
    uint64_t limit = store->file.limit_bytes, kept = (limit - ring_bytes(store)) / 2;
    kept = kept < MOST_BYTES ? kept : MOST_BYTES;
    return take_from_file(store, UINT64_MAX, kept);
}

mxp_chunk_header *mxp__store_take_more(void)
{
    mxp_recording_file *store = mxp__store_usable();
    if (!mxp__ring_is_on()) {
        return NULL;
    }
    return store != NULL ? take_more_of_file(store) : mxp__pool_take_reserve();
}

// ---- what is in a file -------------------------------------------------------------------------
bool mxp__store_has_filed(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    return chunk->sequence < thread->filed_to ||
           (mxp_atomic_own(&mxp__store_active) != NULL && chunk->sequence >= thread->entered_at);
}

bool mxp__store_is_in_file(const mxp_chunk_header *chunk)
{
    return mxp__store_file_holds(mxp_atomic_load_acquire(&mxp__store_active), chunk);
}

bool mxp__store_is_own(const mxp_chunk_header *chunk)
{
    const mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    return store == NULL || mxp__store_file_holds(store, chunk);
}

int mxp__store_copy(const mxp_record_range *range)
{
    size_t payload_bytes = (size_t)(range->end - range->words) * sizeof *range->words;
    size_t size_bytes = mxp__store_page_up(sizeof(mxp_chunk_header) + payload_bytes);
    mxp_section *section =
        mxp__store_allocate(mxp_atomic_own(&mxp__store_active), MXP_SECTION_CHUNK, size_bytes);
    if (section == NULL) {
        return mxp__fail(
            MXP_EIO,
            "the recording file has no room for what was recorded before; the next dump to "
            "the Chrome trace still has it");
    }
    mxp_chunk_header *chunk = (mxp_chunk_header *)section;
    chunk->thread = range->thread;
    chunk->sequence = range->sequence;
    chunk->base_ticks = range->base_ticks;
    chunk->lost_before = range->lost_before;
    memcpy(chunk + 1, range->words, payload_bytes);
    section->payload_bytes = payload_bytes;
    return MXP_OK;
}
