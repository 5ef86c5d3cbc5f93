// SPDX-License-Identifier: Apache-2.0
// The chunks of a recording thread: beginning one, going over to the next. Here a record costs more
// than its words, once in 64 KiB.
#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/thread.h"

// Member by member, each in one store: in a file the header is there already, and a process that is
// killed here leaves it whole. A whole struct at once may be zeros first.
static void fill_header(const mxp_thread *self, mxp_chunk_header *chunk, size_t size_bytes,
                        uint64_t now)
{
    chunk->section.magic = MXP_SECTION_MAGIC;
    chunk->section.type = MXP_SECTION_CHUNK;
    chunk->section.flags = 0;
    chunk->section.length_bytes = size_bytes;
    chunk->section.checksum = 0;
    chunk->section.payload_bytes = 0;
    chunk->thread = self->index;
    // The chunk before may be given back by now.
    chunk->sequence = self->current == NULL ? 0 : self->sequence + 1;
    chunk->base_ticks = now;
    chunk->lost_before = self->lost_before;
    chunk->next = 0;
}

static void enter_chunk(mxp_thread *self, mxp_chunk_header *chunk)
{
    self->sequence = chunk->sequence;
    self->lost_before = 0;
    self->rewrite_scopes = 1;
    self->counts = 0;
    mxp_atomic_store(&self->hot.base_ticks, chunk->base_ticks);
    self->chunk_end = (uint64_t *)((char *)chunk + chunk->section.length_bytes);
}

static void start_chunk(mxp_thread *self, mxp_chunk_header *chunk, size_t size_bytes, uint64_t now)
{
    fill_header(self, chunk, size_bytes, now);
    enter_chunk(self, chunk);
}

void mxp__thread_restart(mxp_thread *thread, uint64_t now)
{
    mxp_chunk_header *chunk = mxp__thread_first_chunk(thread);
    start_chunk(thread, chunk, MXP__THREAD_SLAB_BYTES - MXP__THREAD_PART_BYTES, now);
    thread->first = thread->current = chunk;
    mxp_atomic_store(&thread->hot.cursor, mxp__chunk_words(chunk));
    mxp_atomic_store(&thread->hot.limit, NULL);  // asks how far it may go
}

// The file was emptied while a chunk was being taken: the thread's page is not what it was. Its
// next record begins anew, and what is taken of the file is nobody's.
static bool has_lost_chunk(const mxp_thread *self, mxp_chunk_header *taken)
{
    bool lost = self->current == NULL || mxp__thread_begins_anew(self);
    if (lost && mxp__store_was_emptied() && !mxp__rescue_is_lost(taken)) {
        mxp__pool_give_chunk(taken);
    }
    return lost;
}

// All chunks of a ring are those that threads record into: its own begins anew.
static bool begin_again(mxp_thread *self, uint64_t now)
{
    if (!mxp__ring_is_on() || !mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool again = mxp__ring_drop_current(self);
    if (again) {
        mxp_chunk_header *chunk = self->current;
        start_chunk(self, chunk, (size_t)chunk->section.length_bytes, now);
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return again;
}

// ---- from one chunk to the next ----------------------------------------------------------------
// What is left to do once the next chunk is in `entered`; may be done again from any point.
static void go_over(mxp_thread *self)
{
    mxp_chunk_header *chunk = self->entered;
    assert(mxp_atomic_own(&self->left) != NULL && "a thread goes over from no chunk");
    enter_chunk(self, chunk);
    self->current = chunk;
    // The reader that sees the chunk also sees how far the one before goes (pairs with
    // mxp__chunk_next), and that it is not done with (pairs with recycle_chunks).
    mxp_word_store_release(&mxp_atomic_own(&self->left)->next, (uint64_t)(uintptr_t)chunk);
    MXP_TEST_POINT(NEXT);
    mxp_atomic_store_release(&self->hot.cursor, mxp__chunk_words(chunk));
    mxp_compiler_barrier();
    mxp_atomic_store_release(&self->left, NULL);
    self->entered = NULL;
}

static void leave_for(mxp_thread *self, mxp_chunk_header *chunk, uint64_t now)
{
    mxp__thread_close_chunk(self);
    fill_header(self, chunk, MXP_CHUNK_BYTES, now);
    mxp_atomic_store(&self->left, self->current);
    mxp_compiler_barrier();
    self->entered = chunk;
    mxp_compiler_barrier();
    MXP_TEST_POINT(ENTERED);
    go_over(self);
    for (size_t i = 0; i < MXP__LOSS_WINDOWS; i++) {
        self->loss[i].open = 0;
    }
}

void mxp__thread_finish_chunk(mxp_thread *self)
{
    if (self->entered != NULL) {
        go_over(self);
    }
}

// The usual case: no lock and no system call. A handler that leaves by a jump costs at most a spare
// chunk, and what it has interrupted is finished at the next record.
static bool take_spare(mxp_thread *self, uint64_t now)
{
    if (mxp__ring_is_on() || mxp__store_is_open() || self->current == NULL ||
        mxp__thread_begins_anew(self)) {
        return false;
    }
    mxp_chunk_header *chunk = mxp__pool_take_spare();
    if (chunk != NULL) {
        leave_for(self, chunk, now);
    }
    return chunk != NULL;
}

static bool take_any(mxp_thread *self, uint64_t now)
{
    enum { TRIES = 8 };  // others may queue one and take it in between
    mxp_chunk_header *chunk = mxp__store_take_chunk();
    for (int i = 0; i < TRIES && chunk == NULL; i++) {
        if (begin_again(self, now)) {
            return true;
        }
        if (!mxp__ring_has_chunk()) {
            break;
        }
        chunk = mxp__store_take_chunk();
    }
    chunk = chunk != NULL ? chunk : mxp__store_take_more();
    if (chunk == NULL || has_lost_chunk(self, chunk)) {
        return false;
    }
    mxp_chunk_header *last = self->current;
    leave_for(self, chunk, now);
    mxp__ring_add(self, last);
    return true;
}

// A handler that leaves a record by a jump leaves locks whole. Where memory comes from may be the
// program's own function (mxp_set_allocator), which records: it is inside of this record like a
// handler, but not below a signal's frame.
bool mxp__thread_new_chunk(mxp_thread *self, uint64_t now)
{
    assert(mxp__is_in_record(self));
    if (take_spare(self, now)) {
        return true;
    }
    uint64_t signals[16];
    uint32_t at = mxp__busy_anywhere(&self->hot);
    mxp__os_block_signals(signals);
    bool taken = take_any(self, now);
    mxp__os_restore_signals(signals);
    mxp__busy_again(&self->hot, at);
    return taken;
}
