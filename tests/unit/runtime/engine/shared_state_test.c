// SPDX-License-Identifier: Apache-2.0
// What threads may do at the same moment: most of it shows only under ThreadSanitizer, the rest
// would not come to an end.
#include <pthread.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "runtime/engine/variable.h"

static pthread_t start(void *(*function)(void *argument), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

// ---- the end of a use -------------------------------------------------------------------------

static void *complete_use(void *use)
{
    return mxn__use_complete(use);
}

// Someone wanted to park, found the variable ready and is gone; nobody else keeps the variable.
static void the_last_use_lets_go_of_the_variable_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        mxn_var *var = mxn_var_new();
        const mxn_use use = {.var = (uintptr_t)var};
        mxp_atomic_set(&var->issued, 1);  // this read
        mxn__spin_lock(&var->park_lock);
        mxp_atomic_or_acq_rel(&var->done, MXN__DONE_WAIT);
        pthread_t thread = start(complete_use, (void *)&use);
        mxp__os_yield();
        mxp_atomic_and(&var->done, ~MXN__DONE_WAIT);
        mxn__spin_unlock(&var->park_lock);
        while ((mxp_atomic_load_acquire(&var->done) & ~MXN__DONE_WAIT) != 1) {
            mxp__os_yield();
        }
        memset(var, 0xa5, sizeof *var);  // as when its memory is something else's
        void *released;
        pthread_join(thread, &released);
        assert_null(released);
        assert_int_equal(mxp_atomic_own(&var->park_lock.word), 0xa5a5a5a5);
    }
}

// ---- errors -----------------------------------------------------------------------------------

static mxn_completion *handed_over;
static void hand_over(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    (void)argument;
    __atomic_store_n(&handed_over, completion, __ATOMIC_RELEASE);
}

static void an_operation_completes_while_another_fails(void **state)
{
    (void)state;
    mxn_work work = {
        .function.async = hand_over, .form = MXN_ASYNC_FUNCTION, .property = MXN_NO_SKIP};
    for (int round = 0; round < 20; round++) {
        mxn_completion *completion;
        __atomic_store_n(&handed_over, NULL, __ATOMIC_RELAXED);
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
        engine_push(engine_fail, "beside it", NULL, NULL);
        while ((completion = __atomic_load_n(&handed_over, __ATOMIC_ACQUIRE)) == NULL) {
            mxp__os_yield();
        }
        mxn_complete(completion, 0);
        assert_int_equal(mxn_wait_all(), MXP_EVALUE);
    }
}

// ---- stop -------------------------------------------------------------------------------------

static bool pushing;
static void *push_until_told(void *counter)
{
    mxn_var *var = mxn_var_new();
    uint32_t pushed = 0;
    const mxn_work add = {.function.sync = engine_add_one, .argument = counter};
    mxn_work prioritized = add;
    prioritized.property = MXN_CPU_PRIORITIZED;
    while (__atomic_load_n(&pushing, __ATOMIC_ACQUIRE)) {
        assert_int_equal(engine_push_work(add, NULL, var), 0);
        assert_int_equal(engine_push_work(prioritized, var, NULL), 0);
        pushed += 2;
        if (pushed % 64 == 0) {
            mxn_var_wait(var);
        }
    }
    mxn_var_delete(var, NULL, NULL, 0);
    return (void *)(uintptr_t)pushed;
}

// What was pushed runs, whichever worker was just about to end.
static void a_stop_while_others_push_loses_nothing(void **state)
{
    enum { PUSHERS = 2, STOPS = 300 };
    (void)state;
    uint32_t ran = 0, pushed = 0;
    pthread_t threads[PUSHERS];
    __atomic_store_n(&pushing, true, __ATOMIC_RELEASE);
    for (int i = 0; i < PUSHERS; i++) {
        threads[i] = start(push_until_told, &ran);
    }
    for (int i = 0; i < STOPS; i++) {
        assert_int_equal(mxn_engine_stop(), 0);
    }
    __atomic_store_n(&pushing, false, __ATOMIC_RELEASE);
    for (int i = 0; i < PUSHERS; i++) {
        void *count;
        pthread_join(threads[i], &count);
        pushed += (uint32_t)(uintptr_t)count;
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, pushed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_use_lets_go_of_the_variable_at_once),
        cmocka_unit_test(an_operation_completes_while_another_fails),
        cmocka_unit_test(a_stop_while_others_push_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
