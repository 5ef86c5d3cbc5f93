// SPDX-License-Identifier: Apache-2.0
// Threads that end and leave nothing to be read: what they had is given back at once, although
// nobody reads. A server has a thread for each connection, and marks that are off.
#include "cmocka_all.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/thread/thread_index.h"
#include "whole_file.h"

enum { THREADS = 300, SPANS = 10 };
static mxp_session *session;
static mxp_name name;

static void *tell_name(void *nothing)
{
    mxp_thread_name("connection");
    mxp_scope_push("request");
    mxp_scope_pop();
    return nothing;
}

static void *tell_name_and_record(void *nothing)
{
    mxp_thread_name("connection");
    for (int i = 0; i < SPANS; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    return nothing;
}

static void run_threads(int count, void *(*function)(void *))
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static void begin(int store, int statistics_only)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "none";
    config.native_filename = "leave.mxp";
    config.store = store;
    config.statistics_only = statistics_only;
    config.continuous_dump = 0;
    config.memory_limit_bytes = 64 << 20;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
}

static void finish(void)
{
    assert_int_equal(mxp_session_stop(session), MXP_OK);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
}

// ---- marks that are off ------------------------------------------------------------------------
static void while_nothing_is_recorded_threads_leave_nothing(void **state)
{
    (void)state;
    run_threads(1, tell_name);
    const uint64_t held = mxp__pool_held_bytes();
    const uint32_t indices = mxp__index_count();
    run_threads(THREADS, tell_name);
    assert_int_equal(mxp__pool_held_bytes(), held);
    assert_int_equal(mxp__index_count(), indices);
    assert_int_equal(mxp__index_threads(), 0);
    assert_int_equal(mxp__index_folded(), 0);
}

// Their numbers are those of later threads, and these have been nobody's.
static void threads_that_record_later_are_the_first_of_their_number(void **state)
{
    (void)state;
    session = mxp_session_get();
    name = mxp_span_name("test", "leave");
    run_threads(THREADS, tell_name);
    begin(MXP_STORE_MEMORY, 0);
    run_threads(3, tell_name_and_record);
    finish();
    mxp_source *source = open_whole("leave.mxp");
    uint64_t records = 0;
    for (size_t i = 0; i < source->thread_count; i++) {
        assert_int_equal(source->threads[i].flags, 0);
        records += source->threads[i].records;
    }
    assert_true(source->thread_count <= 4);  // theirs, and this one's
    assert_true(records >= 3 * SPANS);
    assert_null(mxp__source_info(source, "folded_threads"));
    mxp__source_close(source);
}

static off_t size_of_file(void)
{
    struct stat status;
    assert_int_equal(stat("leave.mxp", &status), 0);
    return status.st_size;
}

static void a_pause_takes_no_room_in_a_file(void **state)
{
    (void)state;
    begin(MXP_STORE_FILE, 0);
    run_threads(3, tell_name_and_record);
    assert_int_equal(mxp_session_pause(session, 1), MXP_OK);
    run_threads(1, tell_name);
    const uint64_t held = mxp__pool_held_bytes();
    const off_t before = size_of_file();
    run_threads(THREADS, tell_name);
    assert_int_equal(size_of_file(), before);
    assert_int_equal(mxp__pool_held_bytes(), held);
    assert_int_equal(mxp_session_pause(session, 0), MXP_OK);
    run_threads(3, tell_name_and_record);
    finish();
    mxp_source *source = open_whole("leave.mxp");
    assert_int_equal(losses_of(source), 0);
    mxp__source_close(source);
}

// ---- statistics --------------------------------------------------------------------------------
static void what_threads_have_counted_takes_no_memory_for_each(void **state)
{
    (void)state;
    begin(MXP_STORE_MEMORY, 1);
    run_threads(10, tell_name_and_record);
    const uint64_t held = mxp__pool_held_bytes();
    run_threads(THREADS, tell_name_and_record);
    assert_int_equal(mxp__pool_held_bytes(), held);
    const char *csv;
    assert_int_equal(mxp_session_dumps(session, MXP_FORMAT_CSV, 0, 0, 0, &csv), MXP_OK);
    char row[64];
    snprintf(row, sizeof row, "\"leave\",duration,ms,%d,", (THREADS + 10) * SPANS);
    assert_non_null(strstr(csv, row));
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), MXP_OK);
    assert_int_equal(report.lost, 0);
    assert_true(report.threads >= THREADS + 10);
    assert_int_equal(mxp_session_stop(session), MXP_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_nothing_is_recorded_threads_leave_nothing),  // first of all
        cmocka_unit_test(threads_that_record_later_are_the_first_of_their_number),
        cmocka_unit_test(a_pause_takes_no_room_in_a_file),
        cmocka_unit_test(what_threads_have_counted_takes_no_memory_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
