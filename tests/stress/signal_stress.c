// SPDX-License-Identifier: Apache-2.0
// A 10 kHz timer signal whose handler records, into a thread that records in a loop. Every record
// is intact (right name, right nesting) or counted as lost. 10 s, or a million hits with
// MXPROF_TEST_LONG=1; MXPROF_TEST_SECONDS overrides.
#include "cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "stress_time.h"

static mxp_name name_loop, name_handler, name_count;
static volatile sig_atomic_t hits;

static void handler(int number)
{
    (void)number;
    int saved = errno;
    uint64_t token = mxp_span_begin(name_handler);
    mxp_counter_u64(MXP_CLASS_USER, name_count, (uint64_t)++hits);
    mxp_span_end(name_handler, token);
    if (errno != saved) {
        abort();  // recording must leave errno alone
    }
}

typedef struct tally {
    uint64_t loops, handlers, counters;  // read back
    uint64_t lost, last_counter;
} tally;

static void read_back(tally *sum)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (size_t i = 0; i < live.count; i++) {
        const mxp_event *event = &live.events[i];
        if (event->kind == MXP_KIND_SPAN) {
            assert_true(event->name == name_loop || event->name == name_handler);
            assert_true(event->begin_ticks <= event->end_ticks);
            assert_true(event->end_ticks - event->begin_ticks < UINT64_C(60000000000));
            *(event->name == name_loop ? &sum->loops : &sum->handlers) += 1;
        } else if (event->kind == MXP_KIND_COUNTER) {
            assert_int_equal(event->name, name_count);
            assert_true(event->value.u64 > sum->last_counter);
            sum->last_counter = event->value.u64;
            sum->counters++;
        } else {
            assert_int_equal(event->kind, MXP_KIND_META);
        }
    }
    sum->lost = live_events_lost(&live);
    live_events_free(&live);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void every_record_is_intact_or_counted(void **state)
{
    (void)state;
    name_loop = mxp_span_name("test", "loop");
    name_handler = mxp_span_name("test", "handler");
    name_count = mxp_intern("test", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    struct itimerspec every = {{0, 100000}, {0, 100000}};
    assert_int_equal(timer_settime(timer, 0, &every, NULL), 0);
    const uint64_t hits_wanted = stress_is_long() ? 1000000 : UINT64_MAX;
    double until = now_s() + stress_seconds(10, 240);
    uint64_t loops = 0;
    tally sum = {0};
    while (now_s() < until && (uint64_t)hits < hits_wanted) {
        for (int i = 0; i < 200000; i++) {
            mxp_span_end(name_loop, mxp_span_begin(name_loop));
        }
        loops += 200000;
        read_back(&sum);
    }
    struct itimerspec never = {0};
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
    mxp__recorder_stop(1);
    read_back(&sum);
    print_message("%llu hits, %llu loop spans, %llu lost\n", (unsigned long long)hits,
                  (unsigned long long)loops, (unsigned long long)sum.lost);
    assert_true(hits > 100);
    assert_int_equal(sum.loops + sum.handlers + sum.counters + sum.lost,
                     loops + 2 * (uint64_t)hits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_record_is_intact_or_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
