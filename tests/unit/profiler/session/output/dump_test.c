// SPDX-License-Identifier: Apache-2.0
// Dumps of which one file could be written and the other could not: what the next one completes.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "each_event.h"
#include "export_text.h"
#include "profiler/trace/file/native.h"
#include "relay.h"

static const char folder[] = "missing", native[] = "missing/dump.mxp";
static mxp_session *session;
static mxp_config config;

static void spans(const char *name, size_t count)
{
    mxp_name id = mxp_span_name("test", name);
    for (size_t i = 0; i < count; i++) {
        mxp_span_end(id, mxp_span_begin(id));
    }
}

typedef struct wanted {
    const char *name;
    uint64_t found;
} wanted;

static void count_event(void *context, const mxp_event *event)
{
    wanted *of = context;
    of->found += event->kind == MXP_KIND_SPAN && strcmp(mxp_name_text(event->name), of->name) == 0;
}

static uint64_t spans_in(const char *file, const char *name)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open(file, &source, &damage) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_null(damage.text);
    wanted of = {.name = name};
    each_event(source, count_event, &of);
    mxp__source_close(source);
    return of.found;
}

static off_t size_of(const char *file)
{
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    return status.st_size;
}

static void configure(const char *native_filename, int statistics_only)
{
    config.native_filename = native_filename;
    config.statistics_only = statistics_only;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
}

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    unlink(native);
    rmdir(folder);
    mxp_config_init(&config);
    config.filename = "dump.json";
    config.dump_period_s = 1e10;  // never
    config.aggregate_stats = 1;
    configure(NULL, 0);
    return mxp_session_run(session);
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    return mxp_session_dump(session, 1);
}

static int turn;

static void *record_and_wait(void *nothing)
{
    spans("first", 100);
    relay_pass(&turn, 1);
    relay_wait(&turn, 2);
    return nothing;
}

static void *record_a_few(void *nothing)
{
    spans("second", 10);
    return nothing;
}

static void what_is_completed_later_may_be_of_threads_that_are_gone(void **state)
{
    (void)state;
    pthread_t first, second;
    assert_int_equal(pthread_create(&first, NULL, record_and_wait, NULL), 0);
    relay_wait(&turn, 1);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    configure(native, 0);
    assert_int_equal(mxp_session_dump(session, 0), MXP_EIO);
    relay_pass(&turn, 2);
    pthread_join(first, NULL);
    const char *table;
    assert_int_equal(mxp_session_dumps(session, MXP_FORMAT_TABLE, 0, 0, 0, &table), MXP_OK);
    assert_int_equal(pthread_create(&second, NULL, record_a_few, NULL), 0);
    pthread_join(second, NULL);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_int_equal(spans_in(native, "second"), 10);
}

static void what_is_completed_later_is_of_the_same_configuration(void **state)
{
    (void)state;
    configure(native, 0);
    spans("old", 20000);
    assert_int_equal(mxp_session_dump(session, 0), MXP_EIO);
    configure(native, 1);
    configure(native, 0);
    spans("new", 20000);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_int_equal(spans_in(native, "new"), 20000);
}

static size_t spans_in_trace(const char *file, const char *name)
{
    char part[64];
    snprintf(part, sizeof part, "\"name\":\"%s\"", name);
    char *text = read_file(file, NULL);
    size_t count = count_text(text, part);
    free(text);
    return count;
}

static void what_the_old_trace_has_goes_to_the_new_native_file_alone(void **state)
{
    (void)state;
    configure(native, 0);
    spans("first", 100);
    assert_int_equal(mxp_session_dump(session, 0), MXP_EIO);
    assert_int_equal(spans_in_trace("dump.json", "first"), 100);
    spans("second", 10);
    config.filename = "next.json";
    configure("next.mxp", 0);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_int_equal(spans_in_trace("dump.json", "first"), 100);
    assert_int_equal(spans_in_trace("next.json", "first"), 0);
    assert_int_equal(spans_in("next.mxp", "first"), 100);
    const char *files[] = {"next.json", "dump.json"};
    assert_int_equal(spans_in_trace(files[0], "second") + spans_in_trace(files[1], "second"), 10);
    assert_int_equal(spans_in("next.mxp", "second"), 10);
    unlink("next.json");
    unlink("next.mxp");
}

// The drain that the failed dump has taken must not keep the ring from going round.
static void a_ring_goes_round_after_a_dump_that_failed(void **state)
{
    (void)state;
    enum { LIMIT_BYTES = 1 << 20, OLD = 1000, NEW = LIMIT_BYTES / 4 };
    config.aggregate_stats = 0;
    config.full_policy = MXP_FULL_RING;
    config.memory_limit_bytes = LIMIT_BYTES;
    configure(native, 0);
    spans("old", OLD);
    assert_int_equal(mxp_session_dump(session, 0), MXP_EIO);
    for (int i = 0; i < 8; i++) {
        spans("new", NEW);
    }
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), MXP_OK);
    assert_int_equal(report.lost, 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_int_equal(spans_in(native, "old"), 0);
    assert_true(spans_in(native, "new") > 0);
}

// As who looks at the table once more does: the trace that was finished stays.
static void a_run_without_a_record_keeps_the_file(void **state)
{
    (void)state;
    const char *table;
    configure("kept.mxp", 0);
    spans("first", 100);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    off_t size = size_of("dump.json");
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_stop(session), MXP_OK);
    assert_int_equal(mxp_session_dumps(session, 0, 0, 0, 0, &table), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    assert_int_equal(size_of("dump.json"), size);
    assert_int_equal(spans_in("kept.mxp", "first"), 100);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    spans("second", 10);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_true(size_of("dump.json") < size);
    assert_int_equal(spans_in("kept.mxp", "first"), 0);
    assert_int_equal(spans_in("kept.mxp", "second"), 10);
    unlink("kept.mxp");
    assert_int_equal(mxp_session_run(session), MXP_OK);
}

static void where_nothing_stands_an_empty_trace_is_written(void **state)
{
    (void)state;
    unlink("dump.json");
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_true(size_of("dump.json") > 0);
    assert_int_equal(truncate("dump.json", 0), 0);
    assert_int_equal(mxp_session_run(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_true(size_of("dump.json") > 0);
    assert_int_equal(mxp_session_run(session), MXP_OK);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(what_is_completed_later_may_be_of_threads_that_are_gone),
        TEST(what_is_completed_later_is_of_the_same_configuration),
        TEST(what_the_old_trace_has_goes_to_the_new_native_file_alone),
        TEST(a_ring_goes_round_after_a_dump_that_failed),
        TEST(a_run_without_a_record_keeps_the_file),
        TEST(where_nothing_stands_an_empty_trace_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
