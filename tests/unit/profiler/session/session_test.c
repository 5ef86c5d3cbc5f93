// SPDX-License-Identifier: Apache-2.0
// The session through its own interface: what the C ABI's golden tests do not reach.
#include "cmocka_all.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

static mxp_session *session;
static mxp_config config;

static int begin_test(void **state)
{
    (void)state;
    session = mxp_session_get();
    mxp_session_stop(session);
    mxp_config_init(&config);
    config.filename = "session_test.json";
    config.continuous_dump = 0;
    config.aggregate_stats = 1;
    unlink("session_test.json");
    return mxp_session_configure(session, &config);
}

static int end_test(void **state)
{
    (void)state;
    mxp_session_stop(session);
    mxp_session_dump(session, 1);
    return 0;
}

static void span(const char *name)
{
    mxp_name id = mxp_span_name("test", name);
    mxp_span_end(id, mxp_span_begin(id));
}

static const char *table(int format, int reset)
{
    static const char *text;  // static: gcc 12 takes the text for a local of this function
    text = NULL;
    assert_int_equal(mxp_session_dumps(session, format, MXP_SORT_TOTAL, 0, reset, &text), MXP_OK);
    assert_non_null(text);
    return text;
}

static int file_holds(const char *path, const char *part)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strstr(text, part) != NULL;
}

static void there_is_one_session_and_only_it_is_taken(void **state)
{
    (void)state;
    const char *text;
    assert_ptr_equal(mxp_session_get(), session);
    mxp_session *other = (mxp_session *)(void *)&config;
    assert_int_equal(mxp_session_run(NULL), MXP_EHANDLE);
    assert_int_equal(mxp_session_stop(other), MXP_EHANDLE);
    assert_int_equal(mxp_session_pause(other, 1), MXP_EHANDLE);
    assert_int_equal(mxp_session_dump(other, 1), MXP_EHANDLE);
    assert_int_equal(mxp_session_dumps(other, 0, 0, 0, 0, &text), MXP_EHANDLE);
    assert_int_equal(mxp_session_configure(other, &config), MXP_EHANDLE);
    assert_int_equal(mxp_session_configure_pairs(other, 0, NULL, NULL), MXP_EHANDLE);
    assert_non_null(strstr(mxp_last_error(), "mxp_session_get()"));
}

static void all_three_formats_show_what_was_recorded(void **state)
{
    (void)state;
    mxp_session_run(session);
    span("shown");
    assert_non_null(strstr(table(MXP_FORMAT_TABLE, 0), "\nshown   "));
    assert_non_null(strstr(table(MXP_FORMAT_JSON, 0), "\"shown\": {"));
    assert_non_null(strstr(table(MXP_FORMAT_CSV, 0), "shown"));
}

static void reset_is_an_epoch(void **state)
{
    (void)state;
    mxp_session_run(session);
    span("before");
    assert_non_null(strstr(table(MXP_FORMAT_TABLE, 1), "before"));
    span("after");
    const char *text = table(MXP_FORMAT_TABLE, 0);
    assert_null(strstr(text, "before"));
    assert_non_null(strstr(text, "after"));
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(file_holds("session_test.json", "before"), 1);  // the file has its own place
}

static void *own_text(void *result)
{
    const char *text = table(MXP_FORMAT_JSON, 0);
    *(int *)result = text[0] == '{';
    return NULL;
}

static void texts_belong_to_their_threads(void **state)
{
    (void)state;
    const char *mine = table(MXP_FORMAT_TABLE, 0);
    char *copy = strdup(mine);
    pthread_t thread;
    int seen = 0;
    assert_int_equal(pthread_create(&thread, NULL, own_text, &seen), 0);
    pthread_join(thread, NULL);
    assert_true(seen);
    assert_string_equal(mine, copy);
    free(copy);
}

static void aggregates_begin_when_they_are_switched_on(void **state)
{
    (void)state;
    config.aggregate_stats = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_session_run(session);
    span("too early");
    assert_string_equal(table(MXP_FORMAT_TABLE, 1), "");
    config.aggregate_stats = 1;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    span("in time");
    const char *text = table(MXP_FORMAT_TABLE, 0);
    assert_null(strstr(text, "too early"));
    assert_non_null(strstr(text, "in time"));
}

static void classes_change_while_running(void **state)
{
    (void)state;
    mxp_name api = mxp_span_name("test", "api");
    mxp_session_run(session);
    mxp_span_end(api, mxp_span_begin_in(MXP_CLASS_API, api));
    config.classes = MXP_CLASS_MEMORY;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_false(mxp_enabled(MXP_CLASS_API));
    assert_true(mxp_enabled(MXP_CLASS_USER));
    mxp_span_end(api, mxp_span_begin_in(MXP_CLASS_API, api));
    mxp_session_pause(session, 1);
    config.classes = MXP_CLASS_API;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    assert_false(mxp_enabled(MXP_CLASS_ALL));  // still paused
    mxp_session_pause(session, 0);
    assert_true(mxp_enabled(MXP_CLASS_API));
    assert_non_null(strstr(table(MXP_FORMAT_CSV, 0), "api"));
}

static void strings_of_the_configuration_are_copied(void **state)
{
    (void)state;
    char name[] = "session_copy.json";
    config.filename = name;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    memset(name, 'x', sizeof name - 1);
    mxp_session_run(session);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(access("session_copy.json", F_OK), 0);
    unlink("session_copy.json");
}

static void a_refused_configuration_changes_nothing(void **state)
{
    (void)state;
    mxp_config bad = config;
    bad.filename = "never.json";
    bad.memory_limit_bytes = 1;
    assert_int_equal(mxp_session_configure(session, &bad), MXP_EVALUE);
    mxp_session_run(session);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(access("session_test.json", F_OK), 0);
    assert_int_not_equal(access("never.json", F_OK), 0);
}

static void servers_need_a_kvstore(void **state)
{
    (void)state;
    const char *keys[] = {"profile_process"}, *values[] = {"server"};
    assert_int_equal(mxp_session_configure_pairs(session, 1, keys, values), MXP_ENOTSUP);
}

static void the_report_counts(void **state)
{
    (void)state;
    mxp_report before = {.size_bytes = sizeof before}, after = before;
    mxp_session_run(session);
    assert_int_equal(mxp_session_report(session, &before), MXP_OK);
    for (int i = 0; i < 1000; i++) {
        span("counted");
    }
    assert_int_equal(mxp_session_report(session, &after), MXP_OK);
    assert_int_equal(after.records - before.records, 1000);
    assert_int_equal(after.lost + after.has_file, 0);
    assert_true(after.record_cost_ns > 0 && after.ns_per_tick > 0);
    assert_true(after.clock_source >= MXP_CLOCK_SOURCE_TSC);
    assert_int_equal(after.size_bytes, sizeof after);
}

static void an_older_report_gets_its_own_members_only(void **state)
{
    (void)state;
    mxp_report report;
    memset(&report, 0xab, sizeof report);
    report.size_bytes = offsetof(mxp_report, record_cost_ns);
    assert_int_equal(mxp_session_report(session, &report), MXP_OK);
    assert_true(report.ns_per_tick > 0);
    uint64_t untouched;
    memcpy(&untouched, &report.record_cost_ns, sizeof untouched);
    assert_int_equal(untouched, UINT64_C(0xabababababababab));
    struct {
        mxp_report known;
        uint64_t later;
    } later = {.known = {.size_bytes = sizeof later}, .later = 7};
    assert_int_equal(mxp_session_report(session, &later.known), MXP_OK);
    assert_int_equal(later.known.size_bytes, sizeof later);
    assert_int_equal(later.later, 0);
    report.size_bytes = 0;
    assert_int_equal(mxp_session_report(session, &report), MXP_EINVAL);
    assert_int_equal(mxp_session_report(session, NULL), MXP_EINVAL);
}

static void statistics_only_counts_without_keeping_records(void **state)
{
    (void)state;
    config.statistics_only = 1;
    config.aggregate_stats = 0;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_report before = {.size_bytes = sizeof before}, after = before;
    mxp_session_run(session);
    span("warm");
    mxp_session_report(session, &before);
    for (int i = 0; i < 100000; i++) {
        span("many");
    }
    mxp_session_report(session, &after);
    assert_int_equal(after.memory_bytes, before.memory_bytes);
    mxp_session_stop(session);
    assert_non_null(
        strstr(table(MXP_FORMAT_TABLE, 0), "many                               100000"));
}

// In the table or among the losses: each of them is somewhere.
static void a_full_memory_counts_what_it_could_not_take(void **state)
{
    (void)state;
    enum { SPANS = 300000 };  // 4.8 MB of records
    config.memory_limit_bytes = 1 << 20;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_run(session);
    mxp_session_report(session, &report);
    uint64_t lost = report.lost;
    for (int i = 0; i < SPANS; i++) {
        span("beyond");
    }
    mxp_session_report(session, &report);
    mxp_session_stop(session);
    const char *row = strstr(table(MXP_FORMAT_TABLE, 0), "\nbeyond ");
    assert_non_null(row);
    assert_int_equal(strtoull(row + strlen("\nbeyond "), NULL, 10) + report.lost - lost, SPANS);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
}

static void a_new_file_begins_with_a_new_name_only(void **state)
{
    (void)state;
    config.continuous_dump = 1;
    config.dump_period_s = INFINITY;
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_session_run(session);
    span("first");
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    span("second");
    config.filename = "session_other.json";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    span("third");
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(file_holds("session_test.json", "\"second\""), 1);
    assert_int_equal(file_holds("session_test.json", "\"third\""), 0);
    assert_int_equal(file_holds("session_other.json", "\"second\""), 0);
    assert_int_equal(file_holds("session_other.json", "\"third\""), 1);
    unlink("session_other.json");
}

static void what_cannot_go_to_the_old_file_goes_to_the_new(void **state)
{
    (void)state;
    mkdir("session_dir", 0777);
    config.continuous_dump = 1;
    config.dump_period_s = INFINITY;
    config.filename = "session_dir/a.json";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_session_run(session);
    span("early");
    assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    unlink("session_dir/a.json");
    rmdir("session_dir");
    span("pending");
    config.filename = "session_test.json";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_session_stop(session);
    assert_int_equal(mxp_session_dump(session, 1), MXP_OK);
    assert_int_equal(file_holds("session_test.json", "\"pending\""), 1);
}

static void the_timer_recycles_memory_without_end(void **state)
{
    (void)state;
    config.continuous_dump = 1;
    config.dump_period_s = 0.002;
    config.memory_limit_bytes = 4 << 20;
    config.filename = "/dev/null";
    assert_int_equal(mxp_session_configure(session, &config), MXP_OK);
    mxp_session_run(session);
    mxp_report report = {.size_bytes = sizeof report};
    mxp_session_report(session, &report);
    uint64_t lost = report.lost, records = report.records;
    for (int burst = 0; burst < 40; burst++) {
        for (int i = 0; i < 20000; i++) {  // 320 kB; 12.8 MB in all
            span("recycled");
        }
        assert_int_equal(mxp_session_dump(session, 0), MXP_OK);
    }
    mxp_session_report(session, &report);
    assert_int_equal(report.lost, lost);
    assert_int_equal(report.records - records, 40 * 20000);
    assert_true(report.memory_bytes <= 4 << 20);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(there_is_one_session_and_only_it_is_taken),
        TEST(all_three_formats_show_what_was_recorded),
        TEST(reset_is_an_epoch),
        TEST(texts_belong_to_their_threads),
        TEST(aggregates_begin_when_they_are_switched_on),
        TEST(classes_change_while_running),
        TEST(strings_of_the_configuration_are_copied),
        TEST(a_refused_configuration_changes_nothing),
        TEST(servers_need_a_kvstore),
        TEST(the_report_counts),
        TEST(an_older_report_gets_its_own_members_only),
        TEST(statistics_only_counts_without_keeping_records),
        TEST(a_full_memory_counts_what_it_could_not_take),
        TEST(a_new_file_begins_with_a_new_name_only),
        TEST(what_cannot_go_to_the_old_file_goes_to_the_new),
        TEST(the_timer_recycles_memory_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
