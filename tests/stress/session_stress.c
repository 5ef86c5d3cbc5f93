// SPDX-License-Identifier: Apache-2.0
// Everything at once: threads record, come and go, while others start, stop, pause, configure,
// dump, print, reset and fork. Nothing may crash, hang or race, and at the end a whole file is
// written. 3 s, 30 s with MXPROF_TEST_LONG=1; MXPROF_TEST_SECONDS overrides.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "stress_time.h"

static int done;
static mxp_handle domain, counter, shared_task;

static int finished(void)
{
    return __atomic_load_n(&done, __ATOMIC_RELAXED);
}

static void pause_us(unsigned us)
{
    nanosleep(&(struct timespec){0, us * 1000L}, NULL);
}

static void record_some(unsigned count)
{
    mxp_name name = mxp_span_name("stress", "span");
    mxp_scope_push("scope");
    for (unsigned i = 0; i < count; i++) {
        uint64_t outer = mxp_span_begin(name);
        MXP_SPAN_SCOPE("stress", "inner");
        mxp_counter_adjust(counter, i % 2 == 0 ? 1 : -1);
        mxp_instant(MXP_CLASS_USER, name, MXP_INSTANT_THREAD);
        mxp_span_end(name, outer);
    }
    mxp_duration_start(shared_task);
    mxp_duration_stop(shared_task);
    mxp_scope_pop();
}

static void *record_loop(void *unused)
{
    (void)unused;
    while (!finished()) {
        record_some(500);
    }
    return NULL;
}

static void *record_once(void *unused)
{
    (void)unused;
    record_some(50);
    return NULL;
}

static void *thread_loop(void *unused)
{
    (void)unused;
    while (!finished()) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) {
            pthread_create(&threads[i], NULL, record_once, NULL);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    return NULL;
}

static void *state_loop(void *unused)
{
    (void)unused;
    mxp_session *session = mxp_session_get();
    for (unsigned i = 0; !finished(); i++) {
        mxp_session_run(session);
        pause_us(300);
        mxp_session_pause(session, 1);
        pause_us(100);
        mxp_session_pause(session, 0);
        pause_us(300);
        if (i % 4 == 3) {
            mxp_session_stop(session);
        }
    }
    return NULL;
}

static void *output_loop(void *unused)
{
    (void)unused;
    mxp_session *session = mxp_session_get();
    for (unsigned i = 0; !finished(); i++) {
        const char *text;
        mxp_session_dump(session, i % 3 == 0);
        mxp_session_dumps(session, (int)(i % 2), (int)(i % 5), 0, i % 7 == 0, &text);
        mxp_report report = {.size_bytes = sizeof report};
        mxp_session_report(session, &report);
        pause_us(2000);
    }
    return NULL;
}

static void configure(int i)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = i % 2 == 0 ? "stress_a.json" : "stress_b.json";
    config.native_filename = i % 3 == 0 ? "stress.mxp" : NULL;
    config.continuous_dump = i % 4 < 2;
    config.dump_period_s = 0.003;
    config.aggregate_stats = i % 5 != 0;
    config.statistics_only = i % 6 == 5;
    config.memory_limit_bytes = 64 << 20;
    config.store = i / 7 % 2 == 0 ? MXP_STORE_MEMORY : MXP_STORE_FILE;
    if (i / 14 % 2 != 0) {
        config.full_policy = MXP_FULL_RING;
        config.aggregate_stats = config.statistics_only = 0;
    }
    // A file that begins may be too small for all that was recorded before: that is told.
    int error = mxp_session_configure(mxp_session_get(), &config);
    if (error != 0 && !(error == MXP_EIO && strstr(mxp_last_error(), "no room") != NULL)) {
        fail_msg("configuration %d: %s", i, mxp_last_error());
    }
}

static void *configure_loop(void *unused)
{
    (void)unused;
    for (int i = 0; !finished(); i++) {
        configure(i);
        pause_us(5000);
    }
    return NULL;
}

static void *fork_loop(void *unused)
{
    (void)unused;
    while (!finished()) {
        pid_t pid = fork();
        if (pid == 0) {
            record_some(10);  // recording is off here: nothing may happen, nothing may hang
            mxp_session_stop(mxp_session_get());
            _exit(0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            abort();
        }
        pause_us(3000);
    }
    return NULL;
}

static void everything_at_once(void **state)
{
    (void)state;
    assert_int_equal(mxp_domain_create("stress", &domain), 0);
    assert_int_equal(mxp_counter_create(domain, "counter", &counter), 0);
    assert_int_equal(mxp_task_create(domain, "task", &shared_task), 0);
    configure(0);
    void *(*loops[])(void *) = {record_loop, record_loop,    thread_loop, state_loop,
                                output_loop, configure_loop, fork_loop};
    enum { LOOPS = sizeof loops / sizeof loops[0] };
    pthread_t threads[LOOPS];
    for (int i = 0; i < LOOPS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, loops[i], NULL), 0);
    }
    double seconds = stress_seconds(3, 30);
    nanosleep(
        &(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)},
        NULL);
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < LOOPS; i++) {
        pthread_join(threads[i], NULL);
    }
    configure(4);
    assert_int_equal(mxp_session_run(mxp_session_get()), 0);
    record_some(10);
    assert_int_equal(mxp_session_stop(mxp_session_get()), 0);
    assert_int_equal(mxp_session_dump(mxp_session_get(), 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
