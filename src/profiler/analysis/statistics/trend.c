// SPDX-License-Identifier: Apache-2.0
// Falling pairs are counted while the values are sorted by merging: each value that passes k others
// has fallen against k.
#include "profiler/analysis/statistics/trend.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/sample.h"

// ---- Mann-Kendall ------------------------------------------------------------------------------
// Merges two sorted runs of `from` into `to`; returns how many pairs stood in falling order.
static uint64_t merge(const double *from, size_t middle, size_t end, double *to)
{
    uint64_t falling = 0;
    size_t left = 0, right = middle;
    for (size_t i = 0; i < end; i++) {
        const bool takes_left = right == end || (left < middle && from[left] <= from[right]);
        to[i] = takes_left ? from[left++] : from[right++];
        falling += takes_left ? 0 : middle - left;
    }
    return falling;
}

// Sorts `values`; `other` is as large. Returns the pairs that fall.
static uint64_t sort_counting(double *values, double *other, size_t count)
{
    uint64_t falling = 0;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            const size_t rest = count - at;
            const size_t middle = rest < width ? rest : width;
            falling += merge(values + at, middle, rest < 2 * width ? rest : 2 * width, other + at);
        }
        memcpy(values, other, count * sizeof *values);
    }
    return falling;
}

static double pairs_of(double count)
{
    return count * (count - 1) / 2;
}

// The variance's term of `count` equal values.
static double variance_term(double count)
{
    return count * (count - 1) * (2 * count + 5);
}

// Of ascending values: pairs of equal ones, and the variance of the score.
static double equal_pairs(const double *sorted, size_t count, double *variance)
{
    double pairs = 0, terms = variance_term((double)count);
    for (size_t from = 0; from < count;) {
        size_t to = from + 1;
        while (to < count && sorted[to] == sorted[from]) {
            to++;
        }
        pairs += pairs_of((double)(to - from));
        terms -= variance_term((double)(to - from));
        from = to;
    }
    *variance = terms / 18;
    return pairs;
}

int mxp__mann_kendall(const double *values, size_t count, mxp_mann_kendall *result)
{
    *result = (mxp_mann_kendall){.p = 1};
    if (count < 3) {
        return MXP_OK;
    }
    double *both = mxp__alloc(2 * count * sizeof *both);
    if (both == NULL) {
        return mxp__fail_memory("the trend of a series");
    }
    memcpy(both, values, count * sizeof *both);
    const double falling = (double)sort_counting(both, both + count, count);
    const double equal = equal_pairs(both, count, &result->variance);
    const double score = pairs_of((double)count) - equal - 2 * falling;
    result->score = (int64_t)score;
    if (score != 0) {
        result->z = (score > 0 ? score - 1 : score + 1) / sqrt(result->variance);
        result->p = 2 * mxp__normal_probability(-fabs(result->z));
    }
    mxp__free(both, 2 * count * sizeof *both);
    return MXP_OK;
}

// ---- Theil-Sen ---------------------------------------------------------------------------------
// Means of neighbours; of an odd number the last stays out.
static size_t halve(double *values, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        values[i] = (values[2 * i] + values[2 * i + 1]) / 2;
    }
    return count / 2;
}

static size_t put_slopes(const double *values, size_t count, double places, double *slopes)
{
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            slopes[pairs++] = (values[j] - values[i]) / ((double)(j - i) * places);
        }
    }
    mxp__sample_sort(slopes, pairs);
    return pairs;
}

// Sen's bounds: so many slopes to each side of the middle as the score would vary.
static void put_bounds(const double *slopes, size_t pairs, double level, double deviation,
                       mxp_theil_sen *result)
{
    const double reach = mxp__normal_quantile(1 - level / 2) * deviation;
    const double low = nearbyint(((double)pairs - reach) / 2) - 1;
    const double high = nearbyint(((double)pairs + reach) / 2);
    result->slope = mxp__sample_median(slopes, pairs);
    result->low = slopes[low < 0 ? 0 : (size_t)low];
    result->high = slopes[high < (double)pairs ? (size_t)high : pairs - 1];
}

static int slopes_of(double *points, size_t count, double places, double level,
                     mxp_theil_sen *result)
{
    const size_t pairs = count * (count - 1) / 2;
    mxp_mann_kendall kendall;
    double *slopes = mxp__alloc(pairs * sizeof *slopes);
    if (slopes == NULL) {
        return mxp__fail_memory("the slopes of a series");
    }
    int error = mxp__mann_kendall(points, count, &kendall);
    if (error == MXP_OK) {
        put_slopes(points, count, places, slopes);
        put_bounds(slopes, pairs, level, sqrt(kendall.variance), result);
    }
    mxp__free(slopes, pairs * sizeof *slopes);
    return error;
}

int mxp__theil_sen(const double *values, size_t count, double level, mxp_theil_sen *result)
{
    assert(count > 1 && level > 0 && level < 1);
    double *points = mxp__alloc(count * sizeof *points);
    if (points == NULL) {
        return mxp__fail_memory("the slope of a series");
    }
    memcpy(points, values, count * sizeof *points);
    size_t left = count;
    double places = 1;
    while (left > MXP__SLOPES_OF) {
        left = halve(points, left);
        places *= 2;
    }
    int error = slopes_of(points, left, places, level, result);
    mxp__free(points, count * sizeof *points);
    return error;
}

// ---- sign test ---------------------------------------------------------------------------------
double mxp__sign_test(uint64_t successes, uint64_t trials)
{
    assert(successes <= trials);
    const uint64_t fewer = successes < trials - successes ? successes : trials - successes;
    const double all = lgamma((double)trials + 1) - (double)trials * log(2);
    double tail = 0;
    for (uint64_t i = 0; i <= fewer; i++) {
        tail += exp(all - lgamma((double)i + 1) - lgamma((double)(trials - i) + 1));
    }
    return 2 * tail < 1 ? 2 * tail : 1;
}
