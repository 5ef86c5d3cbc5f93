// SPDX-License-Identifier: Apache-2.0
// What others tell: flows at any moment and on any lane, marks that fit nothing, names of threads.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

static void a_flow_keeps_its_moment_and_its_lane(void **state)
{
    (void)state;
    mxp_name name = mxp_intern("test", "arrow", MXP_STYLE_FLOW, MXP_UNIT_NONE);
    uint64_t before = mxp_ticks();
    mxp_flow_emit(MXP_CLASS_USER, &(mxp_flow_point){.name = name,
                                                    .phase = MXP_FLOW_START,
                                                    .id = UINT64_MAX,
                                                    .ticks = before - 1000,
                                                    .lane = MXP_LANE_THREAD | 3});
    mxp_flow_emit(MXP_CLASS_USER, &(mxp_flow_point){.name = name, .phase = MXP_FLOW_END, .id = 5});
    uint64_t after = mxp_ticks();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *past = live_events_find(&live, MXP_KIND_FLOW, "arrow", 0);
    assert_true(past->begin_ticks == before - 1000 && past->value.u64 == UINT64_MAX);
    assert_int_equal(past->phase, MXP_FLOW_START);
    assert_int_equal(past->lane, MXP_LANE_THREAD | 3);
    const mxp_event *now = live_events_find(&live, MXP_KIND_FLOW, "arrow", 1);
    assert_in_range(now->begin_ticks, before, after);
    assert_int_equal(now->lane, 0);
    live_events_free(&live);
}

static uint64_t foreign_losses(const live_events *live)
{
    uint64_t count = 0;
    for (size_t i = 0; i < live->source->loss_count; i++) {
        bool is_ours = live->source->losses[i].reason == MXP_LOSS_FOREIGN;
        count += is_ours ? live->source->losses[i].count : 0;
    }
    return count;
}

static void marks_that_fit_nothing_are_told_as_losses(void **state)
{
    (void)state;
    mxp_lose_foreign(0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_lost(&live), 0);
    live_events_free(&live);
    mxp_lose_foreign(2);
    mxp_lose_foreign(3);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(foreign_losses(&live), 5);
    assert_int_equal(live_events_lost(&live), 5);
    live_events_free(&live);
    mxp__recorder_stop(1);
    mxp_lose_foreign(7);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(foreign_losses(&live), 5);  // none came while nothing was recorded
    live_events_free(&live);
}

// ---- names -------------------------------------------------------------------------------------
typedef struct other {
    sem_t told, named;
    uint32_t tid;
    bool records_first;
} other;

static void *tell_and_record(void *argument)
{
    other *self = argument;
    mxp_name name = mxp_span_name("test", "work of another");
    if (self->records_first) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    self->tid = mxp__os_thread_id();
    sem_post(&self->told);
    sem_wait(&self->named);
    mxp_span_end(name, mxp_span_begin(name));
    return NULL;
}

// The name of the thread of "work of another" when it was named by this one.
static void assert_named(bool records_first)
{
    other another = {.records_first = records_first};
    pthread_t thread;
    sem_init(&another.told, 0, 0);
    sem_init(&another.named, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, tell_and_record, &another), 0);
    sem_wait(&another.told);
    assert_int_equal(mxp_thread_name_of(another.tid, "first name"), MXP_OK);
    assert_int_equal(mxp_thread_name_of(another.tid, "loader 3"), MXP_OK);
    sem_post(&another.named);
    pthread_join(thread, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_SPAN, "work of another", 0);
    assert_non_null(event);
    mxp_name_view name = live.source->name(live.source, live.source->threads[event->thread].name);
    assert_int_equal(name.length, strlen("loader 3"));
    assert_memory_equal(name.text, "loader 3", name.length);
    live_events_free(&live);
    sem_destroy(&another.told);
    sem_destroy(&another.named);
}

static void a_thread_is_named_by_another_before_it_records_and_after(void **state)
{
    (void)state;
    assert_named(false);
    assert_named(true);
}

static void names_of_threads_that_never_come_are_limited(void **state)
{
    (void)state;
    assert_int_equal(mxp_thread_name_of(0, "nobody"), MXP_EINVAL);
    const uint32_t never = UINT32_C(1) << 23;  // above the largest number the system gives
    uint32_t taken = 0;
    while (mxp_thread_name_of(never + taken, "never") == MXP_OK) {
        taken++;
    }
    assert_int_equal(taken, 256);
    assert_non_null(strstr(mxp_last_error(), "256 threads"));
    assert_int_equal(mxp_thread_name_of(never + 3, "again"), MXP_OK);
}

static void the_name_that_a_process_gave_itself_is_in_its_info(void **state)
{
    (void)state;
    mxp_process_name("first");
    mxp_process_name("ranker 7");
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const char *told = "";
    for (size_t i = 0; i < live.source->info_count; i++) {
        if (strcmp(live.source->info[i].key, "process_name") == 0) {
            told = live.source->info[i].value;
        }
    }
    assert_string_equal(told, "ranker 7");
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_flow_keeps_its_moment_and_its_lane, live_events_start,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(marks_that_fit_nothing_are_told_as_losses,
                                        live_events_start, live_events_stop),
        cmocka_unit_test_setup_teardown(a_thread_is_named_by_another_before_it_records_and_after,
                                        live_events_start, live_events_stop),
        cmocka_unit_test_setup_teardown(the_name_that_a_process_gave_itself_is_in_its_info,
                                        live_events_start, live_events_stop),
        cmocka_unit_test_setup_teardown(names_of_threads_that_never_come_are_limited,
                                        live_events_start, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
