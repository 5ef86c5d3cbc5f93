// SPDX-License-Identifier: Apache-2.0
// See ring.h.
#include "profiler/recorder/memory/ring.h"

#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring_drop.h"
#include "profiler/recorder/memory/ring_queue.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/standing.h"
#include "profiler/recorder/thread/thread_index.h"

static struct {
    mxp_atomic_bool on;  // changed while nobody records
    // Under the pool lock, or while nobody records.
    uint32_t pins;
    uint32_t looked_after;  // see note_since
    mxp_atomic_u32 crowded;  // threads for which there was no chunk
    mxp_chunk_header
        *left_chunks;  // of a store that was left: to be given back under the drain lock
} ring;

bool mxp__ring_is_on(void)
{
    return mxp_atomic_load(&ring.on);
}

// ---- pins --------------------------------------------------------------------------------------
void mxp__ring_pin(void)
{
    if (mxp__spin_lock(&mxp__pool_lock)) {
        ring.pins++;
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

void mxp__ring_unpin(void)
{
    if (mxp__spin_lock(&mxp__pool_lock)) {
        assert(ring.pins != 0 && "a ring is pinned less often than unpinned");
        ring.pins--;
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

// ---- the queue ---------------------------------------------------------------------------------
// Notes the first chunk that a thread has closed while it was silent. The thread queues it and
// those after it when it answers.
static void append_later(mxp_thread *thread, mxp_chunk_header *chunk)
{
    if (thread->unqueued == NULL && mxp__chunk_next(chunk) != thread->answered.chunk) {
        thread->unqueued = chunk;
    }
}

// Whether the chunk is in a file that ended while the thread was silent.
static bool was_left_behind(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    return chunk == thread->answered.chunk && thread->answered_in != mxp__store_current();
}

void mxp__ring_add(mxp_thread *thread, mxp_chunk_header *chunk)
{
    if (!mxp__ring_is_on() || chunk == mxp__thread_first_chunk(thread) ||
        mxp__rescue_is_lost(chunk) || !mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    if (mxp__thread_is_silent(thread)) {
        append_later(thread, chunk);
    } else if (!was_left_behind(thread, chunk)) {
        mxp__queue_add(chunk);
    }
    mxp__spin_unlock(&mxp__pool_lock);
}

void mxp__ring_begin_profile(void)
{
    assert(mxp__nobody_records());
    mxp__drop_forget();
    mxp_atomic_set(&ring.crowded, 0);
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp_atomic_set(&thread->hot.reserved[0], 0);
        mxp_atomic_set(&thread->hot.reserved[1], 0);
        thread->crowded = 0;
    }
}

// The time of the oldest record that any thread holds.
static uint64_t oldest_base(void)
{
    uint64_t oldest = UINT64_MAX;
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        uint64_t base = mxp_word_load(&mxp__thread_oldest(thread)->base_ticks);
        oldest = base < oldest ? base : oldest;
    }
    return oldest;
}

// Writes the time of the ring's oldest record into the file, as the time of standing values after a
// crash. This visits all threads, so with many of them it is not done at each chunk.
static void note_since(void)
{
    enum { THREADS_A_CHUNK = 64 };
    ring.looked_after += THREADS_A_CHUNK;
    if (mxp__standing_is_in_file() && ring.looked_after >= mxp__index_linked()) {
        ring.looked_after = 0;
        mxp__standing_since(oldest_base());
    }
}

// The thread that has the chunk in its list; null: none. A thread that has begun anew has lost its
// older chunks.
static mxp_thread *owner_of(const mxp_chunk_header *chunk)
{
    mxp_thread *thread = mxp__rescue_is_lost(chunk) ? NULL : mxp__index_thread(chunk->thread);
    const mxp_chunk_header *each = thread != NULL ? mxp__thread_oldest(thread) : NULL;
    while (each != NULL && each != chunk) {
        each = mxp__chunk_next(each);
    }
    return each != NULL ? thread : NULL;
}

static mxp_chunk_header *pop(void)
{
    mxp_chunk_header *chunk = mxp__queue_take();
    mxp_thread *thread = chunk != NULL ? owner_of(chunk) : NULL;
    if (thread != NULL) {
        mxp__drop_chunk(thread, chunk);
    }
    if (mxp_self != NULL) {
        mxp_atomic_set(&mxp_self->reserved[1],
                       mxp__ring_overwritten());  // for readers of the file after a crash
    }
    note_since();
    return chunk;
}

static mxp_chunk_header *take_locked(void)
{
    mxp_chunk_header *chunk;
    while (ring.pins == 0 && (chunk = pop()) != NULL) {
        if (mxp__rescue_is_lost(chunk)) {
            continue;
        }
        if (mxp__store_is_own(chunk)) {
            // In a file the chunk is empty before anything else in it changes.
            mxp_word_store_release(&chunk->section.payload_bytes, 0);
            return chunk;
        }
        chunk->next = (uintptr_t)ring.left_chunks;
        ring.left_chunks = chunk;
    }
    return NULL;
}

void mxp__ring_reclaim(void)
{
    assert(mxp__drain_is_held());
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    mxp_chunk_header *chunk = ring.left_chunks;
    ring.left_chunks = NULL;
    mxp__spin_unlock(&mxp__pool_lock);
    while (chunk != NULL) {
        mxp_chunk_header *next = mxp__chunk_next(chunk);
        mxp__store_give_chunk(chunk);
        chunk = next;
    }
}

mxp_chunk_header *mxp__ring_take(void)
{
    if (!mxp__ring_is_on() || !mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_chunk_header *chunk = take_locked();
    mxp__spin_unlock(&mxp__pool_lock);
    return chunk;
}

bool mxp__ring_has_chunk(void)
{
    if (!mxp__ring_is_on() || !mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool has = ring.pins == 0 && mxp__queue_oldest() != NULL;
    mxp__spin_unlock(&mxp__pool_lock);
    return has;
}

uint64_t mxp__ring_keeps_ended(uint64_t ended)
{
    // A quarter at once, and not where there are few: the ring is pinned meanwhile.
    uint64_t most = mxp__pool_limit_bytes() / 2 / MXP__THREAD_SLAB_BYTES, few = most / 8;
    if (ended > most) {
        return most - most / 4;
    }
    return ended > few && mxp__store_is_short_of_slabs() ? ended - ended / 4 : ended;
}

bool mxp__ring_is_slab_only(mxp_thread *thread)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {  // its last other chunk may just be used again
        return false;
    }
    const mxp_chunk_header *oldest = mxp__thread_oldest(thread);
    bool only = oldest == mxp__thread_first_chunk(thread) && mxp__chunk_next(oldest) == NULL;
    mxp__spin_unlock(&mxp__pool_lock);
    return only;
}

static bool is_where_chunks_come_from(mxp_thread *thread)
{
    return thread->current != mxp__thread_first_chunk(thread)
               ? mxp__store_is_own(thread->current)
               : thread->stranded == 0 && (thread->fully_mapped || !mxp__store_is_open());
}

// Its chunks before the current one, but for the embedded one, are in the queue.
static bool may_begin_again(mxp_thread *self)
{
    if (mxp__thread_is_silent(self) || mxp__thread_begins_anew(self) || self->current == NULL ||
        self->first == NULL) {
        return false;
    }
    bool only = self->first == self->current || (self->first == mxp__thread_first_chunk(self) &&
                                                 mxp__chunk_next(self->first) == self->current);
    return only && !mxp__rescue_is_lost(self->current) && is_where_chunks_come_from(self);
}

bool mxp__ring_drop_current(mxp_thread *self)
{
    assert(mxp__spin_is_held(&mxp__pool_lock) && mxp__is_in_record(self));
    if (ring.pins != 0 || mxp__queue_oldest() != NULL) {
        return false;
    }
    mxp_atomic_add(&ring.crowded, self->crowded == 0);
    self->crowded = 1;
    if (!may_begin_again(self)) {
        return false;
    }
    mxp__drop_current(self);
    return true;
}

uint32_t mxp__ring_crowded(void)
{
    return mxp_atomic_load(&ring.crowded);
}

bool mxp__ring_is_past(mxp_thread *thread)
{
    assert(mxp__drain_is_held());
    if (!mxp__ring_is_slab_only(thread)) {
        return false;
    }
    if (mxp_atomic_own(&thread->hot.cursor) == mxp__chunk_words(mxp__thread_first_chunk(thread))) {
        return true;
    }
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    const mxp_chunk_header *queued = mxp__queue_oldest();
    bool past = queued != NULL && thread->end_ticks < queued->base_ticks;
    mxp__spin_unlock(&mxp__pool_lock);
    return past;
}

// ---- on and off --------------------------------------------------------------------------------
// A silent thread may be about to queue the last one itself.
static bool may_be_queued(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    return !mxp__thread_is_left_out(thread) ||
           (chunk != thread->answered.chunk && mxp__chunk_next(chunk) != thread->answered.chunk);
}

static void add_closed_chunks(mxp_thread *thread)
{
    mxp_chunk_header *next, *chunk = mxp__thread_oldest(thread);
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    for (; (next = mxp__chunk_next(chunk)) != NULL && may_be_queued(thread, chunk); chunk = next) {
        if (chunk != mxp__thread_first_chunk(thread)) {
            mxp__queue_add(chunk);
        }
    }
    mxp__spin_unlock(&mxp__pool_lock);
}

void mxp__ring_set(bool on)
{
    assert(mxp__nobody_records());
    if (on == mxp__ring_is_on()) {
        return;
    }
    mxp_atomic_store(&ring.on, on);
    mxp__queue_clear();
    for (mxp_thread *thread = mxp__threads(); thread != NULL && on; thread = thread->next) {
        add_closed_chunks(thread);
    }
}

void mxp__ring_empty(mxp_thread *thread)
{
    assert(mxp__nobody_records());
    mxp__thread_count_records(thread);
    for (mxp_chunk_header *chunk = mxp__thread_oldest(thread), *next; chunk != NULL; chunk = next) {
        next = mxp__chunk_next(chunk);
        if (next != NULL) {
            mxp__drop_fold(thread, chunk, false);
        } else {
            mxp__drop_fold_last(thread, false);
        }
        if (chunk != mxp__thread_first_chunk(thread)) {
            mxp__store_give_chunk(chunk);
        }
    }
    mxp__thread_restart(thread, mxp_ticks());
    thread->counted = (mxp_position){0};
}

// What is recorded from now on begins with what stands.
static void fold_all(void)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        for (mxp_chunk_header *chunk = mxp__thread_oldest(thread), *next;
             (next = mxp__thread_chunk_after(thread, chunk)) != NULL; chunk = next) {
            mxp__drop_fold(thread, chunk, false);
        }
        mxp__thread_count_records(thread);
        if (mxp__thread_is_left_out(thread)) {
            continue;
        }
        mxp__drop_fold_last(thread, false);
        thread->rewrite_scopes = 1;
        mxp_atomic_store(&thread->hot.limit, NULL);
    }
}

void mxp__ring_forget(void)
{
    assert(mxp__nobody_records());
    mxp__queue_clear();
    fold_all();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp_chunk_header *next, *chunk = mxp__thread_oldest(thread);
        for (; (next = mxp__thread_chunk_after(thread, chunk)) != NULL; chunk = next) {
            thread->first = next;
            if (chunk != mxp__thread_first_chunk(thread)) {
                mxp__store_give_chunk(chunk);
            }
        }
        if (mxp__thread_is_gone(thread)) {
            mxp__ring_empty(thread);
        }
        mxp_position end = {0};
        mxp__walk(thread, &end, NULL, NULL, NULL);
        for (int i = 0; i < MXP__CONSUMERS; i++) {
            thread->position[i] = end;
        }
    }
}

void mxp__ring_fork_child(void)
{
    mxp__queue_clear();
    ring.left_chunks = NULL;
    ring.pins = 1;
    mxp__drop_forget();
    mxp_atomic_set(&ring.crowded, 0);
    mxp__standing_map(NULL);
    mxp__standing_forget();
}
