// SPDX-License-Identifier: Apache-2.0
// The aggregate by step: durations of steps, sums per step and name, what lies outside.
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "export/export.h"
#include "fake_source.h"
#include "rows.h"

static void step(mxp_source *source, uint32_t thread, uint64_t ticks, uint64_t number)
{
    fake_meta(source, thread, MXP_META_STEP, 0, ticks, number);
}

static void names_are_summed_per_step(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t main_thread = fake_thread(source, "main"), worker = fake_thread(source, "worker");
    uint32_t name = fake_span_name(source, "c", "n"), rare = fake_span_name(source, "c", "rare");
    fake_span(source, main_thread, name, 0, 5);  // before the first
    step(source, main_thread, 1000, 0);
    fake_span(source, main_thread, name, 1100, 1110);
    fake_span(source, main_thread, name, 1200, 1220);
    step(source, main_thread, 2000, 1);
    fake_span(source, main_thread, name, 2100, 2107);
    fake_span(source, worker, name, 1900, 2500);  // began in step 0
    fake_span(source, worker, rare, 2600, 2601);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    const mxp_row *row = row_get(rows, count, "c", "n");
    assert_true(row->count == 2 && row->total == 637 && row->min == 7 && row->max == 630);
    row = row_get(rows, count, "c", "rare");
    assert_true(row->count == 1 && row->total == 1);
    row = row_get(rows, count, "c (outside steps)", "n");
    assert_true(row->count == 1 && row->total == 5);
    row = row_get(rows, count, "Steps", "step 0");
    assert_true(row->count == 1 && row->total == 1000 && row->histogram == NULL);
    row = row_get(rows, count, "Steps", "step 1");
    assert_true(row->count == 1 && row->total == 601);  // up to the last record
    assert_int_equal(count, 5);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void steps_of_several_threads_have_no_rows(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t name = fake_span_name(source, "c", "n");
    for (uint32_t worker = 0; worker < 2; worker++) {
        uint32_t thread = fake_thread(source, "worker");
        step(source, thread, 1000 + 10 * worker, worker);
        fake_span(source, thread, name, 1100, 1200);
    }
    const mxp_row *rows;
    size_t count;
    uint32_t pid;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    assert_int_equal(count, 0);
    assert_true(mxp__aggregate_mixed_steps(aggregate, 0, &pid));
    assert_int_equal(pid, source->pid);
    assert_false(mxp__aggregate_mixed_steps(aggregate, 1, &pid));
    mxp__aggregate_destroy(aggregate);
    aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 1);
    assert_false(mxp__aggregate_mixed_steps(aggregate, 0, &pid));
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void steps_of_one_number_are_one_row(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        for (uint64_t i = 0; i < 4; i++) {
            step(source, thread, 1000 * (4 * epoch + i) + 10 * epoch, i);
        }
    }
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    assert_int_equal(count, 4);
    const mxp_row *row = row_get(rows, count, "Steps", "step 3");
    assert_true(row->count == 3 && row->total == 2020 && row->min == 0 && row->max == 1010);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void without_steps_everything_is_outside(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main");
    fake_span(source, thread, fake_span_name(source, "c", "n"), 5, 8);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    assert_int_equal(count, 1);
    assert_true(row_get(rows, count, "c (outside steps)", "n")->total == 3);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void printing_twice_and_adding_between_is_right(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_STEP, &aggregate), MXP_OK);
    for (uint64_t part = 0; part < 3; part++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "main");
        uint32_t name = fake_span_name(source, "c", "n");
        step(source, thread, 1000 * part, part);
        fake_span(source, thread, name, 1000 * part + 10, 1000 * part + 20);
        if (part > 0) {
            fake_span(source, thread, name, 1000 * part - 5,
                      1000 * part + 30);  // of the one before
        }
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(mxp__aggregate_rows(aggregate, 0, 0, 0, &rows, &count), MXP_OK);
            const mxp_row *row = row_get(rows, count, "c", "n");
            assert_true(row->count == part + 1 && row->total == 10 + 45.0 * (double)part);
        }
    }
    mxp__aggregate_destroy(aggregate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_summed_per_step),
        cmocka_unit_test(steps_of_several_threads_have_no_rows),
        cmocka_unit_test(steps_of_one_number_are_one_row),
        cmocka_unit_test(without_steps_everything_is_outside),
        cmocka_unit_test(printing_twice_and_adding_between_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
