// SPDX-License-Identifier: Apache-2.0
// Each step has the CPU time of the process and the run delay of its threads, against what the test
// reads of the system itself; where it is switched off, it has neither.
#include "cmocka_all.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/record.h>

#include "base/os/os.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

static int start_with(bool step_cpu, bool statistics_only)
{
    mxp__recorder_limits_set(&(mxp_recorder_limits){
        .memory_limit_bytes = 1 << 24, .step_cpu = step_cpu, .statistics_only = statistics_only});
    return live_events_start(NULL);
}

static int start(void **state)
{
    (void)state;
    return start_with(true, false);
}

static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

// Of all threads: the test has one, and an emulator that runs it one more.
static uint64_t delay_ns(void)
{
    uint64_t sum_ns = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[300];
        unsigned long long run = 0, delay = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = fopen(path, "r");
        bool known =
            entry->d_name[0] != '.' && file != NULL && fscanf(file, "%llu %llu", &run, &delay) == 2;
        sum_ns += known ? delay : 0;
        if (file != NULL) {
            fclose(file);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return access("/proc/self/schedstat", R_OK) == 0 ? sum_ns : UINT64_MAX;
}

static const mxp_event *meta(const live_events *live, unsigned what, size_t n)
{
    for (size_t i = 0; i < live->count; i++) {
        const mxp_event *event = &live->events[i];
        if (event->kind == MXP_KIND_META && (event->words[1] >> 32 & 0xff) == what && n-- == 0) {
            return event;
        }
    }
    return NULL;
}

static void spend_ms(uint64_t ms)
{
    for (uint64_t end_ns = cpu_ns() + ms * 1000000; cpu_ns() < end_ns;) {
    }
}

static void each_step_has_cpu_time_and_run_delay_of_its_mark(void **state)
{
    (void)state;
    enum { STEPS = 3 };
    uint64_t cpu[STEPS][2], delay[STEPS][2];
    for (unsigned i = 0; i < STEPS; i++) {
        cpu[i][0] = cpu_ns();
        delay[i][0] = delay_ns();
        mxp_step(i + 1);
        cpu[i][1] = cpu_ns();
        delay[i][1] = delay_ns();
        spend_ms(3);
    }
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (unsigned i = 0; i < STEPS; i++) {
        const mxp_event *step = meta(&live, MXP_META_STEP, i);
        const mxp_event *event = meta(&live, MXP_META_STEP_CPU, i);
        assert_true(step != NULL && event != NULL);
        assert_int_equal(step->words[2], i + 1);
        assert_true(event->begin_ticks >= step->begin_ticks);
        assert_true(cpu[i][0] <= event->words[2] && event->words[2] <= cpu[i][1]);
        assert_true(delay[i][0] <= event->words[3] && event->words[3] <= delay[i][1]);
    }
    assert_null(meta(&live, MXP_META_STEP_CPU, STEPS));
    live_events_free(&live);
}

static void a_pause_and_a_stop_leave_the_figures_growing(void **state)
{
    (void)state;
    mxp_step(1);
    mxp__recorder_stop(0);
    mxp__recorder_start(MXP_CLASS_ALL, 1);
    mxp_step(2);
    mxp__recorder_stop(1);
    mxp_step(3);  // records nothing
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_step(4);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (size_t i = 1; i < 3; i++) {
        const mxp_event *before = meta(&live, MXP_META_STEP_CPU, i - 1);
        const mxp_event *event = meta(&live, MXP_META_STEP_CPU, i);
        assert_true(before != NULL && event != NULL);
        assert_true(before->words[2] < event->words[2]);
        assert_true(before->words[3] <= event->words[3]);
    }
    assert_null(meta(&live, MXP_META_STEP_CPU, 3));
    live_events_free(&live);
}

static void switched_off_steps_are_marks_alone(void **state)
{
    (void)state;
    start_with(false, false);
    mxp_step(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_non_null(meta(&live, MXP_META_STEP, 0));
    assert_null(meta(&live, MXP_META_STEP_CPU, 0));
    live_events_free(&live);
}

static void statistics_without_a_trace_have_none(void **state)
{
    (void)state;
    start_with(true, true);
    mxp_step(1);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_null(meta(&live, MXP_META_STEP_CPU, 0));
    live_events_free(&live);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, live_events_stop)
    const struct CMUnitTest tests[] = {
        TEST(each_step_has_cpu_time_and_run_delay_of_its_mark),
        TEST(a_pause_and_a_stop_leave_the_figures_growing),
        cmocka_unit_test_teardown(switched_off_steps_are_marks_alone, live_events_stop),
        cmocka_unit_test_teardown(statistics_without_a_trace_have_none, live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
