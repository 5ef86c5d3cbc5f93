// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/clocks/cuts.h"

#include <math.h>

#include "cmocka_all.h"
#include "random.h"

static const mxp_cut_model straight = {.skew_max = 1e-3, .wander = 0};

static void one_cut_is_its_own_bound(void **state)
{
    (void)state;
    const mxp_cut cut = {1000, 40, 60};
    mxp_bounds bounds;
    assert_true(mxp__cuts_bounds(&cut, 1, &straight, 1000, &bounds));
    assert_int_equal(bounds.low_ns, 40);
    assert_int_equal(bounds.high_ns, 60);
}

static void away_from_a_cut_the_slope_counts(void **state)
{
    (void)state;
    const mxp_cut cut = {0, 40, 60};
    mxp_bounds bounds;
    assert_true(mxp__cuts_bounds(&cut, 1, &straight, 1000000, &bounds));
    assert_int_equal(bounds.low_ns, 40 - 1000);
    assert_int_equal(bounds.high_ns, 60 + 1000);
}

static void two_cuts_bound_what_lies_between_them(void **state)
{
    (void)state;
    const mxp_cut cuts[] = {{0, 0, 10}, {1000000, 100, 120}};
    mxp_bounds bounds;
    assert_true(mxp__cuts_bounds(cuts, 2, &straight, 500000, &bounds));
    assert_in_range(bounds.low_ns, 49, 50);
    assert_in_range(bounds.high_ns, 65, 66);
}

static void cuts_that_no_line_keeps_to_are_refused(void **state)
{
    (void)state;
    const mxp_cut jump[] = {{0, 0, 10}, {1000000, 5000, 5010}};
    const mxp_cut bend[] = {{0, 0, 1}, {1000000, 100, 101}, {2000000, 0, 1}};
    mxp_bounds bounds;
    assert_false(mxp__cuts_bounds(jump, 2, &straight, 0, &bounds));
    assert_false(mxp__cuts_bounds(bend, 3, &straight, 1000000, &bounds));
}

static void of_one_sided_cuts_the_other_side_is_open(void **state)
{
    (void)state;
    const mxp_cut cuts[] = {{0, 10, MXP__CUT_NO_HIGH}, {0, 20, MXP__CUT_NO_HIGH}};
    mxp_bounds bounds;
    assert_true(mxp__cuts_bounds(cuts, 2, &straight, 0, &bounds));
    assert_int_equal(bounds.low_ns, 20);
    assert_true(bounds.high_ns >= MXP__CUT_FAR_NS / 2);
    assert_true(mxp__cuts_bounds(cuts, 0, &straight, 0, &bounds));
    assert_true(bounds.low_ns <= -MXP__CUT_FAR_NS / 2);
}

// Against a search: over a grid of slopes, the bounds that each leaves.
static void search(const mxp_cut *cuts, size_t count, const mxp_cut_model *model, int64_t when_ns,
                   double *low, double *high)
{
    enum { SLOPES = 200001 };
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < SLOPES; i++) {
        const double slope = model->skew_max * (2.0 * i / (SLOPES - 1) - 1);
        double least = -INFINITY, most = INFINITY;
        for (size_t j = 0; j < count; j++) {
            const double apart = (double)(when_ns - cuts[j].at_ns);
            const double room = model->wander * fabs(apart);
            least = fmax(least, (double)cuts[j].low_ns + slope * apart - room);
            most = fmin(most, (double)cuts[j].high_ns + slope * apart + room);
        }
        if (least <= most) {
            *low = fmin(*low, least), *high = fmax(*high, most);
        }
    }
}

static void bounds_are_those_that_a_search_finds(void **state)
{
    (void)state;
    enum { CUTS = 20, RUNS = 10 };
    const mxp_cut_model model = {.skew_max = 1e-3, .wander = 1e-6};
    uint64_t random = 3;
    for (int run = 0; run < RUNS; run++) {
        mxp_cut cuts[CUTS];
        const double skew = ((double)random_below(&random, 1000) - 500) * 1e-6;
        for (size_t i = 0; i < CUTS; i++) {
            const int64_t at_ns = (int64_t)random_below(&random, 10000000);
            const int64_t truth_ns = (int64_t)(skew * (double)at_ns) - 77;
            cuts[i] = (mxp_cut){at_ns, truth_ns - 1 - (int64_t)random_below(&random, 2000),
                                truth_ns + 1 + (int64_t)random_below(&random, 2000)};
        }
        for (int64_t when_ns = -2000000; when_ns <= 12000000; when_ns += 3500000) {
            double low, high;
            mxp_bounds bounds;
            search(cuts, CUTS, &model, when_ns, &low, &high);
            assert_true(mxp__cuts_bounds(cuts, CUTS, &model, when_ns, &bounds));
            assert_true(fabs((double)bounds.low_ns - low) < 2);
            assert_true(fabs((double)bounds.high_ns - high) < 2);
        }
    }
}

// Clocks of machines that were started years apart, over a day.
static void far_values_lose_nothing(void **state)
{
    (void)state;
    const int64_t far_ns = INT64_C(100000000000000000), day_ns = INT64_C(86400000000000);
    const mxp_cut cuts[] = {{far_ns, -far_ns, -far_ns + 100},
                            {far_ns + day_ns, -far_ns + 1000000, -far_ns + 1000100}};
    mxp_bounds bounds;
    assert_true(mxp__cuts_bounds(cuts, 2, &straight, far_ns + day_ns / 2, &bounds));
    assert_in_range(bounds.low_ns + far_ns, 499999, 500001);
    assert_in_range(bounds.high_ns + far_ns, 500099, 500101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cut_is_its_own_bound),
        cmocka_unit_test(away_from_a_cut_the_slope_counts),
        cmocka_unit_test(two_cuts_bound_what_lies_between_them),
        cmocka_unit_test(cuts_that_no_line_keeps_to_are_refused),
        cmocka_unit_test(of_one_sided_cuts_the_other_side_is_open),
        cmocka_unit_test(bounds_are_those_that_a_search_finds),
        cmocka_unit_test(far_values_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
