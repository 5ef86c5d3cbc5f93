// SPDX-License-Identifier: Apache-2.0
// The live source: a cut through the chunks of all threads, from where a consumer stands to now.
// Reading it takes no lock: recording threads only append behind the cut, and what a consumer has
// not passed is not recycled.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "prof/names.h"
#include "prof/pool.h"
#include "prof/report.h"
#include "prof/ring.h"
#include "prof/state.h"
#include "prof/store.h"

typedef struct cut {
    mxp_thread *thread;
    mxp_position to;
} cut;

typedef struct live_source {
    mxp_source source;  // must stay first
    mxp_timebase timebase;
    mxp_block *blocks;
    size_t block_count, block_capacity;
    cut *cuts;
    size_t cut_count, cut_capacity;
    mxp_thread_entry *threads;
    size_t thread_capacity;
    mxp_loss_entry *losses;
    size_t loss_count, loss_capacity;
    mxp_stats_view *stats;
    size_t stats_count, stats_capacity;
    mxp_info_list info;
    bool pins;  // the ring, so that its blocks stay
} live_source;

// ---- walking chunks ---------------------------------------------------------------------------
static const uint64_t *words_of(const mxp_chunk_header *chunk)
{
    return (const uint64_t *)(chunk + 1);
}

// How far a chunk is filled. The last chunk's end is the owner's cursor, unless the owner moves on
// while we look: then `next` is there.
static const uint64_t *filled_to(mxp_thread *thread, const mxp_chunk_header *chunk)
{
    const uint64_t *cursor = __atomic_load_n(&thread->hot.cursor, __ATOMIC_ACQUIRE);
    if (mxp__chunk_next(chunk) != NULL) {
        return words_of(chunk) + chunk->section.payload_bytes / sizeof(uint64_t);
    }
    return cursor;
}

static mxp_position start_of(const mxp_thread *thread, mxp_position position)
{
    if (position.chunk == NULL) {
        position = (mxp_position){thread->first, words_of(thread->first)};
    }
    return position;
}

// Calls `visit` for each stretch of records from `position` on and returns where it ended.
typedef int (*stretch_visit)(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                             const uint64_t *to);

static int walk(mxp_thread *thread, mxp_position *position, stretch_visit visit, void *context)
{
    *position = start_of(thread, *position);
    for (;;) {
        const uint64_t *to = filled_to(thread, position->chunk);
        if (to > position->at) {
            int error = visit != NULL ? visit(context, position->chunk, position->at, to) : 0;
            if (error != 0) {
                return error;
            }
            position->at = to;
        }
        mxp_chunk_header *next = mxp__chunk_next(position->chunk);
        if (next == NULL) {
            return MXP_OK;
        }
        if (position->at ==
            words_of(position->chunk) + position->chunk->section.payload_bytes / sizeof(uint64_t)) {
            *position = (mxp_position){next, words_of(next)};
        }
    }
}

// Most records are lean spans: four at a time, their loads do not wait for one another.
static bool four_lean_spans(const uint64_t *from, const uint64_t *to)
{
    const uint64_t lean = MXP_KIND_SPAN | 1 << 8;
    return to - from >= 8 &&
           (((from[0] ^ lean) | (from[2] ^ lean) | (from[4] ^ lean) | (from[6] ^ lean)) & 0xffff) ==
               0;
}

static int count_stretch(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                         const uint64_t *to)
{
    (void)chunk;
    mxp_thread *thread = context;
    thread->bytes += (uint64_t)(to - from) * sizeof(uint64_t);
    while (from < to) {
        if (four_lean_spans(from, to)) {
            thread->records += 4;
            from += 8;
            continue;
        }
        thread->records += (*from & 0xff) != MXP_KIND_VARIABLES;
        from += 2 * (*from >> 8 & 0xff);
    }
    return MXP_OK;
}

// A ring knows only what it holds.
void mxp__thread_count_records(mxp_thread *thread)
{
    if (mxp__ring_is_on()) {
        thread->counted = (mxp_position){0};
        thread->records = thread->bytes = 0;
    }
    walk(thread, &thread->counted, count_stretch, thread);
}

static void move_to_end(int consumer)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp_position end = {0};
        walk(thread, &end, NULL, NULL);
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

// ---- building a cut ---------------------------------------------------------------------------
typedef struct block_context {
    live_source *live;
    uint32_t thread;
} block_context;

static int add_block(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                     const uint64_t *to)
{
    block_context *add = context;
    live_source *live = add->live;
    int error =
        mxp__grow(&live->blocks, &live->block_capacity, live->block_count + 1, sizeof(mxp_block));
    if (error != MXP_OK) {
        return error;
    }
    live->blocks[live->block_count++] = (mxp_block){
        .words = from,
        .end = to,
        .base_ticks = chunk->base_ticks,
        .lost_before = from == words_of(chunk) ? chunk->lost_before : 0,
        .thread = add->thread,
        .sequence = chunk->sequence,
        .first_unit = (uint32_t)(from - words_of(chunk)) / 2,
    };
    return MXP_OK;
}

static int add_thread(live_source *live, mxp_thread *thread, int consumer)
{
    mxp__thread_count_records(thread);
    int error = mxp__grow(&live->cuts, &live->cut_capacity, live->cut_count + 1, sizeof(cut));
    if (error != MXP_OK) {
        return error;
    }
    cut *added = &live->cuts[live->cut_count++];
    *added = (cut){thread, thread->position[consumer]};
    block_context context = {live, thread->index};
    return walk(thread, &added->to, add_block, &context);
}

static int add_thread_entries(live_source *live)
{
    uint32_t count = mxp__thread_index_count();
    int error = mxp__grow(&live->threads, &live->thread_capacity, count, sizeof(mxp_thread_entry));
    if (error != MXP_OK) {
        return error;
    }
    if (count > 0) {
        memset(live->threads, 0, count * sizeof(mxp_thread_entry));
    }
    for (uint32_t i = 0; i < count && i < mxp__rec.old_thread_capacity; i++) {
        live->threads[i] = mxp__rec.old_threads[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        live->threads[i].index = i;
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->index < count) {
            live->threads[thread->index] = mxp__thread_entry_of(thread);
        }
    }
    live->source.threads = live->threads;
    live->source.thread_count = count;
    return MXP_OK;
}

static int add_loss(live_source *live, const mxp_loss_entry *loss)
{
    int error = mxp__grow(&live->losses, &live->loss_capacity, live->loss_count + 1,
                          sizeof(mxp_loss_entry));
    if (error == MXP_OK) {
        live->losses[live->loss_count++] = *loss;
    }
    return error;
}

static int add_losses(live_source *live)
{
    int error = MXP_OK;
    for (size_t i = 0; i < mxp__rec.old_loss_count && error == MXP_OK; i++) {
        error = add_loss(live, &mxp__rec.old_losses[i]);
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL && error == MXP_OK;
         thread = thread->next) {
        mxp_loss_entry entries[MXP__LOSS_WINDOWS + 1];
        size_t count = mxp__thread_losses(thread, entries);
        for (size_t i = 0; i < count && error == MXP_OK; i++) {
            error = add_loss(live, &entries[i]);
        }
    }
    mxp_loss_entry process[2];
    size_t count = mxp__process_losses(process);
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = add_loss(live, &process[i]);
    }
    live->source.losses = live->losses;
    live->source.loss_count = live->loss_count;
    return error;
}

// ---- statistics -------------------------------------------------------------------------------
// Takes the tables of all threads into those of the consumers, while nobody records.
static void detach_statistics(void)
{
    mxp__hold();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        uint64_t lost = 0;
        for (int i = 0; i < MXP__CONSUMERS; i++) {
            uint64_t lost_here = mxp__stats_merge(&mxp__rec.statistics[i], thread->stats);
            lost = lost_here > lost ? lost_here : lost;
        }
        if (lost != 0) {
            mxp__thread_lose(thread, MXP_LOSS_MEMORY_FULL, lost, mxp_ticks());
        }
        mxp__stats_free(thread->stats);
        thread->stats = NULL;
    }
    mxp__release();
}

static void add_statistic(void *context, uint32_t name, const mxp_histogram *histogram)
{
    live_source *live = context;
    live->stats[live->stats_count++] = (mxp_stats_view){name, histogram};
}

static int add_statistics(live_source *live, int consumer)
{
    detach_statistics();
    const mxp_stats_table *table = mxp__rec.statistics[consumer];
    uint32_t count = mxp__stats_count(table);
    int error = mxp__grow(&live->stats, &live->stats_capacity, count, sizeof(mxp_stats_view));
    if (error == MXP_OK) {
        mxp__stats_each(table, add_statistic, live);
        live->source.stats = live->stats;
        live->source.stats_count = live->stats_count;
    }
    return error;
}

// ---- the source -------------------------------------------------------------------------------
static mxp_name_view live_name(const mxp_source *source, uint32_t id)
{
    (void)source;
    return mxp__name_view(id);
}

static int live_block(mxp_source *source, size_t number, mxp_block *block)
{
    const live_source *live = (const live_source *)source;
    if (number >= live->block_count) {
        return 0;
    }
    *block = live->blocks[number];
    return 1;
}

static void live_close(mxp_source *source)
{
    live_source *live = (live_source *)source;
    if (live->pins) {
        mxp__ring_unpin();
    }
    mxp__timebase_fini(&live->timebase);
    mxp__info_fini(&live->info);
    mxp__free(live->blocks, live->block_capacity * sizeof(mxp_block));
    mxp__free(live->cuts, live->cut_capacity * sizeof(cut));
    mxp__free(live->threads, live->thread_capacity * sizeof(mxp_thread_entry));
    mxp__free(live->losses, live->loss_capacity * sizeof(mxp_loss_entry));
    mxp__free(live->stats, live->stats_capacity * sizeof(mxp_stats_view));
    mxp__free(live, sizeof *live);
}

static int build(live_source *live, int consumer)
{
    int error = MXP_OK;
    if (mxp__ring_is_on()) {
        live->pins = true;
        mxp__ring_pin();
        move_to_begin(consumer);
    } else if (!mxp__rec.consumer_active[consumer]) {
        move_to_end(consumer);  // nothing was held back for it
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL && error == MXP_OK;
         thread = thread->next) {
        error = add_thread(live, thread, consumer);
    }
    if (error == MXP_OK) {
        error = mxp__timebase_copy(&live->timebase, mxp__recorder_timebase(1));
    }
    if (error == MXP_OK) {
        error = add_statistics(live, consumer);
    }
    if (error == MXP_OK) {
        error = add_thread_entries(live);
    }
    if (error == MXP_OK) {
        error = add_losses(live);
    }
    if (error == MXP_OK) {
        error = mxp__info_build(&live->info);
    }
    return error;
}

int mxp__live_open(int consumer, mxp_source **source)
{
    *source = NULL;
    live_source *live = mxp__alloc(sizeof *live);
    if (live == NULL) {
        return mxp__fail_memory("reading the records");
    }
    live->source = (mxp_source){.pid = mxp__os_process_id(),
                                .timebase = &live->timebase,
                                .name = live_name,
                                .block = live_block,
                                .close = live_close};
    mxp__drain_lock();
    int error = build(live, consumer);
    live->source.name_count = mxp__name_count();  // last: every id in the records is below it
    live->source.info = live->info.pairs;
    live->source.info_count = live->info.count;
    mxp__drain_unlock();
    if (error != MXP_OK) {
        live_close(&live->source);
        return mxp__fail_memory("reading the records");
    }
    *source = &live->source;
    return MXP_OK;
}

// ---- consuming --------------------------------------------------------------------------------
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
    while (!mxp__ring_is_on() && (next = mxp__chunk_next(thread->first)) != NULL &&
           passed_by_all(thread, thread->first)) {
        mxp_chunk_header *chunk = thread->first;
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
    if (mxp__chunk_next(thread->first) != NULL || thread->stats != NULL) {
        return false;
    }
    const uint64_t *end = filled_to(thread, thread->first);
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
        if (__atomic_load_n(&thread->exited, __ATOMIC_ACQUIRE) == 0 || !is_drained(thread) ||
            mxp__thread_remember(thread) != MXP_OK) {
            continue;
        }
        if (!is_embedded(thread, thread->first)) {
            mxp__store_give_chunk(thread->first);
        }
        mxp__thread_release(thread);
    }
}

void mxp__live_consume(int consumer, mxp_source *source)
{
    live_source *live = (live_source *)source;
    mxp__drain_lock();
    for (size_t i = 0; i < live->cut_count && !live->pins; i++) {
        live->cuts[i].thread->position[consumer] = live->cuts[i].to;
    }
    if (consumer == MXP__CONSUMER_STATS) {
        mxp__stats_free(mxp__rec.statistics[consumer]);
        mxp__rec.statistics[consumer] = NULL;
    }
    retire_threads();
    mxp__drain_unlock();
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
        mxp_position from = start_of(thread, thread->position[consumer]);
        pending = mxp__chunk_next(from.chunk) != NULL || filled_to(thread, from.chunk) != from.at;
    }
    mxp__drain_unlock();
    return pending;
}
