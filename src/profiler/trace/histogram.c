// SPDX-License-Identifier: Apache-2.0
// The parts of the histogram that are not on a hot path. Bucket i < 4 holds the value i; above,
// each octave 2^n (n >= 2) has four buckets of width 2^(n-2).
#include "profiler/trace/histogram.h"

#include <string.h>

void mxp__histogram_init(mxp_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->min = UINT64_MAX;
}

void mxp__histogram_merge(mxp_histogram *into, const mxp_histogram *from)
{
    into->count += from->count;
    mxp__sum_add(&into->total, from->total);
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

uint64_t mxp__histogram_samples(const mxp_histogram *histogram)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        samples += histogram->bucket[i];
    }
    return samples;
}

// 1..samples. A product that rounding has put just above a whole number is that number.
static uint64_t rank_of(double fraction, uint64_t samples)
{
    double exact = fraction * (double)samples * (1 - 1e-14);
    if (!(exact > 1)) {
        return 1;
    }
    if (exact >= (double)samples) {
        return samples;
    }
    uint64_t below = (uint64_t)exact;
    return (double)below < exact ? below + 1 : below;
}

mxp_histogram_range mxp__histogram_locate(const mxp_histogram *histogram, double fraction)
{
    // Not `count`: a bucket that is full counts no further.
    uint64_t samples = mxp__histogram_samples(histogram);
    uint64_t least = histogram->min, most = histogram->max;
    uint64_t rank = rank_of(fraction, samples);
    if (samples == 0) {
        return (mxp_histogram_range){0};
    }
    if (rank == 1 || rank == samples) {
        uint64_t known = rank == 1 ? least : most;
        return (mxp_histogram_range){known, known, 1, 1};
    }
    uint32_t at = 0;
    while (at + 1 < MXP__HISTOGRAM_BUCKETS && rank > histogram->bucket[at]) {
        rank -= histogram->bucket[at++];
    }
    uint64_t first = mxp__histogram_lower(at), last = bucket_last(at);
    return (mxp_histogram_range){.first = first < least ? least : first,
                                 .last = last > most ? most : last,
                                 .rank = rank,
                                 .count = histogram->bucket[at]};
}

// By rank within the bucket, as if its samples were spread evenly: the middle of the sample's
// share.
uint64_t mxp__histogram_quantile(const mxp_histogram *histogram, double fraction)
{
    mxp_histogram_range range = mxp__histogram_locate(histogram, fraction);
    double share = range.count == 0 ? 0 : ((double)range.rank - 0.5) / (double)range.count;
    return range.first + (uint64_t)(share * (double)(range.last - range.first) + 0.5);
}
