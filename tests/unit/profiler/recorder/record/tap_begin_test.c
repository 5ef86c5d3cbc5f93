// SPDX-License-Identifier: Apache-2.0
// Taps that ask for begins: each lexical span is told twice on its thread, whatever ends it.
#include "cmocka_all.h"

#include <pthread.h>
#include <string.h>

#define MXP_INLINE
#include <mxprof/error.h>
#include <mxprof/record.h>

#include "profiler/recorder/recorder.h"

enum { KEPT = 64, THREADS = 4, ROUNDS = 20000 };

typedef struct told {
    mxp_tap_event events[KEPT];
    int count;
} told;

static void keep(void *context, const mxp_tap_event *event)
{
    told *all = context;
    assert_in_range(all->count, 0, KEPT - 1);
    assert_int_equal(event->size_bytes, sizeof *event);
    all->events[all->count++] = *event;
}

static void assert_told(const told *all, int at, uint32_t phase, mxp_name name, uint32_t depth)
{
    assert_in_range(at, 0, all->count - 1);
    assert_int_equal(all->events[at].phase, phase);
    assert_int_equal(all->events[at].name, name);
    assert_int_equal(all->events[at].depth, depth);
}

static void begin_test(told *all)
{
    memset(all, 0, sizeof *all);
    assert_int_equal(mxp_tap_add_for(keep, all, MXP_TAP_ALL), MXP_OK);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
}

static void end_test(told *all)
{
    mxp__recorder_stop(1);
    assert_int_equal(mxp_tap_remove(keep, all), MXP_OK);
}

static void a_span_is_told_at_its_begin_and_at_its_end(void **state)
{
    (void)state;
    told all;
    begin_test(&all);
    mxp_name outer = mxp_span_name("t", "outer"), inner = mxp_span_name("t", "inner");
    uint64_t first = mxp_span_begin(outer);
    uint64_t second = mxp_begin(MXP_CLASS_USER, inner);
    mxp_end(inner, second);
    uint64_t third = mxp_begin_at(MXP_CLASS_USER, inner, mxp_ticks());
    mxp_end_args(inner, third, NULL, 0);
    mxp_instant(MXP_CLASS_USER, inner, MXP_INSTANT_TASK);
    mxp_span_end(outer, first);
    end_test(&all);
    assert_int_equal(all.count, 7);
    assert_told(&all, 0, MXP_TAP_BEGIN, outer, 0);
    assert_told(&all, 1, MXP_TAP_BEGIN, inner, 1);
    assert_told(&all, 2, MXP_TAP_END, inner, 1);
    assert_told(&all, 3, MXP_TAP_BEGIN, inner, 1);
    assert_told(&all, 4, MXP_TAP_END, inner, 1);
    assert_int_equal(all.events[5].phase, MXP_TAP_INSTANT);
    assert_int_equal(all.events[5].scope, MXP_INSTANT_TASK);
    assert_told(&all, 6, MXP_TAP_END, outer, 0);
    assert_int_equal(all.events[0].begin_ticks, first);
    assert_int_equal(all.events[6].begin_ticks, first);
    assert_true(all.events[6].end_ticks >= all.events[4].end_ticks);
}

static void a_span_that_a_stop_closes_is_told_ended_by_its_own_thread(void **state)
{
    (void)state;
    told all;
    begin_test(&all);
    mxp_name name = mxp_span_name("t", "stopped");
    uint64_t token = mxp_span_begin(name);
    mxp__recorder_stop(1);
    uint64_t stop = mxp__recorder_off_ticks();
    assert_int_equal(all.count, 1);
    mxp_span_end(name, token);
    assert_int_equal(all.count, 2);
    assert_told(&all, 1, MXP_TAP_END, name, 0);
    assert_true(all.events[1].end_ticks >= stop);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_span_end(name, mxp_span_begin(name));
    end_test(&all);
    assert_int_equal(all.count, 4);
}

static void who_asks_for_ends_alone_is_told_of_it_by_the_stop(void **state)
{
    (void)state;
    told all = {.count = 0};
    assert_int_equal(mxp_tap_add(keep, &all), MXP_OK);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_name name = mxp_span_name("t", "stopped");
    uint64_t token = mxp_span_begin(name);
    mxp__recorder_stop(1);
    mxp_span_end(name, token);
    assert_int_equal(mxp_tap_remove(keep, &all), MXP_OK);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.events[0].phase, MXP_TAP_WHOLE);
}

static void a_span_that_ends_in_a_pause_is_told_ended(void **state)
{
    (void)state;
    told all;
    begin_test(&all);
    mxp_name name = mxp_span_name("t", "paused");
    uint64_t token = mxp_span_begin(name);
    mxp__recorder_stop(0);
    assert_int_equal(mxp_span_begin(name), 0);
    mxp_span_end(name, token);
    mxp__recorder_start(MXP_CLASS_ALL, 1);
    end_test(&all);
    assert_int_equal(all.count, 2);
    assert_told(&all, 0, MXP_TAP_BEGIN, name, 0);
    assert_told(&all, 1, MXP_TAP_END, name, 0);
}

static void *end_there(void *argument)
{
    const uint64_t *token = argument;
    mxp_span_end(mxp_span_name("t", "handed over"), *token);
    return NULL;
}

static void a_span_that_another_thread_ends_is_told_whole_there(void **state)
{
    (void)state;
    told all;
    begin_test(&all);
    uint64_t token = mxp_span_begin(mxp_span_name("t", "handed over"));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_there, &token), 0);
    pthread_join(thread, NULL);
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = MXP_NAME_NONE});
    end_test(&all);
    assert_int_equal(all.count, 3);
    assert_int_equal(all.events[1].phase, MXP_TAP_WHOLE);
    assert_int_equal(all.events[2].phase, MXP_TAP_WHOLE);
    mxp_span_end(mxp_span_name("t", "handed over"), token);
}

static void an_end_that_is_given_twice_is_told_once(void **state)
{
    (void)state;
    told all;
    begin_test(&all);
    mxp_name name = mxp_span_name("t", "twice");
    uint64_t token = mxp_span_begin(name);
    mxp_span_end(name, token);
    mxp_span_end(name, token);
    end_test(&all);
    assert_int_equal(all.count, 2);
}

// What one thread has been told, when it can be.
static __thread int64_t open_spans;
static uint32_t unbalanced;

static void balance(void *context, const mxp_tap_event *event)
{
    (void)context;
    open_spans += event->phase == MXP_TAP_BEGIN ? 1 : event->phase == MXP_TAP_END ? -1 : 0;
    __atomic_fetch_add(&unbalanced, open_spans < 0, __ATOMIC_RELAXED);
}

static void *record(void *argument)
{
    mxp_name name = mxp_span_name("t", "many");
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t outer = mxp_span_begin(name), inner = mxp_span_begin(name);
        mxp_span_end(name, inner);
        mxp_span_end(name, outer);
    }
    __atomic_fetch_add(&unbalanced, open_spans != 0, __ATOMIC_RELAXED);
    return argument;
}

static void begins_and_ends_match_while_the_session_goes_on_and_off(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    assert_int_equal(mxp_tap_add_for(balance, NULL, MXP_TAP_BEGIN | MXP_TAP_END), MXP_OK);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record, NULL), 0);
    }
    for (int i = 0; i < 100; i++) {
        mxp__recorder_stop(i % 2);
        mxp__recorder_start(MXP_CLASS_ALL, i % 2 == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    mxp__recorder_stop(1);
    assert_int_equal(mxp_tap_remove(balance, NULL), MXP_OK);
    assert_int_equal(unbalanced, 0);
}

static void phases_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mxp_tap_add_for(keep, NULL, 0), MXP_EINVAL);
    assert_int_equal(mxp_tap_add_for(keep, NULL, MXP_TAP_ALL + 1), MXP_EINVAL);
    assert_int_equal(mxp_tap_add_for(NULL, NULL, MXP_TAP_ALL), MXP_EINVAL);
}

static void the_gate_is_as_before_when_the_tap_has_gone(void **state)
{
    (void)state;
    uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    assert_int_equal(mxp_tap_add_for(keep, NULL, MXP_TAP_END), MXP_OK);
    assert_int_equal(mxp_atomic_load(&mxp_control.gate), gate | MXP_GATE_TAP);
    assert_int_equal(mxp_tap_remove(keep, NULL), MXP_OK);
    assert_int_equal(mxp_tap_add_for(keep, NULL, MXP_TAP_BEGIN), MXP_OK);
    assert_int_equal(mxp_atomic_load(&mxp_control.gate), gate | MXP_GATE_TAP | MXP_GATE_LONG_BEGIN);
    assert_int_equal(mxp_tap_remove(keep, NULL), MXP_OK);
    assert_int_equal(mxp_atomic_load(&mxp_control.gate), gate);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_told_at_its_begin_and_at_its_end),
        cmocka_unit_test(a_span_that_a_stop_closes_is_told_ended_by_its_own_thread),
        cmocka_unit_test(who_asks_for_ends_alone_is_told_of_it_by_the_stop),
        cmocka_unit_test(a_span_that_ends_in_a_pause_is_told_ended),
        cmocka_unit_test(a_span_that_another_thread_ends_is_told_whole_there),
        cmocka_unit_test(an_end_that_is_given_twice_is_told_once),
        cmocka_unit_test(begins_and_ends_match_while_the_session_goes_on_and_off),
        cmocka_unit_test(phases_that_do_not_exist_are_refused),
        cmocka_unit_test(the_gate_is_as_before_when_the_tap_has_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
