// SPDX-License-Identifier: Apache-2.0
// Threads that take none of the program's signals.
#include "base/os/quiet_thread.h"

#include <signal.h>
#include <string.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "cmocka_all.h"

static void *read_mask(void *mask)
{
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return mask;
}

static void thread_has_all_signals_blocked_but_that_of_lost_pages(void **state)
{
    (void)state;
    sigset_t mask;
    pthread_t thread;
    void *result = NULL;
    sigemptyset(&mask);
    assert_int_equal(mxp__os_start_thread(&thread, read_mask, &mask), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &mask);
    static const int blocked[] = {SIGINT, SIGTERM, SIGALRM, SIGPROF, SIGUSR1, SIGCHLD, SIGSEGV};
    for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; i++) {
        assert_int_equal(sigismember(&mask, blocked[i]), 1);
    }
    assert_int_equal(sigismember(&mask, SIGBUS), 0);
}

static void caller_keeps_its_own_mask(void **state)
{
    (void)state;
    sigset_t mine, before, after;
    pthread_t thread;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &mine, &before);
    assert_int_equal(mxp__os_start_thread(&thread, read_mask, &after), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, &after);
    for (int number = 1; number < 32; number++) {
        assert_int_equal(sigismember(&after, number), number == SIGUSR2);
    }
}

static mxp_atomic_u32 ran;

static void *note(void *unused)
{
    mxp_atomic_store_release(&ran, 1u);
    mxp__os_word_wake(&ran, true);
    return unused;
}

static void thread_that_nobody_asks_for_runs_detached(void **state)
{
    (void)state;
    assert_int_equal(mxp__os_start_thread(NULL, note, NULL), 0);
    while (mxp_atomic_load_acquire(&ran) == 0) {
        mxp__os_word_wait_ms(&ran, 0, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_has_all_signals_blocked_but_that_of_lost_pages),
        cmocka_unit_test(caller_keeps_its_own_mask),
        cmocka_unit_test(thread_that_nobody_asks_for_runs_detached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
