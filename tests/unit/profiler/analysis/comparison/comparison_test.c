// SPDX-License-Identifier: Apache-2.0
// Verdicts on synthetic experiments: runs differ by 7 % for no reason, steps of a run by 12 % and
// each resembles the one before (0.4). How often a difference is seen where there is none, and
// where there is one of 10 %.
#include "profiler/analysis/comparison/comparison.h"

#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "cmocka_all.h"
#include "fake_alloc.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/seeded.h"
#include "real_runs.h"

enum { EXPERIMENTS = 200, STEPS = 60 };

static double normal(mxp_seeded *seeded)
{
    const double share = ((double)(mxp__seeded_next(seeded) >> 11) + 0.5) / 9007199254740992.0;
    return mxp__normal_quantile(share);
}

static mxp_compared_run *add_run(mxp_comparison *comparison, int side, double mean_ns)
{
    mxp_compared_run *run = mxp__side_next(&comparison->sides[side]);
    assert_non_null(run);
    comparison->sides[side].count++;
    run->mean_ns = mean_ns;
    run->cpu_ns = run->delay_ns = -1;  // not known, and so not judged
    run->step_count = STEPS;
    return run;
}

static double draw_mean(mxp_seeded *seeded, double ns)
{
    const double effect = exp(0.07 * normal(seeded));
    double sum = 0, last = normal(seeded);
    for (int i = 0; i < STEPS; i++) {
        last = 0.4 * last + sqrt(1 - 0.16) * normal(seeded);
        sum += 1 + 0.12 * last;
    }
    return ns * effect * sum / STEPS;
}

typedef struct outcome {
    size_t significant, verdicts[MXP_VERDICT_DISTURBED + 1], held;
    double smallest;  // sum
} outcome;

// Times: all of one side, then all of the other, or in turn (A B B A).
static outcome experiment(size_t runs, double change, bool in_turn, int experiments, uint64_t seed)
{
    outcome seen = {0};
    mxp_seeded seeded = {seed};
    for (int i = 0; i < experiments; i++) {
        mxp_comparison comparison = {.at_least = 0.01};
        for (size_t k = 0; k < runs; k++) {
            mxp_compared_run *before = add_run(&comparison, MXP__BEFORE, draw_mean(&seeded, 10e6));
            before->began_ns = in_turn ? 4 * k + k % 2 * 2 + 1 : k;
            mxp_compared_run *after =
                add_run(&comparison, MXP__AFTER, draw_mean(&seeded, 10e6 * (1 + change)));
            after->began_ns = in_turn ? 4 * k + 2 : runs + k;
        }
        assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
        const mxp_judged *wall = &comparison.wall;
        assert_int_equal(wall->pairs, in_turn ? runs : 0);
        seen.significant += wall->test.p <= 0.05;
        seen.held += wall->test.low <= log1p(change) && log1p(change) <= wall->test.high;
        seen.verdicts[wall->verdict]++;
        seen.smallest += wall->smallest / experiments;
        mxp__comparison_fini(&comparison);
    }
    return seen;
}

// Of 4,000 experiments 4.9 % (5 v 5) and 5.4 % (10 v 10) were significant.
static void equal_programs_differ_as_often_as_the_level_says(void **state)
{
    (void)state;
    const size_t sizes[] = {5, 10, 10};
    for (size_t i = 0; i < 3; i++) {
        const outcome seen = experiment(sizes[i], 0, i == 2, EXPERIMENTS, 1 + i);
        print_message("%zu v %zu%s: %zu of 200 at 5 %%, slower %zu, faster %zu\n", sizes[i],
                      sizes[i], i == 2 ? " in turn" : "", seen.significant,
                      seen.verdicts[MXP_VERDICT_SLOWER], seen.verdicts[MXP_VERDICT_FASTER]);
        assert_in_range(seen.significant, 4, 17);  // 2 to 8.5 %
        assert_int_equal(seen.held, EXPERIMENTS - seen.significant);
        assert_true(seen.verdicts[MXP_VERDICT_SLOWER] + seen.verdicts[MXP_VERDICT_FASTER] <=
                    seen.significant);
    }
}

static void ten_percent_are_found_with_ten_runs_a_side(void **state)
{
    (void)state;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        const outcome seen = experiment(10, 0.1, in_turn, 100, 200);
        print_message("10 %%, 10 v 10: slower in %zu of 100; smallest change %.1f %%\n",
                      seen.verdicts[MXP_VERDICT_SLOWER], 100 * seen.smallest);
        assert_true(seen.verdicts[MXP_VERDICT_SLOWER] >= 60);
        assert_int_equal(seen.verdicts[MXP_VERDICT_FASTER], 0);
        assert_in_range(seen.held, 88, 99);  // 95 % of 100, three deviations
        // 7 % between runs, 12 % of 60 steps that resemble each other: about 7.4 % together.
        assert_true(seen.smallest > 0.08 && seen.smallest < 0.12);
    }
    // As far the other way.
    const outcome faster = experiment(10, 1 / 1.1 - 1, false, 50, 201);
    assert_true(faster.verdicts[MXP_VERDICT_FASTER] >= 25);
    assert_int_equal(faster.verdicts[MXP_VERDICT_SLOWER], 0);
}

typedef struct real_outcome {
    size_t wall, cpu, cpu_slower;
} real_outcome;

// Groups of `runs` drawn from real ones, none twice; the second made longer by `change`. Returns
// how often wall and CPU time were significant.
static real_outcome draw_real(size_t runs, double change, int draws, uint64_t seed)
{
    real_outcome seen = {0};
    mxp_seeded seeded = {seed};
    for (int i = 0; i < draws; i++) {
        size_t order[REAL_RUNS];
        for (size_t k = 0; k < REAL_RUNS; k++) {
            const size_t other = (size_t)mxp__seeded_below(&seeded, k + 1);
            order[k] = order[other];
            order[other] = k;
        }
        mxp_comparison comparison = {.at_least = 0.01};
        for (size_t k = 0; k < 2 * runs; k++) {
            const double longer = k < runs ? 1 : 1 + change;
            mxp_compared_run *run = add_run(&comparison, k < runs ? MXP__BEFORE : MXP__AFTER,
                                            longer * real_runs[order[k]][0]);
            run->cpu_ns = longer * real_runs[order[k]][1];
        }
        assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
        seen.wall += comparison.wall.test.p <= 0.05;
        seen.cpu += comparison.cpu.test.p <= 0.05;
        seen.cpu_slower += comparison.cpu.verdict == MXP_VERDICT_SLOWER;
        mxp__comparison_fini(&comparison);
    }
    return seen;
}

static void real_runs_of_one_program_differ_as_often_as_the_level_says(void **state)
{
    (void)state;
    for (size_t runs = 5; runs <= 10; runs += 5) {
        const real_outcome seen = draw_real(runs, 0, 200, runs);
        print_message("real, %zu v %zu: wall %zu, CPU %zu of 200\n", runs, runs, seen.wall,
                      seen.cpu);
        assert_in_range(seen.wall, 4, 17);
        assert_in_range(seen.cpu, 4, 17);
    }
    const real_outcome planted = draw_real(10, 0.1, 50, 3);
    print_message("real, 10 %% planted, 10 v 10: CPU slower in %zu of 50, wall %zu\n",
                  planted.cpu_slower, planted.wall);
    assert_true(planted.cpu_slower >= 30);
}

static mxp_comparison sides_of(const double *before, size_t n, const double *after, size_t m)
{
    mxp_comparison comparison = {.at_least = 0.01};
    for (size_t i = 0; i < n; i++) {
        add_run(&comparison, MXP__BEFORE, before[i]);
    }
    for (size_t i = 0; i < m; i++) {
        add_run(&comparison, MXP__AFTER, after[i]);
    }
    return comparison;
}

static mxp_verdict verdict_of(const double *before, size_t n, const double *after, size_t m,
                              double at_least)
{
    mxp_comparison comparison = sides_of(before, n, after, m);
    comparison.at_least = at_least;
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    const mxp_verdict verdict = comparison.wall.verdict;
    mxp__comparison_fini(&comparison);
    return verdict;
}

static void verdict_needs_the_interval_beyond_the_least_change(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003}, b[] = {1020, 1021, 1022, 1023};
    assert_int_equal(verdict_of(a, 4, b, 4, 0.01), MXP_VERDICT_SLOWER);
    assert_int_equal(verdict_of(b, 4, a, 4, 0.01), MXP_VERDICT_FASTER);
    assert_int_equal(verdict_of(a, 4, b, 4, 0.02), MXP_VERDICT_CANNOT_TELL);  // 1.7 to 2.3 %
    assert_int_equal(verdict_of(a, 4, b, 4, 0.03), MXP_VERDICT_SAME);
    assert_int_equal(verdict_of(a, 4, b, 3, 0.01), MXP_VERDICT_NONE);
    const double wide[] = {900, 1000, 1100, 1200};
    assert_int_equal(verdict_of(a, 4, wide, 4, 0.01), MXP_VERDICT_CANNOT_TELL);
}

static void one_run_a_side_has_means_and_nothing_else(void **state)
{
    (void)state;
    const double a[] = {1000}, b[] = {1100};
    mxp_comparison comparison = sides_of(a, 1, b, 1);
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(comparison.wall.verdict, MXP_VERDICT_NONE);
    assert_true(comparison.wall.means_ns[MXP__AFTER] == 1100);
    assert_true(isnan(comparison.wall.smallest));
    mxp__comparison_fini(&comparison);
}

static void set_delays(mxp_comparison *comparison, const double *shares)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            mxp_compared_run *run = &comparison->sides[side].runs[i];
            run->delay_ns = run->mean_ns * *shares++;
            run->cpu_ns = 500 + (double)i;
        }
    }
}

static void disturbed_runs_are_left_out(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003, 1500}, b[] = {1000, 1001, 1002, 1003, 1004};
    const double delays[] = {0.12, 0.13, 0.12, 0.15, 0.6, 0.12, 0.2, 0.12, 0.13, 0.12};
    for (int keeps = 0; keeps < 2; keeps++) {
        mxp_comparison comparison = sides_of(a, 5, b, 5);
        comparison.keeps_disturbed = keeps;
        set_delays(&comparison, delays);
        assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
        assert_true(comparison.knows_delay);
        assert_int_equal(comparison.disturbed, 1);
        assert_true(fabs(comparison.delay_bound - 0.36) < 1e-9);  // three times 12 %
        assert_true(comparison.sides[MXP__BEFORE].is_disturbed[4]);
        assert_int_equal(comparison.wall.counts[MXP__BEFORE], keeps ? 5 : 4);
        assert_true(comparison.wall.means_ns[MXP__BEFORE] == (keeps ? 1101.2 : 1001.5));
        mxp__comparison_fini(&comparison);
    }
}

static void quiet_runs_are_not_disturbed_by_little(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003}, b[] = {1000, 1001, 1002, 1003};
    const double delays[] = {0.001, 0.002, 0.001, 0.04, 0.001, 0.001, 0.001, 0.049};
    mxp_comparison comparison = sides_of(a, 4, b, 4);
    set_delays(&comparison, delays);
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(comparison.disturbed, 0);
    mxp__comparison_fini(&comparison);
}

static void more_than_a_third_disturbed_leaves_cpu_time_only(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003, 1500}, b[] = {1000, 1001, 1002, 1003, 1900};
    // Of more than half: the middle one of all shares is of a disturbed run.
    const double delays[] = {0.12, 0.13, 0.57, 0.55, 0.6, 0.12, 0.12, 0.56, 0.53, 0.62};
    mxp_comparison comparison = sides_of(a, 5, b, 5);
    set_delays(&comparison, delays);
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(comparison.disturbed, 6);
    assert_int_equal(comparison.wall.verdict, MXP_VERDICT_DISTURBED);
    assert_int_equal(comparison.cpu.verdict, MXP_VERDICT_SAME);
    assert_int_equal(comparison.cpu.counts[MXP__BEFORE], 5);  // of all runs
    mxp__comparison_fini(&comparison);
}

static void pairs_lose_the_run_that_is_disturbed_and_its_partner(void **state)
{
    (void)state;
    double a[8], b[8], delays[16];
    for (int i = 0; i < 8; i++) {
        // A drift that both sides of a pair share, and 2 % between them.
        a[i] = 1000 + 100 * i;
        b[i] = a[i] * (1.02 + 0.001 * (i % 2));
        delays[i] = delays[8 + i] = 0.1;
    }
    delays[3] = 0.9;
    mxp_comparison comparison = sides_of(a, 8, b, 8);
    set_delays(&comparison, delays);
    for (size_t i = 0; i < 8; i++) {
        comparison.sides[MXP__BEFORE].runs[i].began_ns = 10 * i + 1;
        comparison.sides[MXP__AFTER].runs[i].began_ns = 10 * i + 2;
    }
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_int_equal(comparison.wall.pairs, 7);
    assert_int_equal(comparison.wall.verdict, MXP_VERDICT_SLOWER);  // no groups would show it
    assert_true(comparison.wall.smallest < 0.002);
    mxp__comparison_fini(&comparison);
    // The same runs one side after the other: the drift hides it.
    mxp_comparison groups = sides_of(a, 8, b, 8);
    assert_int_equal(mxp__comparison_judge(&groups), MXP_OK);
    assert_int_equal(groups.wall.pairs, 0);
    assert_int_equal(groups.wall.verdict, MXP_VERDICT_CANNOT_TELL);
    mxp__comparison_fini(&groups);
}

static void a_figure_that_one_run_lacks_is_unknown(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003}, b[] = {1000, 1001, 1002, 1003};
    mxp_comparison comparison = sides_of(a, 4, b, 4);
    comparison.sides[MXP__AFTER].runs[2].cpu_ns = -1;
    assert_int_equal(mxp__comparison_judge(&comparison), MXP_OK);
    assert_true(comparison.wall.is_known);
    assert_false(comparison.cpu.is_known);
    assert_false(comparison.knows_delay);
    mxp__comparison_fini(&comparison);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    const double a[] = {1000, 1001, 1002, 1003}, b[] = {1000, 1001, 1002, 1003};
    const size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    size_t allowed = 0;
    for (; error != MXP_OK && allowed < 100; allowed++) {
        mxp_comparison comparison = sides_of(a, 4, b, 4);
        fake_alloc_fail_after(allowed);
        error = mxp__comparison_judge(&comparison);
        fake_alloc_fail_never();
        mxp__comparison_fini(&comparison);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    assert_in_range(allowed, 8, 99);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_programs_differ_as_often_as_the_level_says),
        cmocka_unit_test(ten_percent_are_found_with_ten_runs_a_side),
        cmocka_unit_test(real_runs_of_one_program_differ_as_often_as_the_level_says),
        cmocka_unit_test(verdict_needs_the_interval_beyond_the_least_change),
        cmocka_unit_test(one_run_a_side_has_means_and_nothing_else),
        cmocka_unit_test(disturbed_runs_are_left_out),
        cmocka_unit_test(quiet_runs_are_not_disturbed_by_little),
        cmocka_unit_test(more_than_a_third_disturbed_leaves_cpu_time_only),
        cmocka_unit_test(pairs_lose_the_run_that_is_disturbed_and_its_partner),
        cmocka_unit_test(a_figure_that_one_run_lacks_is_unknown),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
