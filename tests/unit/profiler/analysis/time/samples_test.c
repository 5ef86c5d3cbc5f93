// SPDX-License-Identifier: Apache-2.0
// Quantiles of many durations are those of a list that is sorted by comparing.
#include "profiler/analysis/time/samples.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"

static uint64_t drawn(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance;
}

static int ascending(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

// Of durations up to 2^bits ns, of which the low bits are 0.
static void check(size_t count, unsigned bits, unsigned zeros)
{
    static const double fractions[] = {0, 0.001, 0.1, 0.5, 0.9, 0.99, 1};
    uint64_t chance = 88172645463325252u + count, *all = malloc(count * sizeof *all);
    mxp_samples samples = {0};
    bool is_exact;
    for (size_t i = 0; i < count; i++) {
        all[i] = (drawn(&chance) >> (64 - bits)) >> zeros << zeros;
        assert_int_equal(mxp__samples_add(&samples, all[i]), MXP_OK);
    }
    qsort(all, count, sizeof *all, ascending);
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        const double rank = ceil(fractions[i] * (double)count - 1e-9 * (double)count);
        assert_int_equal(mxp__samples_quantile(&samples, fractions[i], &is_exact),
                         all[rank < 1 ? 0 : (size_t)rank - 1]);
        assert_true(is_exact);
    }
    mxp__samples_fini(&samples);
    free(all);
}

static void quantiles_are_those_of_the_sorted_list(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 4095, 4096, 4097, 30000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check(counts[i], 11, 0);
        check(counts[i], 14, 0);
        check(counts[i], 23, 0);
        check(counts[i], 32, 0);
        check(counts[i], 32, 12);
        check(counts[i], 40, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_sorted_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
