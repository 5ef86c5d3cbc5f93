// SPDX-License-Identifier: Apache-2.0
// The position of each consumer in each thread's chunks. Chunks and threads that all consumers have
// passed are given back here.
#include "profiler/recorder/drain/consume.h"

#include "base/os/os.h"
#include "profiler/inside.h"
#include "profiler/recorder/drain/ended.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"

// ---- positions --------------------------------------------------------------------------------
static void move_to_end(int consumer)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp_position end = {0};
        mxp__walk(thread, &end, NULL, NULL, NULL);
        thread->position[consumer] = end;
    }
}

// Of a ring: moves the consumer to the oldest record of each thread, or to where the ring
// restarted.
static void move_to_begin(int consumer)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->position[consumer].chunk != thread->first) {
            thread->position[consumer] = (mxp_position){0};
        }
    }
}

void mxp__consumer_begin_read(int consumer)
{
    assert(mxp__drain_is_held());
    if (mxp__ring_is_on()) {
        move_to_begin(consumer);
    } else if (!mxp__rec.consumer_active[consumer]) {
        move_to_end(consumer);  // nothing was held back for it
    }
}

// ---- what all have passed ---------------------------------------------------------------------
static bool passed_by_all(const mxp_thread *thread, const mxp_chunk_header *chunk)
{
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        const mxp_position *position = &thread->position[i];
        if (mxp__rec.consumer_active[i] && (position->chunk == NULL || position->chunk == chunk)) {
            return false;
        }
    }
    return thread->counted.chunk != NULL && thread->counted.chunk != chunk;
}

static bool is_embedded(mxp_thread *thread, const mxp_chunk_header *chunk)
{
    return chunk == mxp__thread_first_chunk(thread);
}

static void recycle_chunks(mxp_thread *thread)
{
    mxp_chunk_header *next;
    mxp_chunk_header *chunk = mxp__thread_oldest(thread);
    for (; (next = mxp__chunk_next(chunk)) != NULL && passed_by_all(thread, chunk); chunk = next) {
        if (mxp_atomic_load_acquire(&thread->left) == chunk) {
            return;  // the thread is just going over to the next chunk
        }
        thread->first = next;
        if (!is_embedded(thread, chunk)) {
            mxp__store_give_chunk(chunk);
        }
    }
}

static bool is_drained(mxp_thread *thread)
{
    const mxp_chunk_header *oldest = mxp__thread_oldest(thread);
    if (mxp__chunk_next(oldest) != NULL || thread->stats != NULL) {
        return false;
    }
    const uint64_t *end = mxp__chunk_filled_to(thread, oldest);
    bool drained = thread->counted.at == end;
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        drained = drained && (!mxp__rec.consumer_active[i] || thread->position[i].at == end);
    }
    return drained;
}

// Of a ring: whether the ended thread is older than everything else, or not among the newest `kept`
// that have ended. A thread that has only its slab is changed by nobody else, so the ring is not
// pinned for it; a pinned ring may lose records.
static bool may_leave_ring(mxp_thread *thread, uint64_t *kept)
{
    if (thread->stats != NULL || !mxp__ring_is_slab_only(thread)) {
        return false;
    }
    bool leaves = *kept == 0 || mxp__ring_is_past(thread);
    *kept -= !leaves;
    if (leaves) {
        mxp__thread_count_records(thread);
    }
    return leaves;
}

static bool may_retire(mxp_thread *thread, uint64_t *kept)
{
    if (!mxp__thread_is_gone(thread) || thread->drains != 0) {
        return false;
    }
    return mxp__ring_is_on() ? may_leave_ring(thread, kept) : is_drained(thread);
}

// Releases the thread. False: there is no memory for its totals, or its page was lost with its
// file.
static bool retire(mxp_thread *thread, mxp_thread *before)
{
    if (mxp__ended_add(thread) != MXP_OK) {
        return false;
    }
    if (mxp__ring_is_on()) {
        mxp__ring_drop_last(thread, mxp__store_is_reusable(thread));
    }
    const mxp_chunk_header *last = thread->current;
    uint32_t sequence = last != NULL ? last->sequence + 1 : 0;
    if (!is_embedded(thread, thread->first)) {
        mxp__store_give_chunk(thread->first);
    }
    return mxp__thread_release(thread, before, sequence);
}

// Gives ended threads back whose records all consumers have read. Their totals are kept.
static void retire_threads(void)
{
    assert(mxp__drain_is_held());
    mxp__ring_reclaim();
    uint64_t kept = mxp__ring_keeps_ended(mxp__threads_ended());
    for (mxp_thread *thread = mxp__threads(), *before = NULL, *next; thread != NULL;
         thread = next) {
        next = thread->next;
        if (!mxp__ring_is_on()) {
            recycle_chunks(thread);
        }
        if (!may_retire(thread, &kept) || !retire(thread, before)) {
            before = thread;
        }
    }
}

void mxp__consumer_end_read(void)
{
    retire_threads();
}

// ---- at a thread's end -------------------------------------------------------------------------
uint64_t mxp__consumers_add_statistics(mxp_thread *thread)
{
    assert(mxp__drain_is_held());
    uint64_t lost = 0;
    for (int i = 0; i < MXP__CONSUMERS; i++) {
        uint64_t lost_here = mxp__stats_merge(&mxp__rec.statistics[i], thread->stats);
        lost = lost_here > lost ? lost_here : lost;
    }
    mxp__stats_free(thread->stats);
    thread->stats = NULL;
    return lost;
}

// Whether all that the thread has in its chunks is its name, which its entry has as well.
static bool has_names_only(mxp_thread *thread)
{
    const mxp_chunk_header *chunk = mxp__thread_first_chunk(thread);
    const uint64_t *at = mxp__chunk_words(chunk), *end = mxp_atomic_own(&thread->hot.cursor);
    if (thread->current != chunk || thread->first != chunk) {
        return false;
    }
    while (at < end && at[0] >> 8 != 0 && (at[0] & 0xff) == MXP_KIND_META &&
           (at[1] >> 32 & 0xff) == MXP_META_THREAD_NAME) {
        at += 2 * (at[0] >> 8 & 0xff);
    }
    return at == end;
}

// Nothing is known of it afterwards: it has recorded, counted and lost nothing.
static bool forget(mxp_thread *thread, mxp_thread *before)
{
    return thread->records == 0 && thread->stats == NULL && mxp__thread_lost(thread) == 0 &&
           mxp__thread_is_empty(thread) &&
           mxp__thread_release(thread, before, thread->current->sequence);
}

static void leave(mxp_thread *thread, mxp_thread *before)
{
    if (forget(thread, before) || !mxp__rec.limits.statistics_only || !has_names_only(thread)) {
        return;
    }
    mxp__statistics_leave_out(mxp__consumers_add_statistics(thread));
    mxp__thread_count_records(thread);
    retire(thread, before);
}

// A drain may have given the thread back already, and its memory may be another one's that has come
// to its end.
void mxp__thread_leave(const mxp_thread *left)
{
    mxp__inside_enter();
    mxp__lock(&mxp__rec.drain);
    mxp_thread *before = NULL, *thread = mxp__threads();
    while (thread != NULL && thread != left) {
        before = thread;
        thread = thread->next;
    }
    if (thread != NULL && mxp__thread_is_gone(thread) && thread->drains == 0) {
        leave(thread, before);
    }
    mxp__unlock(&mxp__rec.drain);
    mxp__inside_leave();
}

void mxp__consumer_set_active(int consumer, int active)
{
    mxp__drain_lock();
    if (active && !mxp__rec.consumer_active[consumer]) {
        move_to_end(consumer);  // its old position may point into recycled chunks
    }
    mxp__rec.consumer_active[consumer] = active;
    if (!active) {
        for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
            mxp__thread_count_records(thread);
        }
        retire_threads();
    }
    mxp__drain_unlock();
}

void mxp__threads_reclaim(void)
{
    mxp__lock(&mxp__rec.drain);
    retire_threads();
    mxp__unlock(&mxp__rec.drain);
}

void mxp__threads_make_space(void)
{
    uint32_t ended = mxp__threads_ended();
    if (!mxp__ring_is_on() || mxp__ring_keeps_ended(ended) == ended) {
        return;
    }
    // A handler must not allocate. It can be one if signals are blocked.
    if (!mxp__os_blocks_signals() && mxp__try_lock(&mxp__rec.drain)) {
        retire_threads();
        mxp__unlock(&mxp__rec.drain);
    }
}

int mxp__live_pending(int consumer)
{
    int pending = 0;
    mxp__drain_lock();
    // An inactive consumer's position may point into recycled chunks.
    if (mxp__ring_is_on()) {
        move_to_begin(consumer);
    }
    mxp_thread *thread = mxp__rec.consumer_active[consumer] ? mxp__threads() : NULL;
    for (; thread != NULL && !pending; thread = thread->next) {
        mxp_position from = mxp__walk_start(thread, thread->position[consumer]);
        pending = mxp__thread_chunk_after(thread, from.chunk) != NULL ||
                  mxp__chunk_filled_to(thread, from.chunk) != from.at;
    }
    mxp__drain_unlock();
    return pending;
}
