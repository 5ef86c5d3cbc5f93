// SPDX-License-Identifier: Apache-2.0
// Waits, hidden operators and ends of steps go in and come out with all their fields, and tables
// know nothing of them.
#include "cmocka_all.h"

#include <pthread.h>

#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

static void a_wait_keeps_every_field(void **state)
{
    (void)state;
    const uint64_t now = mxp_ticks();
    mxp_wait_emit(MXP_CLASS_IMPERATIVE, &(mxp_wait){.name = mxp_span_name("operator", "WaitForVar"),
                                                    .what = MXP_WAIT_UNUSED,
                                                    .flags = MXP_WAIT_BLOCKED | MXP_WAIT_IN_CUSTOM,
                                                    .ended_by = 0xfffffff0,
                                                    .variable = 0x7ffffff1,
                                                    .begin_ticks = now - 20,
                                                    .end_ticks = now});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_WAIT, "WaitForVar", 0);
    assert_non_null(event);
    assert_true(event->begin_ticks == now - 20 && event->end_ticks == now);
    assert_int_equal(event->flags, MXP_WAIT_BLOCKED | MXP_WAIT_IN_CUSTOM);
    mxp_wait_view view;
    mxp__event_wait(event, &view);
    assert_int_equal(view.what, MXP_WAIT_UNUSED);
    assert_int_equal(view.ended_by, 0xfffffff0);
    assert_int_equal(view.variable, 0x7ffffff1);
    live_events_free(&live);
}

static void a_wait_ends_now_and_not_before_it_began(void **state)
{
    (void)state;
    const uint64_t begin = mxp_ticks();
    mxp_wait_emit(MXP_CLASS_USER, &(mxp_wait){.what = MXP_WAIT_PROGRAM, .begin_ticks = begin});
    mxp_wait_emit(
        MXP_CLASS_USER,
        &(mxp_wait){.what = MXP_WAIT_PROGRAM, .begin_ticks = begin, .end_ticks = begin - 1});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_WAIT, NULL), 2);
    const mxp_event *open = live_events_find(&live, MXP_KIND_WAIT, NULL, 0);
    const mxp_event *wrong = live_events_find(&live, MXP_KIND_WAIT, NULL, 1);
    assert_true(open->begin_ticks == begin && open->end_ticks > begin);
    assert_true(wrong->begin_ticks == wrong->end_ticks);
    live_events_free(&live);
}

// An idle thread may have begun to wait long before.
static void a_wait_from_before_begins_with_recording(void **state)
{
    (void)state;
    const uint64_t long_ago = mxp_ticks();
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    const uint64_t after = mxp_ticks();
    mxp_wait_emit(MXP_CLASS_USER, &(mxp_wait){.what = MXP_WAIT_TASK, .begin_ticks = long_ago});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_WAIT, NULL, 0);
    assert_non_null(event);
    assert_true(event->begin_ticks > long_ago && event->begin_ticks < after);
    live_events_free(&live);
}

static void classes_choose_waits(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp_wait_emit(MXP_CLASS_ALL, &(mxp_wait){.what = MXP_WAIT_ALL});
    mxp__recorder_start(MXP_CLASS_MEMORY, 0);
    mxp_wait_emit(MXP_CLASS_ALL & ~MXP_CLASS_MEMORY, &(mxp_wait){.what = MXP_WAIT_ALL});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_WAIT, NULL), 0);
    live_events_free(&live);
}

static void a_hidden_operator_is_one_in_all_but_its_kind(void **state)
{
    (void)state;
    const uint32_t variables[] = {3, 4 | MXP_VARIABLE_WRITTEN};
    const uint64_t now = mxp_ticks();
    mxp_operator_emit(MXP_CLASS_SYMBOLIC,
                      &(mxp_operator){.id = 9,
                                      .released_by = 8,
                                      .push_ticks = now - 9,
                                      .ready_ticks = now - 8,
                                      .start_ticks = now - 7,
                                      .end_ticks = now,
                                      .flags = MXP_OPERATOR_HIDDEN | MXP_OP_ASYNC,
                                      .variable_count = 2,
                                      .variables = variables});
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 0);
    const mxp_event *event = live_events_find(&live, MXP_KIND_HIDDEN, NULL, 0);
    assert_non_null(event);
    assert_int_equal(event->flags, MXP_OP_ASYNC);
    assert_true(event->begin_ticks == now - 7 && event->end_ticks == now);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    assert_true(view.id == 9 && view.released_by == 8 && view.push_ticks == now - 9);
    assert_int_equal(view.variable_count, 2);
    assert_int_equal(mxp__event_variable(event, 1), 4 | MXP_VARIABLE_WRITTEN);
    live_events_free(&live);
}

// ---- ends of steps ----------------------------------------------------------------------------

static size_t ends(const live_events *live, uint64_t *number)
{
    size_t count = 0;
    for (size_t i = 0; i < live->count; i++) {
        const mxp_event *event = &live->events[i];
        if (event->kind == MXP_KIND_META && event->phase == MXP_META_STEP_END) {
            *number = event->value.u64;
            count++;
        }
    }
    return count;
}

static void a_step_ends_once_with_its_number(void **state)
{
    (void)state;
    uint64_t number = 0;
    mxp_step_end();  // of none
    mxp_step(41);
    mxp_step(42);
    mxp_step_end();
    mxp_step_end();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(ends(&live, &number), 1);
    assert_int_equal(number, 42);
    live_events_free(&live);
}

static void *end_step(void *unused)
{
    mxp_thread_index();
    mxp_step_end();
    return unused;
}

static void another_thread_ends_no_step(void **state)
{
    (void)state;
    uint64_t number = 0;
    pthread_t thread;
    mxp_step(7);
    assert_int_equal(pthread_create(&thread, NULL, end_step, NULL), 0);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(ends(&live, &number), 0);
    live_events_free(&live);
    mxp_step_end();
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(ends(&live, &number), 1);
    live_events_free(&live);
}

#define WAIT_TEST(test) cmocka_unit_test_setup_teardown(test, live_events_start, live_events_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WAIT_TEST(a_wait_keeps_every_field),
        WAIT_TEST(a_wait_ends_now_and_not_before_it_began),
        WAIT_TEST(a_wait_from_before_begins_with_recording),
        WAIT_TEST(classes_choose_waits),
        WAIT_TEST(a_hidden_operator_is_one_in_all_but_its_kind),
        WAIT_TEST(a_step_ends_once_with_its_number),
        WAIT_TEST(another_thread_ends_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
