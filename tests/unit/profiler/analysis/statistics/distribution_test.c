// SPDX-License-Identifier: Apache-2.0
// Normal and t distribution beside SciPy's.
#include "profiler/analysis/statistics/distribution.h"

#include <math.h>

#include "cmocka_all.h"
#include "figures.h"

enum {
    FREEDOMS = sizeof freedoms / sizeof *freedoms,
    Z_VALUES = sizeof z_values / sizeof *z_values
};

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-11 * fabs(expected))) {
        fail_msg("%.15g is not %.15g", value, expected);
    }
}

static void normal_probabilities_and_their_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < Z_VALUES; i++) {
        close_to(mxp__normal_probability(z_values[i]), normal_probabilities[i]);
        if (z_values[i] > -5) {  // 1 less a smaller one is 1
            assert_true(fabs(mxp__normal_quantile(normal_probabilities[i]) - z_values[i]) < 1e-9);
        }
    }
}

static void t_probabilities_and_their_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < FREEDOMS; i++) {
        close_to(mxp__t_probability(t_values[i], freedoms[i]), t_probabilities[i]);
        close_to(mxp__t_quantile(0.975, freedoms[i]), t_975[i]);
        close_to(mxp__t_quantile(0.8, freedoms[i]), t_80[i]);
        close_to(mxp__t_quantile(0.025, freedoms[i]), -t_975[i]);
        assert_true(mxp__t_quantile(0.5, freedoms[i]) == 0);
    }
}

static void smallest_difference_is_that_of_the_two_quantiles(void **state)
{
    (void)state;
    // 5 against 5: 8 degrees of freedom; 18 runs more on one side than one: 18.
    close_to(mxp__smallest_difference(0.07, 5, 5), (t_975[3] + t_80[3]) * 0.07 * sqrt(0.4));
    close_to(mxp__smallest_difference(2, 1, 19), (t_975[4] + t_80[4]) * 2 * sqrt(1 + 1.0 / 19));
    close_to(mxp__smallest_difference_of_pairs(2, 6), (t_975[2] + t_80[2]) * 2 / sqrt(6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_probabilities_and_their_values),
        cmocka_unit_test(t_probabilities_and_their_values),
        cmocka_unit_test(smallest_difference_is_that_of_the_two_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
