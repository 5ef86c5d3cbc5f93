// SPDX-License-Identifier: Apache-2.0
// A run of many dumps, as continuous_dump makes one a second for days: files grow by what was
// recorded, not by what they have told before, and what they tell is of now.
#include "cmocka_all.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mxprof/foreign.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "each_event.h"
#include "profiler/trace/file/native.h"
#include "whole_file.h"

enum { DUMPS = 600, ENDED_THREADS = 100, MOST_BYTES_A_DUMP = 2000 };
static const char native[] = "long.mxp", trace[] = "long.json";
static mxp_session *session;
static mxp_name name;

static void run(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.filename = trace;
    config.native_filename = native;
    config.dump_period_s = 1e10;  // never
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_int_equal(mxp_session_run(session), MXP_OK);
}

static void *record(void *nothing)
{
    mxp_span_end(name, mxp_span_begin(name));
    return nothing;
}

static void record_on_threads(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, record, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static uint64_t size_of(const char *file)
{
    struct stat status;
    assert_int_equal(stat(file, &status), 0);
    return (uint64_t)status.st_size;
}

static void dump_often(int count)
{
    for (int i = 0; i < count; i++) {
        record(NULL);
        assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
        mxp__os_sleep_us(100);
    }
}

// ---- the two files -----------------------------------------------------------------------------
typedef struct times {
    int64_t ns[DUMPS + ENDED_THREADS + 2];
    size_t count;
} times;

static void add_time(times *all, int64_t ns)
{
    assert_true(all->count < sizeof all->ns / sizeof all->ns[0]);
    all->ns[all->count++] = ns;
}

static void take_span(void *context, const mxp_event *event)
{
    if (event->kind == MXP_KIND_SPAN) {
        add_time(context, event->begin_ns);
    }
}

static void read_trace(times *all)
{
    char line[1024];
    FILE *file = fopen(trace, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const char *ts = strstr(line, "\"name\":\"long\"") != NULL ? strstr(line, "\"ts\":") : NULL;
        int64_t us, ns;
        if (ts != NULL) {
            assert_int_equal(sscanf(ts, "\"ts\":%" SCNd64 ".%3" SCNd64, &us, &ns), 2);
            add_time(all, us * 1000 + ns);
        }
    }
    fclose(file);
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void assert_same_times(const mxp_source *source)
{
    static times of_native, of_trace;
    each_event((mxp_source *)(uintptr_t)source, take_span, &of_native);
    read_trace(&of_trace);
    assert_int_equal(of_native.count, of_trace.count);
    qsort(of_native.ns, of_native.count, sizeof *of_native.ns, compare);
    qsort(of_trace.ns, of_trace.count, sizeof *of_trace.ns, compare);
    assert_memory_equal(of_native.ns, of_trace.ns, of_trace.count * sizeof *of_trace.ns);
}

static void a_native_file_grows_by_what_is_new(void **state)
{
    (void)state;
    run();
    record_on_threads(ENDED_THREADS);
    dump_often(DUMPS / 2);
    const uint64_t half = size_of(native);
    dump_often(DUMPS / 2);
    assert_true(size_of(native) - half < DUMPS / 2 * MOST_BYTES_A_DUMP);
    mxp_source *source = open_whole(native);
    assert_same_times(source);
    mxp__source_close(source);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
}

// What changes between two dumps is in the file, and so is what does not.
static void its_tables_are_of_the_last_dump(void **state)
{
    (void)state;
    run();
    mxp_thread_name("before");
    assert_int_equal(mxp_info("test.stays", "as it was"), MXP_OK);
    assert_int_equal(mxp_info("test.changes", "first"), MXP_OK);
    record_on_threads(3);
    dump_often(4);
    mxp_thread_name("after");
    assert_int_equal(mxp_info("test.changes", "second"), MXP_OK);
    record_on_threads(1);
    dump_often(2);
    mxp_source *source = open_whole(native);
    assert_string_equal(mxp__source_info(source, "test.stays"), "as it was");
    assert_string_equal(mxp__source_info(source, "test.changes"), "second");
    char records[32];
    uint64_t spans = 0, named = 0;
    for (size_t i = 0; i < source->thread_count; i++) {
        const mxp_thread_entry *thread = &source->threads[i];
        assert_int_equal(thread->index, i);
        spans += thread->records;
        named += thread->tid == mxp__os_thread_id() &&
                 strcmp(source->name(source, thread->name).text, "after") == 0;
    }
    assert_int_equal(named, 1);
    snprintf(records, sizeof records, "%" PRIu64, spans);
    assert_string_equal(mxp__source_info(source, "records"), records);
    mxp__source_close(source);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_native_file_grows_by_what_is_new),
        cmocka_unit_test(its_tables_are_of_the_last_dump),
    };
    session = mxp_session_get();
    name = mxp_span_name("test", "long");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
