// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/window/choice.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"

// Steps of 10, 30, 20 and 40 ns; the third has a loss, the last one is open.
static mxp_step_window all[] = {{.number = 7, .begin_ns = 0, .end_ns = 10},
                                {.number = 8, .begin_ns = 10, .end_ns = 40},
                                {.number = 9, .begin_ns = 40, .end_ns = 60, .has_loss = true},
                                {.number = 10, .begin_ns = 60, .end_ns = 100, .is_open = true}};
static uint64_t marks[] = {0, 10, 40, 60};
static const mxp_steps steps = {
    .all = all, .mark_ticks = marks, .count = 4, .first_ns = -5, .last_ns = 100};
static const mxp_steps none = {.first_ns = 1000, .last_ns = 2999};

static void check(const mxp_choice_wish *wish, const char *chosen, uint64_t wall_ns)
{
    mxp_choice choice;
    assert_int_equal(mxp__choice_make(&steps, wish, &choice), MXP_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(choice.steps[i], chosen[i] == 'x');
        assert_int_equal(mxp__choice_takes(&choice, marks[i] + 1, 0), chosen[i] == 'x');
    }
    assert_int_equal(choice.wall_ns, wall_ns);
    assert_false(mxp__choice_takes(&choice, UINT64_MAX, 0) != (chosen[3] == 'x'));
    mxp__choice_fini(&choice);
}

static void steps_are_chosen(void **state)
{
    (void)state;
    check(&(mxp_choice_wish){0}, "xx..", 40);
    check(&(mxp_choice_wish){.steps = MXP_STEPS_RANGE, .first = 8, .last = 9}, ".xx.", 50);
    check(&(mxp_choice_wish){.steps = MXP_STEPS_RANGE, .first = 9, .last = UINT64_MAX}, "..xx", 60);
    check(&(mxp_choice_wish){.steps = MXP_STEPS_LAST}, "..x.", 20);
    check(&(mxp_choice_wish){.steps = MXP_STEPS_SLOWEST}, ".x..", 30);
}

static void what_the_usual_leaves_out_is_counted(void **state)
{
    (void)state;
    mxp_choice choice;
    assert_int_equal(mxp__choice_make(&steps, &(mxp_choice_wish){0}, &choice), MXP_OK);
    assert_int_equal(choice.incomplete, 2);
    assert_int_equal(choice.step_count, 2);
    assert_false(choice.is_forced);
    mxp__choice_fini(&choice);
    mxp_step_window broken[2] = {all[2], all[3]};
    const mxp_steps only_broken = {.all = broken, .mark_ticks = marks + 2, .count = 2};
    assert_int_equal(mxp__choice_make(&only_broken, &(mxp_choice_wish){0}, &choice), MXP_OK);
    assert_true(choice.is_forced);
    assert_int_equal(choice.step_count, 2);
    mxp__choice_fini(&choice);
}

static void steps_without_an_end_can_be_left_out(void **state)
{
    (void)state;
    mxp_choice choice;
    const mxp_choice_wish both = {.steps = MXP_STEPS_RANGE, .first = 9, .last = 10};
    assert_int_equal(mxp__choice_make(&steps, &both, &choice), MXP_OK);
    assert_true(mxp__choice_leave_out(&choice, MXP_STEP_OPEN));
    assert_true(choice.steps[2] && !choice.steps[3]);
    assert_int_equal(choice.step_count, 1);
    assert_int_equal(choice.wall_ns, 20);
    assert_int_equal(choice.incomplete, 1);
    assert_int_equal(choice.reasons, MXP_STEP_OPEN);
    mxp__choice_fini(&choice);
    const mxp_choice_wish alone = {.steps = MXP_STEPS_RANGE, .first = 10, .last = 10};
    assert_int_equal(mxp__choice_make(&steps, &alone, &choice), MXP_OK);
    assert_false(mxp__choice_leave_out(&choice, MXP_STEP_OPEN));
    assert_int_equal(choice.step_count, 1);
    assert_int_equal(choice.incomplete, 0);
    mxp__choice_fini(&choice);
}

static void the_slowest_has_an_end(void **state)
{
    (void)state;
    mxp_choice choice;
    mxp_step_window broken[2] = {all[2], all[3]};  // with a loss, and a longer one without an end
    const mxp_steps only_broken = {.all = broken, .mark_ticks = marks + 2, .count = 2};
    const mxp_choice_wish slowest = {.steps = MXP_STEPS_SLOWEST};
    assert_int_equal(mxp__choice_make(&only_broken, &slowest, &choice), MXP_OK);
    assert_true(choice.steps[0] && !choice.steps[1]);
    mxp__choice_fini(&choice);
}

static void check_time(const mxp_choice_wish *wish, int64_t from_ns, int64_t until_ns)
{
    mxp_choice choice;
    assert_int_equal(mxp__choice_make(&none, wish, &choice), MXP_OK);
    assert_null(choice.steps);
    assert_int_equal(choice.from_ns, from_ns);
    assert_int_equal(choice.until_ns, until_ns);
    assert_int_equal(choice.wall_ns, until_ns - from_ns);
    assert_true(mxp__choice_takes(&choice, 0, from_ns));
    const bool is_everything = memcmp(wish, &(mxp_choice_wish){0}, sizeof *wish) == 0;
    assert_int_equal(mxp__choice_takes(&choice, 0, until_ns), is_everything);
    assert_int_equal(mxp__choice_takes(&choice, 0, from_ns - 1), is_everything);
    mxp__choice_fini(&choice);
}

static void times_are_of_the_trace_or_from_its_ends(void **state)
{
    (void)state;
    check_time(&(mxp_choice_wish){0}, 1000, 3000);
    check_time(&(mxp_choice_wish){.from = {MXP_TIME_FROM_ZERO, 1500}}, 1500, 3000);
    check_time(
        &(mxp_choice_wish){.from = {MXP_TIME_FROM_BEGIN, 300}, .until = {MXP_TIME_FROM_BEGIN, 500}},
        1300, 1800);
    check_time(&(mxp_choice_wish){.from = {MXP_TIME_FROM_END, 200}}, 2800, 3000);
    check_time(&(mxp_choice_wish){.until = {MXP_TIME_FROM_ZERO, 999999}}, 1000, 3000);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    mxp_choice choice;
    const mxp_choice_wish eleven = {.steps = MXP_STEPS_RANGE, .first = 11, .last = 11};
    assert_int_equal(mxp__choice_make(&steps, &eleven, &choice), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "numbers 7 to 10"));
    assert_int_equal(mxp__choice_make(&none, &eleven, &choice), MXP_ENOTSUP);
    assert_non_null(strstr(mxp_last_error(), "no steps are marked"));
    const mxp_choice_wish late = {.from = {MXP_TIME_FROM_ZERO, 4000}};
    assert_int_equal(mxp__choice_make(&none, &late, &choice), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "from 1e-06 s to 3e-06 s"));
}

static void a_time_beside_steps_is_what_is_recorded_of_it(void **state)
{
    (void)state;
    static const int64_t cases[][4] = {
        {500, 1500, 1000, 1500}, {1200, 9000, 1200, 3000}, {1200, 1300, 1200, 1300}};
    mxp_choice choice;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxp__choice_make_time(&none, cases[i][0], cases[i][1], &choice);
        assert_int_equal(choice.from_ns, cases[i][2]);
        assert_int_equal(choice.until_ns, cases[i][3]);
        assert_int_equal(choice.wall_ns, cases[i][3] - cases[i][2]);
        assert_true(mxp__choice_takes(&choice, 0, cases[i][2]));
        assert_false(mxp__choice_takes(&choice, 0, cases[i][3]));
        mxp__choice_fini(&choice);
    }
    mxp__choice_make_time(&none, 10, 20, &choice);  // nothing is recorded then
    assert_int_equal(choice.wall_ns, 0);
    assert_false(mxp__choice_takes(&choice, 0, 15));
    mxp__choice_make_time(&none, 4000, 5000, &choice);
    assert_int_equal(choice.wall_ns, 0);
    assert_false(mxp__choice_takes(&choice, 0, 4500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_chosen),
        cmocka_unit_test(what_the_usual_leaves_out_is_counted),
        cmocka_unit_test(steps_without_an_end_can_be_left_out),
        cmocka_unit_test(the_slowest_has_an_end),
        cmocka_unit_test(times_are_of_the_trace_or_from_its_ends),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(a_time_beside_steps_is_what_is_recorded_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
