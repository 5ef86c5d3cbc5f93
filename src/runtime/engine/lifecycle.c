// SPDX-License-Identifier: Apache-2.0
// Start, stop, shutdown, fork, exit, and the counts, under one lock.
//
// Lock rule: stop and fork hold `lock` while they wait for all operations. So code that runs inside
// an operation must never block on it: lock_or_started gives up as soon as the engine runs.
//
// Fork. The forking thread ends the workers, waits until nothing is pending, holding the push lock
// so that nothing new comes, and takes the other locks. Parent and child start again with their
// first call. A fork from inside an operation cannot do that: the engine of the child refuses
// everything (such children call exec). A fork beside the first start, of another thread, comes
// before the handlers: its child begins anew.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/engine/bulk.h"
#include "runtime/engine/compute.h"
#include "runtime/engine/engine_error.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/machine_note.h"
#include "runtime/engine/run.h"
#include "runtime/engine/settings.h"
#include "runtime/engine/worker_pool.h"

enum { SPIN_NS = 20000, SPINS_MEASURED = 1000, SPINS_MIN = 64, SPINS_MAX = 20000 };

mxn_engine mxn__engine = {.next_id = {1}};

static mxp_lock lock = MXP__LOCK_INIT;
static bool is_child;  // of a fork
// This thread is between the handlers of its fork: another may be in one of its own.
static __thread bool prepared __attribute__((tls_model("initial-exec")));
// This thread forks, and there were no such handlers when it began.
static __thread bool is_early __attribute__((tls_model("initial-exec")));
static mxp_atomic_bool has_handlers;
static const char *closed;  // why the engine does not start any more, null: it does
static pthread_once_t once = PTHREAD_ONCE_INIT;

// ---- start ------------------------------------------------------------------------------------

// How often a loop turns in about 20 us; not at all where nobody else can run meanwhile.
static uint32_t measure_spins(void)
{
    if (mxp__os_cpu_count() < 2) {
        return 0;
    }
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (unsigned i = 0; i < SPINS_MEASURED; i++) {
        mxp__cpu_relax();
    }
    uint64_t taken_ns = mxp__os_monotonic_ns() - begin_ns + 1;
    uint64_t spins = (uint64_t)SPIN_NS * SPINS_MEASURED / taken_ns;
    return spins < SPINS_MIN ? SPINS_MIN : spins > SPINS_MAX ? SPINS_MAX : (uint32_t)spins;
}

static bool is_started(void)
{
    return mxp_atomic_load_acquire(&mxn__engine.started) != 0;
}

static void fork_prepare(void);
static void fork_parent(void);
static void fork_child(void);

static void prepare_process(void)
{
    static const char *const hidden[MXN__HIDDEN_NAMES] = {"CustomOperatorWait", "Custom",
                                                          "_backward_Custom"};
    mxn_engine *engine = &mxn__engine;
    for (int i = 0; i < MXN__HIDDEN_NAMES; i++) {
        engine->hidden[i] = mxp_span_name("operator", hidden[i]);
    }
    engine->name_wait = mxp_span_name("operator", "WaitForVar");
    engine->name_delete = mxp_span_name("operator", "DeleteVariable");
    engine->name_bulk = mxp_span_name("operator", "ImperativeBulk");
    engine->spins = measure_spins();
    engine->needs_fence = !mxp__os_barrier_all_threads();
    mxn__machine_note();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
    mxp_atomic_store_release(&has_handlers, true);
}

static void tell(const mxn_engine_settings *settings)
{
    if (settings->naive) {
        fprintf(stderr, "engine: NaiveEngine, every operation runs inside its push\n");
    } else {
        fprintf(stderr,
                "engine: ThreadedEnginePerDevice, 1 compute thread, %u light, up to %u for "
                "priorities\n",
                settings->workers - 1, settings->priority_workers);
    }
}

// What is pending was pushed as the settings before say, and ends like that.
static void settle_locked(mxn_engine_settings *settings)
{
    assert(mxp__lock_is_held(&lock));
    mxn_engine *engine = &mxn__engine;
    if (mxn__engine_pending() != 0) {
        settings->naive = mxn__engine_naive();
        return;
    }
    mxn__worker_pool_size(MXN__QUEUE_LIGHT, settings->workers - 1);
    mxn__worker_pool_size(MXN__QUEUE_PRIORITY, settings->priority_workers);
    mxp_atomic_store(&engine->naive, settings->naive);
    mxp_atomic_store(&engine->has_light, settings->workers > 1);
}

static int start_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    mxn_engine *engine = &mxn__engine;
    if (is_started()) {
        return MXP_OK;
    }
    if (closed != NULL) {
        return mxp__fail(MXP_ESTATE, "%s", closed);
    }
    mxn_engine_settings settings;
    int code = mxn__engine_settings_read(&settings, is_child);
    if (code != MXP_OK) {
        return code;
    }
    pthread_once(&once, prepare_process);
    settle_locked(&settings);
    if (!settings.naive) {
        code = mxn__compute_start();
        if (code == MXP_OK) {
            code = mxn__worker_pools_start_pending();
        }
    }
    if (code == MXP_OK) {
        mxp_atomic_and(&engine->error_flags, ~(uint32_t)MXN__ERROR_FLAG_SHUTDOWN);
        mxp_atomic_store_release(&engine->started, 1);  // pairs with mxn__engine_ensure
        mxn__engine_settings_note(&settings);
        if (settings.info) {
            tell(&settings);
        }
    }
    return code;
}

// False: whoever has the lock has started meanwhile. Before a fork that one continues to wait, for
// operations that may need the caller to push others.
static bool lock_or_started(void)
{
    enum { BREAK_US = 20 };
    while (!mxp__try_lock(&lock)) {
        if (is_started() && (mxn__engine_naive() || mxn__compute_is_there())) {
            return false;
        }
        mxp__os_sleep_us(BREAK_US);
    }
    return true;
}

int mxn__engine_start_slow(void)
{
    if (!lock_or_started()) {
        return MXP_OK;
    }
    int code = start_locked();
    mxp__unlock(&lock);
    return code;
}

int mxn_engine_start(void)
{
    return mxn__engine_ensure();
}

void mxn_engine_share_cores(void)
{
    mxp_atomic_store(&mxn__engine.shares_cores, 1u);
}

bool mxn_engine_is_naive(void)
{
    return mxn__engine_ensure() == MXP_OK && mxn__engine_naive();
}

// ---- stop -------------------------------------------------------------------------------------

static void stop_workers(void)
{
    mxn__worker_pools_stop();
    mxn__compute_stop();
    mxp_atomic_store_release(&mxn__engine.started, 0);
}

// Under the lock. At the end of the process only that stops them.
static bool may_stop_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    return is_started() && closed == NULL;
}

static bool is_inside(void)
{
    const mxn_thread *self = mxn__self;
    return self != NULL && (self->running != NULL || self->callback != NULL || self->is_worker);
}

int mxn_engine_stop(void)
{
    if (is_inside()) {
        return mxp__fail(MXP_ESTATE, "the engine cannot be stopped from inside an operation");
    }
    int code = mxn_bulk_flush();
    mxp__lock(&lock);
    if (may_stop_locked()) {
        mxn__idle_wait();
        stop_workers();
        if (mxn__engine_pending() != 0) {
            start_locked();  // another thread has pushed meanwhile
        }
    }
    mxp__unlock(&lock);
    return code;
}

void mxn_engine_drop_pending(void)
{
    mxp_atomic_or_seq_cst(&mxn__engine.error_flags, MXN__ERROR_FLAG_SHUTDOWN);
}

int mxn_engine_shutdown(void)
{
    int code = mxn__engine_ensure();
    if (code != MXP_OK) {
        return code;
    }
    code = mxn_wait_all();
    mxn_engine_drop_pending();
    int later_code = mxn_wait_all();  // what others have pushed meanwhile
    return code != MXP_OK ? code : later_code;
}

// What is still queued completes without running. What runs is waited for, unless it is this
// thread.
__attribute__((destructor)) static void end_process(void)
{
    if (is_inside() || prepared) {
        return;
    }
    mxp__lock(&lock);
    closed = "the process is ending";
    mxp__unlock(&lock);
    if (is_started()) {
        mxn_engine_drop_pending();
        stop_workers();
    }
}

// ---- fork -------------------------------------------------------------------------------------

// Returns with the push lock held and nothing pending.
static void become_idle(void)
{
    for (;;) {
        // A push comes before the start it brings about, so what is pending may have no worker yet.
        // Where nothing was, nothing is waited for: what comes now would wait for this lock.
        bool runs = true;
        if (mxn__engine_pending() != 0) {
            runs = start_locked() == MXP_OK;
            if (runs) {
                mxn__idle_wait();
            }
        }
        mxn__spin_lock(&mxn__engine.push_lock);
        if (!runs || mxn__engine_pending() == 0) {
            return;
        }
        mxn__spin_unlock(&mxn__engine.push_lock);
    }
}

static void fork_prepare(void)
{
    if (is_inside()) {
        return;
    }
    mxn_bulk_flush();
    mxp__lock(&lock);
    // The destructors of a worker's own data may push, so workers end before the push lock is held.
    // Those that are started for what is left have none.
    if (may_stop_locked()) {
        mxn__idle_wait();
        stop_workers();
    }
    become_idle();
    if (may_stop_locked()) {
        stop_workers();
    }
    mxn__worker_pools_fork_prepare();
    mxn__threads_fork_prepare();
    mxn__errors_fork_prepare();
    prepared = true;
}

static void fork_parent(void)
{
    if (prepared) {
        prepared = false;
        mxn__errors_fork_parent();
        mxn__threads_fork_parent();
        mxn__worker_pools_fork_parent();
        mxn__spin_unlock(&mxn__engine.push_lock);
        mxp__unlock(&lock);
    }
}

static void reset_child(void)
{
    mxn_engine *engine = &mxn__engine;
    mxp_atomic_set(&engine->started, 0);
    mxp_atomic_set(&engine->queued, 0);
    engine->pushed = 0;
    mxp_atomic_set(&engine->idle_waiters, 0);
    mxn__compute_fork_child();
    mxn__errors_fork_child(prepared);
    mxn__threads_fork_child(prepared);
    mxn__worker_pools_fork_child(prepared);
    mxn__spin_reset(&engine->push_lock);
}

static void fork_child(void)
{
    if (is_early) {
        return;
    }
    is_child = true;
    reset_child();
    if (prepared) {
        mxp__unlock(&lock);
    } else {
        mxp__lock_reset(&lock);
        closed = "this process was forked from inside an operation, which leaves it without an "
                 "engine: call exec, or fork from another thread";
    }
    prepared = false;
}

// Before the first start there is nothing to wait for.
static void fork_prepare_early(void)
{
    is_early = !mxp_atomic_load_acquire(&has_handlers);
}

static void fork_parent_early(void)
{
    is_early = false;
}

// Registered first, so it comes before fork_child. Whoever was starting is not here.
static void fork_child_early(void)
{
    if (is_early) {
        reset_child();
        mxp__lock_reset(&lock);
    }
}

__attribute__((constructor)) static void begin_process(void)
{
    pthread_atfork(fork_prepare_early, fork_parent_early, fork_child_early);
}

// ---- counts -----------------------------------------------------------------------------------

static uint64_t counter_read(const mxp_atomic_u64 *counter)
{
    return mxp_atomic_load(counter);
}

void mxn_engine_counts_get(mxn_engine_counts *counts)
{
    *counts = (mxn_engine_counts){0};
    for (uint32_t i = 0, count = mxn__thread_count(); i < count; i++) {
        const mxn_thread_counters *counters = &mxn__thread_at((uint16_t)i)->counters;
        counts->executed += counter_read(&counters->executed);
        counts->skipped += counter_read(&counters->skipped);
        counts->failed += counter_read(&counters->failed);
        counts->visible += counter_read(&counters->visible);
        counts->bulks += counter_read(&counters->bulks);
        counts->deletions += counter_read(&counters->deletions);
        counts->waits += counter_read(&counters->waits);
    }
    counts->completed = counts->executed + counts->skipped;
    mxn__spin_lock(&mxn__engine.push_lock);
    counts->pushed = mxn__engine.pushed;
    mxn__spin_unlock(&mxn__engine.push_lock);
}
