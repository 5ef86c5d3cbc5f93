// SPDX-License-Identifier: Apache-2.0
// Counters: exact values, and the mean over the time in which recording was on.
#include <math.h>
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "rows.h"

enum { STOP = 0, RUN = 1, PAUSE = 2, RESUME = 3 };

static mxp_row only_row(mxp_source *source, int64_t now_ns)
{
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, now_ns, &rows, &count),
                     MXP_OK);
    assert_int_equal(count, 1);
    mxp_row row = rows[0];
    row.section = row.name = NULL;  // they go with the aggregate
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
    return row;
}

static uint32_t counter(mxp_source *source)
{
    return fake_name(source, "Dom", "count", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
}

static void the_mean_is_weighted_by_time(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    fake_counter_u64(source, a, counter(source), 1000, 10);  // for 1000 ns
    fake_counter_u64(source, b, counter(source), 2000, 40);  // for 3000 ns
    fake_counter_u64(source, a, counter(source), 5000, 0);  // for 1000 ns
    mxp_row row = only_row(source, 6000);
    assert_true(row.is_counter && row.count == 3);
    assert_true(row.total == 0 && row.min == 0 && row.max == 40);
    assert_float_equal(row.avg, (10 * 1000 + 40 * 3000) / 5000.0, 1e-9);
    assert_int_equal(row.last.u64, 0);
    assert_int_equal(row.most.u64, 40);
}

// Samples of one counter as they come in parts, each (time, value), and the counter after them.
static mxp_row row_of_parts(const uint64_t (*samples)[2], size_t sample_count, int64_t now_ns)
{
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (size_t i = 0; i < sample_count; i++) {
        mxp_source *source = fake_source_create();
        fake_counter_u64(source, fake_thread(source, "a"), counter(source), samples[i][0],
                         samples[i][1]);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
    }
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, now_ns, &rows, &count), 0);
    assert_int_equal(count, 1);
    mxp_row row = rows[0];
    row.section = row.name = NULL;
    mxp__aggregate_destroy(aggregate);
    return row;
}

static void a_sample_that_comes_late_is_not_the_last(void **state)
{
    (void)state;
    static const uint64_t samples[][2] = {{1000, 10}, {3000, 600}, {2000, 300}, {2500, 5}};
    mxp_row row = row_of_parts(samples, 4, 4000);
    assert_true(row.count == 4 && row.last.u64 == 600 && row.total == 600);
    assert_true(row.least.u64 == 5 && row.most.u64 == 600);
    assert_float_equal(row.avg, (10 * 2000 + 600 * 1000) / 3000.0, 1e-9);
}

static void one_sample_and_no_time_give_the_value(void **state)
{
    (void)state;
    for (int samples = 1; samples <= 2; samples++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        for (int i = 0; i < samples; i++) {
            fake_counter_f64(source, thread, counter(source), 1000, i == 0 ? 0.1 : 0.7);
        }
        mxp_row row = only_row(source, samples == 1 ? 9999 : 0);
        assert_true(row.avg == (samples == 1 ? 0.1 : 0.7));
    }
}

static void pauses_and_stops_do_not_weigh(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_meta(source, thread, MXP_META_STATE, 0, 500, RUN);
    fake_counter_u64(source, thread, counter(source), 1000, 10);
    fake_meta(source, thread, MXP_META_STATE, 0, 2000, PAUSE);  // 10 for 1000 ns
    fake_meta(source, thread, MXP_META_STATE, 0, 90000, RESUME);
    fake_counter_u64(source, thread, counter(source), 92000, 20);  // 10 for 2000 ns
    fake_meta(source, thread, MXP_META_STATE, 0, 95000, STOP);  // 20 for 3000 ns
    mxp_row row = only_row(source, 1000000);
    assert_float_equal(row.avg, (10 * 3000 + 20 * 3000) / 6000.0, 1e-9);
}

static void the_mean_goes_on_over_several_sources(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (int part = 0; part < 3; part++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a"), name = counter(source);
        if (part == 0) {
            fake_counter_u64(source, thread, name, 1000, 100);
        } else if (part == 1) {
            fake_meta(source, thread, MXP_META_STATE, 0, 2000, PAUSE);  // no counters in this one
            fake_span(source, thread, fake_span_name(source, "Dom", "s"), 1500, 1600);
        } else {
            fake_meta(source, thread, MXP_META_STATE, 0, 8000, RESUME);
            fake_counter_u64(source, thread, name, 9000, 0);
        }
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
    }
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 10000, &rows, &count), 0);
    // 100 for 1000 ns before the pause and 1000 ns after it, 0 for 1000 ns.
    assert_float_equal(row_get(rows, count, "Dom", "count")->avg, 200.0 / 3, 1e-9);
    mxp__aggregate_destroy(aggregate);
}

static void after_a_reset_the_mean_begins_with_the_next_sample(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (uint64_t part = 0; part < 2; part++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        fake_counter_u64(source, thread, counter(source), 1000 + 10000 * part, 7 + part);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
        assert_int_equal(mxp__aggregate_rows(aggregate, 0, 0, 20000, &rows, &count), 0);
        const mxp_row *row = row_get(rows, count, "Dom", "count");
        assert_true(row->count == 1 && row->avg == 7 + (double)part && row->min == row->avg);
        mxp__aggregate_reset(aggregate);
    }
    mxp__aggregate_destroy(aggregate);
}

static void values_stay_exact_in_their_type(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_counter_u64(source, thread, counter(source), 1, UINT64_MAX - 1);
    fake_counter_u64(source, thread, counter(source), 2, UINT64_MAX);
    mxp_row row = only_row(source, 10);
    assert_int_equal(row.value_type, MXP_ARG_U64);
    assert_true(row.least.u64 == UINT64_MAX - 1 && row.most.u64 == UINT64_MAX);
    source = fake_source_create();
    thread = fake_thread(source, "a");
    fake_counter_i64(source, thread, counter(source), 1, INT64_MIN);
    fake_counter_i64(source, thread, counter(source), 2, INT64_MAX);
    row = only_row(source, 10);
    assert_int_equal(row.value_type, MXP_ARG_I64);
    assert_true(row.least.i64 == INT64_MIN && row.most.i64 == INT64_MAX);
}

static void mixed_types_go_on_as_doubles(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_counter_u64(source, thread, counter(source), 1000, 3);
    fake_counter_f64(source, thread, counter(source), 2000, -1.5);
    fake_counter_i64(source, thread, counter(source), 3000, -4);
    fake_counter_f64(source, thread, counter(source), 3500, NAN);  // no number: left out
    mxp_row row = only_row(source, 4000);
    assert_int_equal(row.value_type, MXP_ARG_F64);
    assert_int_equal(row.count, 3);
    assert_true(row.least.f64 == -4 && row.most.f64 == 3 && row.last.f64 == -4);
    assert_float_equal(row.avg, (3 - 1.5 - 4) / 3, 1e-9);
}

static void memory_is_a_counter_of_its_device(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_memory(source, thread, 1000, &(mxp_memory){.device = 1, .live_bytes = 96024});
    fake_memory(source, thread, 2000, &(mxp_memory){.device = 0, .live_bytes = 50});
    fake_memory(source, thread, 3000,
                &(mxp_memory){.device = 1, .flags = MXP_MEM_FREE, .live_bytes = 24});
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 2);
    const mxp_row *row = row_get(rows, count, "Device Storage", "Memory: cpu/1");
    assert_true(row->is_memory && row->count == 2 && row->total == 24 && row->max == 96024);
    assert_true(row_get(rows, count, "Device Storage", "Memory: cpu/0")->count == 1);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void spans_and_a_counter_of_one_name_are_two_rows(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_counter_u64(source, thread, counter(source), 1000, 3);
    fake_span(source, thread, counter(source), 1000, 2000);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 2);
    assert_false(row_get(rows, count, "Dom", "count")->is_counter);
    assert_true(row_get(rows, count, "Dom", "count (counter)")->is_counter);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_is_weighted_by_time),
        cmocka_unit_test(a_sample_that_comes_late_is_not_the_last),
        cmocka_unit_test(one_sample_and_no_time_give_the_value),
        cmocka_unit_test(pauses_and_stops_do_not_weigh),
        cmocka_unit_test(the_mean_goes_on_over_several_sources),
        cmocka_unit_test(after_a_reset_the_mean_begins_with_the_next_sample),
        cmocka_unit_test(values_stay_exact_in_their_type),
        cmocka_unit_test(mixed_types_go_on_as_doubles),
        cmocka_unit_test(memory_is_a_counter_of_its_device),
        cmocka_unit_test(spans_and_a_counter_of_one_name_are_two_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
