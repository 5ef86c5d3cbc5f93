// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/causes/imbalance.h"

#include <mxprof/error.h>

#include "cmocka_all.h"

enum { STEPS = 20 };

static uint64_t numbers[STEPS];
static double fast[STEPS], slow[STEPS], middle[STEPS];

static void fill(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        numbers[i] = 5 + i;
        fast[i] = 100 + (double)(i % 3);
        middle[i] = 101 + (double)(i % 3);
        slow[i] = 160 + (double)(i % 2);
    }
}

static void the_slowest_process_is_told_with_what_all_wait_for(void **state)
{
    (void)state;
    mxp_imbalance found;
    fill();
    const mxp_own_steps all[] = {
        {1, numbers, fast, STEPS}, {2, numbers, slow, STEPS}, {3, numbers, middle, STEPS}};
    assert_int_equal(mxp__imbalance_find(all, 3, &found), MXP_OK);
    assert_int_equal(found.pairs, STEPS);
    assert_int_equal(found.slowest, 1);
    assert_int_equal(found.times, STEPS);
    const mxp_cause *cause = &found.causes.all[0];
    assert_true(cause->is_told);
    assert_int_equal(cause->pid, 2);
    double mean = 0;
    for (size_t i = 0; i < STEPS; i++) {
        mean += slow[i] - (fast[i] + slow[i] + middle[i]) / 3;
    }
    assert_float_equal(cause->gain_ns, mean / STEPS, 1e-9);
    mxp__imbalance_fini(&found);
}

// Each is the slowest as often as the other: no process has more to do.
static void processes_in_turn_are_not_told(void **state)
{
    (void)state;
    mxp_imbalance found;
    double a[STEPS], b[STEPS];
    fill();
    for (size_t i = 0; i < STEPS; i++) {
        a[i] = i % 2 == 0 ? 160 : 100;
        b[i] = i % 2 == 0 ? 100 : 160;
    }
    const mxp_own_steps all[] = {{1, numbers, a, STEPS}, {2, numbers, b, STEPS}};
    assert_int_equal(mxp__imbalance_find(all, 2, &found), MXP_OK);
    assert_int_equal(found.times, STEPS / 2);
    assert_false(found.causes.all[0].is_told);
    mxp__imbalance_fini(&found);
}

static void steps_are_paired_by_number(void **state)
{
    (void)state;
    mxp_imbalance found;
    fill();
    const mxp_own_steps shifted[] = {{1, numbers, fast, STEPS}, {2, numbers + 8, slow, STEPS - 8}};
    assert_int_equal(mxp__imbalance_find(shifted, 2, &found), MXP_OK);
    assert_int_equal(found.pairs, STEPS - 8);
    mxp__imbalance_fini(&found);
    uint64_t others[STEPS];
    for (size_t i = 0; i < STEPS; i++) {
        others[i] = 1000 + i;
    }
    const mxp_own_steps apart[] = {{1, numbers, fast, STEPS}, {2, others, slow, STEPS}};
    assert_int_equal(mxp__imbalance_find(apart, 2, &found), MXP_OK);
    assert_int_equal(found.pairs, 0);
    assert_int_equal(found.causes.count, 0);
    mxp__imbalance_fini(&found);
}

static void numbers_that_come_again_count_once(void **state)
{
    (void)state;
    mxp_imbalance found;
    fill();
    for (size_t i = 0; i < STEPS; i++) {
        numbers[i] = i / 2;
    }
    const mxp_own_steps all[] = {{1, numbers, fast, STEPS}, {2, numbers, slow, STEPS}};
    assert_int_equal(mxp__imbalance_find(all, 2, &found), MXP_OK);
    assert_int_equal(found.pairs, STEPS / 2);
    assert_int_equal(found.times, STEPS / 2);
    mxp__imbalance_fini(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_process_is_told_with_what_all_wait_for),
        cmocka_unit_test(processes_in_turn_are_not_told),
        cmocka_unit_test(steps_are_paired_by_number),
        cmocka_unit_test(numbers_that_come_again_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
