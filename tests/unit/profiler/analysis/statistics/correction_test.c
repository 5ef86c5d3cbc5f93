// SPDX-License-Identifier: Apache-2.0
// Corrections for several tests beside those of statsmodels.
#include "profiler/analysis/statistics/correction.h"

#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "figures.h"

enum { COUNT = sizeof p_values / sizeof *p_values };

static void check(int (*correct)(const double *, size_t, double *), const double *expected)
{
    double adjusted[COUNT], in_place[COUNT];
    memcpy(in_place, p_values, sizeof in_place);
    assert_int_equal(correct(p_values, COUNT, adjusted), MXP_OK);
    assert_int_equal(correct(in_place, COUNT, in_place), MXP_OK);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(fabs(adjusted[i] - expected[i]) < 1e-14);
        assert_true(in_place[i] == adjusted[i]);
    }
    assert_int_equal(correct(NULL, 0, NULL), MXP_OK);
    fake_alloc_fail_after(0);
    assert_int_equal(correct(p_values, COUNT, adjusted), MXP_ENOMEM);
    fake_alloc_fail_never();
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void holm(void **state)
{
    (void)state;
    check(mxp__correction_holm, holm_of_p_values);
}

static void benjamini_hochberg(void **state)
{
    (void)state;
    check(mxp__correction_benjamini_hochberg, benjamini_hochberg_of_p_values);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holm),
        cmocka_unit_test(benjamini_hochberg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
