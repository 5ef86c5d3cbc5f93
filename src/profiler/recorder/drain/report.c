// SPDX-License-Identifier: Apache-2.0
// See report.h.
#include "profiler/recorder/drain/report.h"

#include "base/atomic.h"
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

uint64_t mxp__recorder_unregistered(void)
{
    uint64_t from, to;
    return mxp__thread_registration_losses(&from, &to);
}
