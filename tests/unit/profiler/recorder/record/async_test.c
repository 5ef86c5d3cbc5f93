// SPDX-License-Identifier: Apache-2.0
// Asynchronous spans: each end ends exactly its own, by handle or by id, on any thread; stops close
// what is open; misuse is counted.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/async_table.h"

static mxp_name transfer, key;
static uint64_t lost_before;

static int start(void **state)
{
    transfer = mxp_intern("test", "transfer", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    key = mxp_string("key");
    int failed = live_events_start(state);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    lost_before = live_events_lost(&live);
    live_events_free(&live);
    return failed;
}

static mxp_async begin(uint64_t id)
{
    return mxp_async_begin(MXP_CLASS_USER, transfer, id, mxp_no_context());
}

static const mxp_event *span_at(const live_events *live, size_t n)
{
    const mxp_event *event = live_events_find(live, MXP_KIND_SPAN, "transfer", n);
    assert_non_null(event);
    return event;
}

static uint64_t id_of(const mxp_event *event)
{
    uint32_t seen_key, type;
    uint64_t value = 0;
    for (uint32_t i = 0; i < mxp__event_arg_count(event) && value == 0; i++) {
        mxp__event_arg(event, i, &seen_key, &type, &value);
        value = seen_key == mxp_string("id") ? value : 0;
    }
    return value;
}

static void a_span_has_its_times_id_context_and_arguments(void **state)
{
    (void)state;
    const mxp_context context = {UINT64_C(0xfedcba9876543210), 5};
    mxp_async span = mxp_async_begin(MXP_CLASS_USER, transfer, 17, context);
    uint64_t begin_ticks = span.begin_ticks;
    const mxp_arg arg = mxp_u64(key, 4096);
    mxp_async_end(&span, &arg, 1);
    assert_int_equal(span.begin_ticks, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 1);
    const mxp_event *event = span_at(&live, 0);
    assert_int_equal(event->begin_ticks, begin_ticks);
    assert_true(event->end_ticks >= begin_ticks);
    assert_int_equal(event->flags, 0);
    assert_true(mxp__event_context(event) == context.id);
    assert_int_equal(mxp__event_arg_count(event), 2);
    assert_int_equal(id_of(event), 17);
    live_events_free(&live);
}

static void an_id_that_is_the_contexts_is_no_argument(void **state)
{
    (void)state;
    mxp_async span = mxp_async_begin(MXP_CLASS_USER, transfer, 9, (mxp_context){9, 0});
    mxp_async_end(&span, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(mxp__event_arg_count(span_at(&live, 0)), 0);
    assert_int_equal(mxp__event_context(span_at(&live, 0)), 9);
    live_events_free(&live);
}

static void spans_of_one_name_may_overlap(void **state)
{
    (void)state;
    mxp_async first = begin(0), second = begin(0), third = begin(3);
    mxp_async_end(&second, NULL, 0);
    mxp_async_end(&third, NULL, 0);
    mxp_async_end(&first, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 3);
    assert_true(span_at(&live, 2)->begin_ticks <= span_at(&live, 0)->begin_ticks);
    assert_int_equal(id_of(span_at(&live, 1)), 3);
    live_events_free(&live);
}

static void of_one_id_the_older_ends_first(void **state)
{
    (void)state;
    mxp_async older = begin(5), younger = begin(5);
    assert_int_equal(mxp_async_end_id(transfer, 5, NULL, 0), MXP_OK);
    assert_int_equal(mxp_async_end_id(transfer, 5, NULL, 0), MXP_OK);
    assert_int_equal(mxp_async_end_id(transfer, 5, NULL, 0), MXP_ESTATE);
    assert_int_equal(mxp_async_end_id(key, 5, NULL, 0), MXP_ESTATE);
    assert_int_equal(mxp_async_end_id(transfer, 0, NULL, 0), MXP_EINVAL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 2);
    assert_int_equal(span_at(&live, 0)->begin_ticks, older.begin_ticks);
    assert_int_equal(span_at(&live, 1)->begin_ticks, younger.begin_ticks);
    live_events_free(&live);
}

static void a_second_end_is_misuse(void **state)
{
    (void)state;
    mxp_async span = begin(1), copy = span;
    mxp_async_end(&span, NULL, 0);
    mxp_async_end(&span, NULL, 0);  // is ended: nothing
    mxp_async_end(&copy, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 1);
    assert_int_equal(live_events_lost(&live) - lost_before, 1);
    live_events_free(&live);
}

static void nothing_begins_while_recording_is_off(void **state)
{
    (void)state;
    mxp__recorder_stop(1);
    mxp_async span = begin(1);
    assert_int_equal(span.begin_ticks, 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_async_end(&span, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, NULL), 0);
    assert_int_equal(live_events_lost(&live) - lost_before, 0);
    live_events_free(&live);
}

static void a_stop_closes_what_is_open_once(void **state)
{
    (void)state;
    mxp_async span = begin(23);
    uint64_t off = mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_async_end(&span, NULL, 0);
    assert_int_equal(mxp_async_end_id(transfer, 23, NULL, 0), MXP_ESTATE);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 1);
    const mxp_event *event = span_at(&live, 0);
    assert_int_equal(event->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(event->end_ticks, off);
    assert_int_equal(id_of(event), 23);
    assert_int_equal(live_events_lost(&live) - lost_before, 0);
    live_events_free(&live);
}

static void a_span_that_ends_in_a_pause_ends_where_it_began(void **state)
{
    (void)state;
    mxp_async span = begin(1);
    uint64_t off = mxp__recorder_stop(0);
    mxp_async_end(&span, NULL, 0);
    mxp__recorder_start(MXP_CLASS_ALL, 1);
    mxp_async across = begin(2);
    mxp__recorder_stop(0);
    mxp__recorder_start(MXP_CLASS_ALL, 1);
    mxp_async_end(&across, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 2);
    assert_int_equal(span_at(&live, 0)->end_ticks, off);
    assert_int_equal(span_at(&live, 0)->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(span_at(&live, 1)->flags, 0);
    live_events_free(&live);
}

// More of one id than places are looked at, and more than the table has.
static void what_finds_no_place_is_recorded_all_the_same(void **state)
{
    (void)state;
    enum { OPEN = 6000 };
    mxp_async *spans = calloc(OPEN, sizeof *spans);
    uint64_t before = mxp__async_left_out();
    uint64_t placed = 0;
    for (uint64_t i = 0; i < OPEN; i++) {
        spans[i] = begin(i < 20 ? 7 : i);
        placed += spans[i].place != 0;
    }
    assert_true(placed <= MXP_ASYNC_SLOTS && placed > MXP_ASYNC_SLOTS / 2);
    assert_int_equal(mxp__async_left_out() - before, OPEN - placed);
    for (uint64_t i = 0; i < OPEN; i++) {
        mxp_async_end(&spans[i], NULL, 0);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), OPEN);
    assert_int_equal(live_events_lost(&live) - lost_before, 0);
    live_events_free(&live);
    free(spans);
}

static void what_found_no_place_is_closed_by_the_stop_too(void **state)
{
    (void)state;
    mxp_async spans[12];
    for (int i = 0; i < 12; i++) {
        spans[i] = begin(7);
    }
    assert_int_equal(spans[11].place, 0);
    uint64_t off = mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    for (int i = 0; i < 12; i++) {
        mxp_async_end(&spans[i], NULL, 0);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(span_at(&live, i)->end_ticks, off);
        assert_int_equal(span_at(&live, i)->flags, MXP_SPAN_CLOSED_BY_STOP);
    }
    live_events_free(&live);
}

// ---- threads -----------------------------------------------------------------------------------
static void *end_it(void *span)
{
    mxp_async_end(span, NULL, 0);
    return NULL;
}

static void another_thread_may_end_it(void **state)
{
    (void)state;
    mxp_async span = begin(4);
    pthread_t thread;
    pthread_create(&thread, NULL, end_it, &span);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 1);
    assert_int_equal(id_of(span_at(&live, 0)), 4);
    live_events_free(&live);
}

enum { THREADS = 4, EACH = 5000 };

// Two threads each begin and end by the same ids: together as many ends as begins succeed.
static void *begin_and_end_by_id(void *context)
{
    uint64_t *ended = context;
    for (uint64_t i = 0; i < EACH; i++) {
        begin(1 + i % 3);
        *ended += mxp_async_end_id(transfer, 1 + i % 3, NULL, 0) == MXP_OK;
    }
    return NULL;
}

static void ends_by_id_of_several_threads_end_each_span_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t ended[THREADS] = {0}, all = 0;
    uint64_t before = mxp__async_left_out();
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, begin_and_end_by_id, &ended[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += ended[i];
    }
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    uint64_t recorded = live_events_count(&live, MXP_KIND_SPAN, "transfer");
    uint64_t shown = (uint64_t)THREADS * EACH - (mxp__async_left_out() - before);
    assert_true(recorded >= all);
    assert_int_equal(recorded, shown);
    assert_int_equal(live_events_lost(&live) - lost_before, 0);
    live_events_free(&live);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
}

static void a_child_has_none_of_its_parents(void **state)
{
    (void)state;
    mxp_async span = begin(8);
    mxp__recorder_fork_prepare();
    pid_t child = fork();
    if (child == 0) {
        mxp__recorder_fork_child();
        mxp__recorder_start(MXP_CLASS_ALL, 0);
        bool wrong = mxp_async_end_id(transfer, 8, NULL, 0) != MXP_ESTATE;
        mxp_async_end(&span, NULL, 0);
        live_events live = live_events_take(MXP__CONSUMER_FILE);
        wrong |= live_events_count(&live, MXP_KIND_SPAN, "transfer") != 0;
        _exit(wrong);
    }
    mxp__recorder_fork_parent();
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    mxp_async_end(&span, NULL, 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "transfer"), 1);
    live_events_free(&live);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, live_events_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_span_has_its_times_id_context_and_arguments),
        TEST(an_id_that_is_the_contexts_is_no_argument),
        TEST(spans_of_one_name_may_overlap),
        TEST(of_one_id_the_older_ends_first),
        TEST(a_second_end_is_misuse),
        TEST(nothing_begins_while_recording_is_off),
        TEST(a_stop_closes_what_is_open_once),
        TEST(a_span_that_ends_in_a_pause_ends_where_it_began),
        TEST(what_finds_no_place_is_recorded_all_the_same),
        TEST(what_found_no_place_is_closed_by_the_stop_too),
        TEST(another_thread_may_end_it),
        TEST(ends_by_id_of_several_threads_end_each_span_once),
        TEST(a_child_has_none_of_its_parents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
