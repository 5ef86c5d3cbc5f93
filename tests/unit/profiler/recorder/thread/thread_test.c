// SPDX-License-Identifier: Apache-2.0
// Threads that have ended: when one gives its block away, and what it has lost.
#include "cmocka_all.h"

#include <pthread.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/thread.h"
#include "relay.h"

static int turn, tid;
static mxp_thread *ended, *next;

static void *register_and_end(void *nothing)
{
    ended = mxp__thread_self();
    __atomic_store_n(&tid, (int)mxp__os_thread_id(), __ATOMIC_RELAXED);
    relay_pass(&turn, 1);
    relay_wait(&turn, 2);
    return nothing;
}

static void *register_late(void *nothing)
{
    relay_wait(&turn, 3);
    mxp_scope_push("scope");  // looks whether it is busy
    next = mxp__thread_self();
    return nothing;
}

// For the sanitizers: whoever gets the block of a thread that has ended is not written to by it.
static void a_block_is_given_back_when_its_thread_is_done_with_it(void **state)
{
    (void)state;
    pthread_t first, second;
    assert_int_equal(pthread_create(&first, NULL, register_and_end, NULL), 0);
    assert_int_equal(pthread_create(&second, NULL, register_late, NULL), 0);
    relay_wait(&turn, 1);
    mxp_source *source;
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &source), MXP_OK);
    relay_pass(&turn, 2);
    relay_wait_gone(&tid);
    mxp__live_consume(MXP__CONSUMER_FILE, source);
    mxp__source_close(source);
    relay_pass(&turn, 3);
    pthread_join(second, NULL);
    pthread_join(first, NULL);
    assert_non_null(next);
    assert_ptr_equal(next, ended);
}

static void lose(uint32_t reason)
{
    mxp_thread *self = mxp__thread_self();
    mxp_inline_enter(&self->hot);
    mxp__thread_lose(self, reason, 1, mxp_ticks());
    mxp_inline_leave(&self->hot);
}

static void *lose_one(void *nothing)
{
    lose(MXP_LOSS_MEMORY_FULL);
    return nothing;
}

static void *be_busy(void *nothing)
{
    mxp_thread *self = mxp__thread_self();
    (void)mxp__busy_anywhere(&self->hot);
    relay_pass(&turn, 4);
    relay_wait(&turn, 5);
    mxp_inline_leave(&self->hot);
    return nothing;
}

// A hold has patience for a second with a thread that stays busy.
static void losses_of_threads_that_are_gone_need_no_hold(void **state)
{
    (void)state;
    enum { THREADS = 200 };
    pthread_t thread;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread, NULL, lose_one, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_int_equal(pthread_create(&thread, NULL, be_busy, NULL), 0);
    relay_wait(&turn, 4);
    alarm(100);
    mxp_source *source;
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &source), MXP_OK);
    alarm(0);
    relay_pass(&turn, 5);
    pthread_join(thread, NULL);
    assert_int_equal(source->loss_count, THREADS);
    mxp__source_close(source);
}

static uint32_t index_of_loser;

static void *lose_for_reasons(void *nothing)
{
    mxp_thread *self = mxp__thread_self();
    index_of_loser = self->index;
    for (unsigned i = 0; i < 3 * MXP__LOSS_WINDOWS; i++) {
        lose(i % 2 != 0 ? MXP_LOSS_MEMORY_FULL : MXP_LOSS_LATE);
        for (size_t w = 0; w < MXP__LOSS_WINDOWS; w++) {
            self->loss[w].open = 0;  // as by a new chunk
        }
    }
    return nothing;
}

static void losses_keep_their_reasons(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, lose_for_reasons, NULL), 0);
    pthread_join(thread, NULL);
    mxp_source *source;
    assert_int_equal(mxp__live_open(MXP__CONSUMER_FILE, &source), MXP_OK);
    uint64_t late = 0, full = 0, several = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        if (loss->thread != index_of_loser) {
            continue;
        }
        late += loss->reason == MXP_LOSS_LATE ? loss->count : 0;
        full += loss->reason == MXP_LOSS_MEMORY_FULL ? loss->count : 0;
        several += loss->reason == MXP_LOSS_SEVERAL ? loss->count : 0;
    }
    mxp__source_close(source);
    assert_int_equal(late, 4);
    assert_int_equal(full, 3);
    assert_int_equal(several, 3 * MXP__LOSS_WINDOWS - 7);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_given_back_when_its_thread_is_done_with_it),
        cmocka_unit_test(losses_of_threads_that_are_gone_need_no_hold),
        cmocka_unit_test(losses_keep_their_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
