// SPDX-License-Identifier: Apache-2.0
// What goes wrong around a recording: disks, limits, removed directories, threads and forks at the
// wrong moment. Nothing ends the process, and what is lost is counted, exactly. Each test is a
// process of its own, so that it begins with a library that nobody has used.
#include "cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/session.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "relay.h"
#include "stress_time.h"

enum { SKIPPED = 77, MIB = 1 << 20, NUMBERS = 1 << 22 };

static const char path[] = "fault.mxp";
static mxp_session *session;
static mxp_name name_a, name_count;
static int done;
static uint32_t next_number;
static unsigned char seen[NUMBERS];  // in some file

// ---- recording ---------------------------------------------------------------------------------
static int configure(const char *file, int store, int policy, uint64_t limit_bytes)
{
    mxp_config config;
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = policy;
    config.filename = "fault.json";
    config.native_filename = file;
    config.continuous_dump = 0;
    config.memory_limit_bytes = limit_bytes;
    return mxp_session_configure(session, &config);
}

static void spans(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(name_a, mxp_span_begin(name_a));
    }
}

static void *three_spans(void *nothing)
{
    spans(3);
    return nothing;
}

static void short_threads(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, three_spans, NULL), 0);
        pthread_join(thread, NULL);
    }
}

static uint64_t lost_so_far(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    return report.lost;
}

// ---- reading -----------------------------------------------------------------------------------
static uint64_t spans_of(mxp_source *source, const mxp_record_range *block)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, source->timebase, block);
    mxp_event event;
    uint64_t found = 0;
    int more;
    while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
        found += event.kind == MXP_KIND_SPAN;
        if (event.kind == MXP_KIND_COUNTER && event.value.u64 < NUMBERS) {
            seen[event.value.u64] = 1;
        }
    }
    assert_int_equal(more, 0);
    return found;
}

static uint64_t spans_in(const char *file)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(file, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    uint64_t found = 0;
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        found += spans_of(source, &range);
    }
    mxp__source_close(source);
    return found;
}

// ---- a process for each test -------------------------------------------------------------------
static void in_a_process(void (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);  // a failure ends this process
        alarm(100);
        session = mxp_session_get();
        name_a = mxp_span_name("test", "a");
        name_count = mxp_intern("test", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
        unlink(path);
        body();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
        print_message("skipped: mounting is not allowed here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

// ---- disks -------------------------------------------------------------------------------------
// Threads that come when the file is full have nowhere to record, not even in their first page.
static void body_full_file(void)
{
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_GROW, MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(100000);
    short_threads(100);
    uint64_t lost = lost_so_far();  // the stop's own record will be one more
    assert_int_equal(mxp_session_stop(session), 0);
    assert_true(lost > 0);
    assert_int_equal(spans_in(path) + lost, 100300);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(spans_in(path) + lost, 100300);
}

static void body_limit_at_the_end(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_GROW, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    limit.rlim_cur = 2 * MIB;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    spans(200000);
    uint64_t lost = lost_so_far();
    assert_int_equal(mxp_session_stop(session), 0);
    limit.rlim_cur = 100000;  // neither the tables nor the JSON fit
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(mxp_session_dump(session, 1), MXP_EIO);
    assert_int_equal(mxp_session_snapshot(session, "limit.mxp", 0), MXP_EIO);
    assert_int_equal(mxp_session_snapshot(session, "limit.json", 0), MXP_EIO);
    assert_int_equal(spans_in(path) + lost, 200000);
}

static void body_removed_directory(void)
{
    mkdir("removed", 0777);
    assert_int_equal(configure("removed/fault.mxp", MXP_STORE_FILE, MXP_FULL_GROW, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(1000);
    assert_int_equal(unlink("removed/fault.mxp"), 0);
    assert_int_equal(rmdir("removed"), 0);
    spans(200000);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "removed"));
    assert_int_equal(lost_so_far(), 0);
    assert_int_equal(mxp_session_run(session), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "in memory"));
}

static void body_own_file(void)
{
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_RING, 4 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(1000);
    assert_int_equal(mxp_session_snapshot(session, path, 0), MXP_EVALUE);
    spans(1000);
    assert_int_equal(spans_in(path), 2000);
}

// ---- small and read-only media -----------------------------------------------------------------
static void write_text(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t ignored = write(fd, text, strlen(text));
        (void)ignored;
        close(fd);
    }
}

// In a name space of our own, where root may be anybody.
static void mount_or_skip(const char *at)
{
    char map[64];
    unsigned user = (unsigned)geteuid(), group = (unsigned)getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        _exit(SKIPPED);
    }
    write_text("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", user);
    write_text("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", group);
    write_text("/proc/self/gid_map", map);
    mkdir(at, 0777);
    if (mount("none", at, "tmpfs", 0, "size=1m") != 0) {
        _exit(SKIPPED);
    }
}

static void body_small_medium(void)
{
    mount_or_skip("small");
    assert_int_equal(configure("small/fault.mxp", MXP_STORE_FILE, MXP_FULL_GROW, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    spans(200000);
    short_threads(10);
    uint64_t lost = lost_so_far();
    assert_int_equal(mxp_session_stop(session), 0);
    assert_true(lost > 0);
    assert_int_equal(spans_in("small/fault.mxp") + lost, 200030);
    mxp_session_dump(session, 1);  // there may be no room for the tables
    assert_int_equal(spans_in("small/fault.mxp") + lost, 200030);
}

static void body_read_only_medium(void)
{
    mount_or_skip("read_only");
    if (mount("none", "read_only", "tmpfs", MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        _exit(SKIPPED);
    }
    assert_int_equal(configure("read_only/fault.mxp", MXP_STORE_FILE, MXP_FULL_GROW, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "read_only/fault.mxp"));
    spans(1000);
    assert_int_equal(mxp_session_snapshot(session, path, 0), 0);
    assert_int_equal(spans_in(path), 1000);
}

// ---- rings -------------------------------------------------------------------------------------
// While the library's own thread looks at a full ring, nothing is taken from it, and what finds no
// other room is lost. Here it waits for the session's lock.
static void keep_the_ring_free(bool free)
{
    if (free) {
        mxp__lock(&session->lock);
    } else {
        mxp__unlock(&session->lock);
    }
}

// What is in memory when the file begins must not fill it.
static void body_ring_after_memory(void)
{
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_RING, 4 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    spans(400000);  // still running: in memory
    assert_int_equal(mxp_session_run(session), 0);
    uint64_t copied = spans_in(path);
    assert_true(copied > 0 && copied <= 4 * MIB / 8 / MXP_RECORD_UNIT);
    keep_the_ring_free(true);
    spans(400000);
    keep_the_ring_free(false);
    assert_int_equal(lost_so_far(), 0);
    assert_true(spans_in(path) > 2 * MIB / MXP_RECORD_UNIT);
}

// Their blocks in the file are used again: 3,000 of 8 KiB each are more than there is room for.
static void body_ring_with_many_threads(void)
{
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_RING, 4 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    keep_the_ring_free(true);
    for (int i = 0; i < 60; i++) {
        spans(200000);  // more than the ring holds: the threads before are older than it
        mxp__threads_reclaim();
        short_threads(50);
    }
    keep_the_ring_free(false);
    assert_int_equal(lost_so_far(), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size <= 4 * MIB);
    uint64_t before = spans_in(path);
    short_threads(10);
    assert_int_equal(spans_in(path), before + 30);
}

// ---- threads -----------------------------------------------------------------------------------
// A thread that does not get a core within a record, while a freeze waits for it, loses what it
// records then: on a busy machine that may be one of these.
static void count_thousand_threads(int store, int policy)
{
    const uint64_t before = lost_so_far();
    assert_int_equal(configure(path, store, policy, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    short_threads(1000);
    assert_int_equal(mxp_session_stop(session), 0);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    assert_int_equal(spans_in(path) + report.lost - before, 3000);
    assert_true(report.lost == before || report.unanswered > 0);
}

static void body_thousand_threads(void)
{
    count_thousand_threads(MXP_STORE_MEMORY, MXP_FULL_GROW);
    count_thousand_threads(MXP_STORE_MEMORY, MXP_FULL_RING);
    count_thousand_threads(MXP_STORE_FILE, MXP_FULL_GROW);
    count_thousand_threads(MXP_STORE_FILE, MXP_FULL_RING);
}

static void *three_numbers(void *nothing)
{
    for (int i = 0; i < 3; i++) {
        mxp_counter_u64(MXP_CLASS_USER, name_count,
                        __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED));
    }
    return nothing;
}

// Files list all threads that there were: on a slow machine more of them for each file would make
// each file slower still.
enum { THREADS_PER_FILE = 50 };
static uint64_t files_ended;

static void *come_and_go(void *which)
{
    char text[32];
    for (uint64_t i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
        while (i / THREADS_PER_FILE > __atomic_load_n(&files_ended, __ATOMIC_RELAXED)) {
            mxp__os_sleep_us(100);
        }
        pthread_t thread;
        if (pthread_create(&thread, NULL, three_numbers, NULL) == 0) {
            pthread_join(thread, NULL);
        }
        snprintf(text, sizeof text, "%p.%llu", which, (unsigned long long)i);
        mxp_span_name("names", text);
        mxp__os_sleep_us(100);
    }
    return NULL;
}

// Threads begin, record and end, and names are made, while files begin and end. Each number is in
// one of the files, or in two of them.
static void body_files_begin_and_end(void)
{
    assert_int_equal(configure(path, MXP_STORE_FILE, MXP_FULL_GROW, 64 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &seen[i]), 0);
    }
    const int files = stress_is_long() ? 300 : 50;  // each lists all threads that there were
    for (int i = 0; i < files; i++) {
        mxp__os_sleep_us(1000);
        assert_int_equal(mxp_session_dump(session, 1), 0);
        spans_in(path);
        assert_int_equal(mxp_session_run(session), 0);
        __atomic_fetch_add(&files_ended, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&files_ended, UINT64_MAX, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(mxp_session_dump(session, 1), 0);
    spans_in(path);
    assert_true(next_number > 0 && next_number < NUMBERS);
    uint64_t missing = 0;
    for (uint32_t i = 0; i < next_number; i++) {
        missing += !seen[i];
    }
    assert_int_equal(missing, lost_so_far());
}

static int turn;

static void *run_on(void *nothing)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        mxp_session_run(session);
        relay_pass(&turn, 1);
    }
    return nothing;
}

// For the sanitizers: other threads continue when the process ends; the one that writes does not.
static void body_end_of_the_process(void)
{
    assert_int_equal(configure(NULL, MXP_STORE_MEMORY, MXP_FULL_RING, 4 * MIB), 0);
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_on, NULL), 0);
    relay_wait(&turn, 1);
    mxp__session_finish();
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_int_equal(mxp_session_run(session), 0);
    mxp__session_finish();
}

// ---- tests -------------------------------------------------------------------------------------
#define TESTS(TEST)                                                          \
    TEST(new_threads_of_a_full_file_are_counted, full_file)                  \
    TEST(a_limit_on_files_at_the_end, limit_at_the_end)                      \
    TEST(a_directory_that_is_removed, removed_directory)                     \
    TEST(a_snapshot_is_not_written_over_the_recording, own_file)             \
    TEST(a_small_medium_is_counted, small_medium)                            \
    TEST(a_read_only_medium, read_only_medium)                               \
    TEST(a_ring_follows_on_memory, ring_after_memory)                        \
    TEST(a_ring_outlives_many_threads, ring_with_many_threads)               \
    TEST(a_thousand_short_threads, thousand_threads)                         \
    TEST(files_begin_and_end_while_threads_come_and_go, files_begin_and_end) \
    TEST(a_process_ends_while_a_thread_runs_the_session, end_of_the_process)

#define DEFINE(name, body)         \
    static void name(void **state) \
    {                              \
        (void)state;               \
        in_a_process(body_##body); \
    }
TESTS(DEFINE)
#undef DEFINE

int main(void)
{
#define LIST(name, body) cmocka_unit_test(name),
    const struct CMUnitTest tests[] = {TESTS(LIST)};
#undef LIST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
