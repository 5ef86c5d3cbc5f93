// SPDX-License-Identifier: Apache-2.0
// The flight recorder: full_policy ring in both stores, snapshots, and what asks for them.
#include "cmocka_all.h"

#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/recorder/recorder.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/native.h"
#include "whole_file.h"

enum { LIMIT_BYTES = 4 << 20 };

static mxp_session *session;
static mxp_name counter;
static mxp_config config;

// ---- reading -----------------------------------------------------------------------------------
typedef struct content {
    uint64_t first, last, newest, count;  // values of the counter
    int64_t first_ns, last_ns;
    uint64_t lost;
    bool gap;
} content;

static void take_in(void *context, const mxp_event *event)
{
    content *found = context;
    if (event->kind != MXP_KIND_COUNTER || (event->flags & MXP_COUNTER_STANDING) != 0) {
        return;
    }
    if (found->count++ == 0) {
        found->first = event->value.u64;
        found->first_ns = event->end_ns;
    } else if (event->value.u64 != found->last + 1) {
        found->gap = true;
    }
    found->last = event->value.u64;
    found->newest = found->last > found->newest ? found->last : found->newest;
    found->last_ns = event->end_ns;
}

static content read_file(const char *path)
{
    mxp_source *source = open_whole(path);
    content found = {0};
    each_event(source, take_in, &found);
    found.lost = losses_of(source);
    mxp__source_close(source);
    return found;
}

// ---- recording ---------------------------------------------------------------------------------
static uint64_t counted;

static void count_up(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        mxp_counter_u64(MXP_CLASS_USER, counter, ++counted);
    }
}

static void remove_snapshots(void)
{
    glob_t names;
    if (glob("*.mxp", 0, NULL, &names) == 0) {
        for (size_t i = 0; i < names.gl_pathc; i++) {
            unlink(names.gl_pathv[i]);
        }
        globfree(&names);
    }
}

static void configure(int store)
{
    mxp_config_init(&config);
    config.store = store;
    config.full_policy = MXP_FULL_RING;
    config.filename = "ring.json";
    config.native_filename = "ring.mxp";
    config.continuous_dump = 0;
    config.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mxp_session_configure(session, &config), 0);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    counter = mxp_intern("test", "number", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    remove_snapshots();
    counted = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    mxp_config_init(&config);
    config.continuous_dump = 0;
    return mxp_session_configure(session, &config);
}

// ---- the ring ----------------------------------------------------------------------------------
static void check_newest_are_kept(const char *path, uint64_t space_bytes)
{
    content found = read_file(path);
    assert_false(found.gap);
    assert_int_equal(found.last, counted);
    assert_int_equal(found.lost, 0);
    assert_true(found.count * 32 <= space_bytes);
    assert_true(found.count * 32 >= space_bytes / 2);
}

static void the_newest_records_are_kept_in_memory(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(1000000);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    check_newest_are_kept("ring.mxp", LIMIT_BYTES);
}

static void the_newest_records_are_kept_in_the_file(void **state)
{
    (void)state;
    configure(MXP_STORE_FILE);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(1000000);
    check_newest_are_kept("ring.mxp", LIMIT_BYTES);  // as it is, without any dump
    struct stat status;
    assert_int_equal(stat("ring.mxp", &status), 0);
    assert_true(status.st_size <= LIMIT_BYTES);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    check_newest_are_kept("ring.mxp", LIMIT_BYTES);
}

static void *count_in_thread(void *times)
{
    count_up((uintptr_t)times);
    return NULL;
}

static void in_thread(uint64_t times)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count_in_thread, (void *)(uintptr_t)times), 0);
    pthread_join(thread, NULL);
}

static void threads_that_are_gone_make_room(void **state)
{
    (void)state;
    for (int store = MXP_STORE_MEMORY; store <= MXP_STORE_FILE; store++) {
        configure(store);
        assert_int_equal(mxp_session_run(session), 0);
        for (int i = 0; i < 60; i++) {
            in_thread(10000);  // five chunks each
        }
        assert_int_equal(mxp_session_snapshot(session, "threads.mxp", 0), 0);
        content found = read_file("threads.mxp");
        assert_int_equal(found.newest, counted);
        assert_true(found.count > 30000 && found.count < 200000);
        assert_int_equal(mxp_session_dump(session, 1), 0);
        mxp_session_stop(session);
    }
}

static void *end_threads(void *nothing)
{
    for (int i = 0; i < 200; i++) {
        in_thread(3000);
    }
    return nothing;
}

// For the sanitizers: a thread that ends adds to what the tidying looks at.
static void threads_end_while_the_ring_is_tidied(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_threads, NULL), 0);
    while (pthread_tryjoin_np(thread, NULL) != 0) {
        mxp__threads_reclaim();
        mxp__os_sleep_us(200);  // what holds the drain lock all the time leaves no room but spare
    }
    assert_int_equal(mxp_session_dump(session, 1), 0);
    assert_int_equal(read_file("ring.mxp").newest, counted);
}

// Made, by all threads since the session began; what made room, as the file says.
static void check_account(const char *path)
{
    mxp_source *source;
    mxp_damage damage;
    assert_int_equal(mxp__native_open(path, &source, &damage), 0);
    content found = {0};
    each_event(source, take_in, &found);
    const char *made_room = mxp__source_info(source, "overwritten_records");
    assert_non_null(made_room);
    assert_in_range(strtoull(made_room, NULL, 10), counted - found.count,
                    counted - found.count + 4096);
    assert_string_equal(mxp__source_info(source, "full_policy"), "ring");
    mxp__source_close(source);
}

static void a_ring_accounts_for_what_made_room(void **state)
{
    (void)state;
    for (int store = MXP_STORE_MEMORY; store <= MXP_STORE_FILE; store++) {
        mxp_report before = {.size_bytes = sizeof before}, after = before;
        counted = 0;
        assert_int_equal(mxp_session_report(session, &before), 0);
        configure(store);
        assert_int_equal(mxp_session_run(session), 0);
        for (int i = 0; i < 40; i++) {
            in_thread(10000);
        }
        in_thread(10);
        if (store == MXP_STORE_FILE) {
            check_account("ring.mxp");  // as after a death
        }
        mxp__threads_reclaim();
        assert_int_equal(mxp_session_report(session, &after), 0);
        assert_in_range(after.records - before.records, counted, counted + 100);
        assert_int_equal(mxp_session_snapshot(session, "threads.mxp", 0), 0);
        check_account("threads.mxp");
        assert_int_equal(mxp_session_dump(session, 1), 0);
        check_account("ring.mxp");
        mxp_session_stop(session);
        assert_int_equal(mxp_session_report(session, &after), 0);
        assert_in_range(after.records - before.records, counted, counted + 100);
    }
}

static void a_ring_has_no_table(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.aggregate_stats = 1;
    assert_int_equal(mxp_session_configure(session, &config), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "aggregate_stats"));
}

static void a_dump_of_a_ring_replaces_the_one_before(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.continuous_dump = 1;
    config.dump_period_s = 1e9;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    for (int i = 0; i < 3; i++) {
        count_up(100);
        assert_int_equal(mxp_session_dump(session, i == 2), 0);
        content found = read_file("ring.mxp");
        assert_false(found.gap);
        assert_int_equal(found.count, counted);
    }
}

static void a_ring_that_ends_leaves_what_it_holds(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(500000);
    config.full_policy = MXP_FULL_GROW;
    config.memory_limit_bytes = 64 << 20;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    count_up(1000);
    assert_int_equal(mxp_session_dump(session, 1), 0);
    content found = read_file("ring.mxp");
    assert_false(found.gap);
    assert_int_equal(found.last, counted);
    assert_true(found.count > 50000);
}

// ---- snapshots ---------------------------------------------------------------------------------
static void a_snapshot_reaches_back_as_far_as_it_says(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(1000);
    mxp__os_sleep_us(300000);
    count_up(1000);
    assert_int_equal(mxp_session_snapshot(session, "last.mxp", 200), 0);
    content found = read_file("last.mxp");
    assert_int_equal(found.first, 1001);
    assert_int_equal(found.last, 2000);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    assert_int_equal(read_file("all.mxp").count, 2000);
    count_up(10);
    assert_int_equal(mxp_session_snapshot(session, "all.mxp", 0), 0);
    assert_int_equal(read_file("all.mxp").count, 2010);
}

static atomic_bool go_on, has_counted;

static void *count_until_told(void *nothing)
{
    while (go_on) {
        count_up(100);
        has_counted = true;
    }
    return nothing;
}

static void recording_goes_on_during_snapshots(void **state)
{
    (void)state;
    configure(MXP_STORE_FILE);
    assert_int_equal(mxp_session_run(session), 0);
    go_on = true;
    has_counted = false;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count_until_told, NULL), 0);
    while (!has_counted) {
        mxp__os_sleep_us(1000);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(mxp_session_snapshot(session, "during.mxp", 0), 0);
        content found = read_file("during.mxp");
        assert_true(found.count > 0);
        assert_true(!found.gap || found.lost > 0);
    }
    go_on = false;
    pthread_join(thread, NULL);
}

static void a_snapshot_never_replaces_the_trace(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(10);
    assert_int_equal(mxp_session_snapshot(session, "ring.json", 0), MXP_EVALUE);
    assert_int_equal(mxp_session_snapshot(session, "./ring.mxp", 0), MXP_EVALUE);
    assert_int_equal(mxp_session_dump(session, 0), 0);
    assert_int_equal(mxp_session_snapshot(session, "ring.json", 0), MXP_EVALUE);
    assert_int_equal(read_file("ring.mxp").count, 10);
}

static void bad_snapshots_are_errors(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    assert_int_equal(mxp_session_snapshot(session, "x.mxp", -1), MXP_EVALUE);
    assert_int_equal(mxp_session_snapshot(NULL, "x.mxp", 1), MXP_EHANDLE);
    assert_int_equal(mxp_session_snapshot(session, "missing/x.mxp", 1), MXP_EIO);
    config.snapshot_ms = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_EVALUE);
    config.snapshot_ms = 100;
    config.snapshot_step_factor = 0.5;
    assert_int_equal(mxp_session_configure(session, &config), MXP_EVALUE);
    config.snapshot_step_factor = 0;
    config.snapshot_counter = "no value";
    assert_int_equal(mxp_session_configure(session, &config), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "domain:name>value"));
}

// ---- triggers ----------------------------------------------------------------------------------
static bool appears(const char *path)
{
    for (int i = 0; i < 300; i++) {
        if (access(path, F_OK) == 0) {
            return true;
        }
        mxp__os_sleep_us(10000);
    }
    return false;
}

// The number of the next snapshot with a name of ours: the process has taken `number` before.
static const char *numbered(unsigned number)
{
    static char path[64];
    snprintf(path, sizeof path, "snapshot.%d.%u.mxp", (int)getpid(), number);
    return path;
}

static unsigned taken;

static void a_signal_takes_a_snapshot(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.snapshot_signal = 1;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(100);
    raise(SIGUSR2);
    assert_true(appears(numbered(++taken)));
    config.snapshot_signal = 0;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    struct sigaction now;
    assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
}

static void ignore(int number)
{
    (void)number;
}

static void a_snapshot_replaces_none(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    assert_int_equal(mxp_session_run(session), 0);
    count_up(100);
    const char *in_the_way = numbered(taken + 1);
    FILE *file = fopen(in_the_way, "wb");
    fputs("evidence", file);
    fclose(file);
    assert_int_equal(mxp_session_snapshot(session, NULL, 0), 0);
    char text[16] = {0};
    file = fopen(in_the_way, "rb");
    assert_int_equal(fread(text, 1, sizeof text, file), 8);
    fclose(file);
    assert_string_equal(text, "evidence");
    taken += 2;
    assert_int_equal(read_file(numbered(taken)).count, 100);
}

static void a_handler_that_came_later_stays(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.snapshot_signal = 1;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    signal(SIGUSR2, ignore);
    config.snapshot_signal = 0;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    struct sigaction now;
    sigaction(SIGUSR2, NULL, &now);
    assert_ptr_equal(now.sa_handler, ignore);
    signal(SIGUSR2, SIG_DFL);
}

static void a_signal_in_use_is_left_alone(void **state)
{
    (void)state;
    signal(SIGUSR2, ignore);
    configure(MXP_STORE_MEMORY);
    config.snapshot_signal = 1;
    assert_int_equal(mxp_session_configure(session, &config), MXP_ESTATE);
    struct sigaction now;
    sigaction(SIGUSR2, NULL, &now);
    assert_ptr_equal(now.sa_handler, ignore);
    signal(SIGUSR2, SIG_DFL);
}

static void a_slow_step_takes_a_snapshot(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.snapshot_step_factor = 20;
    config.snapshot_ms = 1;  // no distance to speak of from the snapshot of the test before
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    for (uint64_t step = 0; step < 20; step++) {
        mxp_step(step);
        mxp__os_sleep_us(step == 15 ? 400000 : 1000);
    }
    mxp_step(20);
    assert_true(appears(numbered(++taken)));
}

static void a_counter_that_rises_takes_a_snapshot(void **state)
{
    (void)state;
    configure(MXP_STORE_MEMORY);
    config.snapshot_counter = "test:number>500";
    config.snapshot_ms = 1;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    assert_int_equal(mxp_session_run(session), 0);
    while (access(numbered(taken + 1), F_OK) == 0) {
        taken++;  // on a busy machine more than one step before was slow
    }
    count_up(500);
    mxp__os_sleep_us(150000);
    assert_int_equal(access(numbered(taken + 1), F_OK), -1);
    count_up(1);
    assert_true(appears(numbered(++taken)));
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_records_are_kept_in_memory),
        TEST(the_newest_records_are_kept_in_the_file),
        TEST(threads_that_are_gone_make_room),
        TEST(threads_end_while_the_ring_is_tidied),
        TEST(a_ring_accounts_for_what_made_room),
        TEST(a_ring_has_no_table),
        TEST(a_dump_of_a_ring_replaces_the_one_before),
        TEST(a_ring_that_ends_leaves_what_it_holds),
        TEST(a_snapshot_reaches_back_as_far_as_it_says),
        TEST(recording_goes_on_during_snapshots),
        TEST(a_snapshot_never_replaces_the_trace),
        TEST(bad_snapshots_are_errors),
        TEST(a_snapshot_replaces_none),
        TEST(a_handler_that_came_later_stays),
        TEST(a_signal_takes_a_snapshot),
        TEST(a_signal_in_use_is_left_alone),
        TEST(a_slow_step_takes_a_snapshot),
        TEST(a_counter_that_rises_takes_a_snapshot),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
