// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time/samples.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/histogram.h"

static const char memory_for[] = "percentiles";

enum { FEW = MXP_SAMPLES_SHORT };  // as long as they take no more memory than the counts

static void free_values(mxp_samples *samples)
{
    mxp__free(samples->short_counts, MXP_SAMPLES_SHORT * sizeof *samples->short_counts);
    samples->short_counts = NULL;
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
    for (uint64_t ns = 0; samples->short_counts != NULL && ns < MXP_SAMPLES_SHORT; ns++) {
        mxp__histogram_add_equal(samples->histogram, ns, samples->short_counts[ns]);
    }
    free_values(samples);
    return MXP_OK;
}

// Takes the short ones out of the list.
static int count_short(mxp_samples *samples)
{
    samples->short_counts = mxp__alloc(MXP_SAMPLES_SHORT * sizeof *samples->short_counts);
    if (samples->short_counts == NULL) {
        return mxp__fail_memory(memory_for);
    }
    size_t kept = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const uint64_t value = value_at(samples, i);
        if (value < MXP_SAMPLES_SHORT) {
            samples->short_counts[value]++;
        } else if (samples->wide != NULL) {
            samples->wide[kept++] = value;
        } else {
            samples->values[kept++] = (uint32_t)value;
        }
    }
    samples->count = kept;
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
    const bool counts = samples->short_counts != NULL && value < MXP_SAMPLES_SHORT;
    int error = MXP_OK;
    if (samples->histogram == NULL && (counts || samples->count == MXP_SAMPLES_MAX)) {
        error = take_histogram(samples);  // also of more than 2^32 equal ones
    } else if (samples->histogram == NULL && samples->count == FEW &&
               samples->short_counts == NULL) {
        error = count_short(samples);
    }
    if (error != MXP_OK) {
        return error;
    }
    if (samples->histogram != NULL) {
        mxp__histogram_add(samples->histogram, value);
        return MXP_OK;
    }
    if (samples->short_counts != NULL && value < MXP_SAMPLES_SHORT) {
        samples->short_counts[value]++;
        return MXP_OK;
    }
    return append(samples, value);
}

void mxp__samples_fini(mxp_samples *samples)
{
    free_values(samples);
    mxp__free(samples->histogram, sizeof *samples->histogram);
    *samples = (mxp_samples){0};
}

static bool is_empty(const mxp_samples *samples)
{
    return samples->count == 0 && samples->short_counts == NULL && samples->histogram == NULL;
}

// Equal short ones.
static int add_equal(mxp_samples *samples, uint64_t value, uint32_t times)
{
    if (samples->histogram != NULL) {
        mxp__histogram_add_equal(samples->histogram, value, times);
    } else if (times > UINT32_MAX - samples->short_counts[value]) {
        int error = take_histogram(samples);
        return error == MXP_OK ? add_equal(samples, value, times) : error;
    } else {
        samples->short_counts[value] += times;
    }
    return MXP_OK;
}

static int merge_counts(mxp_samples *into, const mxp_samples *from)
{
    int error = into->histogram == NULL && into->short_counts == NULL ? count_short(into) : MXP_OK;
    for (uint64_t ns = 0; error == MXP_OK && ns < MXP_SAMPLES_SHORT; ns++) {
        if (from->short_counts[ns] > 0) {
            error = add_equal(into, ns, from->short_counts[ns]);
        }
    }
    return error;
}

int mxp__samples_merge(mxp_samples *into, mxp_samples *from)
{
    int error = MXP_OK;
    if (is_empty(into)) {
        mxp__samples_fini(into);
        *into = *from;
        *from = (mxp_samples){0};
        return MXP_OK;
    }
    if (from->histogram != NULL) {
        error = into->histogram == NULL ? take_histogram(into) : MXP_OK;
        if (error == MXP_OK) {
            mxp__histogram_merge(into->histogram, from->histogram);
        }
    }
    for (size_t i = 0; error == MXP_OK && i < from->count; i++) {
        error = mxp__samples_add(into, value_at(from, i));
    }
    if (error == MXP_OK && from->short_counts != NULL) {
        error = merge_counts(into, from);
    }
    mxp__samples_fini(from);
    return error;
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

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

// Moves values to where those with their digit belong, in the order in which they are. False: all
// have the same one, and nothing was moved.
static bool sort_digit(const uint32_t *from, size_t count, unsigned shift, uint32_t *to)
{
    size_t places[DIGITS] = {0}, next = 0;
    for (size_t i = 0; i < count; i++) {
        places[from[i] >> shift & (DIGITS - 1)]++;
    }
    if (places[from[0] >> shift & (DIGITS - 1)] == count) {
        return false;
    }
    for (size_t i = 0; i < DIGITS; i++) {
        const size_t those = places[i];
        places[i] = next;
        next += those;
    }
    for (size_t i = 0; i < count; i++) {
        to[places[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    }
    return true;
}

// Digit by digit, which takes a quarter of what comparing many does.
static void sort_narrow(uint32_t *values, size_t count)
{
    enum { MANY = 1 << 12 };
    uint32_t *other = count >= MANY ? mxp__realloc(NULL, 0, count * sizeof *other) : NULL;
    uint32_t *from = values, *to = other;
    if (other == NULL) {
        qsort(values, count, sizeof *values, compare_narrow);
        return;
    }
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        if (sort_digit(from, count, shift, to)) {
            uint32_t *const sorted = to;
            to = from;
            from = sorted;
        }
    }
    if (from != values) {
        memcpy(values, from, count * sizeof *values);
    }
    mxp__free(other, count * sizeof *other);
}

static void sort(mxp_samples *samples)
{
    if (samples->wide != NULL) {
        qsort(samples->wide, samples->count, sizeof *samples->wide, compare_wide);
    } else {
        sort_narrow(samples->values, samples->count);
    }
    samples->is_sorted = true;
}

static uint64_t short_total(const mxp_samples *samples)
{
    uint64_t total = 0;
    for (size_t ns = 0; samples->short_counts != NULL && ns < MXP_SAMPLES_SHORT; ns++) {
        total += samples->short_counts[ns];
    }
    return total;
}

// The one at this place of all in their order; `shorts` of them are short.
static uint64_t at_place(mxp_samples *samples, uint64_t place, uint64_t shorts)
{
    if (place < shorts) {
        uint64_t ns = 0;
        for (uint64_t before = 0; place >= before + samples->short_counts[ns]; ns++) {
            before += samples->short_counts[ns];
        }
        return ns;
    }
    if (!samples->is_sorted) {
        sort(samples);
    }
    return value_at(samples, (size_t)(place - shorts));
}

uint64_t mxp__samples_quantile(mxp_samples *samples, double fraction, bool *is_exact)
{
    *is_exact = samples->histogram == NULL;
    if (samples->histogram != NULL) {
        return mxp__histogram_quantile(samples->histogram, fraction);
    }
    const uint64_t shorts = short_total(samples), count = shorts + samples->count;
    if (count == 0) {
        return 0;
    }
    // A little less, because 0.07 * 100 is above 7.
    const double rank = ceil(fraction * (double)count - 1e-9 * (double)count);
    const uint64_t place = rank < 1 ? 0 : (uint64_t)rank - 1;
    return at_place(samples, place < count ? place : count - 1, shorts);
}
