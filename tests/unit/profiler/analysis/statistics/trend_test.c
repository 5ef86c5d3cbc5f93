// SPDX-License-Identifier: Apache-2.0
// Trends beside SciPy's, and beside plain counting of all pairs.
#include "profiler/analysis/statistics/trend.h"

#include <math.h>
#include <mxprof/error.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "figures.h"
#include "profiler/analysis/statistics/seeded.h"

enum { COUNT = sizeof series / sizeof *series };

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fmax(1, fabs(expected)))) {
        fail_msg("%.15g is not %.15g", value, expected);
    }
}

static void score_and_its_probability(void **state)
{
    (void)state;
    mxp_mann_kendall result;
    assert_int_equal(mxp__mann_kendall(series, COUNT, &result), MXP_OK);
    assert_true((double)result.score == kendall_score);
    close_to(result.variance, kendall_variance);
    close_to(result.z, kendall_z);
    assert_true(fabs(result.p / kendall_p - 1) < 1e-9);
}

static int64_t count_pairs(const double *values, size_t count)
{
    int64_t score = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            score += (values[j] > values[i]) - (values[j] < values[i]);
        }
    }
    return score;
}

static void score_is_that_of_all_pairs(void **state)
{
    (void)state;
    mxp_seeded seeded = {1};
    double values[70];
    for (size_t count = 3; count <= 70; count++) {
        for (size_t i = 0; i < count; i++) {
            values[i] = (double)mxp__seeded_below(&seeded, count) + (double)i / 8;
        }
        mxp_mann_kendall result;
        assert_int_equal(mxp__mann_kendall(values, count, &result), MXP_OK);
        assert_int_equal(result.score, count_pairs(values, count));
    }
}

static void nothing_that_varies_has_no_trend(void **state)
{
    (void)state;
    const double same[] = {4, 4, 4, 4};
    mxp_mann_kendall result;
    assert_int_equal(mxp__mann_kendall(same, 4, &result), MXP_OK);
    assert_true(result.score == 0 && result.z == 0 && result.p == 1 && result.variance == 0);
    assert_int_equal(mxp__mann_kendall(series, 2, &result), MXP_OK);
    assert_true(result.z == 0 && result.p == 1);
    mxp_theil_sen slope;
    assert_int_equal(mxp__theil_sen(same, 4, 0.05, &slope), MXP_OK);
    assert_true(slope.slope == 0 && slope.low == 0 && slope.high == 0);
}

static void slope_and_its_bounds(void **state)
{
    (void)state;
    mxp_theil_sen result;
    assert_int_equal(mxp__theil_sen(series, COUNT, 0.05, &result), MXP_OK);
    close_to(result.slope, sen_slope);
    close_to(result.low, sen_low);
    close_to(result.high, sen_high);
    assert_int_equal(mxp__theil_sen(series, 2, 0.05, &result), MXP_OK);
    assert_true(result.slope == -4 && result.low == -4 && result.high == -4);
}

// 400,000 bytes a step, with a sixth of all steps far off.
static void slope_of_a_long_series_is_that_of_one_place(void **state)
{
    (void)state;
    enum { LONG = 10001 };
    static double values[LONG];
    mxp_seeded seeded = {2};
    for (size_t i = 0; i < LONG; i++) {
        values[i] = 400000.0 * (double)i;
        values[i] += i / 7 % 6 == 0 ? 1e6 * (double)mxp__seeded_below(&seeded, 100) : 0;
    }
    mxp_theil_sen result;
    assert_int_equal(mxp__theil_sen(values, LONG, 0.05, &result), MXP_OK);
    assert_true(result.low <= result.slope && result.slope <= result.high);
    assert_true(fabs(result.slope - 400000) < 400);
}

static void coins(void **state)
{
    (void)state;
    const uint64_t throws[][2] = {{9, 10}, {5, 10}, {0, 12}, {61, 100}, {5300, 10000}};
    for (size_t i = 0; i < sizeof throws / sizeof *throws; i++) {
        const double p = mxp__sign_test(throws[i][0], throws[i][1]);
        assert_true(fabs(p / sign_tests[i] - 1) < 1e-9);
    }
    assert_true(mxp__sign_test(0, 0) == 1);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    mxp_mann_kendall trend;
    mxp_theil_sen slope;
    fake_alloc_fail_after(0);
    assert_int_equal(mxp__mann_kendall(series, COUNT, &trend), MXP_ENOMEM);
    for (size_t allowed = 0; allowed < 3; allowed++) {
        fake_alloc_fail_after(allowed);
        assert_int_equal(mxp__theil_sen(series, COUNT, 0.05, &slope), MXP_ENOMEM);
        fake_alloc_fail_never();
        assert_int_equal(fake_alloc_held_blocks(), 0);
    }
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(score_and_its_probability),
        cmocka_unit_test(score_is_that_of_all_pairs),
        cmocka_unit_test(nothing_that_varies_has_no_trend),
        cmocka_unit_test(slope_and_its_bounds),
        cmocka_unit_test(slope_of_a_long_series_is_that_of_one_place),
        cmocka_unit_test(coins),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
