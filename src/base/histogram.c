// SPDX-License-Identifier: Apache-2.0
// The parts of the histogram that are not on a hot path. Bucket i < 4 holds the value i; above,
// each octave 2^n (n >= 2) has four buckets of width 2^(n-2).
#include "base/histogram.h"

#include <string.h>

void mxp__histogram_init(mxp_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->min = UINT64_MAX;
}

void mxp__histogram_merge(mxp_histogram *into, const mxp_histogram *from)
{
    into->count += from->count;
    into->total += from->total;
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        uint64_t sum = (uint64_t)into->bucket[i] + from->bucket[i];
        into->bucket[i] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
    }
}

uint64_t mxp__histogram_lower(uint32_t index)
{
    if (index < 4) {
        return index;
    }
    if (index >= MXP__HISTOGRAM_BUCKETS) {
        return UINT64_MAX;
    }
    return (uint64_t)(4 + index % 4) << (index / 4 - 1);
}

static uint64_t bucket_last(uint32_t index)
{
    uint64_t next = mxp__histogram_lower(index + 1);
    return index + 1 < MXP__HISTOGRAM_BUCKETS ? next - 1 : UINT64_MAX;
}

uint64_t mxp__histogram_quantile(const mxp_histogram *histogram, double fraction)
{
    // Not `count`: a bucket that is full counts no further.
    uint64_t samples = 0;
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        samples += histogram->bucket[i];
    }
    if (samples == 0) {
        return 0;
    }
    if (!(fraction > 0)) {
        return histogram->min;
    }
    double rank = fraction * (double)samples;
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        double in_bucket = histogram->bucket[i];
        if (in_bucket > 0 && rank <= in_bucket) {
            uint64_t lower = mxp__histogram_lower(i);
            uint64_t last = bucket_last(i);
            lower = lower < histogram->min ? histogram->min : lower;
            last = last > histogram->max ? histogram->max : last;
            double within = rank / in_bucket * (double)(last - lower);
            return within >= (double)(last - lower) ? last : lower + (uint64_t)within;
        }
        rank -= in_bucket;
    }
    return histogram->max;
}
