// SPDX-License-Identifier: Apache-2.0
// The permutation tests beside SciPy's, their intervals beside a search that makes the whole test
// at each shift.
#include "profiler/analysis/statistics/permutation.h"

#include <math.h>
#include <mxprof/error.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "figures.h"
#include "profiler/analysis/statistics/seeded.h"

enum {
    COUNT_A = sizeof runs_a / sizeof *runs_a,
    COUNT_B = sizeof runs_b / sizeof *runs_b,
    PAIRS = sizeof pair_a / sizeof *pair_a
};

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-10)) {
        fail_msg("%.15g is not %.15g", value, expected);
    }
}

static void put_logs(const double *values, size_t count, double *logs)
{
    for (size_t i = 0; i < count; i++) {
        logs[i] = log(values[i]);
    }
}

static void groups_of_all_splits(void **state)
{
    (void)state;
    double a[COUNT_A], b[COUNT_B];
    put_logs(runs_a, COUNT_A, a);
    put_logs(runs_b, COUNT_B, b);
    mxp_permutation result;
    assert_int_equal(mxp__permutation_groups(a, COUNT_A, b, COUNT_B, 0.05, &result), MXP_OK);
    assert_true(result.is_exact);
    assert_int_equal(result.splits, 1716);  // 13 over 6
    close_to(result.change, groups_change);
    close_to(result.p, groups_p);
    close_to(result.low, groups_low);
    close_to(result.high, groups_high);
    // Turned around, the same with the other sign.
    mxp_permutation turned;
    assert_int_equal(mxp__permutation_groups(b, COUNT_B, a, COUNT_A, 0.05, &turned), MXP_OK);
    close_to(turned.p, result.p);
    close_to(turned.low, -result.high);
    close_to(turned.high, -result.low);
}

static void pairs_of_all_signs(void **state)
{
    (void)state;
    double a[PAIRS], b[PAIRS];
    put_logs(pair_a, PAIRS, a);
    put_logs(pair_b, PAIRS, b);
    mxp_permutation result;
    assert_int_equal(mxp__permutation_pairs(a, b, PAIRS, 0.05, &result), MXP_OK);
    assert_true(result.is_exact);
    assert_int_equal(result.splits, 256);
    close_to(result.change, pairs_change);
    close_to(result.p, pairs_p);
    close_to(result.low, pairs_low);
    close_to(result.high, pairs_high);
}

static void small_groups_bound_nothing(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3}, b[] = {11, 12, 13};
    mxp_permutation result;
    assert_int_equal(mxp__permutation_groups(a, 3, b, 3, 0.05, &result), MXP_OK);
    close_to(result.p, 0.1);  // two of 20 splits are as extreme
    assert_true(isinf(result.low) && result.low < 0 && isinf(result.high) && result.high > 0);
    assert_int_equal(mxp__permutation_groups(a, 1, b, 1, 0.05, &result), MXP_OK);
    close_to(result.p, 1);
}

static void equal_values_are_no_difference(void **state)
{
    (void)state;
    const double same[] = {0.1, 0.1, 0.1, 0.1, 0.1};
    mxp_permutation result;
    assert_int_equal(mxp__permutation_groups(same, 5, same, 5, 0.05, &result), MXP_OK);
    assert_true(result.p == 1);
    close_to(result.low, 0);
    close_to(result.high, 0);
    assert_int_equal(mxp__permutation_pairs(same, same, 5, 0.05, &result), MXP_OK);
    assert_true(result.p == 1);
}

static double uniform(mxp_seeded *seeded)
{
    return (double)(mxp__seeded_next(seeded) >> 11) / 9007199254740992.0;
}

// With few and many values, so with all splits and with a sample of them.
static void interval_holds_no_change_where_p_is_above_the_level(void **state)
{
    (void)state;
    mxp_seeded seeded = {11};
    size_t refused = 0;
    for (int round = 0; round < 120; round++) {
        const size_t n = 4 + (size_t)mxp__seeded_below(&seeded, 9), m = 4 + n % 7;
        double a[20], b[20];
        for (int i = 0; i < 20; i++) {
            a[i] = uniform(&seeded);
            b[i] = uniform(&seeded) + 0.3;
        }
        mxp_permutation groups, pairs;
        assert_int_equal(mxp__permutation_groups(a, n, b, m, 0.05, &groups), MXP_OK);
        assert_int_equal(groups.p > 0.05, groups.low <= 0 && 0 <= groups.high);
        assert_int_equal(mxp__permutation_pairs(a, b, n + 5, 0.05, &pairs), MXP_OK);
        assert_int_equal(pairs.p > 0.05, pairs.low <= 0 && 0 <= pairs.high);
        assert_true(groups.low <= groups.change && groups.change <= groups.high);
        refused += groups.p <= 0.05;
    }
    assert_in_range(refused, 20, 100);  // both happened
}

static void a_sample_of_splits_is_near_all_of_them(void **state)
{
    (void)state;
    // 9 against 9: 48,620 splits. Of normal scores this far apart, counted over all of them by
    // recursion below.
    double a[9], b[9], all[18];
    for (int i = 0; i < 9; i++) {
        a[i] = all[i] = i * i % 7;
        b[i] = all[9 + i] = 1.5 + i * 3 % 8;
    }
    size_t ways = 0, extreme = 0;
    double sum_a = 0, sum = 0;
    for (int i = 0; i < 9; i++) {
        sum_a += a[i];
        sum += a[i] + b[i];
    }
    const double seen = fabs(sum - 2 * sum_a);
    for (unsigned chosen = 0; chosen < 1u << 18; chosen++) {
        if (__builtin_popcount(chosen) == 9) {
            double of_chosen = 0;
            for (int i = 0; i < 18; i++) {
                of_chosen += (chosen >> i & 1) != 0 ? all[i] : 0;
            }
            ways++;
            extreme += fabs(sum - 2 * of_chosen) >= seen - 1e-9;
        }
    }
    assert_int_equal(ways, 48620);
    const double p = (double)extreme / (double)ways;
    mxp_permutation result, again;
    assert_int_equal(mxp__permutation_groups(a, 9, b, 9, 0.05, &result), MXP_OK);
    assert_false(result.is_exact);
    assert_int_equal(result.splits, MXP__SPLITS_MAX + 1);
    assert_true(fabs(result.p - p) < 4 * sqrt(p * (1 - p) / MXP__SPLITS_MAX));
    assert_int_equal(mxp__permutation_groups(a, 9, b, 9, 0.05, &again), MXP_OK);
    assert_true(again.p == result.p && again.low == result.low && again.high == result.high);
}

static void many_pairs_use_more_draws_than_one_word_has_bits(void **state)
{
    (void)state;
    double a[150], b[150];
    mxp_seeded seeded = {5};
    for (int i = 0; i < 150; i++) {
        a[i] = uniform(&seeded);
        b[i] = a[i] + (i < 70 ? -1 : 1);  // the sum of 150 signs is 10: within one deviation
    }
    mxp_permutation result;
    assert_int_equal(mxp__permutation_pairs(a, b, 150, 0.05, &result), MXP_OK);
    assert_false(result.is_exact);
    // P(|sum of 150 signs| >= 10) = 0.4624 from the binomial distribution.
    assert_true(fabs(result.p - 0.4624) < 0.015);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    mxp_permutation result;
    for (size_t allowed = 0; allowed < 3; allowed++) {
        fake_alloc_fail_after(allowed);
        assert_int_equal(mxp__permutation_groups(runs_a, COUNT_A, runs_b, COUNT_B, 0.05, &result),
                         MXP_ENOMEM);
        fake_alloc_fail_never();
        assert_int_equal(fake_alloc_held_blocks(), 0);
    }
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_all_splits),
        cmocka_unit_test(pairs_of_all_signs),
        cmocka_unit_test(small_groups_bound_nothing),
        cmocka_unit_test(equal_values_are_no_difference),
        cmocka_unit_test(interval_holds_no_change_where_p_is_above_the_level),
        cmocka_unit_test(a_sample_of_splits_is_near_all_of_them),
        cmocka_unit_test(many_pairs_use_more_draws_than_one_word_has_bits),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
