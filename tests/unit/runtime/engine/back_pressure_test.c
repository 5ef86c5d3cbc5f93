// SPDX-License-Identifier: Apache-2.0
// A program that pushes faster than the worker works waits for it, and the trace says so.
#include <mxprof/record.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum { MOST = 4096 };  // that wait for the worker before pushes wait for it

static mxn_var *var;

static int begin(void **state)
{
    (void)state;
    var = mxn_var_new();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxn_var_delete(var, NULL, NULL, 0);
    int failed = mxn_wait_all();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    return failed;
}

// Pushes that come while the worker is held up: those that found room, and the others.
static size_t waits_of(unsigned pushes, uint64_t *longest_ticks)
{
    engine_gate gate = {0};
    engine_gate_push(&gate, var);
    engine_gate_wait_entered(&gate);
    uint64_t begin_ticks = mxp_ticks();
    for (unsigned i = 0; i < pushes; i++) {
        const mxn_work work = {.function.sync = engine_do_nothing,
                               .name = mxp_span_name("operator", "Pushed")};
        assert_int_equal(engine_push_work(work, NULL, NULL), 0);
    }
    uint64_t pushing_ticks = mxp_ticks() - begin_ticks;
    engine_gate_open(&gate);
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    size_t count = 0;
    *longest_ticks = 0;
    for (const mxp_event *event;
         (event = live_events_find(&live, MXP_KIND_WAIT, "BackPressure", count)) != NULL; count++) {
        mxp_wait_view wait;
        mxp__event_wait(event, &wait);
        assert_int_equal(wait.what, MXP_WAIT_BACK_PRESSURE);
        assert_int_equal(event->flags, MXP_WAIT_BLOCKED);
        assert_int_equal(wait.ended_by, 0);
        assert_true(event->begin_ticks >= begin_ticks);
        uint64_t ticks = event->end_ticks - event->begin_ticks;
        *longest_ticks = ticks > *longest_ticks ? ticks : *longest_ticks;
    }
    assert_true(*longest_ticks <= pushing_ticks);
    live_events_free(&live);
    return count;
}

static void pushes_that_find_room_do_not_wait(void **state)
{
    (void)state;
    uint64_t longest_ticks;
    assert_int_equal(waits_of(MOST / 2, &longest_ticks), 0);
}

static void a_push_beyond_the_backlog_waits(void **state)
{
    (void)state;
    uint64_t longest_ticks;
    assert_int_not_equal(waits_of(MOST + 100, &longest_ticks), 0);
    assert_int_not_equal(longest_ticks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pushes_that_find_room_do_not_wait, begin, end),
        cmocka_unit_test_setup_teardown(a_push_beyond_the_backlog_waits, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
