// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/silent.h"

#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"

static mxp_atomic_u64 unanswered;

uint64_t mxp__threads_unanswered(void)
{
    return mxp_atomic_load(&unanswered);
}

void mxp__silent_fork_child(void)
{
    mxp_atomic_set(&unanswered, 0);
}

// Under the pool lock, because a thread that closes a chunk checks there whether it is silent
// (mxp__ring_add). The mark is set before the limit is cleared. The thread sets its limit before it
// checks the mark. So it either sees the mark or finds its limit cleared, and both lead to the slow
// path, where it answers.
void mxp__thread_silence(mxp_thread *thread)
{
    assert(mxp__freeze_is_ours());
    mxp_position at = {0};
    mxp__walk(thread, &at, NULL, NULL, NULL);
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    thread->answered = at;
    thread->answered_in = mxp__store_current();
    mxp_atomic_store_seq_cst(&thread->silent, 1u);
    mxp__spin_unlock(&mxp__pool_lock);
    mxp_atomic_store_seq_cst(&thread->hot.limit, NULL);
    mxp_atomic_add(&unanswered, 1);
}

// Whether a stop has written the span on the thread's behalf. Then taking it back loses nothing.
static bool take_closed(mxp_thread *thread, uint64_t word)
{
    uint64_t stamp = word >> 16;
    bool is_span = (word & 0xff) == MXP_KIND_SPAN || (word & 0xff) == MXP_KIND_SPAN_LONG;
    for (uint32_t i = 0; is_span && i < thread->closed_count; i++) {
        if ((thread->closed_tokens[i] & MXP_STAMP_MASK) == stamp) {
            thread->closed_tokens[i] = thread->closed_tokens[--thread->closed_count];
            return true;
        }
    }
    return false;
}

static uint64_t count_late(mxp_thread *thread, const uint64_t *from, const uint64_t *to)
{
    uint64_t count = 0;
    uint64_t units;
    for (; from < to && (units = *from >> 8 & 0xff) != 0; from += 2 * units) {  // 0: lost
        unsigned kind = *from & 0xff;
        count += kind != MXP_KIND_VARIABLES && kind != MXP_KIND_META && !take_closed(thread, *from);
    }
    return count;
}

static const uint64_t *end_of(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    const uint64_t *words = mxp__chunk_words(chunk);
    return chunk == thread->current ? mxp_atomic_own(&thread->hot.cursor)
                                    : words + chunk->section.payload_bytes / sizeof *words;
}

// Takes back what the thread has written while silent: its records end at `answered` again, and
// later chunks are empty. Returns how many records these were. If the file was emptied meanwhile,
// the chunks are zeros, and the thread begins anew.
static uint64_t take_back(mxp_thread *thread)
{
    uint64_t count = 0;
    const uint64_t *from = thread->answered.at;
    for (mxp_chunk_header *chunk = thread->answered.chunk;
         chunk != NULL && !mxp__rescue_is_lost(chunk);) {
        count += count_late(thread, from, end_of(thread, chunk));
        uint64_t kept = (uint64_t)(from - mxp__chunk_words(chunk));
        if (chunk == thread->current) {
            uint64_t *cursor = mxp__chunk_words(chunk) + kept;
            mxp_atomic_store_release(&thread->hot.cursor, cursor);
            return count;
        }
        mxp_word_store_release(&chunk->section.payload_bytes, kept * sizeof *from);
        chunk = mxp__chunk_next(chunk);
        from = chunk != NULL ? mxp__chunk_words(chunk) : NULL;
    }
    return count;
}

// Makes the thread leave its chunk, which may be in a file that has ended.
void mxp__thread_answer(mxp_thread *thread)
{
    assert(mxp__is_in_record(thread) || mxp__freeze_is_ours());
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    uint64_t late = take_back(thread);
    mxp__spin_unlock(&mxp__pool_lock);
    thread->chunk_end = mxp_atomic_own(&thread->hot.cursor);
    thread->rewrite_scopes = 1;
    if (late != 0) {
        mxp__thread_lose(thread, MXP_LOSS_LATE, late, mxp_ticks());
    }
    mxp_atomic_store_seq_cst(&thread->silent, 0u);
}

// Queues the chunks that the thread has closed while it was silent, unless they are in a file that
// has ended: such chunks are not reused.
void mxp__thread_queue_late(mxp_thread *thread)
{
    const void *store = mxp__store_current();
    mxp_chunk_header *chunk = thread->unqueued;
    bool is_kept = store != NULL || thread->answered_in == NULL;
    thread->unqueued = NULL;
    for (; is_kept && chunk != NULL && chunk != thread->current; chunk = mxp__chunk_next(chunk)) {
        mxp__ring_add(thread, chunk);
    }
}
