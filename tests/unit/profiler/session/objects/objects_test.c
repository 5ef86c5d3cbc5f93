// SPDX-License-Identifier: Apache-2.0
// What user objects record, and what they refuse. The session runs with a private consumer: the
// test reads the records itself.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

static mxp_session *session;
static mxp_handle domain;
static live_events live;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

static int begin_test(void **state)
{
    (void)state;
    session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.continuous_dump = 0;
    mxp_session_configure(session, &config);
    mxp_domain_create("D", &domain);
    live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    mxp_session_run(session);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    live_events_free(&live);
    mxp_session_stop(session);
    return 0;
}

static void take(void)
{
    live_events_free(&live);
    live = live_events_take(MXP__CONSUMER_FILE);
}

static const mxp_event *span(const char *name, size_t n)
{
    const mxp_event *event = live_events_find(&live, MXP_KIND_SPAN, name, n);
    if (event == NULL) {
        fail_msg("no span %s number %zu", name, n);
    }
    return event;
}

static size_t spans(const char *name)
{
    return live_events_count(&live, MXP_KIND_SPAN, name);
}

static int64_t duration_ms(const mxp_event *event)
{
    return (event->end_ns - event->begin_ns) / 1000000;
}

static void assert_category(const mxp_event *event, const char *category, int style)
{
    mxp_name_view name = live.source->name(live.source, event->name);
    assert_string_equal(live.source->name(live.source, name.category).text, category);
    assert_int_equal(name.style, style);
}

static mxp_handle task(const char *name)
{
    mxp_handle made = NULL;
    assert_int_equal(mxp_task_create(domain, name, &made), MXP_OK);
    return made;
}

static void pair(mxp_handle object)
{
    assert_int_equal(mxp_duration_start(object), MXP_OK);
    assert_int_equal(mxp_duration_stop(object), MXP_OK);
}

static void every_kind_has_its_category(void **state)
{
    (void)state;
    mxp_handle frame, event, own, counter;
    assert_int_equal(mxp_frame_create(domain, "f", &frame), MXP_OK);
    assert_int_equal(mxp_event_create("e", &event), MXP_OK);
    assert_int_equal(mxp_span_create("mine", "s", &own), MXP_OK);
    assert_int_equal(mxp_counter_create(domain, "c", &counter), MXP_OK);
    pair(task("t"));
    pair(frame);
    pair(frame);
    pair(event);
    pair(own);
    assert_int_equal(mxp_counter_set(counter, 7), MXP_OK);
    assert_int_equal(mxp_marker_set(domain, "m", "thread"), MXP_OK);
    take();
    assert_category(span("t", 0), "D", MXP_STYLE_ASYNC);
    assert_category(span("e", 0), "event", MXP_STYLE_SPAN);
    assert_category(span("s", 0), "mine", MXP_STYLE_SPAN);
    for (uint64_t n = 0; n < 2; n++) {
        const mxp_event *found = span("f", n);
        assert_category(found, "D,frame", MXP_STYLE_ASYNC);
        uint32_t key, type;
        uint64_t value;
        assert_int_equal(mxp__event_arg_count(found), 1);
        mxp__event_arg(found, 0, &key, &type, &value);
        assert_string_equal(live.source->name(live.source, key).text, "frame");
        assert_int_equal(value, n + 1);
    }
    const mxp_event *sample = live_events_find(&live, MXP_KIND_COUNTER, "c", 0);
    assert_category(sample, "D", MXP_STYLE_COUNTER);
    assert_int_equal(sample->value.u64, 7);
    const mxp_event *marker = live_events_find(&live, MXP_KIND_INSTANT, "m", 0);
    assert_category(marker, "D,instant_marker", MXP_STYLE_INSTANT);
    assert_int_equal(marker->phase, MXP_INSTANT_THREAD);
}

static void recursion_gives_inner_and_outer(void **state)
{
    (void)state;
    mxp_handle t = task("recursive");
    mxp_duration_start(t);
    sleep_ms(4);
    mxp_duration_start(t);
    sleep_ms(2);
    mxp_duration_stop(t);
    sleep_ms(2);
    mxp_duration_stop(t);
    take();
    assert_int_equal(spans("recursive"), 2);
    const mxp_event *inner = span("recursive", 0), *outer = span("recursive", 1);
    assert_true(inner->begin_ns > outer->begin_ns && inner->end_ns < outer->end_ns);
    assert_true(duration_ms(inner) >= 2 && duration_ms(outer) >= 8);
}

static void starting_twice_and_stopping_once_counts_from_the_second(void **state)
{
    (void)state;
    mxp_handle t = task("twice");
    mxp_duration_start(t);
    uint64_t between = mxp_ticks();
    mxp_duration_start(t);
    mxp_duration_stop(t);
    take();
    assert_int_equal(spans("twice"), 1);
    assert_true(span("twice", 0)->begin_ticks >= between);
    assert_int_equal(mxp_duration_stop(t), MXP_OK);  // the first start's
}

static void a_stop_without_a_start_is_refused(void **state)
{
    (void)state;
    mxp_handle t = task("never started");
    assert_int_equal(mxp_duration_stop(t), MXP_ESTATE);
    assert_string_equal(mxp_last_error(), "stop of never started without a start on this thread: "
                                          "call start first");
    pair(t);
    assert_int_equal(mxp_duration_stop(t), MXP_ESTATE);
    take();
    assert_int_equal(spans("never started"), 1);
}

static void many_open_starts_are_kept_and_then_refused(void **state)
{
    (void)state;
    mxp_handle t = task("deep");
    for (int i = 0; i < 4096; i++) {
        assert_int_equal(mxp_duration_start(t), MXP_OK);
    }
    assert_int_equal(mxp_duration_start(t), MXP_ESTATE);
    for (int i = 0; i < 4096; i++) {
        assert_int_equal(mxp_duration_stop(t), MXP_OK);
    }
    assert_int_equal(mxp_duration_stop(t), MXP_ESTATE);
    take();
    assert_int_equal(spans("deep"), 4096);
    assert_int_equal(mxp_object_destroy(t), MXP_OK);
}

static void *start_here(void *object)
{
    return mxp_duration_start(object) == MXP_OK ? object : NULL;
}

static void *stop_here(void *object)
{
    return mxp_duration_stop(object) == MXP_OK ? object : NULL;
}

static void on_a_thread(void *(*function)(void *), mxp_handle object)
{
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, function, object), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, object);
}

static void what_one_thread_starts_another_may_stop(void **state)
{
    (void)state;
    mxp_handle t = task("handed over");
    on_a_thread(start_here, t);
    assert_int_equal(mxp_duration_stop(t), MXP_OK);
    mxp_duration_start(t);
    on_a_thread(stop_here, t);
    take();
    assert_int_equal(spans("handed over"), 2);
}

static void a_span_is_ended_by_its_thread(void **state)
{
    (void)state;
    mxp_handle own;
    assert_int_equal(mxp_span_create("mine", "kept", &own), MXP_OK);
    on_a_thread(start_here, own);
    assert_int_equal(mxp_duration_stop(own), MXP_ESTATE);
    assert_int_equal(mxp_object_destroy(own), MXP_OK);
}

// Each thread's own starts come first.
static void threads_do_not_mix_their_starts_up(void **state)
{
    (void)state;
    mxp_handle t = task("shared");
    mxp_duration_start(t);
    uint64_t before = mxp_ticks();
    on_a_thread(start_here, t);
    mxp_duration_stop(t);  // ours, not the newest
    take();
    assert_true(span("shared", 0)->begin_ticks < before);
    assert_int_equal(mxp_duration_stop(t), MXP_OK);
    assert_int_equal(mxp_duration_stop(t), MXP_ESTATE);
}

static void nothing_is_recorded_while_stopped_or_paused(void **state)
{
    (void)state;
    mxp_handle t = task("off"), counter;
    mxp_counter_create(domain, "silent", &counter);
    mxp_session_pause(session, 1);
    pair(t);
    mxp_counter_set(counter, 3);
    mxp_marker_set(domain, "quiet", "task");
    mxp_session_stop(session);
    pair(t);
    mxp_counter_adjust(counter, 4);
    mxp_session_pause(session, 0);  // undoes no stop
    pair(t);
    mxp_session_run(session);
    mxp_counter_adjust(counter, 1);
    take();
    assert_int_equal(spans("off"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_INSTANT, "quiet"), 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, "silent"), 1);
    assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "silent", 0)->value.u64, 8);
}

static void a_span_across_a_pause_is_whole(void **state)
{
    (void)state;
    mxp_handle t = task("across");
    mxp_duration_start(t);
    mxp_session_pause(session, 1);
    sleep_ms(3);
    mxp_session_pause(session, 0);
    mxp_duration_stop(t);
    take();
    assert_int_equal(span("across", 0)->flags, 0);
    assert_true(duration_ms(span("across", 0)) >= 3);
}

static void begun_running_and_ended_paused_is_closed_at_the_pause(void **state)
{
    (void)state;
    mxp_handle t = task("into");
    mxp_duration_start(t);
    mxp_session_pause(session, 1);
    uint64_t off = mxp__recorder_off_ticks();
    sleep_ms(1);
    assert_int_equal(mxp_duration_stop(t), MXP_OK);
    take();
    assert_int_equal(span("into", 0)->flags, MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(span("into", 0)->end_ticks, off);
}

static void begun_paused_and_ended_running_is_clipped_at_the_resume(void **state)
{
    (void)state;
    mxp_handle t = task("out of");
    mxp_session_pause(session, 1);
    mxp_duration_start(t);
    sleep_ms(1);
    mxp_session_pause(session, 0);
    uint64_t on = mxp__recorder_on_ticks();
    mxp_session_pause(session, 1);
    sleep_ms(1);
    mxp_session_pause(session, 0);  // the first resume counts
    mxp_duration_stop(t);
    take();
    assert_int_equal(span("out of", 0)->flags, MXP_SPAN_BEGIN_CLIPPED);
    assert_int_equal(span("out of", 0)->begin_ticks, on);
}

static void begun_and_ended_paused_around_a_run_is_both(void **state)
{
    (void)state;
    mxp_handle t = task("around"), outside = task("outside");
    mxp_session_pause(session, 1);
    mxp_duration_start(t);
    mxp_session_pause(session, 0);
    mxp_session_pause(session, 1);
    mxp_duration_stop(t);
    pair(outside);
    take();
    assert_int_equal(span("around", 0)->flags, MXP_SPAN_BEGIN_CLIPPED | MXP_SPAN_CLOSED_BY_STOP);
    assert_int_equal(span("around", 0)->begin_ticks, mxp__recorder_on_ticks());
    assert_int_equal(span("around", 0)->end_ticks, mxp__recorder_off_ticks());
    assert_int_equal(spans("outside"), 0);
}

static void stop_closes_what_is_open_once(void **state)
{
    (void)state;
    mxp_handle t = task("open at stop");
    mxp_duration_start(t);
    mxp_duration_start(t);
    mxp_session_stop(session);
    uint64_t off = mxp__recorder_off_ticks();
    take();
    assert_int_equal(spans("open at stop"), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(span("open at stop", i)->flags, MXP_SPAN_CLOSED_BY_STOP);
        assert_int_equal(span("open at stop", i)->end_ticks, off);
    }
    assert_int_equal(mxp_duration_stop(t), MXP_OK);
    mxp_session_run(session);
    assert_int_equal(mxp_duration_stop(t), MXP_OK);
    assert_int_equal(mxp_duration_stop(t), MXP_ESTATE);
    take();
    assert_int_equal(spans("open at stop"), 0);
}

static void a_stop_shows_the_thread_that_started(void **state)
{
    (void)state;
    mxp_handle t = task("elsewhere");
    on_a_thread(start_here, t);
    mxp_session_stop(session);
    take();
    const mxp_event *event = span("elsewhere", 0);
    assert_true((event->lane & MXP_LANE_THREAD) != 0);
    assert_true((event->lane & ~MXP_LANE_THREAD) != mxp_thread_index());
}

static void stop_while_paused_closes_at_the_pause(void **state)
{
    (void)state;
    mxp_handle t = task("paused and stopped");
    mxp_duration_start(t);
    mxp_session_pause(session, 1);
    uint64_t off = mxp__recorder_off_ticks();
    sleep_ms(1);
    mxp_session_stop(session);
    take();
    assert_int_equal(span("paused and stopped", 0)->end_ticks, off);
    mxp_duration_stop(t);
}

static void counters_stop_at_both_ends(void **state)
{
    (void)state;
    mxp_handle counter;
    mxp_counter_create(domain, "bounded", &counter);
    assert_int_equal(mxp_counter_set(counter, 1), MXP_OK);
    assert_int_equal(mxp_counter_adjust(counter, -3), MXP_EVALUE);
    assert_string_equal(mxp_last_error(),
                        "counter bounded would fall below zero (1 - 3): it stays at 0");
    assert_int_equal(mxp_counter_set(counter, UINT64_MAX - 1), MXP_OK);
    assert_int_equal(mxp_counter_adjust(counter, 1), MXP_OK);
    assert_int_equal(mxp_counter_adjust(counter, 1), MXP_EVALUE);
    assert_int_equal(mxp_counter_adjust(counter, INT64_MIN), MXP_OK);
    assert_int_equal(mxp_counter_adjust(counter, INT64_MIN), MXP_EVALUE);
    assert_int_equal(mxp_counter_adjust(counter, INT64_MAX), MXP_OK);
    const uint64_t expected[] = {1,         0, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX,
                                 INT64_MAX, 0, INT64_MAX};
    take();
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "bounded", i)->value.u64,
                         expected[i]);
    }
}

static void *count_up(void *counter)
{
    for (int i = 0; i < 5000; i++) {
        mxp_counter_adjust(counter, 2);
        mxp_counter_adjust(counter, -1);
    }
    return counter;
}

static int by_time(const void *a, const void *b)
{
    const mxp_event *left = *(const mxp_event *const *)a, *right = *(const mxp_event *const *)b;
    return (left->begin_ticks > right->begin_ticks) - (left->begin_ticks < right->begin_ticks);
}

static void samples_stand_in_the_order_of_values(void **state)
{
    (void)state;
    enum { SAMPLES = 4 * 10000 };
    mxp_handle counter;
    mxp_counter_create(domain, "ordered", &counter);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, count_up, counter);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    take();
    static const mxp_event *samples[SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < live.count; i++) {
        if (live.events[i].kind == MXP_KIND_COUNTER) {
            assert_true(count < SAMPLES);
            samples[count++] = &live.events[i];
        }
    }
    assert_int_equal(count, SAMPLES);
    qsort(samples, count, sizeof samples[0], by_time);
    assert_int_equal(samples[0]->value.u64, 2);
    for (size_t i = 1; i < count; i++) {
        int64_t step = (int64_t)(samples[i]->value.u64 - samples[i - 1]->value.u64);
        assert_true(step == 2 || step == -1);
    }
    assert_int_equal(samples[count - 1]->value.u64, SAMPLES / 2);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    mxp_handle made;
    assert_int_equal(mxp_domain_create("", &made), MXP_EINVAL);
    assert_int_equal(mxp_domain_create(NULL, &made), MXP_EINVAL);
    assert_int_equal(mxp_domain_create("x", NULL), MXP_EINVAL);
    assert_int_equal(mxp_task_create(NULL, "t", &made), MXP_EHANDLE);
    assert_string_equal(mxp_last_error(), "Check  notnull: domain");
    assert_int_equal(mxp_task_create(domain, NULL, &made), MXP_EINVAL);
    assert_int_equal(mxp_frame_create(domain, NULL, &made), MXP_EINVAL);
    assert_int_equal(mxp_event_create(NULL, &made), MXP_EINVAL);
    assert_int_equal(mxp_span_create(NULL, "s", &made), MXP_EINVAL);
    assert_int_equal(mxp_span_create("c", NULL, &made), MXP_EINVAL);
    assert_int_equal(mxp_span_create("c", "s", NULL), MXP_EINVAL);
    assert_int_equal(mxp_counter_create(NULL, "c", &made), MXP_EHANDLE);
    assert_int_equal(mxp_duration_start(NULL), MXP_EHANDLE);
    assert_string_equal(mxp_last_error(), "Check  notnull: duration_handle");
    assert_int_equal(mxp_counter_set(NULL, 1), MXP_EHANDLE);
    assert_int_equal(mxp_counter_adjust(NULL, 1), MXP_EHANDLE);
    assert_int_equal(mxp_object_destroy(NULL), MXP_EHANDLE);
    assert_non_null(
        strstr(mxp_last_error(), "Invalid NULL handle passed to MXProfileDestroyHandle"));
    assert_int_equal(mxp_marker_set(NULL, "m", "task"), MXP_EHANDLE);
    assert_int_equal(mxp_marker_set(domain, NULL, "task"), MXP_EINVAL);
    assert_int_equal(mxp_marker_set(domain, "m", NULL), MXP_EINVAL);
    assert_int_equal(mxp_marker_set(domain, "m", "bad"), MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "Invalid Input: 'bad', valid values are: {'global', "
                                          "'marker', 'process', 'task', 'thread'}");
}

static void any_bytes_are_a_name(void **state)
{
    (void)state;
    const char *const names[] = {"", "say \"hi\"", "a\nb\x01", "\xff\xfe", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        pair(task(names[i]));
    }
    size_t length = 10u << 20;
    char *large = malloc(length + 1);
    assert_non_null(large);
    memset(large, 'n', length);
    large[length] = '\0';
    mxp_handle big;
    assert_int_equal(mxp_task_create(domain, large, &big), MXP_OK);
    pair(big);
    take();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(spans(names[i]), 1);
    }
    assert_int_equal(spans(large), 1);
    free(large);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_has_its_category),
        TEST(recursion_gives_inner_and_outer),
        TEST(starting_twice_and_stopping_once_counts_from_the_second),
        TEST(a_stop_without_a_start_is_refused),
        TEST(many_open_starts_are_kept_and_then_refused),
        TEST(what_one_thread_starts_another_may_stop),
        TEST(a_span_is_ended_by_its_thread),
        TEST(threads_do_not_mix_their_starts_up),
        TEST(nothing_is_recorded_while_stopped_or_paused),
        TEST(a_span_across_a_pause_is_whole),
        TEST(begun_running_and_ended_paused_is_closed_at_the_pause),
        TEST(begun_paused_and_ended_running_is_clipped_at_the_resume),
        TEST(begun_and_ended_paused_around_a_run_is_both),
        TEST(stop_closes_what_is_open_once),
        TEST(a_stop_shows_the_thread_that_started),
        TEST(stop_while_paused_closes_at_the_pause),
        TEST(counters_stop_at_both_ends),
        TEST(samples_stand_in_the_order_of_values),
        TEST(bad_arguments_are_refused),
        TEST(any_bytes_are_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
