// SPDX-License-Identifier: Apache-2.0
// Consumers of records: where each stands in each thread's chunks, and what becomes of chunks and
// threads that all of them have passed.
#include "prof/consume.h"

#include "prof/ring.h"
#include "prof/report.h"
#include "prof/silent.h"
#include "prof/state.h"
#include "prof/store.h"
#include "prof/walk.h"

// ---- positions --------------------------------------------------------------------------------
static void move_to_end(int consumer)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp_position end = {0};
        mxp__walk(thread, &end, NULL, NULL, NULL);
        thread->position[consumer] = end;
    }
}

// Of a ring: to the oldest record of each thread, or to where the ring was begun anew.
static void move_to_begin(int consumer)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->position[consumer].chunk != thread->first) {
            thread->position[consumer] = (mxp_position){0};
        }
    }
}

void mxp__consumer_come(int consumer)
{
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
    for (; !mxp__ring_is_on() && (next = mxp__chunk_next(chunk)) != NULL &&
           passed_by_all(thread, chunk);
         chunk = next) {
        thread->first = next;
        if (!is_embedded(thread, chunk)) {
            mxp__store_give_chunk(chunk);
        }
    }
}

static bool is_drained(mxp_thread *thread)
{
    if (mxp__ring_is_on()) {
        return mxp__ring_is_past(thread) && thread->stats == NULL;
    }
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

// Exited threads whose records everybody has seen go back to the pool, their totals are kept.
static void retire_threads(void)
{
    mxp__ring_tidy();
    for (mxp_thread *thread = mxp__threads(), *next; thread != NULL; thread = next) {
        next = thread->next;
        recycle_chunks(thread);
        if (mxp__ring_is_on() && mxp__thread_is_gone(thread)) {
            mxp__thread_count_records(thread);
        }
        if (!mxp__thread_is_gone(thread) || thread->cuts != 0 || !is_drained(thread) ||
            mxp__thread_remember(thread) != MXP_OK) {
            continue;
        }
        if (mxp__ring_is_on()) {
            mxp__ring_drop_last(thread, mxp__store_is_reusable(thread));
        }
        if (!is_embedded(thread, thread->first)) {
            mxp__store_give_chunk(thread->first);
        }
        mxp__thread_release(thread);
    }
}

void mxp__consumer_passed(void)
{
    retire_threads();
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

void mxp__live_tidy(void)
{
    mxp__drain_lock();
    retire_threads();
    mxp__drain_unlock();
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
