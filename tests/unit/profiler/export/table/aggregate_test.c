// SPDX-License-Identifier: Apache-2.0
// The aggregate by name: what is counted where, exact durations, several sources, reset, damage.
#include "profiler/export/table/aggregate.h"

#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "profiler/trace/event.h"
#include "random.h"
#include "rows.h"

static void spans_and_operators_stand_in_sections_by_category(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    uint32_t conv = fake_span_name(source, "operator", "conv");
    uint32_t task = fake_name(source, "Dom", "task", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    fake_span(source, a, task, 0, 4000);
    fake_span(source, b, task, 1000, 2000);
    fake_operator(source, b,
                  &(mxp_operator){.name = conv, .id = 1, .start_ticks = 5, .end_ticks = 9});
    fake_long_span(source, a,
                   &(mxp_span){.name = task, .begin_ticks = 5000, .end_ticks = 5010, .lane = task});
    fake_instant(source, a, fake_name(source, "Dom,instant_marker", "m", MXP_STYLE_INSTANT, 0), 5,
                 MXP_INSTANT_GLOBAL);
    fake_flow(source, a, task, 6000, MXP_FLOW_START, 1);
    fake_meta(source, a, MXP_META_STEP, 0, 7000, 1);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 2);
    const mxp_row *row = row_get(rows, count, "Dom", "task");
    assert_int_equal(row->count, 3);
    assert_true(row->total == 5010 && row->min == 10 && row->max == 4000 && row->avg == 1670);
    assert_false(row->is_counter);
    assert_int_equal(row->histogram->count, 3);
    assert_true(row_get(rows, count, "operator", "conv")->total == 4);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

// The inner loop converts durations in its own way; it must say what the decoder says.
static void durations_are_those_of_the_decoder(void **state)
{
    (void)state;
    static const uint64_t mults[] = {1,
                                     7,
                                     (UINT64_C(1) << 32) * 385 / 1000,
                                     (UINT64_C(1) << 32) - 1,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 1,
                                     UINT64_C(41666666) << 16,
                                     UINT64_C(1) << 45};
    for (size_t m = 0; m < sizeof mults / sizeof mults[0]; m++) {
        uint64_t random = 1 + m;
        mxp_source *source = fake_source_create();
        mxp_clock_segment segments[3] = {{UINT64_C(1) << 40, 0, mults[m]},
                                         {(UINT64_C(1) << 40) + 100000, 0, mults[m] + 1000},
                                         {(UINT64_C(1) << 40) + 200000, 0, mults[m]}};
        for (int i = 1; i < 3; i++) {
            segments[i].ns0 = mxp__segment_ns(&segments[i - 1], segments[i].ticks0);
        }
        mxp_timebase *timebase = (mxp_timebase *)(uintptr_t)source->timebase;
        mxp_timebase old = *timebase;
        timebase->segments = segments;
        timebase->segment_count = 3;
        uint32_t thread = fake_thread(source, "t");
        for (uint32_t i = 0; i < 3000; i++) {
            uint64_t begin = (UINT64_C(1) << 40) - 20000 + random_next(&random) % 320000;
            uint64_t length = random_next(&random) >> (32 + random_next(&random) % 32);
            char text[16];
            snprintf(text, sizeof text, "n%u", i % 900);
            fake_span(source, thread, fake_span_name(source, "c", text), begin,
                      begin + (length & UINT32_MAX));
        }
        const mxp_row *rows;
        size_t count;
        mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
        uint64_t expected = 0, found = 0;
        mxp_record_range range;
        for (size_t number = 0; source->range(source, number, &range) == 1; number++) {
            mxp_decoder decoder;
            mxp_event event;
            mxp__decoder_begin(&decoder, timebase, &range);
            while (mxp__decoder_next(&decoder, &event) == 1) {
                expected += (uint64_t)(event.end_ns - event.begin_ns);
            }
        }
        for (size_t i = 0; i < count; i++) {
            found += rows[i].histogram->total;
        }
        assert_int_equal(found, expected);
        mxp__aggregate_destroy(aggregate);
        *timebase = old;
        mxp__source_close(source);
    }
}

static void several_sources_add_up_and_labels_outlive_them(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (uint64_t i = 1; i <= 3; i++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "t");
        fake_span(source, thread, fake_span_name(source, "c", "n"), 1000 * i, 1000 * i + i);
        fake_span(source, thread, fake_span_name(source, "c", "new"), 1000 * i, 1000 * i + 1);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
    }
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 0, &rows, &count), MXP_OK);
    const mxp_row *row = row_get(rows, count, "c", "n");
    assert_true(row->count == 3 && row->total == 6 && row->min == 1 && row->max == 3);
    mxp__aggregate_reset(aggregate);
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 0, &rows, &count), MXP_OK);
    assert_int_equal(count, 0);
    mxp__aggregate_destroy(aggregate);
    mxp__aggregate_destroy(NULL);
}

static void statistics_without_a_trace_are_merged(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t name = fake_span_name(source, "c", "n");
    fake_span(source, thread, name, 0, 50);
    const uint64_t values[] = {10, 20, 3000};
    fake_stats(source, name, values, 3);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    const mxp_row *row = row_get(rows, count, "c", "n");
    assert_true(row->count == 4 && row->total == 3080 && row->min == 10 && row->max == 3000);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void bad_ids_share_one_row(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    fake_span(source, thread, 0x7fffffff, 0, 5);
    fake_span(source, thread, UINT32_MAX, 0, 7);
    fake_counter_u64(source, thread, 0x12345678, 8, 9);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 2);
    assert_int_equal(row_get(rows, count, "user", "<bad name>")->count, 2);
    assert_int_equal(row_get(rows, count, "user", "<bad name> (counter)")->count, 1);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void damage_is_reported_and_the_rest_counted(void **state)
{
    (void)state;
    for (int group = MXP_GROUP_NAME; group <= MXP_GROUP_STEP; group++) {
        mxp_source *source = fake_source_create();
        uint32_t name = fake_span_name(source, "c", "n");
        uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
        const uint64_t endless[2] = {MXP_KIND_SPAN | 0xff << 8, 0};
        fake_span(source, a, name, 0, 5);
        fake_words(source, a, 5, endless, 2);
        fake_span(source, b, name, 0, 6);
        fake_counter_u64(source, b, fake_name(source, "c", "k", MXP_STYLE_COUNTER, 0), 7, 1);
        mxp_aggregate *aggregate;
        const mxp_row *rows;
        size_t count;
        assert_int_equal(mxp__aggregate_create(group, &aggregate), MXP_OK);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_EFORMAT);
        assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 0, &rows, &count), 0);
        size_t i = 0;
        while (i < count && rows[i].is_counter) {
            i++;
        }
        assert_true(i < count && rows[i].count == 2 && rows[i].total == 11);
        mxp__aggregate_destroy(aggregate);
        mxp__source_close(source);
    }
}

static int add_all(mxp_source *source, int group)
{
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    int error = mxp__aggregate_create(group, &aggregate);
    if (error == MXP_OK) {
        error = mxp__aggregate_add(aggregate, source);
        if (error == MXP_OK) {
            error = mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 0, &rows, &count);
        }
        mxp__aggregate_destroy(aggregate);
    }
    return error;
}

static void without_memory_it_fails_and_leaks_nothing(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "t");
    uint32_t name = fake_name(source, "c", "n", MXP_STYLE_COUNTER, 0);
    fake_meta(source, thread, MXP_META_STEP, 0, 1, 1);
    fake_meta(source, thread, MXP_META_SCOPE_PUSH, fake_scope(source, 0, "s"), 2, 0);
    fake_span(source, thread, name, 3, 5);
    fake_counter_u64(source, thread, name, 8, 9);
    fake_memory(source, thread, 10, &(mxp_memory){.live_bytes = 4});
    fake_stats(source, name, &(const uint64_t){3}, 1);
    for (int group = MXP_GROUP_NAME; group <= MXP_GROUP_STEP; group++) {
        size_t held = fake_alloc_held_blocks();
        int error = MXP_ENOMEM;
        size_t after = 0;
        for (; error != MXP_OK; after++) {
            fake_alloc_fail_after(after);
            error = add_all(source, group);
            fake_alloc_fail_never();
            assert_true(error == MXP_OK || error == MXP_ENOMEM);
            assert_int_equal(fake_alloc_held_blocks(), held);
        }
        assert_true(after > 5);
    }
    mxp__source_close(source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_and_operators_stand_in_sections_by_category),
        cmocka_unit_test(durations_are_those_of_the_decoder),
        cmocka_unit_test(several_sources_add_up_and_labels_outlive_them),
        cmocka_unit_test(statistics_without_a_trace_are_merged),
        cmocka_unit_test(bad_ids_share_one_row),
        cmocka_unit_test(damage_is_reported_and_the_rest_counted),
        cmocka_unit_test(without_memory_it_fails_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
