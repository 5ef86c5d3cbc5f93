// SPDX-License-Identifier: Apache-2.0
// A program that starts more threads than have an index of their own: here eight. All that they
// record is in the outputs, and how many are under the index of an earlier one.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "each_event.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/thread_index.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"

enum { KEPT = 8, THREADS = 120, TOGETHER = 6, SPANS = 5, INDICES_MAX = 256 };

static const char path[] = "many.mxp";
static mxp_session *session;
static mxp_name work, newest;
static uint64_t lost_before;  // by threads of the test before

// ---- recording ---------------------------------------------------------------------------------
// Every other thread is in a scope, which it never leaves.
static void *record(void *number)
{
    uintptr_t i = (uintptr_t)number;
    char name[32];
    snprintf(name, sizeof name, "worker %u", (unsigned)i);
    mxp_thread_name(name);
    if (i % 2 == 0) {
        mxp_scope_push("even");
    }
    for (int k = 0; k < SPANS; k++) {
        mxp_span_end(work, mxp_span_begin(work));
    }
    uint64_t token = mxp_span_begin(work);
    mxp_span_end(work, token);
    mxp_span_end(work, token);  // misuse: one loss
    return NULL;
}

static void record_together(unsigned first)
{
    pthread_t threads[TOGETHER];
    for (unsigned i = 0; i < TOGETHER; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, record, (void *)(uintptr_t)(first + i)),
                         0);
    }
    for (unsigned i = 0; i < TOGETHER; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void record_all(bool dumps)
{
    for (unsigned i = 0; i < THREADS; i += TOGETHER) {
        record_together(i);
        if (dumps) {
            assert_int_equal(mxp_session_dump(session, 0), 0);
        } else {
            mxp__threads_reclaim();
        }
    }
}

static void begin_with(int store, int policy)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = policy;
    config.filename = "many.json";
    config.native_filename = path;
    config.dump_period_s = 3600;
    config.continuous_dump = policy == MXP_FULL_GROW;
    config.aggregate_stats = 0;
    if (policy == MXP_FULL_RING) {
        config.memory_limit_bytes = 1 << 20;
    }
    unlink(path);
    unlink("many.json");
    if (mxp_session_configure(session, &config) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_int_equal(mxp_session_run(session), 0);
}

// ---- reading -----------------------------------------------------------------------------------
typedef struct content {
    uint64_t spans, in_scope, ids, entries_lost, lost, misuse;
    uint32_t threads, several;
    uint64_t newest;
    uint64_t folded;
    uint64_t last_id[INDICES_MAX];
    uint32_t scope[INDICES_MAX];
} content;

static void take_in(void *context, const mxp_event *event)
{
    content *found = context;
    assert_in_range(event->thread, 0, INDICES_MAX - 1);
    assert_true(event->id >= found->last_id[event->thread]);  // no chunk stands for two
    found->last_id[event->thread] = event->id + 1;
    if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_PUSH) {
        found->scope[event->thread] = event->name;
    } else if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_POP) {
        found->scope[event->thread] = event->name;
    } else if (event->kind == MXP_KIND_SPAN) {
        found->spans += event->name == work;
        found->newest += event->name == newest;
        found->in_scope += event->name == work && found->scope[event->thread] != 0;
    }
}

static content take_source(mxp_source *source)
{
    content found = {.threads = source->thread_count};
    each_event(source, take_in, &found);
    for (uint32_t i = 0; i < source->thread_count; i++) {
        found.several += (source->threads[i].flags & MXP_THREAD_SEVERAL) != 0;
        found.entries_lost += source->threads[i].lost;
    }
    for (size_t i = 0; i < source->loss_count; i++) {
        found.lost += source->losses[i].count;
        found.misuse += source->losses[i].reason == MXP_LOSS_MISUSE ? source->losses[i].count : 0;
    }
    const char *folded = mxp__source_info(source, "folded_threads");
    found.folded = folded != NULL ? strtoull(folded, NULL, 10) : 0;
    mxp__source_close(source);
    return found;
}

static content read_file(void)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(path, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    return take_source(source);
}

static void assert_all_is_there(const content *found)
{
    assert_int_equal(found->spans, THREADS * (SPANS + 1));
    assert_int_equal(found->in_scope, THREADS / 2 * (SPANS + 1));
    assert_int_equal(found->misuse, lost_before + THREADS);
    assert_int_equal(found->lost, lost_before + THREADS);
    assert_int_equal(found->entries_lost, lost_before + THREADS);
    assert_in_range(found->threads, KEPT, KEPT + 2 * TOGETHER);
    assert_in_range(found->several, 1, found->threads);
}

// Of a Chrome trace: the records that it tells as lost.
static uint64_t lost_in_chrome(const char *file)
{
    uint64_t lost = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (getline(&line, &room, in) > 0) {
        const char *name = strstr(line, "\"name\":\"");
        if (name != NULL && strstr(line, " records lost (") != NULL) {
            lost += strtoull(name + strlen("\"name\":\""), NULL, 10);
        }
    }
    free(line);
    fclose(in);
    return lost;
}

// ---- tests -------------------------------------------------------------------------------------
static void threads_without_end_are_all_recorded(void **state)
{
    (void)state;
    begin_with(MXP_STORE_MEMORY, MXP_FULL_GROW);
    record_all(true);
    assert_int_equal(mxp_session_stop(session), 0);
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    content found = read_file();
    assert_all_is_there(&found);
    assert_in_range(report.threads, THREADS, THREADS + 1);
    assert_int_equal(found.folded, report.threads - found.threads);
    assert_int_equal(lost_in_chrome("many.json"), THREADS);
}

static uint64_t read_unfinished(content *found)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        begin_with(MXP_STORE_FILE, MXP_FULL_GROW);
        record_all(true);
        _exit(0);  // as a death: nothing finishes the file
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    *found = read_file();
    return found->spans;
}

// The file of a process that died, with what each thread has left in it, and a copy of a file that
// is being recorded.
static void unfinished_files_hold_the_threads_of_one_index(void **state)
{
    (void)state;
    content found;
    assert_int_equal(read_unfinished(&found), THREADS * (SPANS + 1));
    assert_all_is_there(&found);
}

static void files_that_are_recorded_hold_the_threads_of_one_index(void **state)
{
    (void)state;
    begin_with(MXP_STORE_FILE, MXP_FULL_GROW);
    record_all(true);
    uint64_t lost_by_others = lost_before;
    lost_before = 0;  // none of them has a RECORDER there
    content found = read_file();
    assert_all_is_there(&found);
    lost_before = lost_by_others;
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    found = read_file();
    assert_all_is_there(&found);
}

static void *record_newest(void *nothing)
{
    mxp_span_end(newest, mxp_span_begin(newest));
    return nothing;
}

// Threads that never fill a chunk: nothing of a ring would make room for later ones.
static void fill_ring(int store)
{
    begin_with(store, MXP_FULL_RING);
    for (int i = 0; i < 20; i++) {
        record_all(false);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_newest, NULL), 0);
    pthread_join(thread, NULL);
}

static void assert_ring_goes_on(const content *found)
{
    assert_int_equal(found->newest, 1);
    assert_int_equal(found->lost, lost_before + 20 * THREADS);
    assert_int_equal(found->misuse, found->lost);
    assert_true(found->spans > THREADS / 4 * SPANS);
}

static void rings_go_on_with_new_threads(void **state)
{
    const int *store = *state;
    fill_ring(*store);
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    assert_in_range(report.memory_bytes, 0, 1 << 20);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    content found = read_file();
    assert_ring_goes_on(&found);
}

static void unfinished_rings_go_on_with_new_threads(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fill_ring(MXP_STORE_FILE);
        _exit(0);
    }
    lost_before = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    content found = read_file();
    assert_ring_goes_on(&found);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    work = mxp_span_name("test", "work");
    newest = mxp_span_name("test", "newest");
    mxp__index_keep(KEPT);
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_report(session, &report);
    lost_before = report.lost;
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#define TEST_WITH(name, state) cmocka_unit_test_prestate_setup_teardown(name, begin, end, state)

int main(void)
{
    static int memory = MXP_STORE_MEMORY, file = MXP_STORE_FILE;
    const struct CMUnitTest tests[] = {
        TEST(unfinished_files_hold_the_threads_of_one_index),
        TEST(threads_without_end_are_all_recorded),
        TEST(files_that_are_recorded_hold_the_threads_of_one_index),
        TEST(unfinished_rings_go_on_with_new_threads),
        TEST_WITH(rings_go_on_with_new_threads, &memory),
        TEST_WITH(rings_go_on_with_new_threads, &file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
