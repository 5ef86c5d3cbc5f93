// SPDX-License-Identifier: Apache-2.0
// The block bootstrap beside the exact deviation of its mean, and beside a series whose mean has a
// known one.
#include "profiler/analysis/statistics/bootstrap.h"

#include <math.h>
#include <mxprof/error.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "figures.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/analysis/statistics/seeded.h"

enum { STEPS = sizeof steps / sizeof *steps };

static void blocks_grow_with_the_third_root(void **state)
{
    (void)state;
    const size_t counts[] = {1, 2, 3, 8, 27, 60, 1000}, blocks[] = {1, 2, 3, 4, 6, 8, 20};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(mxp__bootstrap_block(counts[i]), blocks[i]);
    }
}

static void means_spread_as_sums_of_all_blocks_say(void **state)
{
    (void)state;
    mxp_bootstrap bootstrap;
    assert_int_equal(mxp__bootstrap_init(&bootstrap, steps, STEPS), MXP_OK);
    const double spread = mxp__sample_deviation(bootstrap.means, MXP__BOOTSTRAP_ROUNDS);
    const double ratio = spread / bootstrap_deviation_of_steps;
    assert_true(ratio > 0.97 && ratio < 1.03);  // four deviations of a deviation of 10,000
    const double middle = mxp__sample_mean(bootstrap.means, MXP__BOOTSTRAP_ROUNDS);
    assert_true(fabs(middle - mxp__sample_mean(steps, STEPS)) < 4 * spread / 100);
    for (size_t i = 1; i < MXP__BOOTSTRAP_ROUNDS; i++) {
        assert_true(bootstrap.means[i - 1] <= bootstrap.means[i]);
    }
    assert_true(mxp__bootstrap_bound(&bootstrap, 0.025) == bootstrap.means[249]);
    mxp__bootstrap_fini(&bootstrap);
}

static void doubt_counts_means_that_are_not_above(void **state)
{
    (void)state;
    mxp_bootstrap bootstrap;
    assert_int_equal(mxp__bootstrap_init(&bootstrap, steps, STEPS), MXP_OK);
    const double all = MXP__BOOTSTRAP_ROUNDS + 1;
    assert_true(mxp__bootstrap_doubt(&bootstrap, 0) == 1 / all);
    assert_true(mxp__bootstrap_doubt(&bootstrap, 1e9) == 1);
    const double lower = mxp__bootstrap_bound(&bootstrap, 0.025);
    assert_true(fabs(mxp__bootstrap_doubt(&bootstrap, lower) - 0.025) < 1e-3);
    mxp__bootstrap_fini(&bootstrap);
}

static double normal(mxp_seeded *seeded)
{
    const double share = ((double)(mxp__seeded_next(seeded) >> 11) + 0.5) / 9007199254740992.0;
    return mxp__normal_quantile(share);
}

// Steps with lag-1 correlation 0.4: an interval of 95 % that took them as independent would hold
// the mean in 80 % of all series.
static void interval_holds_the_mean_of_a_series_with_memory(void **state)
{
    (void)state;
    enum { SERIES_COUNT = 200, LENGTH = 200 };
    size_t held = 0;
    mxp_seeded seeded = {3};
    for (int round = 0; round < SERIES_COUNT; round++) {
        double values[LENGTH], last = normal(&seeded);
        for (int i = 0; i < LENGTH; i++) {
            last = 0.4 * last + sqrt(1 - 0.16) * normal(&seeded);
            values[i] = 100 + 12 * last;
        }
        mxp_bootstrap bootstrap;
        assert_int_equal(mxp__bootstrap_init(&bootstrap, values, LENGTH), MXP_OK);
        held += mxp__bootstrap_bound(&bootstrap, 0.025) <= 100 &&
                mxp__bootstrap_bound(&bootstrap, 0.975) >= 100;
        mxp__bootstrap_fini(&bootstrap);
    }
    assert_in_range(held, 178, 198);
}

static void one_value_is_its_own_mean(void **state)
{
    (void)state;
    mxp_bootstrap bootstrap;
    assert_int_equal(mxp__bootstrap_init(&bootstrap, steps, 1), MXP_OK);
    assert_true(mxp__bootstrap_bound(&bootstrap, 0.025) == steps[0]);
    assert_true(mxp__bootstrap_bound(&bootstrap, 0.975) == steps[0]);
    mxp__bootstrap_fini(&bootstrap);
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    mxp_bootstrap bootstrap;
    for (size_t allowed = 0; allowed < 2; allowed++) {
        fake_alloc_fail_after(allowed);
        assert_int_equal(mxp__bootstrap_init(&bootstrap, steps, STEPS), MXP_ENOMEM);
        fake_alloc_fail_never();
        assert_int_equal(fake_alloc_held_blocks(), 0);
    }
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_grow_with_the_third_root),
        cmocka_unit_test(means_spread_as_sums_of_all_blocks_say),
        cmocka_unit_test(doubt_counts_means_that_are_not_above),
        cmocka_unit_test(interval_holds_the_mean_of_a_series_with_memory),
        cmocka_unit_test(one_value_is_its_own_mean),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
