// SPDX-License-Identifier: Apache-2.0
// See store.h. This file has the chunks, the clock, and the begin and end of a file. The mapping of
// an ended file stays while a chunk of it is still to be read or is a thread's current one.
#include "profiler/recorder/store/store.h"

#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/readers.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/clock_owner.h"
#include "profiler/recorder/store/mend.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/async_table.h"
#include "profiler/recorder/thread/modules.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/standing.h"

mxp_recording_file_slot mxp__store_active;

static mxp_recording_file *ended;  // under the drain lock

// ---- chunks ------------------------------------------------------------------------------------
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

// The open file, or null. Nothing more is recorded into a damaged one.
static mxp_recording_file *usable(void)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    return mxp__store_is_damaged(store) ? NULL : store;
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
    mxp_recording_file *store = usable();
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
    mxp_recording_file *store = usable();
    if (!mxp__ring_is_on()) {
        return NULL;
    }
    return store != NULL ? take_more_of_file(store) : mxp__pool_take_reserve();
}

static void forget(mxp_recording_file *store)
{
    mxp__mapped_file_close(&store->file);
    mxp__free(store, sizeof *store);
}

static void destroy(mxp_recording_file *store)
{
    mxp__rescue_unguard(store);
    forget(store);
}

// Under the drain lock; `store` has ended.
static void release(mxp_recording_file *store)
{
    uint64_t chunks = mxp_atomic_sub(&store->chunks, 1) - 1;
    assert(chunks != UINT64_MAX && "more chunks of a file are given back than were taken");
    if (chunks != 0 || mxp__store_is_damaged(store) || mxp__threads_register_late()) {
        return;  // somebody may still point into it
    }
    mxp_recording_file **link = &ended;
    while (*link != store) {
        assert(*link != NULL && "a file is released that has not ended");
        link = &(*link)->next;
    }
    *link = store->next;
    destroy(store);
}

void mxp__store_give_chunk(mxp_chunk_header *chunk)
{
    assert(mxp__drain_is_held());
    if (mxp__rescue_is_lost(chunk)) {
        return;
    }
    if (mxp__readers_keep(chunk)) {
        return;
    }
    if (mxp__store_file_holds(mxp_atomic_own(&mxp__store_active), chunk)) {
        mxp_atomic_sub(&mxp_atomic_own(&mxp__store_active)->chunks, 1);
        return;
    }
    mxp_recording_file *store = ended;
    while (store != NULL && !mxp__store_file_holds(store, chunk)) {
        store = store->next;
    }
    if (store != NULL) {
        release(store);
    } else {
        mxp__pool_give_chunk(chunk);
    }
}

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

void mxp__ring_restart(void)
{
    mxp__drain_lock();
    if (mxp__ring_is_on()) {
        mxp__freeze();
        mxp__ring_forget();
        mxp__thaw();
    }
    mxp__drain_unlock();
    mxp__threads_reclaim();  // threads that are gone hold nothing any more
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

// ---- clock -------------------------------------------------------------------------------------
// Two sections are written in turn, so that one of them is whole at every time.
void mxp__store_put_clock(const void *section, size_t size_bytes)
{
    if (usable() == NULL || size_bytes != MXP__STORE_CLOCK_BYTES) {
        return;
    }
    memcpy(mxp_atomic_own(&mxp__store_active)->file.base + MXP__STORE_HEADER_BYTES +
               mxp_atomic_own(&mxp__store_active)->clock_turn * size_bytes,
           section, size_bytes);
    mxp_atomic_own(&mxp__store_active)->clock_turn ^= 1;
}

// ---- begin and end -----------------------------------------------------------------------------
bool mxp__store_fill(mxp_recording_file *store, const mxp_file_header *header, const void *sections,
                     size_t sections_bytes)
{
    uint64_t unmapped_page = MXP__STORE_HEADER_BYTES + sections_bytes;
    store->used_bytes = unmapped_page + MXP__THREAD_PART_BYTES;
    if (!mxp__mapped_file_reserve(&store->file, store->used_bytes)) {
        return false;
    }
    memcpy(store->file.base, header, sizeof *header);
    memcpy(store->file.base + MXP__STORE_HEADER_BYTES, sections, sections_bytes);
    mxp__store_put_unmapped_page(store, unmapped_page);
    return true;
}

static int fill(mxp_recording_file *store, const mxp_file_header *header, const void *sections,
                size_t sections_bytes)
{
    return mxp__store_fill(store, header, sections, sections_bytes)
               ? MXP_OK
               : mxp__fail(MXP_EIO,
                           "cannot record into a file: there is no room for it on the disk");
}

static int create(mxp_recording_file **created, const char *path, uint64_t limit_bytes)
{
    mxp_recording_file *store = mxp__alloc(sizeof *store);
    if (store == NULL) {
        return mxp__fail_memory("the recording file");
    }
    int error = mxp__mapped_file_open(&store->file, path, mxp__store_page_up(limit_bytes));
    if (error != MXP_OK) {
        mxp__free(store, sizeof *store);
        return error;
    }
    mxp_atomic_set(&store->chunks, 1);
    mxp__rescue_guard(store);
    *created = store;
    return MXP_OK;
}

void mxp__store_map_standing(void)
{
    mxp_section *section = mxp_atomic_own(&mxp__store_active) != NULL && mxp__ring_is_on()
                               ? mxp__store_allocate(mxp_atomic_own(&mxp__store_active),
                                                     MXP_SECTION_CHUNK, MXP__STANDING_BYTES)
                               : NULL;
    mxp__standing_map((mxp_chunk_header *)section);
}

// Moves all threads into the file. While nobody records.
static void enter(mxp_recording_file *store)
{
    mxp__freeze();
    mxp__names_lock();
    mxp_atomic_store_release(&mxp__store_active, store);
    mxp__names_each(mxp__store_add_name);
    mxp__modules_store();
    mxp__clock_owner_store();
    mxp__names_unlock();
    mxp__store_map_standing();
    if (mxp__async_is_used()) {
        mxp__store_show_async(true);
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        bool left_out = mxp__thread_is_left_out(thread);
        const mxp_chunk_header *last = left_out ? thread->answered.chunk : thread->current;
        thread->entered_at = last != NULL ? last->sequence + 1 : 0;
        if (mxp_atomic_load_acquire(&thread->exited) == 0 && !left_out) {
            mxp__store_map_running_thread(store, thread);
            mxp__store_leave_chunk(thread);
        }
    }
    mxp__thaw();
}

int mxp__store_open(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                    const void *sections, size_t sections_bytes)
{
    mxp_recording_file *store = NULL;
    mxp__drain_lock();
    int error = create(&store, path, limit_bytes);
    if (error == MXP_OK) {
        error = fill(store, header, sections, sections_bytes);
        if (error == MXP_OK) {
            error = mxp__mapped_file_publish(&store->file);
        }
        if (error == MXP_OK) {
            enter(store);
        } else {
            destroy(store);
        }
    }
    mxp__drain_unlock();
    return error;
}

const void *mxp__store_current(void)
{
    return mxp_atomic_load_acquire(&mxp__store_active);
}

bool mxp__store_is_open(void)
{
    return mxp_atomic_load_acquire(&mxp__store_active) != NULL;
}

bool mxp__store_was_emptied(void)
{
    return mxp__store_is_damaged(mxp_atomic_load_acquire(&mxp__store_active));
}

// No chunk of an ended file may come into the ring's queue.
static void leave_ring(const mxp_recording_file *store)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (!mxp__thread_is_left_out(thread) && mxp__store_file_holds(store, thread->current)) {
            mxp__ring_empty(thread);
        }
    }
    mxp__ring_forget();
}

// The sections are ours, so the chain is as we made it.
static void count_sections(const mxp_recording_file *store, mxp_store_end *end)
{
    end->offset = MXP__STORE_HEADER_BYTES;
    while (end->offset < store->used_bytes && !mxp__store_is_damaged(store)) {
        const mxp_section *section = (const mxp_section *)(store->file.base + end->offset);
        if (section->length_bytes == 0) {
            return;  // gone
        }
        end->sections++;
        end->record_bytes += section->type == MXP_SECTION_CHUNK ? section->payload_bytes : 0;
        end->offset += section->length_bytes;
    }
    assert((end->offset == store->used_bytes || mxp__store_is_damaged(store)) &&
           "the sections of a file are no chain");
}

static void leave_thread(mxp_thread *thread)
{
    if (mxp__thread_is_left_out(thread)) {
        mxp__store_strand(thread);
        const mxp_chunk_header *last = thread->answered.chunk;
        thread->filed_to = last != NULL ? last->sequence + 1 : 0;
        return;
    }
    mxp__thread_close_chunk(thread);
    mxp__store_unmap_thread(thread, true);
    mxp__store_leave_chunk(thread);
    thread->filed_to = thread->current->sequence + 1;
}

// Moves all threads back to memory. While nobody records.
static void leave(mxp_store_end *end)
{
    bool answered = true;
    mxp__freeze();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        answered &= !mxp__thread_is_left_out(thread);
        leave_thread(thread);
    }
    mxp_recording_file *store = mxp_atomic_own(&mxp__store_active);
    mxp__store_hide_async(store, !answered);
    mxp__mend_threads();  // it may have been emptied while they left
    mxp__standing_map(NULL);
    mxp__names_lock();  // nobody adds one to it any more
    count_sections(store, end);
    mxp_atomic_store_release(&mxp__store_active, NULL);
    mxp__names_unlock();
    store->next = ended;
    ended = store;
    if (mxp__ring_is_on()) {
        leave_ring(store);
    }
    mxp__thaw();
}

void mxp__store_finish(mxp_store_end *end)
{
    *end = (mxp_store_end){.descriptor = MXP__DESCRIPTOR_NONE};
    mxp__drain_lock();
    mxp_recording_file *store = mxp_atomic_own(&mxp__store_active);
    if (store != NULL) {
        leave(end);
        mxp__store_wait_ahead();
        end->damaged = mxp__store_is_damaged(store);
        end->descriptor = mxp__mapped_file_give_descriptor(&store->file);
        release(store);
    }
    mxp__drain_unlock();
}

// Thread slabs and mappings of the parent are left alone but for their addresses: what the child
// does must not reach the file.
void mxp__store_fork_child(void)
{
    mxp__rescue_fork_child();
    mxp__store_space_fork_child();
    mxp__store_async_fork_child();
    if (mxp_atomic_own(&mxp__store_active) != NULL) {
        forget(mxp_atomic_own(&mxp__store_active));
        mxp_atomic_set(&mxp__store_active, NULL);
    }
    for (mxp_recording_file *next; ended != NULL; ended = next) {
        next = ended->next;
        forget(ended);
    }
    for (mxp_thread *thread = mxp__threads(), *next; thread != NULL; thread = next) {
        next = thread->next;  // is gone with the page
        mxp__store_unmap_thread(thread, false);
    }
}
