// SPDX-License-Identifier: Apache-2.0
// The counters of API calls follow from spans: as many samples as calls, and two a call.
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_all.h"
#include "export_text.h"
#include "fake_source.h"
#include "profiler/export/api_calls.h"
#include "profiler/export/chrome/chrome_file.h"
#include "profiler/export/export.h"
#include "random.h"
#include "rows.h"

static void concurrency_counts_overlapping_calls(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
    uint32_t other = fake_span_name(source, "MXNET_C_API_2", "MXNDArrayFree");
    fake_span(source, a, call, 1000, 5000);
    fake_span(source, a, call, 5000, 6000);  // begins when the other ends
    fake_span(source, b, call, 2000, 3000);
    fake_span(source, b, other, 2500, 5500);
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count, found = 0;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 6000, &rows, &count),
                     MXP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, "MXNet C API Calls") == 0) {
            found++;
            assert_string_equal(rows[i].section, "MXNET_C_API");
            assert_int_equal(rows[i].count, 3);
            assert_int_equal(rows[i].least.u64, 1);
            assert_int_equal(rows[i].most.u64, 3);
            assert_float_equal(rows[i].avg, (1 * 1000 + 2 * 3000 + 3 * 1000) / 5000.0, 1e-9);
        } else if (strcmp(rows[i].name, "MXNet C API Concurrency") == 0) {
            found++;
            assert_int_equal(rows[i].count, 6);
            assert_int_equal(rows[i].least.u64, 0);
            assert_int_equal(rows[i].most.u64, 2);
            assert_int_equal(rows[i].last.u64, 0);
            assert_float_equal(rows[i].avg, (1000 + 2 * 1000 + 3000) / 5000.0, 1e-9);
        }
    }
    assert_int_equal(found, 2);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void calls_go_on_counting_over_cuts_and_resets(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (int cut = 0; cut < 3; cut++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
        fake_span(source, thread, call, 1000, 2000);
        fake_span(source, thread, call, 3000, 3000);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
        if (cut == 1) {
            mxp__aggregate_reset(aggregate);
        }
    }
    const mxp_row *rows;
    size_t count, found = 0;
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 6000, &rows, &count),
                     MXP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, "MXNet C API Calls") == 0) {
            found++;
            assert_int_equal(rows[i].count, 2);
            assert_int_equal(rows[i].least.u64, 5);
            assert_int_equal(rows[i].most.u64, 6);
        }
    }
    assert_int_equal(found, 1);
    mxp__aggregate_destroy(aggregate);
}

// Calls of a thread, nested at random, from `now` on; returns when the last one ended.
static uint64_t random_calls(mxp_source *source, uint32_t thread, uint32_t name, uint64_t now,
                             int depth, uint64_t *random, uint64_t *open_at)
{
    uint64_t begin = now;
    open_at[begin]++;
    for (uint64_t inside = depth < 4 ? random_below(random, 3) : 0; inside > 0; inside--) {
        now = random_calls(source, thread, name, now + 1 + random_below(random, 3), depth + 1,
                           random, open_at);
    }
    now += random_below(random, 4);
    open_at[now]--;
    fake_span(source, thread, name, begin, now);
    return now;
}

// Counted moment by moment: `open_at` holds by how much the calls under way change then.
static void changes_are_those_of_a_count_at_each_moment(void **state)
{
    (void)state;
    enum { THREADS = 3, MOMENTS = 60000 };
    uint64_t *open_at = calloc(MOMENTS, sizeof *open_at), random = 4, calls = 0;
    mxp_source *source = fake_source_create();
    uint32_t name = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
    assert_non_null(open_at);
    for (int i = 0; i < THREADS; i++) {
        uint32_t thread = fake_thread(source, "");
        for (uint64_t now = 10; now < MOMENTS - 1000;) {
            now = random_calls(source, thread, name, now, 0, &random, open_at) + 1;
        }
        if (i == 1) {  // one that lasts through all the others of its thread
            fake_span(source, thread, name, 5, MOMENTS - 1);
            open_at[5]++;
            open_at[MOMENTS - 1]--;
        }
    }
    mxp_api_stream *stream;
    mxp_api_change change, before = {.ns = 0};
    uint64_t expected = 0;
    int64_t counted_to = 0;
    assert_int_equal(mxp__api_stream_open(source, NULL, &stream), MXP_OK);
    while (mxp__api_stream_next(stream, &change) == 1) {
        assert_true(change.ns >= before.ns);
        if (change.ns > before.ns) {  // what the last change of a moment says
            for (; counted_to <= before.ns; counted_to++) {
                expected += open_at[counted_to];
            }
            assert_int_equal(before.open, expected);
        }
        assert_true(change.open == before.open + (change.is_end ? (uint64_t)-1 : 1));
        assert_true(change.calls == before.calls + !change.is_end);
        calls += change.is_end;
        before = change;
    }
    assert_true(calls == before.calls && calls > 20000);
    assert_int_equal(before.open, 0);
    mxp__api_stream_close(stream);
    mxp__source_close(source);
    free(open_at);
}

static void trace_has_the_counters_of_the_table(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
    fake_span(source, a, call, 1000, 5000);
    fake_span(source, b, call, 2000, 3000);
    char *text = export_text("chrome", source, NULL);
    static const char *const samples[] = {
        "Calls\",\"pid\":4711,\"tid\":4711,\"ts\":1.000,\"args\":{\"MXNet C API Calls\":1}}",
        "\"ts\":1.000,\"args\":{\"MXNet C API Concurrency\":1}}",
        "\"ts\":2.000,\"args\":{\"MXNet C API Calls\":2}}",
        "\"ts\":2.000,\"args\":{\"MXNet C API Concurrency\":2}}",
        "\"ts\":3.000,\"args\":{\"MXNet C API Concurrency\":1}}",
        "\"ts\":5.000,\"args\":{\"MXNet C API Concurrency\":0}}",
    };
    assert_json(text, strlen(text));
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        assert_int_equal(count_text(text, samples[i]), 1);
    }
    assert_int_equal(count_text(text, "\"ph\":\"C\",\"cat\":\"MXNET_C_API\""), 6);
    free(text);
    mxp__source_close(source);
}

static void trace_without_calls_has_no_counters_of_them(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t name = fake_span_name(source, "c", "MXNDArrayFree");
    fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
    fake_span(source, fake_thread(source, "a"), name, 1000, 5000);
    char *text = export_text("chrome", source, NULL);
    assert_int_equal(count_text(text, "MXNET_C_API"), 0);
    free(text);
    mxp__source_close(source);
}

// More text than is written at once.
static void growing_file_goes_on_counting(void **state)
{
    (void)state;
    enum { CALLS = 12000, CUTS = 2 };
    mxp_chrome_file *file;
    assert_int_equal(mxp__chrome_file_create("calls.json", &file), MXP_OK);
    for (uint64_t cut = 0; cut < CUTS; cut++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
        for (uint64_t i = 0; i < CALLS; i++) {
            uint64_t begin = 1000 * (cut * CALLS + i);
            fake_span(source, thread, call, begin, begin + 500);
        }
        assert_int_equal(mxp__chrome_file_append(file, source), MXP_OK);
        mxp__source_close(source);
    }
    mxp__chrome_file_close(file);
    char *text = read_file("calls.json", NULL);
    assert_json_file("calls.json");
    unlink("calls.json");
    assert_int_equal(count_text(text, "\"args\":{\"MXNet C API Calls\":"), CALLS * CUTS);
    assert_int_equal(count_text(text, "\"args\":{\"MXNet C API Calls\":1}"), 1);
    assert_int_equal(count_text(text, "\"args\":{\"MXNet C API Calls\":24000}"), 1);
    assert_int_equal(count_text(text, "\"args\":{\"MXNet C API Concurrency\":1}"), CALLS * CUTS);
    assert_int_equal(count_text(text, "\"args\":{\"MXNet C API Concurrency\":0}"), CALLS * CUTS);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrency_counts_overlapping_calls),
        cmocka_unit_test(calls_go_on_counting_over_cuts_and_resets),
        cmocka_unit_test(changes_are_those_of_a_count_at_each_moment),
        cmocka_unit_test(trace_has_the_counters_of_the_table),
        cmocka_unit_test(trace_without_calls_has_no_counters_of_them),
        cmocka_unit_test(growing_file_goes_on_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
