// SPDX-License-Identifier: Apache-2.0
// The table of thread states. It only grows; a state whose thread is gone is taken over by a new
// thread as soon as nobody else holds blocks of it.
#include "runtime/engine/engine_thread.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "base/thread_slot.h"
#include "runtime/engine/block_pool.h"

enum { LINE_BYTES = 64, LEFT_LOOKED_AT = 8 };

__thread mxn_thread *mxn__self __attribute__((tls_model("initial-exec")));

mxn_thread *mxn__thread_table[MXN__THREADS_MAX];
static mxp_atomic_u32 table_count;  // readers of the table take no lock
static mxn_thread *left, *left_last;  // under the lock, as the next three
static mxp_lock lock = MXP__LOCK_INIT;

uint32_t mxn__thread_count(void)
{
    return mxp_atomic_load_acquire(&table_count);  // pairs with add_state_locked
}

// The state that was left last is the warmest.
static void leave_first_locked(mxn_thread *state)
{
    assert(mxp__lock_is_held(&lock));
    state->next_left = left;
    left = state;
    left_last = left_last == NULL ? state : left_last;
}

static void leave_last_locked(mxn_thread *state)
{
    assert(mxp__lock_is_held(&lock));
    state->next_left = NULL;
    *(left_last == NULL ? &left : &left_last->next_left) = state;
    left_last = state;
}

static void thread_end(void *state)
{
    mxn_thread *self = state;
    mxn_bulk_flush();
    self->bulk.size = 0;
    mxn__blocks_flush(self);
    mxn__self = NULL;
    mxp__lock(&lock);
    leave_first_locked(self);
    mxp__unlock(&lock);
}

static mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(thread_end);

// What cannot be taken over yet goes to the end, so that everyone's turn comes again.
static mxn_thread *take_left_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    for (unsigned i = 0; i < LEFT_LOOKED_AT && left != NULL; i++) {
        mxn_thread *state = left;
        left = state->next_left;
        left_last = left == NULL ? NULL : left_last;
        if (mxn__blocks_all_returned(state)) {
            return state;
        }
        leave_last_locked(state);
    }
    return NULL;
}

static mxn_thread *add_state_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    const uint32_t index = mxp_atomic_own(&table_count);
    if (index == MXN__THREADS_MAX) {
        mxp__fail(MXP_ENOMEM, "more than %d threads at once use the engine: push from fewer",
                  MXN__THREADS_MAX);
        return NULL;
    }
    char *memory = mxp__alloc(sizeof(mxn_thread) + LINE_BYTES);
    if (memory == NULL) {
        mxp__fail_memory("the engine's part of a thread");
        return NULL;
    }
    uintptr_t address = ((uintptr_t)memory + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    mxn_thread *state = (mxn_thread *)address;
    state->index = (uint16_t)index;
    mxn__thread_table[index] = state;
    mxp_atomic_store_release(&table_count, index + 1);
    return state;
}

mxn_thread *mxn__thread_begin(void)
{
    mxp__lock(&lock);
    mxn_thread *self = take_left_locked();
    if (self == NULL) {
        self = add_state_locked();
    }
    mxp__unlock(&lock);
    if (self == NULL) {
        return NULL;
    }
    self->trace_index = MXN__TRACE_INDEX_UNKNOWN;
    self->is_worker = self->parallel = false;
    self->running = NULL;
    self->naive_call = NULL;
    self->callback = NULL;
    self->phase = MXP_PHASE_NONE;
    self->last_end = 0;
    mxn__self = self;
    // Without a key the state is not taken over after the thread: it stays, nothing breaks.
    (void)mxp__thread_slot_keep(&slot, self);
    return self;
}

mxn_thread *mxn__thread_at_last(void)
{
    enum { BREAK_US = 1000 };
    mxn_thread *self;
    while ((self = mxn__thread_self()) == NULL) {
        mxp__os_sleep_us(BREAK_US);
    }
    return self;
}

int mxn__thread_create(pthread_t *thread, void *(*function)(void *), void *argument)
{
    int failed = mxp__os_start_thread(thread, function, argument);
    if (failed != 0) {
        return mxp__fail(MXP_ENOMEM, "cannot start a thread of the engine: %s", strerror(failed));
    }
    return MXP_OK;
}

void mxn__threads_fork_prepare(void)
{
    mxp__lock(&lock);
}

void mxn__threads_fork_parent(void)
{
    mxp__unlock(&lock);
}

// What other threads had collected for bulks is left alone: they are not here to push it. So are
// blocks that they were about to return.
void mxn__threads_fork_child(bool prepared)
{
    if (!prepared) {
        // Nobody else is here, and locks that a thread of before may have taken in another order
        // are held: it is not waited for.
        mxp__lock_reset(&lock);
        const bool is_ours = mxp__try_lock(&lock);
        assert(is_ours);
        (void)is_ours;
    }
    left = left_last = NULL;
    for (uint32_t i = 0; i < mxp_atomic_own(&table_count); i++) {
        mxn_thread *state = mxn__thread_table[i];
        state->trace_index = MXN__TRACE_INDEX_UNKNOWN;
        state->counters = (mxn_thread_counters){0};
        if (state != mxn__self) {
            state->bulk = (mxn_bulk){0};
            memset(state->batches, 0, sizeof state->batches);
            leave_first_locked(state);
        }
    }
    mxp__unlock(&lock);
}
