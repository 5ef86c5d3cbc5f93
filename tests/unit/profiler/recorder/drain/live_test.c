// SPDX-License-Identifier: Apache-2.0
// Cuts while threads record: all threads are drained at one moment.
#include <mxprof/record.h>
#include <pthread.h>
#include <string.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum { IDLE = 200, CUTS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t value;  // of the counter; under the lock
static int stopped;  // atomic

static mxp_name count_name(void)
{
    return mxp_intern("user", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
}

static void *count_up(void *nothing)
{
    mxp_name name = count_name();
    while (__atomic_load_n(&stopped, __ATOMIC_RELAXED) == 0) {
        pthread_mutex_lock(&lock);
        mxp_counter_u64(MXP_CLASS_USER, name, ++value);
        pthread_mutex_unlock(&lock);
        mxp__os_yield();
    }
    return nothing;
}

static void *record_one(void *nothing)
{
    mxp_name name = mxp_span_name("user", "idle");
    mxp_span_end(name, mxp_span_begin(name));
    while (__atomic_load_n(&stopped, __ATOMIC_RELAXED) == 0) {
        mxp__os_sleep_us(10000);
    }
    return nothing;
}

// What a drain holds of the counter, whose values go up with time.
typedef struct held_samples {
    uint64_t count, least, most;
    int64_t first_ns, last_ns;
} held_samples;

static held_samples take_drain(void)
{
    held_samples held = {.least = UINT64_MAX, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event;
    for (size_t i = 0; i < live.count; i++) {
        event = &live.events[i];
        if (event->kind == MXP_KIND_COUNTER) {
            uint64_t seen = event->value.u64;
            held.count++;
            held.least = seen < held.least ? seen : held.least;
            held.most = seen > held.most ? seen : held.most;
            held.first_ns = event->begin_ns < held.first_ns ? event->begin_ns : held.first_ns;
            held.last_ns = event->begin_ns > held.last_ns ? event->begin_ns : held.last_ns;
        }
    }
    live_events_free(&live);
    return held;
}

// The idle threads are between the two that count, so that a drain which takes one thread after
// the other is long.
static void what_a_drain_leaves_is_later_than_what_it_takes(void **state)
{
    (void)state;
    pthread_t threads[IDLE + 2];
    for (int i = 0; i < IDLE + 2; i++) {
        void *(*body)(void *) = i == 0 || i == IDLE + 1 ? count_up : record_one;
        assert_int_equal(pthread_create(&threads[i], NULL, body, NULL), 0);
    }
    uint64_t known = 0;
    int64_t known_ns = INT64_MIN;
    for (int drain = 0; drain < CUTS; drain++) {
        mxp__os_sleep_us(500);
        held_samples held = take_drain();
        if (held.count > 0) {
            assert_int_equal(held.least, known + 1);
            assert_int_equal(held.most, known + held.count);
            assert_true(held.first_ns >= known_ns);
            known = held.most;
            known_ns = held.last_ns;
        }
    }
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < IDLE + 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(known > 0);
    assert_int_equal(known + take_drain().count, value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_drain_leaves_is_later_than_what_it_takes,
                                        live_events_start, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
