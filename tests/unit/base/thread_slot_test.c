// SPDX-License-Identifier: Apache-2.0
// Objects that go with their threads, also where the system has no key left.
#include "base/thread_slot.h"

#include <pthread.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "fake_alloc.h"

enum { THREADS = 8, KEYS_MAX = 4096 };

static mxp_atomic_u32 ended;
static _Thread_local int *mine;

static void end(void *object)
{
    assert_ptr_equal(object, mine);
    mxp__free(object, sizeof *mine);
    mine = NULL;
    mxp_atomic_add(&ended, 1u);
}

static void *make(void *slot)
{
    mine = mxp__thread_slot_new(slot, sizeof *mine);
    assert_non_null(mine);
    assert_int_equal(*mine, 0);
    return NULL;
}

static void run_threads(void *(*function)(void *), void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, function, argument), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void each_threads_object_ends_with_it(void **state)
{
    (void)state;
    mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(end);
    mxp_atomic_set(&ended, 0u);
    size_t held = fake_alloc_held_blocks();
    run_threads(make, &slot);
    assert_int_equal(mxp_atomic_own(&ended), THREADS);
    assert_int_equal(fake_alloc_held_blocks(), held);
    pthread_key_delete(mxp_atomic_own(&slot.key) - 1);
}

static void *make_two(void *slot)
{
    int *first = mxp__thread_slot_new(slot, sizeof *first);
    make(slot);
    mxp__free(first, sizeof *first);
    return NULL;
}

static void object_that_replaced_another_is_the_one_that_ends(void **state)
{
    (void)state;
    mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(end);
    mxp_atomic_set(&ended, 0u);
    size_t held = fake_alloc_held_blocks();
    run_threads(make_two, &slot);
    assert_int_equal(mxp_atomic_own(&ended), THREADS);
    assert_int_equal(fake_alloc_held_blocks(), held);
    pthread_key_delete(mxp_atomic_own(&slot.key) - 1);
}

// A program may have taken all keys: then a thread has no object, and nothing leaks.
static void without_a_key_there_is_no_object(void **state)
{
    (void)state;
    static pthread_key_t taken[KEYS_MAX];
    size_t count = 0, held = fake_alloc_held_blocks();
    while (count < KEYS_MAX && pthread_key_create(&taken[count], NULL) == 0) {
        count++;
    }
    assert_true(count < KEYS_MAX);
    mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(end);
    assert_null(mxp__thread_slot_new(&slot, sizeof *mine));
    assert_false(mxp__thread_slot_keep(&slot, &slot));
    assert_int_equal(fake_alloc_held_blocks(), held);
    pthread_key_delete(taken[--count]);
    run_threads(make, &slot);  // as soon as there is one, it is used
    pthread_key_delete(mxp_atomic_own(&slot.key) - 1);
    while (count > 0) {
        pthread_key_delete(taken[--count]);
    }
}

static void without_memory_there_is_no_object(void **state)
{
    (void)state;
    mxp_thread_slot slot = MXP__THREAD_SLOT_INIT(end);
    fake_alloc_fail_after(0);
    assert_null(mxp__thread_slot_new(&slot, sizeof *mine));
    fake_alloc_fail_never();
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_threads_object_ends_with_it),
        cmocka_unit_test(object_that_replaced_another_is_the_one_that_ends),
        cmocka_unit_test(without_a_key_there_is_no_object),
        cmocka_unit_test(without_memory_there_is_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
