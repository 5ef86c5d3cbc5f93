// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder/control: what runs on the session's thread: on, off, freeze, fork.
//
// Switching recording on and off, and changing how it works under the recording threads: the
// handshake with them is told in profiler/recorder/protocol.h.
#include <stdlib.h>

#include "base/atomic.h"
#include "base/cpu/cpu.h"
#include "base/os/os.h"
#include "base/os/run_delay.h"
#include "base/setting.h"
#include "profiler/clock/clock.h"
#include "profiler/recorder/control/image.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/span_write.h"
#include "profiler/recorder/record/stop_log.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/mend.h"
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

// ---- clock ------------------------------------------------------------------------------------
static uint32_t chosen_source;
static const char *clock_warning;
static pthread_once_t clock_once = PTHREAD_ONCE_INIT;
static mxp_atomic_bool counter_chosen;

static bool is_counter(uint32_t source)
{
    return source == MXP_CLOCK_SOURCE_TSC || source == MXP_CLOCK_SOURCE_ARM;
}

static void clock_pick(void)
{
    chosen_source = mxp__clock_choose(mxp__setting_text("MXPROF_CLOCK"), &clock_warning);
    if (is_counter(chosen_source)) {
        mxp_atomic_store(&counter_chosen, true);
        mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)MXP_GATE_LONG_BEGIN);
    }
}

uint32_t mxp__clock_source(void)
{
    pthread_once(&clock_once, clock_pick);
    return chosen_source;
}

bool mxp__clock_is_counter(void)
{
    return is_counter(mxp__clock_source());
}

const char *mxp__clock_warning(void)
{
    pthread_once(&clock_once, clock_pick);
    return clock_warning;
}

uint64_t mxp_clock_read(void)
{
#ifdef MXP_CPU_COUNTER
    if (mxp_atomic_load(&counter_chosen)) {  // sent the long way by a tap
        return mxp_cpu_counter();
    }
#endif
    return mxp__clock_read_source(mxp__clock_source());
}

void mxp__drain_lock(void)
{
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
}

bool mxp__drain_is_wanted(void)
{
    return mxp_atomic_load(&mxp__rec.drain_waiters) != 0;
}

// ---- handshake --------------------------------------------------------------------------------
// The tries of a wait for one thread, which may be preempted inside a record. The first ones yield,
// later ones sleep. A thread that takes longer becomes silent and is not waited for again
// (silent.h).
enum { YIELDS = 1000 };
static unsigned patience = YIELDS + 1000;

void mxp__freeze_patience(unsigned tries)
{
    patience = tries;
}

static bool wait_more(unsigned *tries)
{
    MXP_TEST_POINT(WAIT);
    *tries < YIELDS ? mxp__os_yield() : mxp__os_sleep_us(1000);
    return ++*tries < patience;
}

static mxp_atomic_bool barrier_refused;

bool mxp__barrier_is_refused(void)
{
    return mxp_atomic_load(&barrier_refused);
}

static mxp_atomic_u32 my_busy;  // `busy` of the freezing thread before the freeze

// During a freeze `busy` of the freezing thread is set for the sake of handlers on it, so my_busy
// tells whether it was in a record.
static bool is_inside(const mxp_thread *thread)
{
    return &thread->hot == mxp_self ? mxp_atomic_load(&my_busy) != 0 : mxp__is_busy(&thread->hot);
}

// Waits until the thread is outside of a record. One that was seen outside may be busy again by
// now, but then it waits for the end of the freeze before it does anything.
static void wait_for_thread(mxp_thread *thread)
{
    unsigned tries = 0;
    bool inside, silent = mxp__thread_is_silent(thread);
    do {
        inside = is_inside(thread);
    } while (inside && !silent && &thread->hot != mxp_self && wait_more(&tries));
    MXP_TEST_POINT(LOOK);
    if (!inside) {
        if (silent) {
            mxp__thread_answer(thread);
            mxp__thread_queue_late(thread);
        }
        if (thread->stranded != 0) {
            mxp__store_unmap_thread(thread, true);
        }
        return;
    }
    if (!silent && &thread->hot != mxp_self) {
        mxp__thread_silence(thread);
    }
    thread->left_out = mxp__thread_is_silent(thread);
}

// Waits until no other thread is inside a record, except silent ones. Afterwards everything
// recorded before can be read.
static void quiesce(void)
{
    if (!mxp__os_barrier_all_threads()) {
        mxp_atomic_store(&barrier_refused, true);
        mxp__os_sleep_us(1000);  // long enough for nearly any store buffer
    }
    unsigned tries = 0;
    while (mxp__threads_registering() != 0 && wait_more(&tries)) {
    }
    if (mxp__threads_registering() != 0) {
        mxp__threads_give_up_registering();
    }
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        wait_for_thread(thread);
    }
}

static MXP_ATOMIC(
    uintptr_t) freezer;  // address of the freezing thread's mxp_self; 0: nobody freezes

bool mxp__freeze_is_ours(void)
{
    return mxp_atomic_load(&freezer) == (uintptr_t)&mxp_self;
}

void mxp__freeze(void)
{
    assert(mxp__drain_is_held());
    assert(!mxp__freeze_is_ours() && "who has frozen the others freezes them again");
    mxp_atomic_set(&my_busy, 0);
    mxp_atomic_store(&freezer, (uintptr_t)&mxp_self);
    if (mxp_self != NULL) {  // a handler on this thread must not wait for us
        (void)mxp__emit_is_inside((mxp_thread *)mxp_self);  // one that was left by a jump is over
        mxp_atomic_set(&my_busy, mxp__busy_anywhere(mxp_self));
    }
    mxp_atomic_or_seq_cst(&mxp_control.gate, MXP_GATE_HOLD);
    quiesce();
    mxp__mend_threads();
}

void mxp__thaw(void)
{
    assert(mxp__freeze_is_ours());
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        thread->left_out = 0;
    }
    mxp_atomic_and_seq_cst(&mxp_control.gate, ~(uint32_t)MXP_GATE_HOLD);
    mxp__os_word_wake(&mxp_control.gate, true);
    mxp_atomic_store(&freezer, 0);
    if (mxp_self != NULL) {
        mxp__busy_again(mxp_self, mxp_atomic_own(&my_busy));
    }
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

// Two points a millisecond apart give the rate of the CPU's counter to some 30 ppm, before anything
// is converted with it; every later point makes it better. A brief wait is too short to sleep.
static void calibrate_clock(bool brief)
{
    enum { INTERVAL_US = 1000, BRIEF_NS = 200000 };
    mxp__recorder_timebase(1);
    if (!mxp__clock_is_counter()) {
        return;
    }
    if (!brief) {
        mxp__os_sleep_us(INTERVAL_US);
    }
    for (uint64_t begin_ns = mxp__os_monotonic_ns();
         brief && mxp__os_monotonic_ns() - begin_ns < BRIEF_NS;) {
    }
    mxp__recorder_timebase(1);
}

void mxp__recorder_calibrate(bool brief)
{
    if (!mxp__rec.timebase_ready) {
        calibrate_clock(brief);
    }
    if (mxp__rec.record_cost_ticks == 0) {
        mxp__rec.record_cost_ticks = mxp__measure_record_cost();
    }
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
        say_state(resumed ? 3 : 1);
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

static bool open_span_read(mxp_thread *thread, uint32_t i, uint64_t *begin, uint32_t *name)
{
    *begin = mxp_atomic_load_acquire(&thread->hot.open[i].begin);
    *name = mxp_atomic_load_acquire(&thread->hot.open[i].name);
    return *begin != 0 && *begin == mxp_atomic_load(&thread->hot.open[i].begin);
}

// Several spans may have begun in one tick: if `n` of them are in the slots up to `i`, `n` tokens
// must be closed.
static bool is_closed(const mxp_thread *thread, uint32_t i, uint64_t token)
{
    uint32_t open = 0, closed = 0;
    for (uint32_t k = 0; k <= i; k++) {
        open += mxp_atomic_load(&thread->hot.open[k].begin) == token;
    }
    for (uint32_t k = 0; k < thread->closed_count; k++) {
        closed += thread->closed_tokens[k] == token;
    }
    return closed >= open;
}

// Takes over the open span in slot `i` if it began before `end`: the caller writes it, its owner
// will not. False: there is no such span, or no space for its token; the owner writes it then. The
// owner pops its stack first and looks for the token afterwards, under the same lock
// (take_closed_token).
static bool claim_open_span(mxp_thread *thread, uint32_t i, uint64_t end, mxp_span *span)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool claimed = open_span_read(thread, i, &span->begin_ticks, &span->name) &&
                   span->begin_ticks <= end && thread->closed_count < MXP_OPEN_MAX &&
                   !is_closed(thread, i, span->begin_ticks);
    if (claimed) {
        thread->closed_tokens[thread->closed_count++] = span->begin_ticks;
        // For whoever reads the file of a process that dies; the next span in this slot has another
        // begin.
        mxp_atomic_store(&thread->hot.open[i].closed, (uint32_t)span->begin_ticks | 1u);
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return claimed;
}

// A span that an earlier stop has missed, because it was just being begun, ends at that stop.
static void close_open_spans(mxp_thread *thread, uint64_t end)
{
    uint32_t depth = mxp_atomic_load(&thread->hot.depth);
    mxp_span span = {.flags = MXP_SPAN_CLOSED_BY_STOP,
                     .lane = &thread->hot == mxp_self ? 0 : MXP_LANE_THREAD | thread->index};
    for (uint32_t i = 0; i < depth && i < MXP_OPEN_MAX; i++) {
        if (claim_open_span(thread, i, end, &span) &&
            mxp__stops_after(span.begin_ticks, &span.end_ticks)) {
            mxp__span_emit_stopped(&span);
        }
    }
}

// Open spans that are deeper than the stack keeps have no name: a stop cannot write them. Each is
// counted once, at the first stop, and not written at its end. Called while nobody records, before
// the time of the stop is read: spans may still begin, and those that begin later are not the
// stop's. A thread that does not answer writes its own, as closed by the stop.
static void count_deeper(uint64_t now)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (mxp__thread_is_left_out(thread)) {
            continue;
        }
        uint32_t depth = mxp_atomic_load(&thread->hot.depth);
        uint32_t deeper = depth > MXP_OPEN_MAX ? depth - MXP_OPEN_MAX : 0;
        if (deeper > thread->deeper_counted) {
            mxp__thread_lose(thread, MXP_LOSS_DEEPER, deeper - thread->deeper_counted, now);
        }
        thread->deeper_counted = deeper;
    }
}

// The time of the stop is read during the freeze. So no record made before is later than it, and a
// span that ends afterwards sees it.
static uint64_t close_gate(uint32_t state, int close_open)
{
    const bool closes = close_open && state != MXP__STATE_STOPPED;
    mxp__freeze();
    if (closes) {
        count_deeper(mxp_ticks());
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
    if (close_open && state != MXP__STATE_STOPPED) {
        for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
            close_open_spans(thread, end);
        }
        mxp__async_close_open(end);
    }
    if (state == MXP__STATE_ON || (close_open && state == MXP__STATE_PAUSED)) {
        say_state(close_open ? 0 : 2);
        mxp_atomic_store_release(&mxp__rec.state,
                                 close_open ? MXP__STATE_STOPPED : MXP__STATE_PAUSED);
    }
    if (close_open) {
        mxp__os_run_delay_close(false);
    }
    mxp__drain_unlock();
    return end;
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
