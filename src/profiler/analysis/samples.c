// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/samples.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/histogram.h"

static void free_values(mxp_samples *samples)
{
    mxp__free(samples->values, samples->capacity * sizeof *samples->values);
    samples->values = NULL;
    samples->count = samples->capacity = 0;
}

static int take_histogram(mxp_samples *samples)
{
    samples->histogram = mxp__alloc(sizeof *samples->histogram);
    if (samples->histogram == NULL) {
        return mxp__fail_memory("percentiles");
    }
    mxp__histogram_init(samples->histogram);
    for (size_t i = 0; i < samples->count; i++) {
        mxp__histogram_add(samples->histogram, samples->values[i]);
    }
    free_values(samples);
    return MXP_OK;
}

int mxp__samples_add(mxp_samples *samples, uint64_t value)
{
    if (samples->histogram == NULL && samples->count == MXP_SAMPLES_MAX) {
        int error = take_histogram(samples);
        if (error != MXP_OK) {
            return error;
        }
    }
    if (samples->histogram != NULL) {
        mxp__histogram_add(samples->histogram, value);
        return MXP_OK;
    }
    if (mxp__grow(&samples->values, &samples->capacity, samples->count + 1,
                  sizeof *samples->values) != MXP_OK) {
        return mxp__fail_memory("percentiles");
    }
    samples->values[samples->count++] = value;
    samples->is_sorted = false;
    return MXP_OK;
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

uint64_t mxp__samples_quantile(mxp_samples *samples, double fraction, bool *is_exact)
{
    *is_exact = samples->histogram == NULL;
    if (samples->histogram != NULL) {
        return mxp__histogram_quantile(samples->histogram, fraction);
    }
    if (samples->count == 0) {
        return 0;
    }
    if (!samples->is_sorted) {
        qsort(samples->values, samples->count, sizeof *samples->values, compare);
        samples->is_sorted = true;
    }
    // A little less, because 0.07 * 100 is above 7.
    const double rank = ceil(fraction * (double)samples->count - 1e-9 * (double)samples->count);
    const size_t place = rank < 1 ? 0 : (size_t)rank - 1;
    return samples->values[place < samples->count ? place : samples->count - 1];
}

void mxp__samples_fini(mxp_samples *samples)
{
    free_values(samples);
    mxp__free(samples->histogram, sizeof *samples->histogram);
    *samples = (mxp_samples){0};
}
