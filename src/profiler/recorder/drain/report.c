// SPDX-License-Identifier: Apache-2.0
// See report.h.
#include "profiler/recorder/drain/report.h"

#include <mxprof/record_inline.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/clock/clock.h"
#include "profiler/recorder/drain/ended.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/thread_index.h"

static uint64_t lost_busy(mxp_thread *thread)
{
    return mxp_atomic_load(&thread->hot.lost_busy);
}

uint64_t mxp__thread_lost(mxp_thread *thread)
{
    return mxp_atomic_load(&thread->lost) + lost_busy(thread);
}

mxp_thread_entry mxp__thread_entry_of(mxp_thread *thread)
{
    bool exited = mxp_atomic_load_acquire(&thread->exited) != 0;
    mxp_thread_entry before = mxp__ended_entry(thread->index);
    return (mxp_thread_entry){
        .index = thread->index,
        .tid = thread->tid,
        .start_ticks = thread->start_ticks,
        .end_ticks = exited ? thread->end_ticks : 0,
        .records = before.records + thread->records,
        .lost = before.lost + mxp__thread_lost(thread),
        .name = mxp_atomic_load(&thread->name),
        .flags = before.start_ticks != 0 ? MXP_THREAD_SEVERAL : 0,
    };
}

static size_t copy_windows(const mxp_thread *thread, mxp_loss_entry *entries)
{
    size_t count = 0;
    for (size_t i = 0; i < MXP__LOSS_WINDOWS; i++) {
        const mxp_loss_window *window = &thread->loss[i];
        if (window->reason != 0) {
            entries[count++] = (mxp_loss_entry){thread->index, window->reason, window->count,
                                                window->from_ticks, window->to_ticks};
        }
    }
    return count;
}

// Of a thread that may be writing its own.
static size_t one_window(const mxp_thread *thread, mxp_loss_entry *entry)
{
    *entry = (mxp_loss_entry){.thread = thread->index,
                              .reason = MXP_LOSS_SEVERAL,
                              .count = mxp_atomic_load(&thread->lost),
                              .from_ticks = thread->start_ticks,
                              .to_ticks = mxp_ticks()};
    return 1;
}

// The owner writes its windows, unless it is gone: a freeze waits for every busy thread, which
// would take long for each of thousands.
static size_t windows_of(mxp_thread *thread, mxp_loss_entry *entries)
{
    if (mxp__thread_is_gone(thread)) {
        return copy_windows(thread, entries);
    }
    mxp__freeze();
    size_t count = mxp__thread_is_left_out(thread) ? one_window(thread, entries)
                                                   : copy_windows(thread, entries);
    mxp__thaw();
    return count;
}

size_t mxp__thread_losses(mxp_thread *thread, mxp_loss_entry *entries)
{
    assert(mxp__drain_is_held());
    bool has_lost = mxp_atomic_load(&thread->lost) != 0;
    size_t count = has_lost ? windows_of(thread, entries) : 0;
    if (lost_busy(thread) != 0) {
        entries[count++] = (mxp_loss_entry){.thread = thread->index,
                                            .reason = MXP_LOSS_IN_SIGNAL,
                                            .count = lost_busy(thread),
                                            .from_ticks = thread->start_ticks,
                                            .to_ticks = mxp_ticks()};
    }
    return count;
}

size_t mxp__process_losses(mxp_loss_entry *entries)
{
    size_t count = 0;
    uint64_t from, to;
    uint64_t unregistered = mxp__thread_registration_losses(&from, &to);
    if (unregistered != 0) {
        entries[count++] = (mxp_loss_entry){UINT32_MAX, MXP_LOSS_THREAD, unregistered, from, to};
    }
    if (mxp__name_losses() != 0) {
        entries[count++] = (mxp_loss_entry){UINT32_MAX, MXP_LOSS_NAMES_FULL, mxp__name_losses(),
                                            mxp__recorder_on_ticks(), mxp_ticks()};
    }
    if (mxp__rescue_lost_records() != 0) {
        entries[count++] =
            (mxp_loss_entry){UINT32_MAX, MXP_LOSS_FILE_EMPTIED, mxp__rescue_lost_records(),
                             mxp__recorder_on_ticks(), mxp_ticks()};
    }
    return count;
}

void mxp__report_fill(mxp_report *report)
{
    assert(mxp__drain_is_held());
    const mxp_timebase *timebase = &mxp__rec.timebase;
    const mxp_ended_totals *ended = mxp__ended_totals();
    uint64_t records = ended->records, bytes = ended->bytes, lost = ended->lost;
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp__thread_count_records(thread);
        records += thread->records;
        bytes += thread->bytes;
        lost += mxp__thread_lost(thread);
    }
    mxp_loss_entry process[MXP__PROCESS_LOSSES];
    size_t count = mxp__process_losses(process);
    for (size_t i = 0; i < count; i++) {
        // A record under <names full> is there, only its name is not.
        lost += process[i].reason == MXP_LOSS_NAMES_FULL ? 0 : process[i].count;
    }
    double ns_per_tick = mxp__rec.timebase_ready ? mxp__timebase_ns_per_tick(timebase) : 0;
    *report = (mxp_report){
        .size_bytes = sizeof *report,
        .clock_source = mxp__clock_source(),
        .ns_per_tick = ns_per_tick,
        .clock_residual_ns = timebase->residual_ns,
        .record_cost_ns = mxp__rec.record_cost_ticks * ns_per_tick,
        .records = records,
        .bytes = bytes,
        .lost = lost,
        .names = mxp__name_count(),
        .names_bytes = mxp__name_bytes(),
        .threads = mxp__index_threads(),
        .memory_bytes = mxp__pool_held_bytes(),
        .estimated_overhead_ns = (double)records * mxp__rec.record_cost_ticks * ns_per_tick,
        .unanswered = mxp__threads_unanswered(),
    };
}

void mxp__recorder_report(mxp_report *report)
{
    mxp__drain_lock();
    mxp__recorder_timebase(1);
    mxp__report_fill(report);
    mxp__drain_unlock();
}

const mxp_timebase *mxp__recorder_timebase(int add_point)
{
    if (!mxp__rec.timebase_ready) {
        mxp__timebase_init(&mxp__rec.timebase, mxp__clock_source());
        mxp__rec.timebase_ready = 1;
        add_point = 1;
    }
    if (add_point) {
        mxp_clock_point point;
        mxp__clock_take_point(mxp__clock_source(), &point);
        mxp__timebase_add(&mxp__rec.timebase, &point);  // without memory the old points must do
        double mult = mxp__timebase_ns_per_tick(&mxp__rec.timebase) * 4294967296.0;
        mxp_atomic_store(&mxp__rec.ns_mult, (uint64_t)mult);
    }
    return &mxp__rec.timebase;
}

double mxp__recorder_ns_per_tick(void)
{
    return (double)mxp_atomic_load(&mxp__rec.ns_mult) / 4294967296.0;
}

// As mxp_inline_begin, whose long way would call the taps.
static inline uint64_t begin_untapped(uint32_t gate)
{
    mxp_open_span *slot = mxp_inline_push(mxp_self, MXP_NAME_NONE);
    uint64_t now = mxp_ticks_from(gate);
    mxp_atomic_store_release(&slot->begin, now);
    return now;
}

// The ticks that `count` spans take on `scratch`, whose only chunk is `chunk`.
static uint64_t time_spans(mxp_thread *scratch, mxp_chunk_header *chunk,
                           const mxp_control_block *control, int count)
{
    mxp_atomic_set(&scratch->hot.cursor, mxp__chunk_words(chunk));
    uint64_t begin = mxp_ticks();
    mxp_atomic_set(&scratch->hot.base_ticks, begin);
    for (int i = 0; i < count; i++) {
        uint32_t gate = mxp_atomic_load(&control->gate);
        uint64_t token = begin_untapped(gate);
        mxp_inline_end_under(control, MXP_NAME_NONE, token, mxp_ticks());
    }
    return mxp_ticks() - begin;
}

// On a recorder and under a gate of their own, so that nothing of it is seen, and that it can be
// done while recording is off. Signals are blocked: a handler's records would go the same way.
double mxp__measure_record_cost(void)
{
    enum { ROUNDS = 9, SPANS = 200 };
    mxp_chunk_header *chunk = mxp__pool_take_chunk();
    mxp_recorder_section *slab = mxp__pool_take_slab();
    double cost_ticks = 0;
    if (chunk != NULL && slab != NULL) {
        mxp_thread *scratch = (mxp_thread *)(slab + 1);
        uint32_t clock = mxp__clock_is_counter() ? 0 : MXP_GATE_LONG_BEGIN;
        mxp_control_block control = {.gate = {MXP_CLASS_USER | clock}};
        uint64_t saved[16], best = UINT64_MAX;
        mxp__os_block_signals(saved);
        mxp_recorder *real = mxp_self;
        mxp_self = &scratch->hot;
        mxp_atomic_set(&scratch->hot.limit, (uint64_t *)((char *)chunk + MXP_CHUNK_BYTES));
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t took = time_spans(scratch, chunk, &control, SPANS);
            best = took < best ? took : best;
        }
        mxp_self = real;
        mxp__os_restore_signals(saved);
        cost_ticks = (double)best / SPANS;
    }
    if (slab != NULL) {
        mxp__pool_give_slab(slab);
    }
    if (chunk != NULL) {
        mxp__pool_give_chunk(chunk);
    }
    return cost_ticks;
}
