// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/memory/ring_drop.h"

#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/standing.h"

static uint64_t overwritten;  // records, since the profile began

// The first record of the chunk that belongs to this ring. Values of the records before it were
// taken when the ring restarted.
static const uint64_t *begin_in(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    const mxp_position *position = &thread->position[MXP__CONSUMER_FILE];
    return position->chunk == chunk ? position->at : mxp__chunk_words(chunk);
}

void mxp__drop_fold(const mxp_thread *thread, const mxp_chunk_header *chunk, bool in_file)
{
    if ((chunk->section.flags & MXP_SECTION_HAS_COUNTERS) != 0) {
        const uint64_t *words = mxp__chunk_words(chunk);
        mxp__standing_fold(chunk, begin_in(thread, chunk),
                           words + chunk->section.payload_bytes / sizeof *words, in_file);
    }
}

void mxp__drop_fold_last(mxp_thread *thread, bool in_file)
{
    if (mxp__thread_begins_anew(thread)) {
        return;
    }
    const mxp_chunk_header *chunk = thread->current;
    if (thread->counts != 0 && mxp__spin_lock(&mxp__pool_lock)) {
        mxp__standing_fold(chunk, begin_in(thread, chunk), mxp_atomic_own(&thread->hot.cursor),
                           in_file);
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

// Counts the records of a closed chunk that is about to be dropped, unless they were counted
// already. Other code does that under the drain lock. It is free here, because its holder pins the
// ring.
static void count_dropped(mxp_thread *thread, const mxp_chunk_header *chunk)
{
    const uint64_t *begin = begin_in(thread, chunk);
    const uint64_t *end = mxp__chunk_words(chunk) + chunk->section.payload_bytes / sizeof *begin;
    uint64_t records = mxp__count_records(begin, end);
    mxp_position counted = thread->counted;
    if (counted.chunk == NULL || counted.chunk == chunk) {
        const uint64_t *from = counted.chunk != NULL ? counted.at : begin;
        thread->records += from == begin ? records : mxp__count_records(from, end);
        thread->bytes += (uint64_t)(end - from) * sizeof *end;
        mxp_chunk_header *next = mxp__chunk_next(chunk);
        thread->counted = (mxp_position){next, next != NULL ? mxp__chunk_words(next) : NULL};
    }
    mxp_atomic_add(&thread->hot.reserved[0], records);
    overwritten += records;
}

void mxp__ring_drop_last(mxp_thread *thread, bool in_file)
{
    assert(mxp__drain_is_held());
    if (mxp__thread_begins_anew(thread)) {
        return;
    }
    mxp__drop_fold_last(thread, in_file);
    if (mxp__spin_lock(&mxp__pool_lock)) {
        overwritten += mxp__count_records(begin_in(thread, thread->current),
                                          mxp_atomic_own(&thread->hot.cursor));
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

uint64_t mxp__ring_overwritten(void)
{
    return overwritten;
}

void mxp__drop_forget(void)
{
    overwritten = 0;
}

// Empties the embedded chunk, which is older than the one that is dropped.
static void empty_embedded(mxp_thread *thread)
{
    mxp_chunk_header *embedded = mxp__thread_first_chunk(thread);
    if (thread->first == embedded) {
        count_dropped(thread, embedded);
    }
    mxp__drop_fold(thread, embedded, true);
    mxp_word_store_release(&embedded->section.payload_bytes, 0);
    embedded->next = 0;
}

// Positions may point into the chunk that is dropped.
static void forget_positions(mxp_thread *thread)
{
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        thread->position[i] = (mxp_position){0};
    }
}

// An ended thread whose last chunk goes keeps the embedded one, empty. If the file is emptied
// at this time, the thread's fields may be outdated and nothing more is changed.
void mxp__drop_chunk(mxp_thread *thread, mxp_chunk_header *chunk)
{
    mxp__drop_fold(thread, chunk, true);
    mxp_chunk_header *next = mxp__chunk_next(chunk);
    assert((thread->first == chunk || mxp__chunk_next(thread->first) == chunk ||
            mxp__rescue_is_lost(chunk)) &&
           "a chunk leaves the queue before an older one of its thread");
    if (thread->first != chunk || next == NULL) {
        empty_embedded(thread);
    }
    count_dropped(thread, chunk);
    if (mxp__rescue_is_lost(chunk)) {
        return;
    }
    thread->first = next;
    if (next == NULL) {
        thread->first = thread->current = mxp__thread_first_chunk(thread);
        mxp_atomic_set(&thread->hot.cursor, mxp__chunk_words(thread->first));
        thread->counted = (mxp_position){0};
    }
    forget_positions(thread);
}

void mxp__drop_current(mxp_thread *self)
{
    mxp_chunk_header *chunk = self->current;
    mxp__thread_close_chunk(self);
    mxp__drop_fold(self, chunk, true);
    if (self->first != chunk) {
        empty_embedded(self);
        self->first = chunk;
    }
    count_dropped(self, chunk);
    forget_positions(self);
    self->counted = (mxp_position){0};
    // In a file the chunk is empty before anything else in it changes.
    mxp_word_store_release(&chunk->section.payload_bytes, 0);
    mxp_atomic_store_release(&self->hot.cursor, mxp__chunk_words(chunk));
    mxp_atomic_set(&self->hot.reserved[1], overwritten);
}
