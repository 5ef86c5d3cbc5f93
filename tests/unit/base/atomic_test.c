// SPDX-License-Identifier: Apache-2.0
#include "base/atomic.h"

#include "cmocka_all.h"

#include <pthread.h>

enum { THREADS = 4, TURNS = 100000 };

static mxp_atomic_u64 sum;
static mxp_atomic_u32 bits;
static MXP_ATOMIC(const char *) name;
static mxp_atomic_u32 ready;
static uint32_t plain;

static void *add(void *context)
{
    const uint32_t bit = 1u << *(unsigned *)context;
    for (unsigned i = 0; i < TURNS; i++) {
        mxp_atomic_add(&sum, UINT64_C(1) << 33);
        mxp_atomic_or(&bits, bit);
        mxp_atomic_and(&bits, ~bit);
    }
    mxp_atomic_or(&bits, bit);
    return NULL;
}

static void threads_lose_no_change(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, add, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(mxp_atomic_own(&sum) == (uint64_t)THREADS * TURNS << 33);
    assert_int_equal(mxp_atomic_own(&bits), (1u << THREADS) - 1);
}

static void *publish(void *unused)
{
    plain = 42;
    mxp_atomic_store(&name, "published");
    mxp_atomic_store_release(&ready, 1);  // pairs with the loop below
    return unused;
}

static void an_acquire_sees_what_was_released(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, publish, NULL), 0);
    while (mxp_atomic_load_acquire(&ready) == 0) {
    }
    assert_int_equal(plain, 42);
    assert_string_equal(mxp_atomic_load(&name), "published");
    pthread_join(thread, NULL);
}

static void a_compare_and_swap_says_what_is_there(void **state)
{
    (void)state;
    mxp_atomic_u32 word = {7};
    uint32_t expected = 8;
    assert_false(mxp_atomic_cas_acq_rel(&word, &expected, 9));
    assert_int_equal(expected, 7);
    assert_true(mxp_atomic_cas_acq_rel(&word, &expected, 9));
    assert_int_equal(mxp_atomic_exchange(&word, 10), 9);
    assert_int_equal(mxp_atomic_sub(&word, 4), 10);
    mxp_atomic_set(&word, 1);
    assert_int_equal(mxp_atomic_own(&word), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_lose_no_change),
        cmocka_unit_test(an_acquire_sees_what_was_released),
        cmocka_unit_test(a_compare_and_swap_says_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
