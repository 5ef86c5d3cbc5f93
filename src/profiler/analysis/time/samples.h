// SPDX-License-Identifier: Apache-2.0
// Durations of a row, for its percentiles: all of them, as long as there are not too many; then a
// histogram.
#ifndef MXP_ANALYSIS_SAMPLES_H
#define MXP_ANALYSIS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mxp_histogram;

enum { MXP_SAMPLES_MAX = 1 << 20 };  // of a row

// Begins as zeros.
typedef struct mxp_samples {
    uint32_t *values;  // while all of them fit
    uint64_t *wide;  // afterwards
    size_t count, capacity;
    struct mxp_histogram *histogram;  // from then on, instead of values
    bool is_sorted;
} mxp_samples;

// The rest of mxp__samples_add; not for direct use.
int mxp__samples_add_slow(mxp_samples *samples, uint64_t value);

static inline int mxp__samples_add(mxp_samples *samples, uint64_t value)  // MXP_ENOMEM
{
    if (samples->values == NULL || samples->count == samples->capacity || value > UINT32_MAX) {
        return mxp__samples_add_slow(samples, value);
    }
    uint32_t *next = &samples->values[samples->count++];
    __builtin_prefetch(next + 16, 1);  // many rows are added to in turn, all of them to the end
    *next = (uint32_t)value;
    samples->is_sorted = false;
    return 0;
}

// The smallest value that at least this fraction (0 to 1) of all do not exceed: exact, or from a
// histogram less than 25 % off. 0 of none.
uint64_t mxp__samples_quantile(mxp_samples *samples, double fraction, bool *is_exact);
void mxp__samples_fini(mxp_samples *samples);

#endif
