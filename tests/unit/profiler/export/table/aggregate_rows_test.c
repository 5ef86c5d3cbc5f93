// SPDX-License-Identifier: Apache-2.0
// The order of rows, and which sections are memory.
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "rows.h"

static mxp_aggregate *sample(void)
{
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    static const struct {
        const char *name;
        uint64_t durations[3];
    } spans[] = {
        {"short", {1000, 2000, 9000}}, {"long", {11000}}, {"tie b", {500}}, {"tie a", {500}}};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        for (size_t n = 0; n < 3 && spans[i].durations[n] != 0; n++) {
            fake_span(source, thread, fake_span_name(source, "Dom", spans[i].name), 100000,
                      100000 + spans[i].durations[n]);
        }
    }
    fake_span(source, thread, fake_span_name(source, "Dom,frame", "f"), 0, 1);
    fake_span(source, thread, fake_span_name(source, "A", "x"), 0, 1);
    uint32_t big = fake_name(source, "Dom", "big", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    fake_counter_u64(source, thread, big, 200000, 102000);
    mxp_aggregate *aggregate;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
    mxp__source_close(source);
    return aggregate;
}

static void expect_order(mxp_aggregate *aggregate, int sort_by, int ascending, const char *expected)
{
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_rows(aggregate, sort_by, ascending, 0, &rows, &count), MXP_OK);
    char *order = row_order(rows, count);
    assert_string_equal(order, expected);
    free(order);
}

static void rows_are_sorted_by_each_key_and_ties_by_name(void **state)
{
    (void)state;
    mxp_aggregate *aggregate = sample();
    expect_order(aggregate, MXP_SORT_TOTAL, 0,
                 "A/x Dom/big Dom/short Dom/long Dom/tie a Dom/tie b Dom,frame/f");
    expect_order(aggregate, MXP_SORT_TOTAL, 1,
                 "A/x Dom/tie a Dom/tie b Dom/long Dom/short Dom/big Dom,frame/f");
    expect_order(aggregate, MXP_SORT_AVG, 0,
                 "A/x Dom/big Dom/long Dom/short Dom/tie a Dom/tie b Dom,frame/f");
    expect_order(aggregate, MXP_SORT_MIN, 1,
                 "A/x Dom/tie a Dom/tie b Dom/short Dom/long Dom/big Dom,frame/f");
    expect_order(aggregate, MXP_SORT_MAX, 0,
                 "A/x Dom/big Dom/long Dom/short Dom/tie a Dom/tie b Dom,frame/f");
    expect_order(aggregate, MXP_SORT_COUNT, 0,
                 "A/x Dom/short Dom/big Dom/long Dom/tie a Dom/tie b Dom,frame/f");
    mxp__aggregate_destroy(aggregate);
}

// 1.78 and 0.15 ms are printed beside 37.
static void spans_and_counters_of_a_section_are_sorted_by_what_is_printed(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_span(source, thread, fake_span_name(source, "d", "long"), 0, 1780000);
    fake_span(source, thread, fake_span_name(source, "d", "short"), 0, 150000);
    uint32_t counter = fake_name(source, "d", "37", MXP_STYLE_COUNTER, MXP_UNIT_NONE);
    fake_counter_u64(source, thread, counter, 2000000, 37);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    expect_order(aggregate, MXP_SORT_MAX, 0, "d/37 d/long d/short");
    expect_order(aggregate, MXP_SORT_MAX, 1, "d/short d/long d/37");
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void sections_stand_in_byte_order(void **state)
{
    (void)state;
    static const char *const sections[] = {"b", "B", "ab", "a", "\xc3\xa4", "Z z", "a,frame"};
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        fake_span(source, thread, fake_span_name(source, sections[i], "n"), 0, 1);
    }
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    char *order = row_order(rows, count);
    assert_string_equal(order, "B/n Z z/n a/n a,frame/n ab/n b/n \xc3\xa4/n");
    free(order);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void memory_sections_have_the_name_and_only_counters(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    static const char *const sections[] = {"Device Storage", "Pool Memory", "Pool Memory2"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t name = fake_name(source, sections[i], "bytes", MXP_STYLE_COUNTER, MXP_UNIT_BYTES);
        fake_counter_u64(source, thread, name, 100, 1);
    }
    fake_span(source, thread, fake_span_name(source, "Pool Memory", "span"), 100, 200);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_true(row_get(rows, count, "Device Storage", "bytes")->is_memory);
    assert_false(row_get(rows, count, "Pool Memory", "bytes")->is_memory);
    assert_false(row_get(rows, count, "Pool Memory2", "bytes")->is_memory);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_by_each_key_and_ties_by_name),
        cmocka_unit_test(spans_and_counters_of_a_section_are_sorted_by_what_is_printed),
        cmocka_unit_test(sections_stand_in_byte_order),
        cmocka_unit_test(memory_sections_have_the_name_and_only_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
