// SPDX-License-Identifier: Apache-2.0
// The aggregate by step: durations of steps, sums per step and name, what lies outside.
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/export/export.h"
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
    assert_int_equal(count, 6);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

// What comes behind the marked end of the last step is in none, and adds nothing to it.
static void the_last_step_ends_where_its_end_is_marked(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "main"), name = fake_span_name(source, "c", "n");
    step(source, thread, 1000, 0);
    fake_meta(source, thread, MXP_META_STEP_END, 0, 1500, 0);  // until the next one begins, anyhow
    step(source, thread, 2000, 1);
    fake_span(source, thread, name, 2100, 2107);
    fake_meta(source, thread, MXP_META_STEP_END, 0, 2600, 1);
    fake_span(source, thread, name, 2600, 9000);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    const mxp_row *row = row_get(rows, count, "Steps", "step 0");
    assert_true(row->count == 1 && row->total == 1000);
    row = row_get(rows, count, "Steps", "step 1");
    assert_true(row->count == 1 && row->total == 600);
    row = row_get(rows, count, "c", "n");
    assert_true(row->count == 1 && row->total == 7);
    row = row_get(rows, count, "c (outside steps)", "n");
    assert_true(row->count == 1 && row->total == 6400);
    row = row_get(rows, count, "In no record", "in none of the above");
    assert_true(row->count == 2 && row->total == 1000 + 593);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void operators_belong_to_the_step_that_pushed_them(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t main_thread = fake_thread(source, "main"), worker = fake_thread(source, "worker");
    uint32_t name = fake_span_name(source, "operator", "Convolution");
    const struct {
        uint64_t push, start, end;
    } pushed[] = {{900, 950, 1100},  // before the first
                  {1100, 1200, 1500}, {1900, 2050, 2060},  // runs in the next
                  {1950, 2990, 3100},  // and in the one after that
                  {2000, 3100, 3101}, {0, 3200, 3300}};  // not known
    for (uint64_t number = 0; number < 3; number++) {
        step(source, main_thread, 1000 * (number + 1), number);
    }
    for (size_t i = 0; i < sizeof pushed / sizeof pushed[0]; i++) {
        fake_operator(source, worker,
                      &(mxp_operator){.name = name,
                                      .push_ticks = pushed[i].push,
                                      .start_ticks = pushed[i].start,
                                      .end_ticks = pushed[i].end});
    }
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    const mxp_row *row = row_get(rows, count, "operator", "Convolution");
    assert_true(row->count == 3 && row->total == 521 && row->min == 1 && row->max == 420);
    row = row_get(rows, count, "operator (outside steps)", "Convolution");
    assert_true(row->count == 1 && row->total == 150);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

// What a thread does between its spans while no other thread does anything that is recorded.
static void time_that_no_record_covers_is_the_last_row(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t main_thread = fake_thread(source, "main"), worker = fake_thread(source, "worker");
    uint32_t name = fake_span_name(source, "z", "n"), inner = fake_span_name(source, "z", "inner");
    uint32_t frame = fake_name(source, "z", "frame", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    for (uint64_t number = 0; number < 3; number++) {
        step(source, main_thread, 1000 * (number + 1), number);
    }
    fake_span(source, main_thread, inner, 1110, 1120);
    fake_span(source, main_thread, name, 1100, 1200);
    fake_span(source, main_thread, frame, 1000, 2000);  // says nothing of what was done
    fake_span(source, main_thread, name, 2000, 3000);
    fake_span(source, main_thread, name, 3500, 4000);
    fake_span(source, worker, name, 900, 1050);
    fake_operator(source, worker,
                  &(mxp_operator){.name = fake_span_name(source, "operator", "dot"),
                                  .start_ticks = 1150,
                                  .end_ticks = 1300});
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_STEP, &rows, &count);
    const mxp_row *row = row_get(rows, count, "In no record", "in none of the above");
    assert_ptr_equal(row, &rows[count - 1]);
    assert_true(row->count == 2 && row->total == 750 + 500);  // the second step is covered
    assert_true(row->min == 500 && row->max == 750);
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
    assert_int_equal(count, 5);
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
        cmocka_unit_test(the_last_step_ends_where_its_end_is_marked),
        cmocka_unit_test(operators_belong_to_the_step_that_pushed_them),
        cmocka_unit_test(time_that_no_record_covers_is_the_last_row),
        cmocka_unit_test(steps_of_several_threads_have_no_rows),
        cmocka_unit_test(steps_of_one_number_are_one_row),
        cmocka_unit_test(without_steps_everything_is_outside),
        cmocka_unit_test(printing_twice_and_adding_between_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
