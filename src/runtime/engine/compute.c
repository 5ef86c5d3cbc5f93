// SPDX-License-Identifier: Apache-2.0
// Two inputs: a queue in push order, and a stack of operations that were parked and became ready
// later. The queue is a chain of segments. The pusher fills the last one and publishes by `tail`;
// the worker empties the first and hands it back through `spare`, so two segments go round while it
// keeps up. How the worker falls asleep is told in protocol.h.
#include "runtime/engine/compute.h"

#include <assert.h>
#include <mxprof/record.h>
#include <mxprof/wait.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/operation_record.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

enum { SLOTS = 1023 };
enum { AWAKE = 0, ASLEEP = 1, ABSENT = 2 };
enum {
    BACKLOG_CAP = 4096,  // fits the caches with space to spare
    REST_SPINS = 16,  // between two looks at an empty queue: lets a few pushes gather
    HEAD_PUBLISH = 64
};

typedef struct segment {
    struct segment *next;
    mxn_operation *slot[SLOTS];
} segment;

// Pushers, under the push lock.
static struct {
    _Alignas(64) segment *segment;
    uint32_t at;
    mxp_atomic_u64 tail;
    mxp_atomic_u64 cap;  // soft limit of the backlog
} in = {.cap = {BACKLOG_CAP}};

// The worker.
static struct {
    _Alignas(64) segment *segment;
    uint32_t at;
    uint64_t head, seen_tail;
    mxp_atomic_u64 published_head;
} out;

static struct {
    _Alignas(64) mxp_atomic_u32 state;  // AWAKE, ASLEEP, ABSENT
    mxp_atomic_u32 stop;
    MXP_ATOMIC(mxn_operation *) released;  // last in, first out
    MXP_ATOMIC(segment *) spare;
} shared = {.state = {ABSENT}};

static pthread_t thread;
static bool has_thread;  // under the lock of lifecycle.c

// ---- pushing ----------------------------------------------------------------------------------

static segment *segment_take(void)
{
    segment *spare = mxp_atomic_load(&shared.spare);
    if (spare != NULL) {
        spare = mxp_atomic_exchange_acquire(&shared.spare, NULL);
    }
    return spare != NULL ? spare : mxp__alloc(sizeof(segment));
}

static void segment_give(segment *empty)
{
    empty->next = NULL;
    segment *before = mxp_atomic_exchange_acq_rel(&shared.spare, empty);
    mxp__free(before, sizeof *before);
}

static int segment_add_locked(void)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    segment *added = segment_take();
    if (added == NULL) {
        return mxp__fail_memory("the queue of operations");
    }
    if (in.segment == NULL) {
        out.segment = added;  // before the first operation is published
    } else {
        in.segment->next = added;
    }
    in.segment = added;
    in.at = 0;
    return MXP_OK;
}

int mxn__compute_reserve_locked(void)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    return __builtin_expect(in.segment == NULL || in.at == SLOTS, 0) ? segment_add_locked()
                                                                     : MXP_OK;
}

void mxn__compute_put_locked(mxn_operation *op)
{
    assert(mxn__spin_is_held(&mxn__engine.push_lock));
    assert(in.segment != NULL && in.at < SLOTS && "an operation comes without a reservation");
    in.segment->slot[in.at++] = op;
    mxp_atomic_store_release(&in.tail, mxp_atomic_own(&in.tail) + 1);  // pairs with take_next
}

static void wake_slow(void)
{
    uint32_t expected = ASLEEP;
    if (mxp_atomic_cas_acq_rel(&shared.state, &expected, AWAKE)) {
        mxp__os_word_wake(&shared.state, true);
    } else if (expected == ABSENT) {
        mxn__engine_start_slow();  // if that fails, the next wait says so
    }
}

void mxn__compute_wake(void)
{
    mxn__engine_fence();  // pairs with the barrier in sleep_until_woken
    if (__builtin_expect(mxp_atomic_load(&shared.state) != AWAKE, 0)) {
        wake_slow();
    }
}

void mxn__compute_release(mxn_operation *op)
{
    mxn_operation *head = mxp_atomic_load(&shared.released);
    do {
        op->next = head;
    } while (!mxp_atomic_cas_release(&shared.released, &head, op));
    mxn__compute_wake();
}

// The head first: what moves between the two loads makes it look longer, never negative.
static uint64_t backlog(void)
{
    uint64_t head = mxp_atomic_load_acquire(&out.published_head);
    int64_t ahead = (int64_t)(mxp_atomic_load(&in.tail) - head);
    return ahead > 0 ? (uint64_t)ahead : 0;
}

static uint64_t head_now(void)
{
    return mxp_atomic_load(&out.published_head);
}

// Looks for progress for about as long as a worker looks for work; not where nobody else can run.
static bool gets_shorter(uint64_t head)
{
    for (uint32_t i = 0; i < mxn__engine.spins; i++) {
        if (head_now() != head) {
            return true;
        }
        mxp__cpu_relax();
    }
    if (mxn__engine.spins == 0) {
        mxp__os_yield();
    }
    return head_now() != head;
}

static void wait_for_room(void)
{
    uint64_t cap = mxp_atomic_load(&in.cap);
    while (backlog() > cap) {
        if (!gets_shorter(head_now())) {
            mxp_atomic_store(&in.cap, 2 * cap);
            return;
        }
    }
}

static __attribute__((noinline, cold)) void wait_and_record(void)
{
    static mxp_atomic_u32 name;
    mxp_wait wait = {.what = MXP_WAIT_BACK_PRESSURE, .flags = MXP_WAIT_BLOCKED};
    if (mxp_enabled(MXN__RECORD_CLASSES)) {
        wait.name = mxp__span_name_once(&name, "operator", "BackPressure");
        wait.begin_ticks = mxp_ticks();
    }
    wait_for_room();
    if (wait.begin_ticks != 0) {
        mxp_wait_emit(MXN__RECORD_CLASSES, &wait);
    }
}

void mxn__compute_back_pressure(void)
{
    uint64_t cap = mxp_atomic_load(&in.cap);
    uint64_t queued = backlog();
    if (__builtin_expect(queued > cap, 0)) {
        wait_and_record();
    } else if (cap != BACKLOG_CAP && queued == 0) {
        mxp_atomic_store(&in.cap, BACKLOG_CAP);
    }
}

// ---- the worker -------------------------------------------------------------------------------

static bool has_work(void)
{
    return mxp_atomic_load_acquire(&in.tail) != out.head ||
           mxp_atomic_load(&shared.released) != NULL;
}

static mxn_operation *take_next(void)
{
    if (out.head == out.seen_tail) {
        out.seen_tail = mxp_atomic_load_acquire(&in.tail);
        if (out.head == out.seen_tail) {
            return NULL;
        }
    }
    if (out.at == SLOTS) {
        segment *empty = out.segment;
        out.segment = empty->next;
        out.at = 0;
        segment_give(empty);
    }
    assert(out.segment != NULL && (int64_t)(out.seen_tail - out.head) > 0);
    mxn_operation *op = out.segment->slot[out.at++];
    if (++out.head % HEAD_PUBLISH == 0) {
        mxp_atomic_store(&out.published_head, out.head);
    }
    if (out.head != out.seen_tail && out.at < SLOTS) {
        __builtin_prefetch(out.segment->slot[out.at], 1);
    }
    return op;
}

// All released operations, the one released first comes first.
static mxn_operation *take_released(void)
{
    mxn_operation *chain = mxp_atomic_exchange_acquire(&shared.released, NULL);
    mxn_operation *in_order = NULL;
    while (chain != NULL) {
        mxn_operation *next = chain->next;
        chain->next = in_order;
        in_order = chain;
        chain = next;
    }
    return in_order;
}

static void run_available(mxn_thread *self)
{
    for (;;) {
        if (__builtin_expect(mxp_atomic_load(&shared.released) != NULL, 0)) {
            for (mxn_operation *op = take_released(), *next; op != NULL; op = next) {
                next = op->next;
                mxn__operation_run(self, op, self->last_end);
            }
        }
        mxn_operation *op = take_next();
        if (op == NULL) {
            return;
        }
        if (__builtin_expect(mxn__operation_park(op, 0), 1)) {
            mxn__operation_run(self, op, self->last_end);
        }
    }
}

static void sleep_until_woken(mxn_thread *self)
{
    mxp_atomic_store(&shared.state, ASLEEP);
    mxn__engine_barrier();
    if (has_work() || mxp_atomic_load(&shared.stop) != 0) {
        mxp_atomic_store(&shared.state, AWAKE);
        return;
    }
    while (mxp_atomic_load_acquire(&shared.state) == ASLEEP) {
        mxp__os_word_wait(&shared.state, ASLEEP);
    }
    self->last_end = mxn__end_after_sleep();
}

static void rest(mxn_thread *self)
{
    self->last_end = 0;
    mxp_atomic_store(&out.published_head, out.head);
    mxn__blocks_flush(self);
    mxn__idle_check();
    for (uint32_t i = 0; i < mxn__engine.spins; i += REST_SPINS) {
        for (unsigned j = 0; j < REST_SPINS; j++) {
            mxp__cpu_relax();
        }
        if (has_work() || mxp_atomic_load(&shared.stop) != 0) {
            return;
        }
    }
    sleep_until_woken(self);
}

static void *worker(void *unused)
{
    (void)unused;
    mxn_thread *self = mxn__thread_at_last();
    self->is_worker = self->parallel = true;
    mxp_thread_name("compute worker");
    for (;;) {
        run_available(self);
        if (mxp_atomic_load_acquire(&shared.stop) != 0 && !has_work()) {
            break;
        }
        rest(self);
    }
    mxn__blocks_flush(self);
    mxn__idle_check();
    self->is_worker = false;
    return NULL;
}

// ---- life -------------------------------------------------------------------------------------

int mxn__compute_start(void)
{
    if (has_thread) {
        return MXP_OK;
    }
    mxp_atomic_store(&shared.stop, 0);
    mxp_atomic_store_release(&shared.state, AWAKE);
    int failed = mxn__thread_create(&thread, worker, NULL);
    if (failed != MXP_OK) {
        mxp_atomic_store_release(&shared.state, ABSENT);
        return failed;
    }
    has_thread = true;
    return MXP_OK;
}

bool mxn__compute_is_there(void)
{
    return mxp_atomic_load_acquire(&shared.state) != ABSENT;
}

void mxn__compute_stop(void)
{
    if (!has_thread) {
        return;
    }
    mxp_atomic_store_seq_cst(&shared.stop, 1);
    mxn__engine_fence();  // pairs with the barrier in sleep_until_woken
    wake_slow();
    pthread_join(thread, NULL);
    has_thread = false;
    mxp_atomic_store_seq_cst(&shared.state, ABSENT);
}

void mxn__compute_fork_child(void)
{
    has_thread = false;
    mxp_atomic_set(&out.published_head, out.head);
    mxp_atomic_store(&shared.state, ABSENT);
}
