// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/control: what runs on the session's thread: on, off, freeze, fork.
//
// Switching recording on and off, and changing how it works under the recording threads: the
// handshake with them is told in profiler/recorder/protocol.h.
#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/os/run_delay.h"
#include "profiler/inside.h"
#include "profiler/recorder/control/image.h"
#include "profiler/recorder/control/stop_spans.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/stop_log.h"
#include "profiler/recorder/record/trigger.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_due.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/standing.h"

mxp_control_block mxp_control = {.gate = {MXP_GATE_LONG_BEGIN}, .layout = MXP_LAYOUT};

mxp_recorder_state mxp__rec = {
    .drain = MXP__LOCK_INIT,
    .limits = {.memory_limit_bytes = UINT64_C(1) << 30},
    .ns_mult = {UINT64_C(1) << 32},
    .consumer_active = {1, 0},
};

// ---- the drain lock ----------------------------------------------------------------------------
void mxp__drain_lock(void)
{
    mxp__inside_enter();
    if (!mxp__try_lock(&mxp__rec.drain)) {
        mxp_atomic_add(&mxp__rec.drain_waiters, 1);
        mxp__lock(&mxp__rec.drain);
        mxp_atomic_sub(&mxp__rec.drain_waiters, 1);
    }
    mxp__ring_pin();
}

void mxp__drain_unlock(void)
{
    mxp__ring_unpin();
    mxp__unlock(&mxp__rec.drain);
    mxp__inside_leave();
}

bool mxp__drain_is_wanted(void)
{
    return mxp_atomic_load(&mxp__rec.drain_waiters) != 0;
}

// ---- on and off -------------------------------------------------------------------------------
static uint32_t recorder_state(void)
{
    return mxp_atomic_load_acquire(&mxp__rec.state);
}

int mxp__recorder_is_on(void)
{
    return recorder_state() == MXP__STATE_ON;
}

uint64_t mxp__recorder_on_ticks(void)
{
    return mxp_atomic_load_acquire(&mxp__rec.on_ticks);
}

uint64_t mxp__recorder_off_ticks(void)
{
    return mxp_atomic_load_acquire(&mxp__rec.off_ticks);
}

static void gate_classes(uint32_t classes)
{
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    mxp_atomic_store_seq_cst(&mxp_control.gate, (gate & ~(uint32_t)MXP_CLASS_ALL) | classes);
}

// Every thread says before its next record in which scope and step it is, so that a reader of this
// run knows.
static void ask_for_scopes(void)
{
    mxp__freeze();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (mxp__thread_is_left_out(thread)) {
            continue;  // does so when it answers
        }
        thread->rewrite_scopes = 1;
        mxp_atomic_store(&thread->hot.limit, NULL);
    }
    mxp__thaw();
}

// Writes a record of the state. If a recording file is only planned, the first record of a thread
// does so (thread.c).
static void say_state(uint64_t state)
{
    if (!mxp__store_is_due()) {
        mxp__meta(MXP_META_STATE, 0, state, 0, MXP__FORCED);
    }
}

uint64_t mxp__recorder_start(uint32_t classes, int resumed)
{
    mxp__clock_source();
    mxp__drain_lock();
    bool was_on = mxp__recorder_is_on();
    uint64_t now = mxp_ticks();
    if (!was_on) {
        if (recorder_state() == MXP__STATE_STOPPED) {
            // A thread may have been beginning a span when the stop came: it counts as closed. The
            // time is read here and not when the gate opens, because a counter may be read up to
            // 100 ns before the instructions that precede the reading.
            mxp__stops_end(now);
            mxp_atomic_store_seq_cst(&mxp_control.closed_ticks, now);
        }
        mxp__recorder_calibrate(false);
        if (mxp__rec.limits.full_policy == MXP_FULL_DROP && !mxp__store_is_open()) {
            mxp__pool_prefill();
        }
        uint64_t off = mxp__recorder_off_ticks();
        mxp_atomic_add(&mxp__rec.inactive_ticks, off != 0 ? now - off : 0);
        ask_for_scopes();
        mxp__image_show();
        say_state(resumed ? MXP_STATE_RESUME : MXP_STATE_RUN);
        now = mxp_ticks();
        mxp_atomic_store_release(&mxp__rec.state, MXP__STATE_ON);
    }
    gate_classes(classes & MXP_CLASS_ALL);
    if (!was_on) {
        // on_ticks is stored last. note_start reads it before the gate: if it finds the gate closed
        // then, a stop has come after.
        mxp_atomic_store_release(&mxp__rec.on_ticks, now);
    }
    mxp__drain_unlock();
    return now;
}

void mxp__recorder_begin_profile(void)
{
    mxp__drain_lock();
    mxp__freeze();
    mxp__standing_forget();
    mxp__ring_begin_profile();
    mxp__thaw();
    mxp__drain_unlock();
}

// The time of the stop is read during the freeze. So no record made before is later than it, and a
// span that ends afterwards sees it.
static uint64_t close_gate(uint32_t state, int close_open)
{
    const bool closes = close_open && state != MXP__STATE_STOPPED;
    mxp__freeze();
    if (closes) {
        mxp__stop_count_deeper(mxp_ticks());
    }
    mxp__cpu_counter_fence();
    if (state == MXP__STATE_ON) {
        mxp_atomic_store_release(&mxp__rec.off_ticks, mxp_ticks());
    }
    MXP_TEST_POINT(OFF);
    uint64_t end = mxp__recorder_off_ticks();  // of a pause, if we are in one
    if (closes) {
        mxp__stops_begin(end);
        mxp_atomic_store_seq_cst(&mxp_control.closed_ticks, end);
    }
    gate_classes(0);
    mxp__thaw();
    return end;
}

uint64_t mxp__recorder_stop(int close_open)
{
    mxp__drain_lock();
    uint32_t state = recorder_state();
    uint64_t end = close_gate(state, close_open);
    mxp__trigger_step_forget();
    if (close_open && state != MXP__STATE_STOPPED) {
        mxp__stop_close_spans(end);
        mxp__async_close_open(end);
    }
    if (state == MXP__STATE_ON || (close_open && state == MXP__STATE_PAUSED)) {
        say_state(close_open ? MXP_STATE_STOP : MXP_STATE_PAUSE);
        mxp_atomic_store_release(&mxp__rec.state,
                                 close_open ? MXP__STATE_STOPPED : MXP__STATE_PAUSED);
    }
    if (close_open) {
        mxp__os_run_delay_close(false);
    }
    mxp__drain_unlock();
    return end;
}

void mxp__ring_restart(void)
{
    mxp__drain_lock();
    if (mxp__ring_is_on()) {
        mxp__freeze();
        mxp__ring_forget();
        mxp__thaw();
    }
    mxp__drain_unlock();
    mxp__threads_reclaim();  // threads that are gone hold nothing any more
}

// Consumers continue with what a ring has held: positions that are not in the oldest chunk may be
// in one that was used again.
static void check_positions(void)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        for (int i = 0; i < MXP__CONSUMERS; i++) {
            if (thread->position[i].chunk != thread->first) {
                thread->position[i] = (mxp_position){0};
            }
        }
    }
}

int mxp__recorder_limits_set(const mxp_recorder_limits *limits)
{
    mxp__drain_lock();
    mxp_atomic_store(&mxp__rec.step_cpu, limits->step_cpu != 0);
    mxp__pool_limit(limits->memory_limit_bytes);
    mxp__names_limit(limits->memory_limit_bytes, limits->names);
    if (limits->statistics_only != mxp__rec.limits.statistics_only ||
        (limits->full_policy == MXP_FULL_RING) != mxp__ring_is_on() ||
        limits->statistics_when_full != mxp__rec.limits.statistics_when_full) {
        mxp__freeze();
        mxp__rec.limits = *limits;
        if (mxp__ring_is_on() != (limits->full_policy == MXP_FULL_RING)) {
            mxp__ring_set(!mxp__ring_is_on());
            mxp__store_map_standing();
            check_positions();
        }
        mxp__stats_free(mxp__rec.statistics[MXP__CONSUMER_FILE]);
        mxp__rec.statistics[MXP__CONSUMER_FILE] = NULL;
        for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
            mxp_atomic_store(&thread->hot.limit, NULL);
        }
        mxp__thaw();
    } else {
        mxp__rec.limits.memory_limit_bytes = limits->memory_limit_bytes;
        mxp__rec.limits.full_policy = limits->full_policy;
        mxp__rec.limits.names = limits->names;
    }
    mxp__drain_unlock();
    return MXP_OK;
}
