// SPDX-License-Identifier: Apache-2.0
// See store.h. The begin and end of a file, the clock in it, and the files that have ended: the
// mapping of one stays while a chunk of it is still to be read or is a current one of a thread.
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

mxp_recording_file *mxp__store_usable(void)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    return mxp__store_is_damaged(store) ? NULL : store;
}

// ---- ended files -------------------------------------------------------------------------------
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

// ---- clock -------------------------------------------------------------------------------------
// Two sections are written in turn, so that one of them is whole at every time.
void mxp__store_put_clock(const void *section, size_t size_bytes)
{
    if (mxp__store_usable() == NULL || size_bytes != MXP__STORE_CLOCK_BYTES) {
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
