// SPDX-License-Identifier: Apache-2.0
// Mergeable log-linear histogram of 64-bit values: 4 buckets an octave, each 14 to 25 % wide
// (values below 8 are exact). Adding is a few instructions; merging is a sum. A bucket that is full
// stays full. The buckets' bounds are part of the file format (docs/format.md).
//
// A quantile is the value of a sample: the smallest one that at least the fraction of all samples
// do not exceed. The histogram knows that sample's bucket, so what it gives is less than 25 % off.
#ifndef MXP_TRACE_HISTOGRAM_H
#define MXP_TRACE_HISTOGRAM_H

#include <stdint.h>

#include "base/sum.h"

enum { MXP__HISTOGRAM_BUCKETS = 4 * 62 + 4 };

typedef struct mxp_histogram {
    uint64_t count, total, min, max;  // min is UINT64_MAX while empty
    uint32_t bucket[MXP__HISTOGRAM_BUCKETS];
} mxp_histogram;

static inline uint32_t mxp__histogram_index(uint64_t value)
{
    if (value < 4) {
        return (uint32_t)value;
    }
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(value);  // 2..63
    return (octave - 1) * 4 + (uint32_t)(value >> (octave - 2) & 3);
}

static inline void mxp__histogram_add(mxp_histogram *histogram, uint64_t value)
{
    histogram->count++;
    mxp__sum_add(&histogram->total, value);
    histogram->min = value < histogram->min ? value : histogram->min;
    histogram->max = value > histogram->max ? value : histogram->max;
    uint32_t *bucket = &histogram->bucket[mxp__histogram_index(value)];
    *bucket += *bucket != UINT32_MAX;
}

// As many times.
static inline void mxp__histogram_add_equal(mxp_histogram *histogram, uint64_t value,
                                            uint32_t times)
{
    if (times > 0) {
        mxp__histogram_add(histogram, value);
        uint32_t *bucket = &histogram->bucket[mxp__histogram_index(value)];
        histogram->count += times - 1;
        mxp__sum_add(&histogram->total, mxp__sum_times(value, times - 1));
        *bucket = times - 1 > UINT32_MAX - *bucket ? UINT32_MAX : *bucket + (times - 1);
    }
}

void mxp__histogram_init(mxp_histogram *histogram);
void mxp__histogram_merge(mxp_histogram *into, const mxp_histogram *from);
uint64_t mxp__histogram_lower(uint32_t index);  // smallest value of a bucket
uint64_t mxp__histogram_samples(const mxp_histogram *histogram);  // in the buckets

// Where a quantile lies: between first and last, which are of one bucket and of min..max, as the
// rank-th (from 1) of the bucket's `count` samples. The smallest and the largest sample are known.
typedef struct mxp_histogram_range {
    uint64_t first, last, rank, count;
} mxp_histogram_range;

// `fraction`: 0..1. All 0 while empty.
mxp_histogram_range mxp__histogram_locate(const mxp_histogram *histogram, double fraction);
uint64_t mxp__histogram_quantile(const mxp_histogram *histogram, double fraction);

#endif
