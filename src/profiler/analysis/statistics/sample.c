// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/statistics/sample.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

double mxp__sample_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return count == 0 ? 0 : sum / (double)count;
}

// Sum of (x[i] - mean) * (x[i + lag] - mean).
static double products(const double *values, size_t count, size_t lag)
{
    const double mean = mxp__sample_mean(values, count);
    double sum = 0;
    for (size_t i = lag; i < count; i++) {
        sum += (values[i] - mean) * (values[i - lag] - mean);
    }
    return sum;
}

double mxp__sample_deviation(const double *values, size_t count)
{
    return count < 2 ? 0 : sqrt(products(values, count, 0) / (double)(count - 1));
}

double mxp__sample_autocorrelation(const double *values, size_t count, size_t lag)
{
    const double all = products(values, count, 0);
    return all > 0 ? products(values, count, lag) / all : 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void mxp__sample_sort(double *values, size_t count)
{
    if (count > 1) {
        qsort(values, count, sizeof *values, ascending);
    }
}

static double middle_of(double a, double b, double c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

// Values below the pivot, or with it, go to the front: where they end. Nothing depends on what a
// value is but its place, because a processor cannot guess which ones are below.
static size_t part(double *values, size_t from, size_t to, double pivot, bool with_pivot)
{
    size_t low = from;
    for (size_t i = from; i < to; i++) {
        const double value = values[i];
        values[i] = values[low];
        values[low] = value;
        low += with_pivot ? value <= pivot : value < pivot;
    }
    return low;
}

double mxp__sample_select(double *values, size_t count, size_t place)
{
    assert(place < count);
    size_t from = 0, to = count;
    for (;;) {
        const double pivot =
            middle_of(values[from], values[from + (to - from) / 2], values[to - 1]);
        const size_t below = part(values, from, to, pivot, false);
        if (place < below) {
            to = below;
            continue;
        }
        const size_t not_above = part(values, below, to, pivot, true);
        if (place < not_above) {
            return values[place];
        }
        from = not_above;
    }
}

double mxp__sample_middle(double *values, size_t count)
{
    const double upper = mxp__sample_select(values, count, count / 2);
    double lower = values[0];  // what is before the place is not above it
    if (count % 2 == 1) {
        return upper;
    }
    for (size_t i = 1; i < count / 2; i++) {
        lower = values[i] > lower ? values[i] : lower;
    }
    return (lower + upper) / 2;
}

double mxp__sample_percentile(const double *sorted, size_t count, double fraction)
{
    assert(count > 0 && fraction >= 0 && fraction <= 1);
    // A product that rounding has put just above a whole number is that number.
    const double rank = ceil(fraction * (double)count * (1 - 1e-14));
    const size_t place = rank < 1 ? 1 : (size_t)rank;
    return sorted[(place > count ? count : place) - 1];
}

double mxp__sample_median(const double *sorted, size_t count)
{
    assert(count > 0);
    return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}
