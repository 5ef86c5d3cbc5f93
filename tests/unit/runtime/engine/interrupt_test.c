// SPDX-License-Identifier: Apache-2.0
// Waits that a front end ends: only those of the thread that is asked, and what they waited for
// continues.
#include <mxprof/error.h>
#include <pthread.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "runtime/engine/engine.h"

static uint32_t gate, begun;  // atomic; the gate is opened with 1
static int asked, ends_after;  // of the main thread
static mxn_var *inner;  // what is waited for while being asked

static int wait_at_gate(const mxn_run *run, void *argument)
{
    (void)run;
    __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(1000);
    }
    __atomic_fetch_add((uint32_t *)argument, 1, __ATOMIC_RELEASE);
    return MXP_OK;
}

static void open_gate(void)
{
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
}

static bool wanted(void)
{
    if (inner != NULL) {
        assert_int_equal(mxn_var_wait(inner), MXP_OK);
    }
    return ++asked > ends_after;
}

static mxn_var *pending(uint32_t *done)
{
    mxn_var *var;
    __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&begun, 0, __ATOMIC_RELEASE);
    *done = 0;
    asked = 0;
    var = mxn_var_new();
    assert_non_null(var);
    const mxn_work work = {
        .function.sync = wait_at_gate, .argument = done, .writes = &var, .write_count = 1};
    assert_int_equal(mxn_push(&work), MXP_OK);
    return var;
}

static void finish(mxn_var *var, const uint32_t *done)
{
    mxn_interrupt_set(NULL, 0);
    open_gate();
    assert_int_equal(mxn_var_wait(var), MXP_OK);
    assert_int_equal(*done, 1);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), MXP_OK);
}

static void an_interrupted_wait_ends_and_the_operation_goes_on(void **state)
{
    (void)state;
    int (*waits[])(mxn_var *) = {mxn_var_wait, mxn_var_wait_write};
    for (int i = 0; i < 3; i++) {
        uint32_t done;
        mxn_var *var = pending(&done);
        ends_after = 2;
        mxn_interrupt_set(wanted, (uintptr_t)pthread_self());
        for (int again = 0; again < 3; again++) {  // those that were left are signalled later
            assert_int_equal(i < 2 ? waits[i](var) : mxn_wait_all(), MXP_ESTATE);
            assert_non_null(strstr(mxp_last_error(), "interrupted"));
        }
        assert_int_equal(asked, 5);
        finish(var, &done);
    }
}

static void code_that_is_asked_may_wait(void **state)
{
    (void)state;
    uint32_t done;
    inner = mxn_var_new();
    assert_non_null(inner);
    mxn_var *var = pending(&done);
    ends_after = 3;
    mxn_interrupt_set(wanted, (uintptr_t)pthread_self());
    assert_int_equal(mxn_var_wait(var), MXP_ESTATE);
    finish(var, &done);
    mxn_var_delete(inner, NULL, NULL, 0);
    inner = NULL;
}

static void *wait_elsewhere(void *var)
{
    return (void *)(intptr_t)mxn_var_wait(var);
}

static void waits_of_other_threads_do_not_end(void **state)
{
    (void)state;
    uint32_t done;
    mxn_var *var = pending(&done);
    ends_after = 0;
    mxn_interrupt_set(wanted, (uintptr_t)pthread_self());
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wait_elsewhere, var), 0);
    mxp__os_sleep_us(100000);
    assert_int_equal(asked, 0);
    open_gate();
    void *result;
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    finish(var, &done);
}

static void what_has_not_begun_is_dropped(void **state)
{
    (void)state;
    uint32_t done, never = 0;
    mxn_var *var = pending(&done);
    const mxn_work work = {
        .function.sync = wait_at_gate, .argument = &never, .writes = &var, .write_count = 1};
    assert_int_equal(mxn_push(&work), MXP_OK);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) == 0) {
        mxp__os_sleep_us(1000);
    }
    mxn_engine_drop_pending();
    open_gate();
    assert_int_equal(mxn_wait_all(), MXP_OK);
    assert_true(done == 1 && never == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interrupted_wait_ends_and_the_operation_goes_on),
        cmocka_unit_test(code_that_is_asked_may_wait),
        cmocka_unit_test(waits_of_other_threads_do_not_end),
        cmocka_unit_test(what_has_not_begun_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
