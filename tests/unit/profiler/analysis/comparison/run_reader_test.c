// SPDX-License-Identifier: Apache-2.0
// What is read of a run, on a program of a step that waits for one convolution: every nanosecond of
// it is known.
#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/analysis/comparison/compared_run.h"
#include "sim_trace.h"

enum { MAIN = 0, WORKER = 1, OTHER = 2, PUSH = 100, START = 150, WAKE = 20, REST = 30 };

typedef struct program {
    mxp_source *source;
    uint32_t step, conv, scope, shape, wait;
    uint64_t at, cpu_ns, delay_ns;
    uint32_t ids;
} program;

static program begin_program(void)
{
    program made = {.source = fake_source_create(), .at = 1000};
    fake_thread(made.source, "main");
    fake_thread(made.source, "worker");
    fake_thread(made.source, "other");
    made.conv = fake_span_name(made.source, "operator", "Convolution");
    made.scope = fake_scope(made.source, fake_scope(made.source, 0, "net"), "conv1");
    made.shape = fake_string(made.source, "f32[64]");
    made.wait = fake_span_name(made.source, "operator", "WaitForVar");
    return made;
}

static void put_cpu(program *of)
{
    const uint64_t words[4] = {MXP_KIND_META | 2 << 8 | (of->at & MXP_STAMP_MASK) << 16,
                               (uint64_t)MXP_META_STEP_CPU << 32, of->cpu_ns, of->delay_ns};
    fake_words(of->source, MAIN, of->at, words, 4);
}

static void put_mark(program *of, bool with_cpu)
{
    fake_meta(of->source, MAIN, MXP_META_STEP, 0, of->at, of->step++);
    if (with_cpu) {
        put_cpu(of);
    }
}

// A step in which the convolution runs for so long: 200 ns longer than that.
static void put_step(program *of, uint64_t run_ns)
{
    const uint64_t start = of->at + START, end = start + run_ns;
    put_mark(of, true);
    fake_operator(of->source, WORKER,
                  &(mxp_operator){.name = of->conv,
                                  .id = ++of->ids,
                                  .push_ticks = of->at + PUSH,
                                  .ready_ticks = of->at + PUSH,
                                  .start_ticks = start,
                                  .end_ticks = end,
                                  .flags = MXP_PHASE_FORWARD,
                                  .push_thread = MAIN,
                                  .scope = of->scope,
                                  .shape = of->shape});
    fake_wait(of->source, MAIN,
              &(fake_wait_record){.begin_ticks = of->at + START,
                                  .end_ticks = end + WAKE,
                                  .name = of->wait,
                                  .ended_by = of->ids,
                                  .what = MXP_WAIT_WRITTEN,
                                  .flags = MXP_WAIT_BLOCKED});
    of->at = end + WAKE + REST;
    of->cpu_ns += run_ns + 100;
    of->delay_ns += 7;
}

static int64_t sum_of(const mxp_row_keys *keys, const mxp_row_sums *sums, const char *kind,
                      const char *name)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->all[i].kind, kind) == 0 && strcmp(keys->all[i].name, name) == 0) {
            return mxp__row_sums_get(sums, i).ns;
        }
    }
    return -1;
}

static void close_all(program *of, mxp_compared_rows *rows, mxp_compared_run *run)
{
    mxp__compared_run_fini(run);
    mxp__compared_rows_fini(rows);
    mxp__source_close(of->source);
}

static void a_step_is_tiled_by_rows_and_counted(void **state)
{
    (void)state;
    program of = begin_program();
    for (int i = 0; i < 20; i++) {
        put_step(&of, 1000 + 10 * (uint64_t)(i % 2));
    }
    put_mark(&of, true);
    // A bulk's parent and a deletion are no operators of a step.
    mxp_operator other = {.name = fake_span_name(of.source, "operator", "bulk"),
                          .id = 1000,
                          .push_ticks = 1100,
                          .start_ticks = 2160,
                          .end_ticks = 2170,
                          .flags = MXP_OP_BULK_PARENT,
                          .push_thread = MAIN};
    fake_operator(of.source, OTHER, &other);
    other.name = fake_span_name(of.source, "operator", "DeleteVariable");
    other.id++;
    other.flags = 0;
    fake_operator(of.source, OTHER, &other);
    fake_info(of.source, "command", "net --fast");
    fake_info(of.source, "records", "4711");  // measured, so no setting
    fake_info(of.source, "machine.cores", "2");
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "x", NULL, UINT64_MAX, &rows, &run), MXP_OK);
    assert_true(run.has_steps && run.has_operators);
    assert_int_equal(run.step_count, 20);  // the last mark's step has no end
    assert_true(run.lengths_ns[0] == 1200 && run.lengths_ns[1] == 1210);
    assert_int_equal(run.total_ns, 20 * 1205);
    assert_true(run.mean_ns == 1205 && run.cpu_ns == 1105 && run.delay_ns == 7);
    assert_int_equal(sum_of(&rows.path, &run.path_rows, "run", "Convolution"), 20 * 1005);
    assert_int_equal(sum_of(&rows.path, &run.path_rows, "dispatch", "Convolution"),
                     20 * (START - PUSH));
    assert_int_equal(sum_of(&rows.path, &run.path_rows, "wake", "Convolution"), 20 * WAKE);
    assert_int_equal(sum_of(&rows.operators, &run.operators, "", "Convolution"), 20 * 1005);
    assert_int_equal(rows.operators.count, 1);
    assert_string_equal(rows.operators.all[0].scope, "net/conv1");
    assert_string_equal(rows.shapes.all[0].shape, "f32[64]");
    assert_int_equal(mxp__row_sums_get(&run.shapes, 0).count, 20);
    assert_int_equal(run.setting_count, 4);
    assert_string_equal(run.settings[1], "net --fast");
    assert_string_equal(run.settings[2], "machine.cores");
    close_all(&of, &rows, &run);
}

static void first_run_steps_and_those_with_losses_are_left_out(void **state)
{
    (void)state;
    program of = begin_program();
    uint64_t lost_at = 0;
    for (int i = 0; i < 30; i++) {
        lost_at = i == 20 ? of.at + 50 : lost_at;
        put_step(&of, i < 3 ? 9000 : 1000);
    }
    put_mark(&of, true);
    fake_loss(of.source, &(mxp_loss_entry){.thread = MAIN,
                                           .reason = MXP_LOSS_MEMORY_FULL,
                                           .count = 3,
                                           .from_ticks = lost_at,
                                           .to_ticks = lost_at + 10});
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "x", NULL, UINT64_MAX, &rows, &run), MXP_OK);
    assert_int_equal(run.first_run_steps, 3);
    assert_int_equal(run.marred_steps, 1);
    assert_int_equal(run.step_count, 26);
    assert_true(run.mean_ns == 1200);
    assert_int_equal(sum_of(&rows.operators, &run.operators, "", "Convolution"), 26 * 1000);
    close_all(&of, &rows, &run);
}

static void steps_asked_for_count_with_first_runs_but_not_with_losses(void **state)
{
    (void)state;
    program of = begin_program();
    for (int i = 0; i < 30; i++) {
        put_step(&of, i < 3 ? 9000 : 1000);
    }
    put_mark(&of, true);
    fake_loss(of.source, &(mxp_loss_entry){.thread = MAIN,
                                           .reason = MXP_LOSS_MEMORY_FULL,
                                           .count = 3,
                                           .from_ticks = 1000 + 9200 + 50,
                                           .to_ticks = 1000 + 9200 + 60});
    const mxp_choice_wish wish = {.steps = MXP_STEPS_RANGE, .first = 0, .last = 4};
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "x", &wish, UINT64_MAX, &rows, &run),
                     MXP_OK);
    assert_int_equal(run.step_count, 4);  // step 1 has the loss
    assert_int_equal(run.total_ns, 9200 + 9200 + 1200 + 1200);
    assert_int_equal(run.first_run_steps, 1);
    close_all(&of, &rows, &run);
}

static void a_run_whose_steps_all_have_losses_has_no_figure(void **state)
{
    (void)state;
    program of = begin_program();
    for (int i = 0; i < 5; i++) {
        put_step(&of, 1000);
    }
    fake_loss(of.source, &(mxp_loss_entry){.thread = MAIN,
                                           .reason = MXP_LOSS_MEMORY_FULL,
                                           .count = 3,
                                           .from_ticks = 0,
                                           .to_ticks = of.at});
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "the run", NULL, UINT64_MAX, &rows, &run),
                     MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "'the run'"));
    close_all(&of, &rows, &run);
}

static void without_steps_the_recording_is_one(void **state)
{
    (void)state;
    program of = begin_program();
    const uint32_t work = fake_span_name(of.source, "app", "work");
    fake_span(of.source, MAIN, work, 1000, 1400);
    fake_span(of.source, MAIN, work, 1500, 2000);
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "x", NULL, UINT64_MAX, &rows, &run), MXP_OK);
    assert_false(run.has_steps || run.has_operators);
    assert_int_equal(run.step_count, 1);
    assert_true(run.mean_ns == 1000 && run.cpu_ns == -1 && run.delay_ns == -1);
    assert_true(mxp__compared_run_delay(&run) == -1);
    assert_int_equal(sum_of(&rows.path, &run.path_rows, "span", "work"), 900);
    assert_int_equal(sum_of(&rows.operators, &run.operators, "", "work"), 900);
    close_all(&of, &rows, &run);
}

static void an_empty_trace_has_no_figure(void **state)
{
    (void)state;
    program of = begin_program();
    mxp_compared_rows rows = {0};
    mxp_compared_run run;
    assert_int_equal(mxp__compared_run_read(of.source, "x", NULL, UINT64_MAX, &rows, &run),
                     MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "nothing is recorded"));
    close_all(&of, &rows, &run);
}

// Random programs with losses, pauses, bulks and custom operators: their rows add up.
static void rows_of_any_program_add_up_to_its_steps(void **state)
{
    (void)state;
    size_t read = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        sim_program *drawn = sim_program_draw(seed, SIM_WITH_ALL, 12);
        sim_run *played = sim_run_program(drawn, &sim_unchanged);
        uint32_t names[SIM_NAME_END];
        mxp_source *source = sim_trace(played, names);
        mxp_compared_rows rows = {0};
        mxp_compared_run run;
        if (mxp__compared_run_read(source, "x", NULL, UINT64_MAX, &rows, &run) == MXP_OK) {
            int64_t sum_ns = 0;
            for (size_t i = 0; i < rows.path.count; i++) {
                sum_ns += mxp__row_sums_get(&run.path_rows, i).ns;
            }
            assert_int_equal(sum_ns, run.total_ns);
            read++;
        }
        mxp__compared_run_fini(&run);
        mxp__compared_rows_fini(&rows);
        mxp__source_close(source);
        sim_run_free(played);
        sim_program_free(drawn);
    }
    assert_in_range(read, 40, 60);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    program of = begin_program();
    for (int i = 0; i < 5; i++) {
        put_step(&of, 1000);
    }
    put_mark(&of, true);
    fake_info(of.source, "command", "net");
    const size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    size_t allowed = 0;
    for (; error != MXP_OK && allowed < 500; allowed++) {
        mxp_compared_rows rows = {0};
        mxp_compared_run run;
        fake_alloc_fail_after(allowed);
        error = mxp__compared_run_read(of.source, "x", NULL, UINT64_MAX, &rows, &run);
        fake_alloc_fail_never();
        assert_true(error == MXP_OK || error == MXP_ENOMEM);
        mxp__compared_run_fini(&run);
        mxp__compared_rows_fini(&rows);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    assert_in_range(allowed, 20, 499);
    mxp__source_close(of.source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_tiled_by_rows_and_counted),
        cmocka_unit_test(first_run_steps_and_those_with_losses_are_left_out),
        cmocka_unit_test(steps_asked_for_count_with_first_runs_but_not_with_losses),
        cmocka_unit_test(a_run_whose_steps_all_have_losses_has_no_figure),
        cmocka_unit_test(without_steps_the_recording_is_one),
        cmocka_unit_test(an_empty_trace_has_no_figure),
        cmocka_unit_test(rows_of_any_program_add_up_to_its_steps),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
