// SPDX-License-Identifier: Apache-2.0
// What bounds a step, and the row that its length goes with, on small traces by hand.
#include "profiler/analysis/path/step_bounds.h"

#include <math.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_source.h"

static void add_wait(mxp_source *source, uint32_t thread, uint64_t begin, uint64_t end,
                     uint32_t flags)
{
    fake_wait(
        source, thread,
        &(fake_wait_record){
            .begin_ticks = begin, .end_ticks = end, .what = MXP_WAIT_PROGRAM, .flags = flags});
}

// A step from 1000 to 2000: waits of 100 (half of it before the step), of 200 with one of 50
// inside, and one that did not block.
static void program_s_time_is_that_of_no_wait(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    const uint32_t thread = fake_thread(source, "main");
    fake_meta(source, thread, MXP_META_STEP, 0, 1000, 1);
    add_wait(source, thread, 950, 1050, MXP_WAIT_BLOCKED);
    add_wait(source, thread, 1320, 1370, MXP_WAIT_BLOCKED);
    add_wait(source, thread, 1300, 1500, MXP_WAIT_BLOCKED);
    add_wait(source, thread, 1600, 1700, 0);
    fake_meta(source, thread, MXP_META_STEP, 0, 2000, 2);
    mxp_steps steps;
    mxp_graph graph;
    assert_int_equal(mxp__steps_find(source, &steps), 0);
    assert_int_equal(mxp__graph_load(source, 0, 3000, MXP__GRAPH_BYTES_MAX, &graph), 0);
    assert_int_equal(mxp__step_program_ns(&graph, &steps, 0), 1000 - 50 - 200);
    mxp__graph_fini(&graph);
    mxp__steps_fini(&steps);
    mxp__source_close(source);
}

enum { STEPS = 10 };

// Ten steps of different lengths; `steady` takes 100 of each, `varying` the rest.
static void fill(mxp_source *source, const uint32_t thread, uint32_t steady, uint32_t varying)
{
    uint64_t at = 1000;
    for (uint64_t i = 0; i < STEPS; i++) {
        const uint64_t length = 200 + 37 * (i * 7 % 5);
        fake_meta(source, thread, MXP_META_STEP, 0, at, i + 1);
        fake_span(source, thread, steady, at, at + 100);
        fake_span(source, thread, varying, at + 100, at + length);
        at += length;
    }
    fake_meta(source, thread, MXP_META_STEP, 0, at, STEPS + 1);
}

static void steps_go_with_the_row_that_varies(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    const uint32_t thread = fake_thread(source, "main");
    const uint32_t steady = fake_span_name(source, "program", "steady");
    const uint32_t varying = fake_span_name(source, "program", "varying");
    fill(source, thread, steady, varying);
    mxp_steps steps;
    mxp_path_rows rows = {0};
    bool chosen[STEPS + 1];
    memset(chosen, 1, sizeof chosen);
    chosen[STEPS] = false;
    assert_int_equal(mxp__steps_find(source, &steps), 0);
    assert_int_equal(steps.count, STEPS + 1);
    assert_int_equal(mxp__path_rows_of_steps(source, &steps, chosen, MXP__GRAPH_BYTES_MAX, &rows),
                     0);
    const mxp_path_varying found = mxp__path_rows_varying(&rows, &steps, chosen);
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[found.row].name, varying);
    assert_true(fabs(found.correlation - 1) < 1e-9);
    mxp__path_rows_fini(&rows);
    mxp__steps_fini(&steps);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_s_time_is_that_of_no_wait),
        cmocka_unit_test(steps_go_with_the_row_that_varies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
