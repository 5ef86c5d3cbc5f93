// SPDX-License-Identifier: Apache-2.0
// A heap under a mutex: what runs here is slow enough not to notice. An operation taken out before
// its turn has come is parked on its variable and comes back when it is released.
#include "runtime/engine/worker_pool.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "runtime/engine/engine_state.h"
#include "runtime/engine/idle.h"
#include "runtime/engine/operation_record.h"
#include "runtime/engine/run.h"
#include "runtime/engine/variable.h"

enum { POOLS = 2, THREADS_MAX = 256 };

typedef struct entry {
    int64_t priority;
    uint64_t sequence;
    mxn_operation *op;
} entry;

typedef struct worker_pool {
    mxp_lock lock;
    pthread_cond_t wake;
    entry *heap;
    size_t count, capacity;
    size_t assigned;  // operations of this queue that have not begun to run
    uint64_t sequence;
    uint32_t wanted, running;
    bool stop;
    const char *name;
    pthread_t threads[THREADS_MAX];
} worker_pool;

static worker_pool pools[POOLS] = {
    {.lock = MXP__LOCK_INIT, .wake = PTHREAD_COND_INITIALIZER, .name = "light worker"},
    {.lock = MXP__LOCK_INIT, .wake = PTHREAD_COND_INITIALIZER, .name = "priority worker"}};

static worker_pool *pool_of(int queue)
{
    return &pools[queue == MXN__QUEUE_PRIORITY];
}

// ---- heap -------------------------------------------------------------------------------------

static bool goes_first(const entry *a, const entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->sequence < b->sequence;
}

static void heap_insert_locked(worker_pool *pool, entry added)
{
    assert(mxp__lock_is_held(&pool->lock));
    assert(pool->count < pool->capacity && "an operation comes without a reservation");
    size_t at = pool->count++;
    while (at > 0 && goes_first(&added, &pool->heap[(at - 1) / 2])) {
        pool->heap[at] = pool->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    pool->heap[at] = added;
}

static mxn_operation *heap_take_locked(worker_pool *pool)
{
    assert(mxp__lock_is_held(&pool->lock));
    mxn_operation *first = pool->heap[0].op;
    const entry moved = pool->heap[--pool->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < pool->count && goes_first(&pool->heap[child + 1], &pool->heap[child])) {
            child++;
        }
        if (child >= pool->count || !goes_first(&pool->heap[child], &moved)) {
            break;
        }
        pool->heap[at] = pool->heap[child];
        at = child;
    }
    pool->heap[at] = moved;
    return first;
}

// ---- threads ----------------------------------------------------------------------------------

static mxn_operation *take_or_sleep(worker_pool *pool, mxn_thread *self)
{
    mxn_operation *op = NULL;
    mxp__lock(&pool->lock);
    if (pool->count == 0) {
        self->last_end = 0;
        mxp__unlock(&pool->lock);
        mxn__blocks_flush(self);
        mxn__idle_check();
        mxp__lock(&pool->lock);
    }
    while (pool->count == 0 && !pool->stop) {
        mxp__lock_wait(&pool->lock, &pool->wake);
        self->last_end = mxn__end_after_sleep();
    }
    if (pool->count != 0) {
        op = heap_take_locked(pool);
    }
    mxp__unlock(&pool->lock);
    return op;
}

static void *pool_worker(void *argument)
{
    worker_pool *pool = argument;
    mxn_thread *self = mxn__thread_at_last();
    self->is_worker = true;
    mxp_thread_name(pool->name);
    for (mxn_operation *op; (op = take_or_sleep(pool, self)) != NULL;) {
        if (mxn__operation_park(op, 0)) {
            mxn__worker_pool_unreserve(mxn__operation_queue(op));
            mxn__operation_run(self, op, self->last_end);
        }
    }
    mxn__blocks_flush(self);
    self->is_worker = false;
    return NULL;
}

static int start_threads_locked(worker_pool *pool)
{
    assert(mxp__lock_is_held(&pool->lock));
    pool->stop = false;
    while (pool->running < pool->wanted) {
        int failed = mxn__thread_create(&pool->threads[pool->running], pool_worker, pool);
        if (failed != MXP_OK) {
            return pool->running > 0 ? MXP_OK : failed;
        }
        pool->running++;
    }
    return MXP_OK;
}

// ---- the interface ----------------------------------------------------------------------------

int mxn__worker_pool_reserve(int queue)
{
    worker_pool *pool = pool_of(queue);
    mxp__lock(&pool->lock);
    int code = pool->running == 0 ? start_threads_locked(pool) : MXP_OK;
    if (code == MXP_OK) {
        code = mxp__grow(&pool->heap, &pool->capacity, pool->assigned + 1, sizeof *pool->heap);
        if (code != MXP_OK) {
            mxp__fail_memory("the queue of operations");
        }
    }
    pool->assigned += code == MXP_OK;
    mxp__unlock(&pool->lock);
    return code;
}

void mxn__worker_pool_unreserve(int queue)
{
    worker_pool *pool = pool_of(queue);
    mxp__lock(&pool->lock);
    assert(pool->assigned > 0);
    pool->assigned--;
    mxp__unlock(&pool->lock);
}

void mxn__worker_pool_put(mxn_operation *op)
{
    worker_pool *pool = pool_of(mxn__operation_queue(op));
    entry added = {.op = op};
    if (mxn__operation_queue(op) == MXN__QUEUE_PRIORITY) {
        added.priority = mxn__operation_extra(op)->is.priority;
    }
    mxp__lock(&pool->lock);
    added.sequence = pool->sequence++;
    heap_insert_locked(pool, added);
    pthread_cond_signal(&pool->wake);
    bool absent = pool->running == 0;
    mxp__unlock(&pool->lock);
    // Stopped since the reservation. During shutdown it stays so. A worker must not wait for who
    // may be waiting for its end: that one looks for what is pending afterwards.
    if (absent && !mxn__self->is_worker &&
        (mxp_atomic_load(&mxn__engine.error_flags) & MXN__ERROR_FLAG_SHUTDOWN) == 0 &&
        mxn__engine_start_slow() == MXP_OK) {
        mxn__worker_pools_start_pending();
    }
}

void mxn__worker_pool_size(int queue, uint32_t threads)
{
    worker_pool *pool = pool_of(queue);
    mxp__lock(&pool->lock);
    pool->wanted = threads < THREADS_MAX ? threads : THREADS_MAX;
    mxp__unlock(&pool->lock);
}

int mxn__worker_pools_start_pending(void)
{
    int code = MXP_OK;
    for (int i = 0; i < POOLS && code == MXP_OK; i++) {
        mxp__lock(&pools[i].lock);
        if (pools[i].assigned != 0 && pools[i].running == 0) {
            code = start_threads_locked(&pools[i]);
        }
        mxp__unlock(&pools[i].lock);
    }
    return code;
}

void mxn__worker_pools_stop(void)
{
    for (int i = 0; i < POOLS; i++) {
        worker_pool *pool = &pools[i];
        mxp__lock(&pool->lock);
        pool->stop = true;
        pthread_cond_broadcast(&pool->wake);
        uint32_t running = pool->running;
        mxp__unlock(&pool->lock);
        for (uint32_t j = 0; j < running; j++) {
            pthread_join(pool->threads[j], NULL);
        }
        mxp__lock(&pool->lock);
        pool->running -= running;  // where there was none, a push may have started some
        mxp__unlock(&pool->lock);
    }
}

void mxn__worker_pools_fork_prepare(void)
{
    for (int i = 0; i < POOLS; i++) {
        mxp__lock(&pools[i].lock);
    }
}

void mxn__worker_pools_fork_parent(void)
{
    for (int i = 0; i < POOLS; i++) {
        mxp__unlock(&pools[i].lock);
    }
}

// Between the end of the workers and the fork another thread may have started some, for a push that
// has not come to the push lock.
void mxn__worker_pools_fork_child(bool prepared)
{
    for (int i = 0; i < POOLS; i++) {
        if (prepared) {
            mxp__unlock(&pools[i].lock);
        } else {
            mxp__lock_reset(&pools[i].lock);
        }
        pthread_cond_init(&pools[i].wake, NULL);
        pools[i].count = pools[i].assigned = 0;
        pools[i].running = 0;
    }
}
