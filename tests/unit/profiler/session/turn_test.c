// SPDX-License-Identifier: Apache-2.0
// A dump that cannot continue, because hardly anybody reads its pipe, keeps nobody else waiting:
// every call here returns while it stands still. A hang fails by the time limit.
#include "cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/trace/file/native.h"

enum { SPANS = 20000, IN_CHILD = 10, LARGEST = 8 << 20 };  // more than any pipe takes

static mxp_session *session;
static mxp_config config;
static mxp_name before, meanwhile;
static pthread_t dumping, reading;
static int dump_error, pipe_end;
static char dump_line[512];
static char text[LARGEST];  // what came through the pipe
static size_t text_length;
static bool is_hurried;  // atomic

static void spans(mxp_name name, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
}

static void *dump(void *finished)
{
    dump_error = mxp_session_dump(session, finished != NULL);
    snprintf(dump_line, sizeof dump_line, "%s", mxp_last_error());
    return NULL;
}

// Takes so little at a time that the dump stands still, but is not given up, until it is hurried.
static void *drip(void *nothing)
{
    enum { PORTION = 4096 };
    for (ssize_t got = 1; got > 0; text_length += (size_t)got) {
        if (!__atomic_load_n(&is_hurried, __ATOMIC_ACQUIRE)) {
            mxp__os_sleep_us(50000);
        }
        got = read(pipe_end, text + text_length, PORTION);
        assert_true(got >= 0 && text_length + PORTION < LARGEST);
    }
    return nothing;
}

// Returns when a dump has begun to fill the pipe.
static void start_dump(bool finished)
{
    assert_int_equal(pthread_create(&dumping, NULL, dump, finished ? session : NULL), 0);
    int waiting = 0;
    while (waiting == 0) {
        mxp__os_sleep_us(1000);
        assert_int_equal(ioctl(pipe_end, FIONREAD, &waiting), 0);
    }
    fcntl(pipe_end, F_SETFL, fcntl(pipe_end, F_GETFL) & ~O_NONBLOCK);
    memset(text, 0, sizeof text);
    text_length = 0;
    __atomic_store_n(&is_hurried, false, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&reading, NULL, drip, NULL), 0);
}

// Reads the pipe until the dump has ended; how often `word` is in it.
static size_t finish_dump(const char *word)
{
    __atomic_store_n(&is_hurried, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(dumping, NULL), 0);
    assert_int_equal(pthread_join(reading, NULL), 0);
    assert_string_equal(dump_error == MXP_OK ? "" : dump_line, "");
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        found++;
    }
    return found;
}

static void configure(const char *filename)
{
    config.filename = filename;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    before = mxp_span_name("test", "before");
    meanwhile = mxp_span_name("test", "meanwhile");
    unlink("pipe");
    unlink("after.json");
    assert_int_equal(mkfifo("pipe", 0666), 0);
    pipe_end = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(pipe_end >= 0);
    mxp_config_init(&config);
    config.continuous_dump = 0;
    config.aggregate_stats = 1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    close(pipe_end);
    mxp_session_stop(session);
    mxp_config_init(&config);
    config.continuous_dump = 0;
    config.filename = "after.json";
    mxp_session_configure(session, &config);
    mxp_session_dump(session, 1);
    return 0;
}

static bool is_in_table(const char *name)
{
    const char *table;
    assert_int_equal(mxp_session_dumps(session, 0, 0, 0, 0, &table), MXP_OK);
    return strstr(table, name) != NULL;
}

static void expect_in_table(const char *name)
{
    assert_true(is_in_table(name) || !config.aggregate_stats);
}

static void use_everything(void)
{
    assert_int_equal(mxp_session_stop(session), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    spans(meanwhile, SPANS);
    assert_int_equal(mxp_session_pause(session, 1), MXP_OK);
    assert_int_equal(mxp_session_pause(session, 0), MXP_OK);
    expect_in_table("meanwhile");
    configure(config.filename);
    assert_int_equal(mxp_session_snapshot(session, "turn.mxp", 0), MXP_OK);
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), MXP_OK);
}

static void expect_child_works(void)
{
    pid_t child = fork();
    if (child == 0) {
        close(pipe_end);
        bool works = mxp_session_run(session) == MXP_OK;
        spans(meanwhile, IN_CHILD);
        works = works && is_in_table("meanwhile") == (config.aggregate_stats != 0) &&
                !is_in_table("before");
        config.filename = "child.json";
        config.native_filename = NULL;
        config.store = MXP_STORE_MEMORY;
        works = works && mxp_session_configure(session, &config) == MXP_OK &&
                mxp_session_dump(session, 1) == MXP_OK && access("child.json", R_OK) == 0;
        _exit(works ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    unlink("child.json");
}

static void work_beside_a_dump(int policy, int store)
{
    config.full_policy = policy;
    config.aggregate_stats = policy != MXP_FULL_RING;  // a ring keeps no table
    config.store = store;
    config.native_filename = store == MXP_STORE_FILE ? "recording.mxp" : NULL;
    configure("pipe");
    assert_int_equal(mxp_session_run(session), MXP_OK);
    spans(before, SPANS);
    expect_in_table("before");
    start_dump(true);
    use_everything();
    expect_child_works();
    assert_int_equal(finish_dump("\"before\""), SPANS);
}

// What was recorded meanwhile is in the next file, and nothing else.
static void expect_in_next(size_t count)
{
    configure("after.json");
    assert_int_equal(mxp_session_stop(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    FILE *file = fopen("after.json", "rb");
    assert_non_null(file);
    size_t found = 0;
    for (char line[4096]; fgets(line, sizeof line, file) != NULL;) {
        found += strstr(line, "\"meanwhile\"") != NULL;
        assert_null(strstr(line, "\"before\""));
    }
    fclose(file);
    assert_int_equal(found, count);
}

static void nobody_waits_for_a_dump_to_a_pipe(void **state)
{
    (void)state;
    work_beside_a_dump(MXP_FULL_GROW, MXP_STORE_MEMORY);
    expect_in_next(SPANS);
}

static void nobody_waits_beside_a_recording_file(void **state)
{
    (void)state;
    work_beside_a_dump(MXP_FULL_GROW, MXP_STORE_FILE);
    expect_in_next(SPANS + IN_CHILD);  // whose file is there
    unlink("recording.mxp");
}

static void nobody_waits_beside_a_ring(void **state)
{
    (void)state;
    work_beside_a_dump(MXP_FULL_RING, MXP_STORE_MEMORY);
}

static void a_drain_stays_as_it_was_when_its_chunks_are_given_back(void **state)
{
    (void)state;
    configure("pipe");
    assert_int_equal(mxp_session_run(session), MXP_OK);
    spans(before, SPANS);
    start_dump(false);
    config.aggregate_stats = 0;
    for (int i = 0; i < 3; i++) {  // each forgets what was recorded, or takes chunks of it
        config.statistics_only = i == 0;
        config.full_policy = i == 1 ? MXP_FULL_RING : MXP_FULL_GROW;
        config.memory_limit_bytes = i == 1 ? 1 << 20 : 1 << 30;
        configure("pipe");
        spans(meanwhile, SPANS);
    }
    assert_int_equal(finish_dump("\"before\""), SPANS);
}

int main(void)
{
    alarm(300);
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(nobody_waits_for_a_dump_to_a_pipe),
        TEST(nobody_waits_beside_a_recording_file),
        TEST(nobody_waits_beside_a_ring),
        TEST(a_drain_stays_as_it_was_when_its_chunks_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
