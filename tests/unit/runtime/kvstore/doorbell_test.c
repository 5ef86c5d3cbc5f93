// SPDX-License-Identifier: Apache-2.0
// Sleeps that end at a bell or a wake. Each that did not would take its 10 ms: a thousand of them
// take longer than what is allowed, by far.
#include "cmocka_all.h"

#include <arpa/inet.h>
#include <mxprof/error.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "runtime/kvstore/doorbell.h"

enum { SLEEPS = 1000 };
static const uint64_t ALLOWED_NS = 9000000000;  // all of them missed would be 10 s

static mxn_doorbell bells[2];

static int open_both(void **state)
{
    mxn_bell_address addresses[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mxn__doorbell_open(&bells[i], true, 2, &addresses[i]), 0);
        assert_int_equal(addresses[i].ip, htonl(INADDR_LOOPBACK));
        assert_int_not_equal(addresses[i].port, 0);
    }
    for (int i = 0; i < 2; i++) {
        memcpy(bells[i].addresses, addresses, sizeof addresses);
    }
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    mxn__doorbell_close(&bells[0]);
    mxn__doorbell_close(&bells[1]);
    return 0;
}

static void bell_ends_a_sleep(void **state)
{
    (void)state;
    uint64_t begin_ns = mxp__os_monotonic_ns(), now_ns = begin_ns;
    for (int i = 0; i < SLEEPS; i++) {
        now_ns += 2000000;  // each after a quiet time
        mxn__doorbell_ring(&bells[0], 1, now_ns);
        mxn__doorbell_sleep(&bells[1], 1000000000, NULL, NULL);
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns < ALLOWED_NS);
}

static void peer_that_was_just_sent_to_is_not_rung(void **state)
{
    (void)state;
    uint64_t now_ns = 1000000000000;
    mxn__doorbell_ring(&bells[0], 1, now_ns);
    mxn__doorbell_sleep(&bells[1], 1000000000, NULL, NULL);
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < 20; i++) {
        now_ns += 90000;
        mxn__doorbell_ring(&bells[0], 1, now_ns);
        mxn__doorbell_sleep(&bells[1], 5000000, NULL, NULL);
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns >= 20 * 5000000ull);
}

// Where it is known who sleeps, who is awake is not rung, and who sleeps always is.
static void sleeper_in_shared_memory_is_rung_once(void **state)
{
    (void)state;
    mxn_bell_sleeper sleepers[2] = {0};
    for (int i = 0; i < 2; i++) {
        bells[i].own = &sleepers[i];
        bells[i].sleepers[0] = &sleepers[0];
        bells[i].sleepers[1] = &sleepers[1];
    }
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < 20; i++) {
        mxn__doorbell_ring(&bells[0], 1, 1000000000ull * (uint64_t)i);  // it is awake
        mxn__doorbell_sleep(&bells[1], 5000000, NULL, NULL);
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns >= 20 * 5000000ull);
    begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < SLEEPS; i++) {
        mxp_atomic_store(&sleepers[1].sleeps, 1);
        mxn__doorbell_ring(&bells[0], 1, begin_ns);
        assert_int_equal(mxp_atomic_load(&sleepers[1].sleeps), 0);
        mxn__doorbell_sleep(&bells[1], 1000000000, NULL, NULL);
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns < ALLOWED_NS);
}

static bool is_here(void *context)
{
    (*(int *)context)++;
    return true;
}

static void message_at_the_last_look_is_not_slept_over(void **state)
{
    (void)state;
    int looks = 0;
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < SLEEPS; i++) {
        mxn__doorbell_sleep(&bells[0], 1000000000, is_here, &looks);
    }
    assert_int_equal(looks, SLEEPS);
    assert_true(mxp__os_monotonic_ns() - begin_ns < ALLOWED_NS);
}

static void wake_ends_the_sleep_after_it(void **state)
{
    (void)state;
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < SLEEPS; i++) {
        mxn__doorbell_wake(&bells[0]);
        mxn__doorbell_sleep(&bells[0], 1000000000, NULL, NULL);
        assert_false(mxn__doorbell_was_woken(&bells[0]));
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns < ALLOWED_NS);
    mxn__doorbell_wake(&bells[0]);
    assert_true(mxn__doorbell_was_woken(&bells[0]));
    assert_false(mxn__doorbell_was_woken(&bells[0]));
}

static mxp_atomic_u32 turn;

static void *wake_in_turn(void *unused)
{
    for (uint32_t i = 0; i < SLEEPS; i++) {
        while (mxp_atomic_load_acquire(&turn) != 2 * i) {
            mxp__os_yield();
        }
        mxp_atomic_store_release(&turn, 2 * i + 1);
        mxn__doorbell_wake(&bells[0]);
    }
    return unused;
}

// The sleeper goes on when it has been woken: one that were missed would cost it 10 ms.
static void wake_of_another_thread_is_never_missed(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t begin_ns = mxp__os_monotonic_ns();
    mxp_atomic_store(&turn, 0);
    assert_int_equal(pthread_create(&thread, NULL, wake_in_turn, NULL), 0);
    for (uint32_t i = 0; i < SLEEPS; i++) {
        while (mxp_atomic_load_acquire(&turn) != 2 * i + 1) {
            mxp__os_yield();
        }
        mxn__doorbell_sleep(&bells[0], 1000000000, NULL, NULL);
        mxp_atomic_store_release(&turn, 2 * i + 2);
    }
    pthread_join(thread, NULL);
    assert_true(mxp__os_monotonic_ns() - begin_ns < ALLOWED_NS);
}

static void without_a_bell_naps_double(void **state)
{
    (void)state;
    mxn_doorbell silent;
    mxn_bell_address address;
    setenv("MXNET_KVSTORE_DOORBELL", "0", 1);
    assert_int_equal(mxn__doorbell_open(&silent, true, 1, &address), 0);
    assert_int_equal(address.port, 0);
    uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < 7; i++) {
        mxn__doorbell_sleep(&silent, 1000000000, NULL, NULL);
    }
    // 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5 ms
    assert_true(mxp__os_monotonic_ns() - begin_ns >= 16200000);
    assert_int_equal(silent.nap_ns, 5000000);
    mxn__doorbell_close(&silent);
    setenv("MXNET_KVSTORE_DOORBELL", "loud", 1);
    assert_int_equal(mxn__doorbell_open(&silent, true, 1, &address), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "MXNET_KVSTORE_DOORBELL"));
    unsetenv("MXNET_KVSTORE_DOORBELL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bell_ends_a_sleep, open_both, close_both),
        cmocka_unit_test_setup_teardown(peer_that_was_just_sent_to_is_not_rung, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(sleeper_in_shared_memory_is_rung_once, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(message_at_the_last_look_is_not_slept_over, open_both,
                                        close_both),
        cmocka_unit_test_setup_teardown(wake_ends_the_sleep_after_it, open_both, close_both),
        cmocka_unit_test_setup_teardown(wake_of_another_thread_is_never_missed, open_both,
                                        close_both),
        cmocka_unit_test(without_a_bell_naps_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
