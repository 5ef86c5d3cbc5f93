// SPDX-License-Identifier: Apache-2.0
// The noise of runs: what was put into them comes out.
#include "profiler/analysis/comparison/noise.h"

#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/seeded.h"

enum { RUNS = 200, STEPS = 200 };

static mxp_compared_run runs[RUNS];
static double lengths[RUNS][STEPS];

static double normal(mxp_seeded *seeded)
{
    const double share = ((double)(mxp__seeded_next(seeded) >> 11) + 0.5) / 9007199254740992.0;
    return mxp__normal_quantile(share);
}

// Between runs 7 %, within 12 %, lag-1 0.4, as measured on a quiet machine.
static void draw(void)
{
    mxp_seeded seeded = {2};
    for (size_t i = 0; i < RUNS; i++) {
        const double effect = exp(0.07 * normal(&seeded));
        double last = normal(&seeded), sum = 0;
        for (size_t k = 0; k < STEPS; k++) {
            last = 0.4 * last + sqrt(1 - 0.16) * normal(&seeded);
            lengths[i][k] = 10e6 * effect * (1 + 0.12 * last);
            sum += lengths[i][k];
        }
        runs[i] = (mxp_compared_run){.lengths_ns = lengths[i],
                                     .step_count = STEPS,
                                     .mean_ns = sum / STEPS,
                                     .cpu_ns = -1,
                                     .began_ns = RUNS - i};
    }
}

static bool near(double value, double expected, double allowed)
{
    return fabs(value - expected) <= allowed;
}

static void spreads_and_correlations_are_those_put_in(void **state)
{
    (void)state;
    draw();
    mxp_noise noise;
    assert_int_equal(mxp__noise_of(runs, RUNS, NULL, false, &noise), MXP_OK);
    assert_int_equal(noise.runs, RUNS);
    // The mean of 200 such steps adds 1.3 % to 7 %: 7.1 %, expm1 of it 7.4 %.
    assert_true(near(noise.between, 0.074, 0.012));
    assert_true(near(noise.within, 0.12, 0.003));
    assert_true(near(noise.resemblance[0], 0.4, 0.02));
    assert_true(near(noise.resemblance[1], 0.4 * 0.4 * 0.4 * 0.4 * 0.4, 0.03));
    assert_true(near(noise.resemblance[2], 0, 0.03));
    assert_true(near(noise.neighbours, 0, 0.2));
    const double deviation = log1p(noise.between);
    assert_true(near(noise.smallest[1],
                     expm1((2.30600413520417 + 0.88888951776702) * deviation * sqrt(0.4)),
                     1e-9));  // 5 against 5
    assert_true(noise.smallest[0] > noise.smallest[1] && noise.smallest[2] > noise.smallest[3]);
}

// A drift shows between runs that follow one another in time, whatever order they are given in.
static void neighbours_are_those_in_time(void **state)
{
    (void)state;
    draw();
    for (size_t i = 0; i < RUNS; i++) {
        runs[i].began_ns = 1 + (i * 77) % RUNS;
        runs[i].mean_ns = 1e7 * (1 + 0.001 * (double)runs[i].began_ns);
    }
    mxp_noise noise;
    assert_int_equal(mxp__noise_of(runs, RUNS, NULL, false, &noise), MXP_OK);
    assert_true(noise.neighbours > 0.95);
}

static void what_cannot_be_said_is_not(void **state)
{
    (void)state;
    draw();
    mxp_noise noise;
    bool chosen[RUNS] = {[3] = true};
    runs[3].step_count = 1;
    assert_int_equal(mxp__noise_of(runs, RUNS, chosen, false, &noise), MXP_OK);
    assert_int_equal(noise.runs, 1);
    assert_true(noise.mean_ns == runs[3].mean_ns);
    assert_true(isnan(noise.between) && isnan(noise.within) && isnan(noise.neighbours));
    assert_true(isnan(noise.resemblance[0]) && isnan(noise.smallest[0]));
    assert_int_equal(mxp__noise_of(runs, RUNS, NULL, true, &noise), MXP_OK);
    assert_int_equal(noise.runs, 0);  // none has CPU times
    assert_true(isnan(noise.mean_ns));
}

static void without_memory_there_is_an_error_and_nothing_held(void **state)
{
    (void)state;
    draw();
    mxp_noise noise;
    for (size_t allowed = 0; allowed < 2; allowed++) {
        fake_alloc_fail_after(allowed);
        assert_int_equal(mxp__noise_of(runs, RUNS, NULL, false, &noise), MXP_ENOMEM);
        fake_alloc_fail_never();
        assert_int_equal(fake_alloc_held_blocks(), 0);
    }
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads_and_correlations_are_those_put_in),
        cmocka_unit_test(neighbours_are_those_in_time),
        cmocka_unit_test(what_cannot_be_said_is_not),
        cmocka_unit_test(without_memory_there_is_an_error_and_nothing_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
