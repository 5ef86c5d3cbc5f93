// SPDX-License-Identifier: Apache-2.0
// The live source: a drain of the chunks of all threads, from the position of a consumer to now.
// Reading it takes no lock and may take long. Recording threads only append after it, and chunks
// that are given back meanwhile are kept until nobody reads (readers.h). What others may change is
// copied.
#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "profiler/recorder/drain/consume.h"
#include "profiler/recorder/drain/ended.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/memory/readers.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/clock_owner.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/modules.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/standing.h"
#include "profiler/recorder/thread/thread_index.h"

typedef struct drained_range {
    mxp_thread *thread;
    mxp_position from, to;
} drained_range;

typedef struct live_source {
    mxp_source source;  // must stay first
    mxp_timebase timebase;
    mxp_record_range *ranges;
    size_t range_count, range_capacity;
    drained_range *drained;
    size_t drained_count, drained_capacity;
    mxp_thread_entry *threads;
    size_t thread_capacity;
    mxp_loss_entry *losses;
    size_t loss_count, loss_capacity;
    mxp_module_entry *modules;
    mxp_stats_view *stats;
    size_t stats_count, stats_capacity;
    mxp_stats_table *table;  // what the views are of, our own
    mxp_counter_view *counters;
    size_t counter_bytes;
    int consumer;
    mxp_info_list info;
    bool ring;  // the drain is all that a ring held
    bool reads;
    mxp_standing_drain *standing;  // what the ring had dropped
} live_source;

// ---- the time of a drain ------------------------------------------------------------------------
static void take_statistics(mxp_thread *thread)
{
    uint64_t lost = mxp__consumers_add_statistics(thread);
    if (lost != 0) {
        mxp__thread_lose(thread, MXP_LOSS_MEMORY_FULL, lost, mxp_ticks());
    }
}

// Notes the cursors of all threads at one time, in a freeze. So everything that the drain leaves
// for the next one is later than everything it takes. The statistics need the freeze in any case.
static void note_cursors(void)
{
    mxp__freeze();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        bool silent = mxp__thread_is_left_out(thread);
        thread->drained_to =
            silent ? thread->answered.at : mxp_atomic_load_acquire(&thread->hot.cursor);
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (!mxp__thread_is_left_out(thread)) {
            take_statistics(thread);
        }
    }
    mxp__thaw();
}

// ---- building a drain ---------------------------------------------------------------------------
typedef struct range_context {
    live_source *live;
    uint32_t thread;
    const mxp_thread *from;
} range_context;

static int add_range(void *context, const mxp_chunk_header *chunk, const uint64_t *from,
                     const uint64_t *to)
{
    range_context *add = context;
    live_source *live = add->live;
    int error = mxp__grow(&live->ranges, &live->range_capacity, live->range_count + 1,
                          sizeof(mxp_record_range));
    if (error != MXP_OK) {
        return error;
    }
    live->ranges[live->range_count++] = (mxp_record_range){
        .words = from,
        .end = to,
        .base_ticks = chunk->base_ticks,
        .lost_before = from == mxp__chunk_words(chunk) ? chunk->lost_before : 0,
        .thread = add->thread,
        .sequence = chunk->sequence,
        .first_unit = (uint32_t)(from - mxp__chunk_words(chunk)) / 2,
        .filed = mxp__store_has_filed(add->from, chunk),
    };
    return MXP_OK;
}

static int add_thread(live_source *live, mxp_thread *thread)
{
    mxp__thread_count_records(thread);
    int error = mxp__grow(&live->drained, &live->drained_capacity, live->drained_count + 1,
                          sizeof(drained_range));
    if (error != MXP_OK) {
        return error;
    }
    drained_range *added = &live->drained[live->drained_count++];
    *added =
        (drained_range){thread, thread->position[live->consumer], thread->position[live->consumer]};
    thread->drains++;
    range_context context = {live, thread->index, thread};
    return mxp__walk(thread, &added->to, thread->drained_to, add_range, &context);
}

// Adds the records of all threads. A thread without `drained_to` has registered after the freeze.
static int add_threads(live_source *live)
{
    int error = MXP_OK;
    note_cursors();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (thread->drained_to != NULL && error == MXP_OK) {
            error = add_thread(live, thread);
        }
        thread->drained_to = NULL;
    }
    return error;
}

static int add_thread_entries(live_source *live)
{
    uint32_t count = mxp__index_count();
    int error = mxp__grow(&live->threads, &live->thread_capacity, count, sizeof(mxp_thread_entry));
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < count; i++) {
        live->threads[i] = mxp__ended_entry(i);
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

// The losses of ended threads come first: what continues one of them is added to it.
static int add_thread_loss(live_source *live, const mxp_loss_entry *loss)
{
    size_t before = mxp__ended_loss_before(loss);
    if (before == SIZE_MAX) {
        return add_loss(live, loss);
    }
    mxp__ended_join(&live->losses[before], loss);
    return MXP_OK;
}

static int add_losses(live_source *live)
{
    int error = MXP_OK;
    for (size_t i = 0; i < mxp__ended_loss_count() && error == MXP_OK; i++) {
        error = add_loss(live, mxp__ended_loss(i));
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL && error == MXP_OK;
         thread = thread->next) {
        mxp_loss_entry entries[MXP__LOSS_WINDOWS + 1];
        size_t count = mxp__thread_losses(thread, entries);
        for (size_t i = 0; i < count && error == MXP_OK; i++) {
            error = add_thread_loss(live, &entries[i]);
        }
    }
    mxp_loss_entry process[MXP__PROCESS_LOSSES];
    size_t count = mxp__process_losses(process);
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = add_loss(live, &process[i]);
    }
    live->source.losses = live->losses;
    live->source.loss_count = live->loss_count;
    return error;
}

// ---- statistics -------------------------------------------------------------------------------
static void add_statistic(void *context, uint32_t name, const mxp_histogram *histogram)
{
    live_source *live = context;
    live->stats[live->stats_count++] = (mxp_stats_view){name, histogram};
}

// STATS takes its table; that of FILE continues growing, so it is copied.
static int take_table(live_source *live)
{
    mxp_stats_table **of_consumer = &mxp__rec.statistics[live->consumer];
    if (live->consumer == MXP__CONSUMER_STATS) {
        live->table = *of_consumer;
        *of_consumer = NULL;
        return MXP_OK;
    }
    return mxp__stats_merge(&live->table, *of_consumer) == 0 ? MXP_OK : MXP_ENOMEM;
}

static int add_statistics(live_source *live)
{
    uint32_t count = mxp__stats_count(mxp__rec.statistics[live->consumer]);
    int error = mxp__grow(&live->stats, &live->stats_capacity, count, sizeof(mxp_stats_view));
    if (error == MXP_OK) {
        error = take_table(live);
    }
    if (error == MXP_OK) {
        mxp__stats_each(live->table, add_statistic, live);
        live->source.stats = live->stats;
        live->source.stats_count = live->stats_count;
    }
    return error;
}

static int add_counters(live_source *live)
{
    if (live->consumer != MXP__CONSUMER_STATS) {
        return MXP_OK;
    }
    int error =
        mxp__counter_stats_take(&live->counters, &live->source.counter_count, &live->counter_bytes);
    live->source.counters = live->counters;
    uint64_t now = mxp__recorder_is_on() ? mxp_ticks() : mxp__recorder_off_ticks();
    live->source.drained_ns = mxp__timebase_ns(&live->timebase, now);
    return error;
}

// ---- the source -------------------------------------------------------------------------------
static mxp_name_view live_name(const mxp_source *source, uint32_t id)
{
    (void)source;
    return mxp__name_view(id);
}

static int live_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    const live_source *live = (const live_source *)source;
    if (number >= live->range_count) {
        return 0;
    }
    *range = live->ranges[number];
    return 1;
}

static void leave_threads(live_source *live)
{
    for (size_t i = 0; i < live->drained_count; i++) {
        assert(live->drained[i].thread->drains != 0 &&
               "a thread is left by more drains than were made of it");
        live->drained[i].thread->drains--;
    }
    live->drained_count = 0;
}

// Gives statistics back that STATS has not consumed: they come with its next drain.
static void put_table_back(live_source *live)
{
    if (live->consumer == MXP__CONSUMER_STATS && live->table != NULL) {
        mxp_stats_table *newer = mxp__rec.statistics[MXP__CONSUMER_STATS];
        mxp__statistics_leave_out(mxp__stats_merge(&live->table, newer));
        mxp__stats_free(newer);
        mxp__rec.statistics[MXP__CONSUMER_STATS] = live->table;
        live->table = NULL;
    }
}

static void live_close(mxp_source *source)
{
    live_source *live = (live_source *)source;
    if (live->reads) {
        mxp__drain_lock();
        leave_threads(live);
        put_table_back(live);
        mxp__readers_go();
        mxp__drain_unlock();
    }
    mxp__stats_free(live->table);
    mxp__timebase_fini(&live->timebase);
    mxp__info_fini(&live->info);
    mxp__free(live->counters, live->counter_bytes);
    mxp__free(live->standing, sizeof *live->standing);
    mxp__free(live->ranges, live->range_capacity * sizeof(mxp_record_range));
    mxp__free(live->drained, live->drained_capacity * sizeof(drained_range));
    mxp__free(live->threads, live->thread_capacity * sizeof(mxp_thread_entry));
    mxp__free(live->losses, live->loss_capacity * sizeof(mxp_loss_entry));
    mxp__free(live->modules, live->source.module_count * sizeof *live->modules);
    mxp__free((void *)(uintptr_t)live->source.clock_owner, live->source.clock_bytes);
    mxp__free(live->stats, live->stats_capacity * sizeof(mxp_stats_view));
    mxp__free(live, sizeof *live);
}

static int add_standing(live_source *live)
{
    return live->ring ? mxp__standing_prepend(&live->ranges, &live->range_count,
                                              &live->range_capacity, &live->standing)
                      : MXP_OK;
}

static int add_timebase(live_source *live)
{
    return mxp__timebase_copy(&live->timebase, mxp__recorder_timebase(1));
}

static int add_modules(live_source *live)
{
    int error = mxp__modules_copy(&live->modules, &live->source.module_count);
    live->source.modules = live->modules;
    return error;
}

static int add_clock_owner(live_source *live)
{
    return mxp__clock_owner_copy(&live->source.clock_owner, &live->source.clock_bytes);
}

static int add_info(live_source *live)
{
    int error = mxp__info_build(&live->info);
    live->source.info = live->info.pairs;
    live->source.info_count = live->info.count;
    return error;
}

// Statistics come last: taking them changes what the next drain gets.
static int build(live_source *live)
{
    static int (*const steps[])(live_source *) = {
        add_threads, add_standing,    add_timebase, add_thread_entries, add_losses,
        add_modules, add_clock_owner, add_info,     add_statistics,     add_counters};
    int error = MXP_OK;
    live->ring = mxp__ring_is_on();
    live->reads = true;
    mxp__readers_come();
    mxp__consumer_begin_read(live->consumer);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && error == MXP_OK; i++) {
        error = steps[i](live);
    }
    return error;
}

// Does most of the work of a drain before it, in portions. Others that need the drain lock, such as
// a fork, get it in between.
void mxp__live_prepare(void)
{
    bool more = true;
    while (more) {
        mxp__drain_lock();
        more = !mxp__ring_is_on() && mxp__count_portion();
        mxp__drain_unlock();
        while (more && mxp__drain_is_wanted()) {
            mxp__os_sleep_us(50);
        }
    }
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
                                .range = live_range,
                                .close = live_close};
    live->consumer = consumer;
    mxp__drain_lock();
    int error = build(live);
    live->source.name_count = mxp__name_count();  // last: every id in the records is below it
    mxp__drain_unlock();
    if (error != MXP_OK) {
        live_close(&live->source);
        return mxp__fail_memory("reading the records");
    }
    *source = &live->source;
    return MXP_OK;
}

// Unless the consumer was moved meanwhile: a ring began anew, or it was switched off.
static void pass(const drained_range *passed, int consumer)
{
    mxp_position *position = &passed->thread->position[consumer];
    if (position->chunk == passed->from.chunk && position->at == passed->from.at) {
        *position = passed->to;
    }
}

void mxp__live_consume(int consumer, mxp_source *source)
{
    live_source *live = (live_source *)source;
    assert(consumer == live->consumer && "a drain is consumed by another than it was made for");
    mxp__drain_lock();
    mxp_stats_table *table = live->table;
    live->table = NULL;
    for (size_t i = 0; i < live->drained_count && !live->ring; i++) {
        pass(&live->drained[i], consumer);
    }
    leave_threads(live);
    mxp__consumer_end_read();
    mxp__drain_unlock();
    mxp__stats_free(table);
}
