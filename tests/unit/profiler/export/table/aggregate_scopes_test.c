// SPDX-License-Identifier: Apache-2.0
// The aggregate by scope: self times, nested scopes, operators, and the bound on what is
// remembered.
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "rows.h"

static void push(mxp_source *source, uint32_t thread, uint32_t scope, uint64_t ticks)
{
    fake_meta(source, thread, MXP_META_SCOPE_PUSH, scope, ticks, 0);
}

static void pop(mxp_source *source, uint32_t thread, uint32_t scope, uint64_t ticks)
{
    fake_meta(source, thread, MXP_META_SCOPE_POP, scope, ticks, 0);
}

static void self_time_goes_to_the_innermost_scope(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a"), other = fake_thread(source, "b");
    uint32_t name = fake_span_name(source, "c", "n");
    uint32_t net = fake_scope(source, 0, "net"), conv = fake_scope(source, net, "conv1");
    fake_span(source, thread, name, 0, 100);  // no scope
    push(source, thread, net, 100);
    fake_span(source, thread, name, 200, 300);  // inside the next
    push(source, thread, conv, 300);
    fake_span(source, thread, name, 310, 350);  // in conv, inside the one in net
    pop(source, thread, conv, 360);
    fake_span(source, thread, name, 150, 1150);  // 1000 less 100 less 40
    pop(source, thread, net, 1200);
    fake_span(source, thread, name, 1300, 1310);
    fake_span(source, other, name, 320, 330);  // another thread has no scope
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 3);
    const mxp_row *row = row_get(rows, count, "Scopes", "net");
    assert_true(row->count == 2 && row->total == 960 && row->max == 860);
    assert_true(row_get(rows, count, "Scopes", "net/conv1")->total == 40);
    assert_true(row_get(rows, count, "Scopes", "<no scope>")->total == 120);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void operators_and_long_spans_bring_their_own_scope(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t name = fake_span_name(source, "operator", "conv");
    uint32_t here = fake_scope(source, 0, "here"), layer = fake_scope(source, 0, "layer");
    push(source, thread, here, 0);
    fake_operator(source, thread,
                  &(mxp_operator){.name = name,
                                  .id = 2,
                                  .bulk_parent = 1,
                                  .start_ticks = 10,
                                  .end_ticks = 30,
                                  .scope = layer});
    fake_operator(source, thread,
                  &(mxp_operator){.name = name,
                                  .id = 1,
                                  .start_ticks = 5,
                                  .end_ticks = 100,
                                  .flags = MXP_OP_BULK_PARENT});
    fake_long_span(source, thread,
                   &(mxp_span){.name = name, .begin_ticks = 200, .end_ticks = 207, .scope = layer});
    fake_long_span(source, thread, &(mxp_span){.name = name, .begin_ticks = 300, .end_ticks = 311});
    fake_long_span(
        source, thread,
        &(mxp_span){
            .name = name, .begin_ticks = 250, .end_ticks = 400, .lane = name});  // a device's time
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_true(row_get(rows, count, "Scopes", "layer")->total == 20 + 7);
    assert_true(row_get(rows, count, "Scopes", "here")->total == 11);
    assert_true(row_get(rows, count, "Scopes", "<no scope>")->total == 75 + 150);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void phases_of_a_layer_have_rows_of_their_own(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t name = fake_span_name(source, "operator", "conv");
    uint32_t layer = fake_scope(source, fake_scope(source, 0, "net"), "conv1");
    static const uint16_t flags[] = {MXP_PHASE_FORWARD,       MXP_PHASE_NONE,
                                     MXP_PHASE_BACKWARD,      MXP_PHASE_UPDATE | MXP_OP_FAILED,
                                     MXP_PHASE_COMMUNICATION, MXP_PHASE_BACKWARD};
    for (uint32_t i = 0; i < 6; i++) {
        fake_operator(source, thread,
                      &(mxp_operator){.name = name,
                                      .id = i + 1,
                                      .start_ticks = 1000 * i,
                                      .end_ticks = 1000 * i + 10 + i,
                                      .scope = layer,
                                      .flags = flags[i]});
    }
    fake_operator(source, thread,
                  &(mxp_operator){.name = name,
                                  .id = 7,
                                  .start_ticks = 9000,
                                  .end_ticks = 9001,
                                  .flags = MXP_PHASE_FORWARD});
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 6);
    assert_true(row_get(rows, count, "Scopes", "net/conv1")->total == 11);
    assert_true(row_get(rows, count, "Scopes", "net/conv1 (forward)")->total == 10);
    assert_true(row_get(rows, count, "Scopes", "net/conv1 (backward)")->total == 12 + 15);
    assert_true(row_get(rows, count, "Scopes", "net/conv1 (update)")->total == 13);
    assert_true(row_get(rows, count, "Scopes", "net/conv1 (communication)")->total == 14);
    assert_true(row_get(rows, count, "Scopes", "<no scope> (forward)")->total == 1);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void overlapping_tasks_are_left_out(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t task = fake_name(source, "Dom", "task", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    fake_span(source, thread, task, 0, 100);
    fake_span(source, thread, task, 50, 150);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 0);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void a_scope_lasts_into_the_next_source(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_SCOPE, &aggregate), MXP_OK);
    for (uint64_t part = 0; part < 2; part++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        uint32_t scope = fake_scope(source, 0, "s");
        uint32_t name = fake_span_name(source, "c", "n");
        if (part == 0) {
            push(source, thread, scope, 0);
            fake_span(source, thread, name, 10, 20);
        } else {
            fake_span(source, thread, name, 5, 100);  // holds the one of the part before
        }
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
    }
    assert_int_equal(mxp__aggregate_rows(aggregate, 0, 0, 0, &rows, &count), MXP_OK);
    assert_int_equal(count, 1);
    assert_true(row_get(rows, count, "Scopes", "s")->total == 95);
    mxp__aggregate_destroy(aggregate);
}

// Spans that nothing encloses are remembered, but not without a bound; the sum stays right.
static void millions_of_siblings_are_bounded_and_add_up(void **state)
{
    (void)state;
    enum { SPANS = 2500000 };
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t name = fake_span_name(source, "c", "n");
    for (uint64_t i = 0; i < SPANS; i++) {
        fake_span(source, thread, name, 10 + 10 * i, 17 + 10 * i);
    }
    fake_span(source, thread, name, 10 * (SPANS - 9), 10 * SPANS + 50);  // holds the last ten
    fake_span(source, thread, name, 0, 10 * SPANS + 100);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 1);
    // All of the outermost span's time and nothing twice.
    assert_true(rows[0].total == 10 * SPANS + 100);
    assert_int_equal(rows[0].count, SPANS + 2);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void a_circle_of_scopes_ends(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t name = fake_span_name(source, "c", "n");
    uint32_t self = fake_name_bytes(source, source->name_count, "self", 4, MXP_STYLE_SCOPE, 0);
    push(source, thread, self, 0);
    fake_span(source, thread, name, 10, 20);
    pop(source, thread, self, 30);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 1);
    assert_memory_equal(rows[0].name, ".../self/self", 13);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_time_goes_to_the_innermost_scope),
        cmocka_unit_test(operators_and_long_spans_bring_their_own_scope),
        cmocka_unit_test(phases_of_a_layer_have_rows_of_their_own),
        cmocka_unit_test(overlapping_tasks_are_left_out),
        cmocka_unit_test(a_scope_lasts_into_the_next_source),
        cmocka_unit_test(millions_of_siblings_are_bounded_and_add_up),
        cmocka_unit_test(a_circle_of_scopes_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
