// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time/samples.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/histogram.h"

static const char memory_for[] = "percentiles";

static void free_values(mxp_samples *samples)
{
    mxp__free(samples->values, samples->capacity * sizeof *samples->values);
    mxp__free(samples->wide, samples->capacity * sizeof *samples->wide);
    samples->values = NULL;
    samples->wide = NULL;
    samples->count = samples->capacity = 0;
}

static uint64_t value_at(const mxp_samples *samples, size_t place)
{
    return samples->wide != NULL ? samples->wide[place] : samples->values[place];
}

static int take_histogram(mxp_samples *samples)
{
    samples->histogram = mxp__alloc(sizeof *samples->histogram);
    if (samples->histogram == NULL) {
        return mxp__fail_memory(memory_for);
    }
    mxp__histogram_init(samples->histogram);
    for (size_t i = 0; i < samples->count; i++) {
        mxp__histogram_add(samples->histogram, value_at(samples, i));
    }
    free_values(samples);
    return MXP_OK;
}

// Most durations take four bytes; 2^32 ns are four seconds.
static int widen(mxp_samples *samples)
{
    const size_t capacity = samples->capacity > 0 ? samples->capacity : 16;
    uint64_t *wide = mxp__alloc(capacity * sizeof *wide);
    if (wide == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < samples->count; i++) {
        wide[i] = samples->values[i];
    }
    mxp__free(samples->values, samples->capacity * sizeof *samples->values);
    samples->values = NULL;
    samples->wide = wide;
    samples->capacity = capacity;
    return MXP_OK;
}

static int append(mxp_samples *samples, uint64_t value)
{
    int error = value > UINT32_MAX && samples->wide == NULL ? widen(samples) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    const bool is_wide = samples->wide != NULL;
    void *array = is_wide ? (void *)&samples->wide : (void *)&samples->values;
    if (samples->count == samples->capacity &&
        mxp__grow(array, &samples->capacity, samples->count + 1,
                  is_wide ? sizeof *samples->wide : sizeof *samples->values) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    if (is_wide) {
        samples->wide[samples->count++] = value;
    } else {
        samples->values[samples->count++] = (uint32_t)value;
    }
    samples->is_sorted = false;
    return MXP_OK;
}

int mxp__samples_add_slow(mxp_samples *samples, uint64_t value)
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
    return append(samples, value);
}

static int compare_wide(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static int compare_narrow(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void sort(mxp_samples *samples)
{
    if (samples->wide != NULL) {
        qsort(samples->wide, samples->count, sizeof *samples->wide, compare_wide);
    } else {
        qsort(samples->values, samples->count, sizeof *samples->values, compare_narrow);
    }
    samples->is_sorted = true;
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
        sort(samples);
    }
    // A little less, because 0.07 * 100 is above 7.
    const double rank = ceil(fraction * (double)samples->count - 1e-9 * (double)samples->count);
    const size_t place = rank < 1 ? 0 : (size_t)rank - 1;
    return value_at(samples, place < samples->count ? place : samples->count - 1);
}

void mxp__samples_fini(mxp_samples *samples)
{
    free_values(samples);
    mxp__free(samples->histogram, sizeof *samples->histogram);
    *samples = (mxp_samples){0};
}
