// SPDX-License-Identifier: Apache-2.0
// What differs besides times, and which programs are not compared.
#include "profiler/analysis/comparison/differences.h"

#include <mxprof/error.h>
#include <stdio.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "fake_alloc.h"

static mxp_compared_run *add_run(mxp_comparison *comparison, int side)
{
    mxp_compared_run *run = mxp__side_next(&comparison->sides[side]);
    assert_non_null(run);
    comparison->sides[side].count++;
    *run = (mxp_compared_run){.step_count = 10,
                              .mean_ns = 1000,
                              .cpu_ns = -1,
                              .delay_ns = -1,
                              .has_steps = true,
                              .has_operators = true};
    return run;
}

static void add_calls(mxp_comparison *comparison, mxp_compared_run *run, const char *name,
                      const char *shape, uint64_t calls)
{
    size_t place;
    mxp_row_key key = {.kind = "", .scope = "net", .name = name, .shape = ""};
    assert_int_equal(mxp__row_keys_add(&comparison->rows.operators, &key, &place), MXP_OK);
    assert_int_equal(mxp__row_sums_add(&run->operators, place, 5, calls), MXP_OK);
    key.shape = shape;
    assert_int_equal(mxp__row_keys_add(&comparison->rows.shapes, &key, &place), MXP_OK);
    assert_int_equal(mxp__row_sums_add(&run->shapes, place, 5, calls), MXP_OK);
}

static void set(mxp_compared_run *run, const char *key, const char *value)
{
    assert_int_equal(mxp__grow(&run->settings, &run->setting_capacity, run->setting_count + 2,
                               sizeof *run->settings),
                     MXP_OK);
    run->settings[run->setting_count++] = mxp__strdup(key);
    run->settings[run->setting_count++] = mxp__strdup(value);
}

static void calls_shapes_and_settings_are_told(void **state)
{
    (void)state;
    mxp_comparison comparison = {.at_least = 0.01};
    for (int i = 0; i < 2; i++) {
        mxp_compared_run *before = add_run(&comparison, MXP__BEFORE);
        add_calls(&comparison, before, "conv", "f32[64]", 10);
        add_calls(&comparison, before, "relu", "f32[64]", 20);
        add_calls(&comparison, before, "seldom", "f32[1]", 21);
        set(before, "kernels", "own");
        set(before, "command", i == 0 ? "net one" : "net two");  // from run to run
        set(before, "run.label", "old");
        set(before, "host", "vm");
        mxp_compared_run *after = add_run(&comparison, MXP__AFTER);
        add_calls(&comparison, after, "conv", "f32[128]", 10);
        add_calls(&comparison, after, "relu", "f32[64]", 30);
        add_calls(&comparison, after, "seldom", "f32[1]", 20);  // 4.8 % less
        set(after, "kernels", "onednn");
        set(after, "command", i == 0 ? "net three" : "net four");
        set(after, "host", "vm");
        set(after, "engine.workers", "4");
    }
    mxp_differences found = {0};
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(mxp__differences_find(&comparison, &found), MXP_OK);
    assert_true(found.operators[MXP__BEFORE] == 5.1 && found.operators[MXP__AFTER] == 6);
    assert_int_equal(found.common_rows, 3);
    assert_int_equal(found.call_count, 1);
    assert_string_equal(comparison.rows.operators.all[found.calls[0].row].name, "relu");
    assert_true(found.calls[0].calls[MXP__BEFORE] == 2 && found.calls[0].calls[MXP__AFTER] == 3);
    assert_int_equal(found.shape_count, 3);  // two of conv, and how often relu has its one
    assert_int_equal(found.setting_count, 3);
    assert_string_equal(found.settings[0].key, "kernels");
    assert_string_equal(found.settings[0].values[MXP__AFTER], "onednn");
    assert_string_equal(found.settings[1].key, "run.label");
    assert_null(found.settings[1].values[MXP__AFTER]);
    assert_string_equal(found.settings[2].key, "engine.workers");
    assert_null(found.settings[2].values[MXP__BEFORE]);
    assert_false(mxp__are_different_programs(&comparison, &found));
    mxp__differences_fini(&found);
    mxp__comparison_fini(&comparison);
}

// `common` rows on both sides, and more on one.
static bool are_different(size_t common, size_t before, size_t after)
{
    mxp_comparison comparison = {.at_least = 0.01};
    mxp_compared_run *runs[MXP__SIDES] = {add_run(&comparison, MXP__BEFORE),
                                          add_run(&comparison, MXP__AFTER)};
    const size_t counts[MXP__SIDES] = {before, after};
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < counts[side]; i++) {
            char name[32];
            snprintf(name, sizeof name, i < common ? "both %zu" : side ? "a %zu" : "b %zu", i);
            add_calls(&comparison, runs[side], name, "", 10);
        }
    }
    mxp_differences found = {0};
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(mxp__differences_find(&comparison, &found), MXP_OK);
    assert_int_equal(found.common_rows, common);
    const bool are = mxp__are_different_programs(&comparison, &found);
    mxp__differences_fini(&found);
    mxp__comparison_fini(&comparison);
    return are;
}

static void programs_with_under_half_of_their_rows_in_common_are_different(void **state)
{
    (void)state;
    assert_false(are_different(10, 10, 10));
    assert_false(are_different(5, 10, 10));
    assert_true(are_different(4, 10, 9));
    assert_true(are_different(4, 4, 9));
    assert_true(are_different(0, 3, 3));
    assert_false(are_different(0, 0, 0));  // nothing but the program itself
}

static void steps_on_one_side_only_are_another_program(void **state)
{
    (void)state;
    mxp_comparison comparison = {.at_least = 0.01};
    mxp_compared_run *before = add_run(&comparison, MXP__BEFORE);
    add_calls(&comparison, before, "conv", "", 10);
    mxp_compared_run *after = add_run(&comparison, MXP__AFTER);
    add_calls(&comparison, after, "conv", "", 10);
    after->has_steps = false;
    mxp_differences found = {0};
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(mxp__differences_find(&comparison, &found), MXP_OK);
    assert_true(mxp__are_different_programs(&comparison, &found));
    mxp__differences_fini(&found);
    mxp__comparison_fini(&comparison);
}

static void the_same_programs_have_no_differences(void **state)
{
    (void)state;
    mxp_comparison comparison = {.at_least = 0.01};
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp_compared_run *run = add_run(&comparison, side);
        add_calls(&comparison, run, "conv", "f32[1]", 10);
        set(run, "kernels", "own");
    }
    mxp_differences found = {0};
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(mxp__differences_find(&comparison, &found), MXP_OK);
    assert_int_equal(found.call_count + found.shape_count + found.setting_count, 0);
    mxp__differences_fini(&found);
    mxp__comparison_fini(&comparison);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_shapes_and_settings_are_told),
        cmocka_unit_test(programs_with_under_half_of_their_rows_in_common_are_different),
        cmocka_unit_test(steps_on_one_side_only_are_another_program),
        cmocka_unit_test(the_same_programs_have_no_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
