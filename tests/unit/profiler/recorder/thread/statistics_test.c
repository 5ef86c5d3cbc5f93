// SPDX-License-Identifier: Apache-2.0
// statistics_only: the table of what is no span, too, is right for any time in constant memory.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/stats.h"

enum { LIMIT_BYTES = 1 << 20 };

static mxp_session *session;
static mxp_name level;

static int begin(void **state)
{
    (void)state;
    session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.statistics_only = 1;
    config.continuous_dump = 0;
    config.filename = "statistics.json";
    config.memory_limit_bytes = LIMIT_BYTES;
    assert_int_equal(mxp_session_configure(session, &config), 0);
    level = mxp_intern("test", "level", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    assert_int_equal(mxp_session_run(session), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mxp_session_stop(session);
    const char *text;
    mxp_session_dumps(session, MXP_FORMAT_CSV, MXP_SORT_TOTAL, 0, 1, &text);
    return mxp_session_dump(session, 1);
}

typedef struct row {
    unsigned long long count;
    double total, least, most, mean;
} row;

// Of the table as CSV: "section","name",kind,unit,count,total,min,max,avg ...
static row row_of(const char *name, int reset)
{
    const char *text;
    char start[64];
    row found = {0};
    assert_int_equal(mxp_session_dumps(session, MXP_FORMAT_CSV, MXP_SORT_TOTAL, 0, reset, &text),
                     0);
    snprintf(start, sizeof start, "\"%s\",", name);
    const char *line = strstr(text, start);
    if (line == NULL) {
        return found;
    }
    line = strchr(strchr(line + strlen(start), ',') + 1, ',') + 1;  // behind kind and unit
    assert_int_equal(sscanf(line, "%llu,%lf,%lf,%lf,%lf", &found.count, &found.total, &found.least,
                            &found.most, &found.mean),
                     5);
    return found;
}

static uint64_t lost(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    assert_int_equal(mxp_session_report(session, &report), 0);
    return report.lost;
}

static void counters_are_counted_for_unlimited_time(void **state)
{
    (void)state;
    enum { SAMPLES = 3000000 };
    uint64_t lost_before = lost();
    for (uint64_t i = 0; i < SAMPLES; i++) {
        mxp_counter_u64(MXP_CLASS_USER, level, i);
    }
    row found = row_of("level", 0);
    assert_int_equal(found.count, SAMPLES);
    assert_true(found.least == 0 && found.most == SAMPLES - 1);
    assert_int_equal(lost(), lost_before);
}

static void the_mean_is_over_time_and_leaves_pauses_out(void **state)
{
    (void)state;
    mxp_counter_f64(MXP_CLASS_USER, level, 10);
    mxp__os_sleep_us(100000);
    mxp_session_pause(session, 1);
    mxp__os_sleep_us(400000);
    mxp_session_pause(session, 0);
    row first = row_of("level", 0);  // a table in between changes nothing
    mxp__os_sleep_us(100000);
    mxp_counter_f64(MXP_CLASS_USER, level, 30);
    mxp__os_sleep_us(200000);
    mxp_counter_f64(MXP_CLASS_USER, level, 0);
    mxp_session_stop(session);
    row found = row_of("level", 0);
    assert_int_equal(first.count, 1);
    assert_int_equal(found.count, 3);
    assert_true(found.mean > 14 && found.mean < 26);  // with the pause 14.3 at most
}

static void *count_up(void *name)
{
    for (int i = 1; i <= 100000; i++) {
        mxp_counter_i64(MXP_CLASS_USER, *(const mxp_name *)name, -i);
    }
    return NULL;
}

static void samples_of_all_threads_are_in_the_table(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &level), 0);
    }
    unsigned long long count = row_of("level", 1).count;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    row found = row_of("level", 0);
    assert_int_equal(count + found.count, 400000);
    assert_true(found.least == -100000);
}

// Else nothing would come back: what is in the memory is given back when it has been read.
static void a_table_is_read_when_recording_has_taken_all_memory(void **state)
{
    (void)state;
    mxp_stats_table *recorded = NULL, *read = NULL;
    assert_true(mxp__stats_add(&recorded, level, 5));
    mxp_chunk_header *taken = NULL, *chunk;
    while ((chunk = mxp__pool_take_reserve()) != NULL) {
        chunk->next = (uintptr_t)taken;
        taken = chunk;
    }
    uint64_t held_bytes = mxp__pool_held_bytes();
    assert_false(mxp__stats_add(&read, level, 5));
    assert_int_equal(mxp__stats_merge(&read, recorded), 0);
    assert_int_equal(mxp__stats_count(read), 1);
    mxp__stats_free(read);
    assert_int_equal(mxp__pool_held_bytes(), held_bytes);  // nothing beyond is kept
    mxp__stats_free(recorded);
    for (; taken != NULL; taken = chunk) {
        chunk = (mxp_chunk_header *)(uintptr_t)taken->next;
        mxp__pool_give_chunk(taken);
    }
}

static void memory_is_counted_and_what_has_no_place_is_told(void **state)
{
    (void)state;
    uint64_t before = mxp__statistics_left_out();
    mxp_name mark = mxp_intern("test", "mark", MXP_STYLE_INSTANT, MXP_UNIT_NONE);
    for (int i = 1; i <= 200000; i++) {
        mxp_memory_emit(&(mxp_memory){.name = mark, .block = 1, .live_bytes = (uint64_t)i});
        mxp_instant(MXP_CLASS_USER, mark, MXP_INSTANT_PROCESS);
        mxp_step((uint64_t)i);
    }
    row found = row_of("Memory: cpu/0", 0);
    assert_int_equal(found.count, 200000);
    assert_true(found.most > 100000 * found.least);
    assert_int_equal(mxp__statistics_left_out() - before, 200000);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(counters_are_counted_for_unlimited_time),
        TEST(the_mean_is_over_time_and_leaves_pauses_out),
        TEST(samples_of_all_threads_are_in_the_table),
        TEST(memory_is_counted_and_what_has_no_place_is_told),
        TEST(a_table_is_read_when_recording_has_taken_all_memory),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
