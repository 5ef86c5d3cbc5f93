// SPDX-License-Identifier: Apache-2.0
// Starts with tokens: each stop ends its own start, whatever else runs and wherever it ends.
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>

#include "cmocka_all.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "random.h"

static mxp_session *session;
static mxp_handle domain, task;
static live_events live;

static int begin_test(void **state)
{
    (void)state;
    session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.continuous_dump = 0;
    mxp_session_configure(session, &config);
    mxp_domain_create("D", &domain);
    mxp_task_create(domain, "request", &task);
    live = live_events_take(MXP__CONSUMER_FILE);
    live_events_free(&live);
    return mxp_session_run(session);
}

static int end_test(void **state)
{
    (void)state;
    live_events_free(&live);
    mxp_object_destroy(task);
    return mxp_session_stop(session);
}

static void take(void)
{
    live_events_free(&live);
    live = live_events_take(MXP__CONSUMER_FILE);
}

// What the test knows of a run: its begin and end lie between these.
typedef struct known_run {
    uint64_t token, begin[2], end[2];
} known_run;

static void start_run(known_run *run)
{
    run->begin[0] = mxp_ticks();
    assert_int_equal(mxp_duration_start_token(task, &run->token), MXP_OK);
    run->begin[1] = mxp_ticks();
    assert_true(run->token != 0);
}

static void *stop_run(void *context)
{
    known_run *stopped = context;
    stopped->end[0] = mxp_ticks();
    int error = mxp_duration_stop_token(task, stopped->token);
    stopped->end[1] = mxp_ticks();
    return error == MXP_OK ? context : NULL;
}

static void stop_run_elsewhere(known_run *run)
{
    pthread_t thread;
    void *stopped;
    assert_int_equal(pthread_create(&thread, NULL, stop_run, run), 0);
    pthread_join(thread, &stopped);
    assert_non_null(stopped);
}

static void assert_is_span_of(const mxp_event *event, const known_run *run)
{
    assert_non_null(event);
    uint64_t begin = event->end_ticks - (event->words[1] >> 32);
    assert_in_range(begin, run->begin[0], run->begin[1]);
    assert_in_range(event->end_ticks, run->end[0], run->end[1]);
}

// The first to begin is the first to end, and threads that have started nothing end them.
static void overlapping_starts_are_told_apart_by_their_tokens(void **state)
{
    (void)state;
    known_run runs[2];
    start_run(&runs[0]);
    start_run(&runs[1]);
    stop_run_elsewhere(&runs[0]);
    stop_run_elsewhere(&runs[1]);
    take();
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "request"), 2);
    for (int i = 0; i < 2; i++) {
        size_t found = 0;
        for (size_t n = 0; n < 2; n++) {
            const mxp_event *event = live_events_find(&live, MXP_KIND_SPAN, "request", n);
            if (event->end_ticks >= runs[i].end[0] && event->end_ticks <= runs[i].end[1]) {
                assert_is_span_of(event, &runs[i]);
                found++;
            }
        }
        assert_int_equal(found, 1);
    }
}

static void any_order_of_many_runs_is_right(void **state)
{
    (void)state;
    enum { RUNS = 200 };
    static known_run runs[RUNS], *ended[RUNS];
    uint64_t random = 3;
    size_t open = 0, started = 0, count = 0;
    known_run *running[RUNS];
    while (count < RUNS) {
        bool starts = started < RUNS && (open == 0 || random_below(&random, 2) == 0);
        if (starts) {
            start_run(&runs[started]);
            running[open++] = &runs[started++];
        } else {
            size_t at = random_below(&random, open);
            assert_non_null(stop_run(running[at]));
            ended[count++] = running[at];
            running[at] = running[--open];
        }
    }
    take();
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "request"), RUNS);
    for (size_t i = 0; i < RUNS; i++) {
        assert_is_span_of(live_events_find(&live, MXP_KIND_SPAN, "request", i), ended[i]);
    }
}

static void plain_stops_leave_starts_with_tokens_alone(void **state)
{
    (void)state;
    known_run run;
    start_run(&run);
    assert_int_equal(mxp_duration_stop(task), MXP_ESTATE);
    mxp_duration_start(task);
    assert_int_equal(mxp_duration_stop(task), MXP_OK);
    assert_int_equal(mxp_duration_stop(task), MXP_ESTATE);
    assert_non_null(stop_run(&run));
    take();
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "request"), 2);
    assert_is_span_of(live_events_find(&live, MXP_KIND_SPAN, "request", 1), &run);
}

static void a_token_is_good_for_one_stop_of_its_object(void **state)
{
    (void)state;
    mxp_handle other, span;
    uint64_t token;
    known_run run;
    assert_int_equal(mxp_task_create(domain, "other", &other), MXP_OK);
    start_run(&run);
    assert_int_equal(mxp_duration_stop_token(other, run.token), MXP_ESTATE);
    assert_int_equal(mxp_duration_stop_token(task, 0), MXP_ESTATE);
    assert_int_equal(mxp_duration_stop_token(task, run.token + 1), MXP_ESTATE);
    assert_non_null(stop_run(&run));
    assert_int_equal(mxp_duration_stop_token(task, run.token), MXP_ESTATE);
    assert_int_equal(mxp_duration_start_token(task, NULL), MXP_EINVAL);
    assert_int_equal(mxp_duration_start_token(NULL, &token), MXP_EHANDLE);
    assert_int_equal(mxp_span_create("c", "s", &span), MXP_OK);
    assert_int_equal(mxp_duration_start_token(span, &token), MXP_EHANDLE);
    assert_true(token == 0);
    mxp_object_destroy(span);
    mxp_object_destroy(other);
    take();
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "request"), 1);
}

static void a_stop_of_the_session_closes_runs_with_tokens(void **state)
{
    (void)state;
    known_run run;
    start_run(&run);
    mxp_session_stop(session);
    mxp_session_run(session);
    assert_non_null(stop_run(&run));  // written already
    take();
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "request"), 1);
    const mxp_event *event = live_events_find(&live, MXP_KIND_SPAN, "request", 0);
    assert_true((event->flags & MXP_SPAN_CLOSED_BY_STOP) != 0);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)
    const struct CMUnitTest tests[] = {
        TEST(overlapping_starts_are_told_apart_by_their_tokens),
        TEST(any_order_of_many_runs_is_right),
        TEST(plain_stops_leave_starts_with_tokens_alone),
        TEST(a_token_is_good_for_one_stop_of_its_object),
        TEST(a_stop_of_the_session_closes_runs_with_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
