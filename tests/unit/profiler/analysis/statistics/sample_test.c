// SPDX-License-Identifier: Apache-2.0
// Figures of one sample, beside those of NumPy and statsmodels.
#include "profiler/analysis/statistics/sample.h"

#include <math.h>
#include <string.h>

#include "cmocka_all.h"
#include "figures.h"
#include "profiler/analysis/statistics/seeded.h"

enum { STEPS = sizeof steps / sizeof *steps };

static void close_to(double value, double expected)
{
    const double allowed = 1e-11 * fmax(fabs(expected), 1e-3);
    if (!(fabs(value - expected) <= allowed)) {
        fail_msg("%.15g is not %.15g", value, expected);
    }
}

static void a_percentile_is_a_value_of_the_sample(void **state)
{
    (void)state;
    double sorted[STEPS];
    for (size_t i = 0; i < STEPS; i++) {
        sorted[i] = steps[STEPS - 1 - i];
    }
    mxp__sample_sort(sorted, STEPS);
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        assert_true(mxp__sample_percentile(sorted, STEPS, fractions[i]) == percentiles_of_steps[i]);
    }
    assert_true(mxp__sample_median(sorted, STEPS) == median_of_steps);
    assert_true(mxp__sample_median(sorted, 2) == (sorted[0] + sorted[1]) / 2);
    assert_true(mxp__sample_percentile(sorted, 1, 0.5) == sorted[0]);
}

static void a_place_is_found_without_sorting(void **state)
{
    (void)state;
    mxp_seeded seeded = {9};
    double values[40], sorted[40];
    for (int round = 0; round < 300; round++) {
        const size_t count = 1 + (size_t)mxp__seeded_below(&seeded, 40);
        for (size_t i = 0; i < count; i++) {
            values[i] = sorted[i] = (double)mxp__seeded_below(&seeded, 1 + round % 30);
        }
        values[count / 2] = sorted[count / 2] = INFINITY;
        mxp__sample_sort(sorted, count);
        const size_t place = (size_t)mxp__seeded_below(&seeded, count);
        assert_true(mxp__sample_select(values, count, place) == sorted[place]);
        values[0] = sorted[0];
        memcpy(values, sorted + 1, (count - 1) * sizeof *values);
        values[count - 1] = sorted[0];
        const double middle = mxp__sample_middle(values, count);
        assert_true(middle == mxp__sample_median(sorted, count));
    }
}

// 0.07 * 100 is just above 7 in binary.
static void a_share_that_is_a_whole_number_of_values_takes_no_further_one(void **state)
{
    (void)state;
    double sorted[100];
    for (int i = 0; i < 100; i++) {
        sorted[i] = i + 1;
    }
    for (int percent = 1; percent <= 100; percent++) {
        assert_true(mxp__sample_percentile(sorted, 100, percent / 100.0) == percent);
    }
}

static void spread_and_resemblance_of_neighbours(void **state)
{
    (void)state;
    close_to(mxp__sample_deviation(steps, STEPS), deviation_of_steps);
    for (size_t lag = 0; lag < 4; lag++) {
        close_to(mxp__sample_autocorrelation(steps, STEPS, lag), autocorrelation_of_steps[lag]);
    }
    const double same[] = {3, 3, 3};
    assert_true(mxp__sample_autocorrelation(same, 3, 1) == 0);
    assert_true(mxp__sample_autocorrelation(steps, 3, 9) == 0);
    assert_true(mxp__sample_deviation(steps, 1) == 0);
    assert_true(mxp__sample_mean(steps, 0) == 0);
}

static void draws_are_even_and_the_same_each_time(void **state)
{
    (void)state;
    mxp_seeded seeded = {7}, again = {7};
    size_t seen[10] = {0};
    for (int i = 0; i < 100000; i++) {
        const uint64_t drawn = mxp__seeded_below(&seeded, 10);
        assert_int_equal(drawn, mxp__seeded_below(&again, 10));
        assert_true(drawn < 10);
        seen[drawn]++;
    }
    for (int i = 0; i < 10; i++) {
        assert_in_range(seen[i], 9600, 10400);  // four deviations of a binomial
    }
    // Two thirds of all numbers is a limit that wraps unevenly.
    const uint64_t limit = UINT64_MAX / 3 * 2;
    size_t lower = 0;
    for (int i = 0; i < 10000; i++) {
        lower += mxp__seeded_below(&seeded, limit) < limit / 2;
    }
    assert_in_range(lower, 4800, 5200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_percentile_is_a_value_of_the_sample),
        cmocka_unit_test(a_place_is_found_without_sorting),
        cmocka_unit_test(a_share_that_is_a_whole_number_of_values_takes_no_further_one),
        cmocka_unit_test(spread_and_resemblance_of_neighbours),
        cmocka_unit_test(draws_are_even_and_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
