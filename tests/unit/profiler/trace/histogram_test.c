// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "random.h"

static void every_value_lies_in_its_bucket(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 8; value++) {
        assert_int_equal(mxp__histogram_index(value), value);
    }
    assert_int_equal(mxp__histogram_index(UINT64_MAX), MXP__HISTOGRAM_BUCKETS - 1);
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        uint64_t lower = mxp__histogram_lower(i);
        assert_int_equal(mxp__histogram_index(lower), i);
        if (i > 0) {
            assert_int_equal(mxp__histogram_index(lower - 1), i - 1);
        }
        // A bucket is at most a quarter as wide as its lower bound.
        if (i >= 4 && i + 1 < MXP__HISTOGRAM_BUCKETS) {
            assert_true(mxp__histogram_lower(i + 1) - lower <= lower / 4);
        }
    }
    assert_true(mxp__histogram_lower(MXP__HISTOGRAM_BUCKETS) == UINT64_MAX);
}

static void adding_keeps_exact_sums(void **state)
{
    (void)state;
    mxp_histogram histogram;
    mxp__histogram_init(&histogram);
    assert_true(histogram.min == UINT64_MAX);
    const uint64_t values[] = {5, 0, 1000, 7, 999999};
    for (int i = 0; i < 5; i++) {
        mxp__histogram_add(&histogram, values[i]);
    }
    assert_int_equal(histogram.count, 5);
    assert_int_equal(histogram.total, 1001011);
    assert_int_equal(histogram.min, 0);
    assert_int_equal(histogram.max, 999999);
}

static void sums_stay_at_their_largest(void **state)
{
    (void)state;
    mxp_histogram histogram, other;
    mxp__histogram_init(&histogram);
    mxp__histogram_init(&other);
    mxp__histogram_add(&histogram, UINT64_MAX / 2);
    mxp__histogram_add_equal(&other, UINT64_MAX / 4, 2);
    mxp__histogram_merge(&other, &histogram);
    assert_true(other.total == UINT64_MAX / 4 * 2 + UINT64_MAX / 2);
    mxp__histogram_merge(&other, &histogram);
    assert_true(other.total == UINT64_MAX);
    mxp__histogram_add(&histogram, UINT64_MAX);
    assert_true(histogram.total == UINT64_MAX);
    mxp__histogram_init(&histogram);
    mxp__histogram_add_equal(&histogram, UINT64_MAX / 4, 5);
    assert_true(histogram.total == UINT64_MAX && histogram.count == 5);
}

static void merging_equals_adding_all(void **state)
{
    (void)state;
    mxp_histogram one, parts[3];
    mxp__histogram_init(&one);
    for (int i = 0; i < 3; i++) {
        mxp__histogram_init(&parts[i]);
    }
    uint64_t random = 4;
    for (int i = 0; i < 30000; i++) {
        uint64_t value = random_size(&random) >> 8;
        mxp__histogram_add(&one, value);
        mxp__histogram_add(&parts[i % 2], value);  // the third stays empty
    }
    mxp__histogram_merge(&parts[2], &parts[0]);
    mxp__histogram_merge(&parts[2], &parts[1]);
    assert_memory_equal(&parts[2], &one, sizeof one);
    mxp_histogram empty;
    mxp__histogram_init(&empty);
    mxp__histogram_merge(&one, &empty);
    assert_memory_equal(&parts[2], &one, sizeof one);
}

static void a_full_bucket_stays_full(void **state)
{
    (void)state;
    mxp_histogram a, b;
    mxp__histogram_init(&a);
    mxp__histogram_add(&a, 100);
    a.bucket[mxp__histogram_index(100)] = UINT32_MAX;
    mxp__histogram_add(&a, 100);
    assert_int_equal(a.bucket[mxp__histogram_index(100)], UINT32_MAX);
    assert_int_equal(a.count, 2);
    b = a;
    mxp__histogram_merge(&a, &b);
    assert_int_equal(a.bucket[mxp__histogram_index(100)], UINT32_MAX);
    assert_int_equal(mxp__histogram_quantile(&a, 0.5), 100);
}

static void quantiles_of_few_values_are_sane(void **state)
{
    (void)state;
    mxp_histogram histogram;
    mxp__histogram_init(&histogram);
    assert_int_equal(mxp__histogram_quantile(&histogram, 0.5), 0);
    mxp__histogram_add(&histogram, 123456789);
    for (double fraction = -1; fraction <= 2; fraction += 0.25) {
        assert_int_equal(mxp__histogram_quantile(&histogram, fraction), 123456789);
    }
    assert_int_equal(mxp__histogram_quantile(&histogram, (double)NAN), 123456789);

    mxp__histogram_init(&histogram);
    for (uint64_t value = 1; value <= 3; value++) {
        mxp__histogram_add(&histogram, value);
    }
    assert_int_equal(mxp__histogram_quantile(&histogram, 0.0), 1);
    assert_int_equal(mxp__histogram_quantile(&histogram, 0.5), 2);
    assert_int_equal(mxp__histogram_quantile(&histogram, 1.0), 3);

    mxp__histogram_init(&histogram);
    mxp__histogram_add(&histogram, UINT64_MAX);
    mxp__histogram_add(&histogram, UINT64_MAX - 1);
    assert_true(mxp__histogram_quantile(&histogram, 1.0) == UINT64_MAX);
    assert_true(mxp__histogram_quantile(&histogram, 0.5) >= UINT64_MAX - 1);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Each is the estimate of one sample, which is in the same bucket.
static void check_quantiles(uint64_t *values, size_t count)
{
    mxp_histogram histogram;
    mxp__histogram_init(&histogram);
    for (size_t i = 0; i < count; i++) {
        mxp__histogram_add(&histogram, values[i]);
    }
    qsort(values, count, sizeof *values, by_value);
    uint64_t before = 0;
    for (size_t percent = 0; percent <= 100; percent++) {
        uint64_t got = mxp__histogram_quantile(&histogram, (double)percent / 100.0);
        size_t rank = (percent * count + 99) / 100;
        uint64_t exact = values[rank == 0 ? 0 : rank - 1];
        assert_true(got >= before);
        assert_in_range(got, values[0], values[count - 1]);
        assert_int_equal(mxp__histogram_index(got), mxp__histogram_index(exact));
        assert_true((double)got < 1.25 * (double)exact || got == exact);
        assert_true((double)exact < 1.25 * (double)got || got == exact);
        before = got;
    }
}

static void quantiles_are_within_a_bucket(void **state)
{
    (void)state;
    static uint64_t values[10000];
    uint64_t random = 5;
    for (size_t i = 0; i < 10000; i++) {
        values[i] = random_below(&random, 1000000);
    }
    check_quantiles(values, 10000);
    for (size_t i = 0; i < 10000; i++) {
        values[i] = random_size(&random) >> 20;
    }
    check_quantiles(values, 10000);
    for (size_t i = 0; i < 10000; i++) {
        values[i] = i % 100 == 0 ? 5000000 : 1000;
    }
    check_quantiles(values, 10000);
    for (size_t i = 0; i < 1000; i++) {
        values[i] = i == 999 ? 1310719 : 1048576;
    }
    check_quantiles(values, 1000);
    check_quantiles((uint64_t[]){16500, 1000000}, 2);
}

static void an_even_distribution_is_interpolated(void **state)
{
    (void)state;
    mxp_histogram histogram;
    mxp__histogram_init(&histogram);
    for (uint64_t value = 0; value < 100000; value++) {
        mxp__histogram_add(&histogram, value);
    }
    for (int percent = 1; percent < 100; percent++) {
        uint64_t got = mxp__histogram_quantile(&histogram, percent / 100.0);
        assert_in_range(got, (uint64_t)percent * 990, (uint64_t)percent * 1010);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_lies_in_its_bucket),
        cmocka_unit_test(adding_keeps_exact_sums),
        cmocka_unit_test(sums_stay_at_their_largest),
        cmocka_unit_test(merging_equals_adding_all),
        cmocka_unit_test(a_full_bucket_stays_full),
        cmocka_unit_test(quantiles_of_few_values_are_sane),
        cmocka_unit_test(quantiles_are_within_a_bucket),
        cmocka_unit_test(an_even_distribution_is_interpolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
