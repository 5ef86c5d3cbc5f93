// SPDX-License-Identifier: Apache-2.0
// The recorder's lock for a few instructions, when its holder is away for longer.
#include "cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/os/os.h"
#include "profiler/spin.h"

enum { AWAY_US = 400000 };

static mxp_spin spin;
static uint64_t waiter_cpu_ns;
static int waiter_errno;

static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void *take(void *nothing)
{
    uint64_t before = cpu_ns();
    errno = 0;
    assert_true(mxp__spin_lock(&spin));
    waiter_errno = errno;
    waiter_cpu_ns = cpu_ns() - before;
    mxp__spin_unlock(&spin);
    return nothing;
}

// One of real-time priority would otherwise keep the processor from a holder that needs it.
static void who_waits_for_long_leaves_the_processor_to_others(void **state)
{
    (void)state;
    pthread_t waiter;
    assert_true(mxp__spin_lock(&spin));
    assert_int_equal(pthread_create(&waiter, NULL, take, NULL), 0);
    mxp__os_sleep_us(AWAY_US);
    mxp__spin_unlock(&spin);
    assert_int_equal(pthread_join(waiter, NULL), 0);
    assert_true(waiter_cpu_ns < UINT64_C(1000) * AWAY_US / 4);
}

static void ignore(int number)
{
    (void)number;
}

static void a_signal_meanwhile_leaves_errno_as_it_was(void **state)
{
    (void)state;
    pthread_t waiter;
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGUSR1, &action, NULL);
    assert_true(mxp__spin_lock(&spin));
    assert_int_equal(pthread_create(&waiter, NULL, take, NULL), 0);
    for (int i = 0; i < 200; i++) {
        mxp__os_sleep_us(500);
        assert_int_equal(pthread_kill(waiter, SIGUSR1), 0);
    }
    mxp__spin_unlock(&spin);
    assert_int_equal(pthread_join(waiter, NULL), 0);
    assert_int_equal(waiter_errno, 0);
}

static void who_has_it_is_told(void **state)
{
    (void)state;
    assert_true(mxp__spin_lock(&spin));
    assert_false(mxp__spin_lock(&spin));
    mxp__spin_unlock(&spin);
    assert_false(mxp__spin_is_held(&spin));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_long_leaves_the_processor_to_others),
        cmocka_unit_test(a_signal_meanwhile_leaves_errno_as_it_was),
        cmocka_unit_test(who_has_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
