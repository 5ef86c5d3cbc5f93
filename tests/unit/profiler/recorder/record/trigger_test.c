// SPDX-License-Identifier: Apache-2.0
// What asks for snapshots: what is asked for by hand, and what several threads do at once.
#include "cmocka_all.h"

#include <pthread.h>

#include "profiler/recorder/record/trigger.h"

static void what_a_signal_asks_for_is_not_replaced(void **state)
{
    (void)state;
    mxp__trigger_ask(MXP__TRIGGER_STEP);
    mxp__trigger_ask(MXP__TRIGGER_SIGNAL);
    mxp__trigger_ask(MXP__TRIGGER_COUNTER);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_SIGNAL);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
    mxp__trigger_ask(MXP__TRIGGER_COUNTER);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_COUNTER);
}

static const mxp_triggers triggers = {.step_factor = 3, .counter = 5, .counter_above = 10};

static void *step_and_count(void *nothing)
{
    for (uint64_t i = 1; i < 100; i++) {
        mxp__trigger_step(i);
        mxp__trigger_counter(triggers.counter, (double)(i % 20));
    }
    return nothing;
}

// For the sanitizers; the threads' counts are above and not above the threshold at any order.
static void threads_step_and_count_while_triggers_are_set(void **state)
{
    (void)state;
    mxp__triggers_set(&triggers);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, step_and_count, NULL), 0);
    }
    mxp__triggers_set(&triggers);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    step_and_count(NULL);  // the threads may have ended before the triggers were set again
    assert_int_not_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
    mxp__triggers_set(&(mxp_triggers){0});
    assert_false(mxp__triggers_armed());
}

static void other_triggers_take_back_what_those_before_have_asked_for(void **state)
{
    (void)state;
    mxp__trigger_ask(MXP__TRIGGER_STEP);
    mxp__triggers_set(&triggers);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
    mxp__trigger_ask(MXP__TRIGGER_SIGNAL);
    mxp__triggers_set(&(mxp_triggers){0});
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_SIGNAL);
}

// ---- how long a step takes ---------------------------------------------------------------------
enum { USUAL = 100, SLOW = 100 * USUAL };

// Steps of the usual length, each of which ends before the next one. Gives the time of their end.
static uint64_t usual_steps(uint64_t now)
{
    for (int i = 0; i < 20; i++) {
        mxp__trigger_step(now);
        mxp__trigger_step_end(now + USUAL);
        now += 2 * USUAL;
    }
    return now;
}

static void a_slow_step_asks(void **state)
{
    (void)state;
    mxp__triggers_set(&triggers);
    uint64_t now = usual_steps(1);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
    mxp__trigger_step(now);
    mxp__trigger_step_end(now + SLOW);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_STEP);
    mxp__trigger_step(now + SLOW);
    mxp__trigger_step(now + 2 * SLOW);  // its end is where this one begins
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_STEP);
}

static void what_comes_between_two_steps_is_of_none(void **state)
{
    (void)state;
    mxp__triggers_set(&triggers);
    uint64_t now = usual_steps(1);
    now = usual_steps(now + SLOW);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
    mxp__trigger_step(now);
    mxp__trigger_step_forget();  // recording goes off within the step
    usual_steps(now + SLOW);
    assert_int_equal(mxp__trigger_take(), MXP__TRIGGER_NONE);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_signal_asks_for_is_not_replaced),
        cmocka_unit_test(threads_step_and_count_while_triggers_are_set),
        cmocka_unit_test(other_triggers_take_back_what_those_before_have_asked_for),
        cmocka_unit_test(a_slow_step_asks),
        cmocka_unit_test(what_comes_between_two_steps_is_of_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
