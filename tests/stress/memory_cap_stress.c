// SPDX-License-Identifier: Apache-2.0
// Recording at full speed for as long as one likes stays under its cap, in every store: the
// resident size of a process that does nothing else is looked at all the time. A second each, five
// seconds with MXPROF_TEST_LONG=1, and with MXPROF_TEST_SECONDS=600 the ten minutes it is about.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "stress_time.h"

// What is beside the records: the program itself, names, what the threads of libc take.
enum { LIMIT_BYTES = 16 << 20, SLACK_BYTES = 16 << 20, MANY_CAPS = 4 };

static int done;
static uint64_t recorded[2];

static uint64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    unsigned long long all, resident;
    assert_int_equal(fscanf(file, "%llu %llu", &all, &resident), 2);
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *record(void *count)
{
    mxp_name name = mxp_span_name("cap", "span");
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 1000; i++) {
            mxp_span_end(name, mxp_span_begin(name));
        }
        __atomic_fetch_add((uint64_t *)count, 1000, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void record_for(double seconds, uint64_t at_most_bytes)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record, &recorded[i]), 0);
    }
    // Until several times the cap was recorded, also where the machine is slow.
    uint64_t least = (uint64_t)MANY_CAPS * LIMIT_BYTES / 16;
    double end = now_s() + seconds;
    while (now_s() < end || __atomic_load_n(&recorded[0], __ATOMIC_RELAXED) < least) {
        uint64_t resident = resident_bytes();
        if (resident > at_most_bytes) {
            fail_msg("%llu bytes are resident, %llu may be", (unsigned long long)resident,
                     (unsigned long long)at_most_bytes);
        }
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run(int store, int policy, int statistics)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = policy;
    config.aggregate_stats = config.statistics_only = statistics;
    config.filename = "cap.json";
    config.native_filename = "cap.mxp";
    config.continuous_dump = 0;
    config.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mxp_session_configure(mxp_session_get(), &config), 0);
    uint64_t before = resident_bytes();
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
    uint64_t records = statistics ? 0 : LIMIT_BYTES;
    record_for(stress_seconds(1, 5), before + records + SLACK_BYTES);
    assert_int_equal(mxp_session_stop(mxp_session_get()), 0);
}

static void in_a_process(int store, int policy, int statistics)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);  // a failure ends this process
        run(store, policy, statistics);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void memory_stays_under_its_cap(void **state)
{
    (void)state;
    in_a_process(MXP_STORE_MEMORY, MXP_FULL_GROW, 0);
    in_a_process(MXP_STORE_MEMORY, MXP_FULL_DROP, 0);
    in_a_process(MXP_STORE_MEMORY, MXP_FULL_RING, 0);
}

static void file_stays_under_its_cap(void **state)
{
    (void)state;
    in_a_process(MXP_STORE_FILE, MXP_FULL_GROW, 0);
    in_a_process(MXP_STORE_FILE, MXP_FULL_RING, 0);
}

static void statistics_take_no_more(void **state)
{
    (void)state;
    in_a_process(MXP_STORE_MEMORY, MXP_FULL_GROW, 1);
}

int main(void)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    puts("skipped: a sanitizer's own memory is resident too");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stays_under_its_cap),
        cmocka_unit_test(file_stays_under_its_cap),
        cmocka_unit_test(statistics_take_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
