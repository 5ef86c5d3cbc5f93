// SPDX-License-Identifier: Apache-2.0
// A ring with more threads than chunks: each keeps its newest records, also one that comes when all
// is taken.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/trace/event.h"
#include "whole_file.h"

enum { THREADS = 40, NUMBERS = 20000, LIMIT_BYTES = 2 << 20 };

static const char path[] = "crowded.mxp";
static mxp_session *session;
static mxp_name counters[THREADS];
static uint64_t counted[THREADS];
static pthread_barrier_t begun, ended, over;

// ---- recording ---------------------------------------------------------------------------------
static void *count_up(void *number)
{
    uintptr_t i = (uintptr_t)number;
    pthread_barrier_wait(&begun);
    for (int k = 0; k < NUMBERS; k++) {
        mxp_counter_u64(MXP_CLASS_USER, counters[i], ++counted[i]);
    }
    pthread_barrier_wait(&ended);
    pthread_barrier_wait(&over);  // until then all are there
    return NULL;
}

static pthread_t threads[THREADS];

static void start(int store)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = LIMIT_BYTES;
    config.filename = "crowded.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    config.aggregate_stats = 0;
    unlink(path);
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    pthread_barrier_init(&begun, NULL, THREADS);
    pthread_barrier_init(&ended, NULL, THREADS + 1);
    pthread_barrier_init(&over, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, (void *)i), 0);
    }
}

static void finish_threads(void)
{
    pthread_barrier_wait(&over);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct content {
    uint64_t last[THREADS], held[THREADS], samples;
    uint64_t overwritten, lost;
    char warning[200];
} content;

static void take_in(void *context, const mxp_event *event)
{
    content *found = context;
    for (int i = 0; i < THREADS && event->kind == MXP_KIND_COUNTER; i++) {
        if (event->name == counters[i] && (event->flags & MXP_COUNTER_STANDING) == 0) {
            assert_true(found->held[i] == 0 || event->value.u64 == found->last[i] + 1);
            found->last[i] = event->value.u64;
            found->held[i]++;
            found->samples++;
        }
    }
}

static content read_file(const char *file)
{
    mxp_source *source = open_whole(file);
    content found = {0};
    each_event(source, take_in, &found);
    found.lost = losses_of(source);
    const char *overwritten = mxp__source_info(source, "overwritten_records");
    found.overwritten = overwritten != NULL ? strtoull(overwritten, NULL, 10) : 0;
    const char *warning = mxp__source_info(source, "ring_warning");
    snprintf(found.warning, sizeof found.warning, "%s", warning != NULL ? warning : "");
    mxp__source_close(source);
    return found;
}

// Losses are the process's.
static uint64_t lost_before;

// Each thread has its last ones: there is room for all, and nobody reads while they record. What
// was made is there or has made room.
static void assert_accounts(const content *found, uint64_t made)
{
    uint64_t lost = found->lost - lost_before;
    lost_before = found->lost;
    assert_int_equal(lost, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(found->held[i] > 0);
        assert_int_equal(found->last[i], counted[i]);
    }
    assert_true(found->samples > THREADS);
    uint64_t gone = made - found->samples - lost;
    assert_in_range(found->overwritten, gone, gone + 4096);
}

// ---- tests -------------------------------------------------------------------------------------
static void a_crowded_ring_keeps_the_newest_of_each_thread(void **state)
{
    const int *store = *state;
    start(*store);
    pthread_barrier_wait(&ended);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    content found = read_file("all.mxp");
    assert_accounts(&found, (uint64_t)THREADS * NUMBERS);
    assert_non_null(strstr(found.warning, "too small"));
    assert_non_null(strstr(found.warning, "threads"));
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    assert_in_range(report.memory_bytes, 0, LIMIT_BYTES + THREADS * 8192);
    assert_int_equal(report.lost, found.lost);
    finish_threads();
}

// As after a death.
static void the_file_of_a_crowded_ring_holds_the_newest_of_each_thread(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        start(MXP_STORE_FILE);
        pthread_barrier_wait(&ended);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    content found = read_file(path);
    assert_int_equal(found.lost, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(found.held[i] > 0);
        assert_int_equal(found.last[i], NUMBERS);
    }
}

// For the sanitizers, and for gaps: what a thread holds is in one piece whenever it is looked at.
static void crowded_rings_are_read_while_they_are_recorded(void **state)
{
    const int *store = *state;
    start(*store);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(mxp_session_snapshot(session, "now.mxp", 0), 0);
        mxp__os_sleep_us(500);
    }
    pthread_barrier_wait(&ended);
    finish_threads();
}

// One with room for all is not spoken of.
static void a_ring_with_a_chunk_for_each_thread_has_no_warning(void **state)
{
    (void)state;
    mxp_config config;
    mxp_config_init(&config);
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = LIMIT_BYTES;
    config.filename = "crowded.json";
    config.native_filename = path;
    config.continuous_dump = 0;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    for (int k = 0; k < 4 * NUMBERS; k++) {
        mxp_counter_u64(MXP_CLASS_USER, counters[0], ++counted[0]);
    }
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    content found = read_file("all.mxp");
    assert_string_equal(found.warning, "");
    assert_true(found.overwritten > 0);
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    for (int i = 0; i < THREADS; i++) {
        char text[32];
        snprintf(text, sizeof text, "number %d", i);
        counters[i] = mxp_intern("test", text, MXP_STYLE_COUNTER, MXP_UNIT_NONE);
        counted[i] = 0;
    }
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, begin)
#define TEST_WITH(name, state) cmocka_unit_test_prestate_setup_teardown(name, begin, NULL, state)

int main(void)
{
    static int memory = MXP_STORE_MEMORY, file = MXP_STORE_FILE;
    const struct CMUnitTest tests[] = {
        TEST(the_file_of_a_crowded_ring_holds_the_newest_of_each_thread),
        TEST(a_ring_with_a_chunk_for_each_thread_has_no_warning),
        TEST_WITH(a_crowded_ring_keeps_the_newest_of_each_thread, &memory),
        TEST_WITH(a_crowded_ring_keeps_the_newest_of_each_thread, &file),
        TEST_WITH(crowded_rings_are_read_while_they_are_recorded, &memory),
        TEST_WITH(crowded_rings_are_read_while_they_are_recorded, &file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
