// SPDX-License-Identifier: Apache-2.0
// Durations of a row, for its percentiles: all of them, as long as there are not too many; then a
// histogram. Short ones are only counted: a trace of many records is one of short calls, and most
// have the same few lengths.
#ifndef MXP_ANALYSIS_SAMPLES_H
#define MXP_ANALYSIS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mxp_histogram;

enum {
    MXP_SAMPLES_MAX = 1 << 20,  // of a row, of those that are not short
    MXP_SAMPLES_SHORT = 1 << 12,  // ns; below that they are short
};

// Begins as zeros.
typedef struct mxp_samples {
    uint32_t *short_counts;  // by their ns; null while there are few samples
    uint32_t *values;  // of the others, while all of them fit
    uint64_t *wide;  // afterwards
    size_t count, capacity;
    struct mxp_histogram *histogram;  // from then on, instead of all this
    bool is_sorted;
} mxp_samples;

// The rest of mxp__samples_add; not for direct use.
int mxp__samples_add_slow(mxp_samples *samples, uint64_t value);

static inline int mxp__samples_add(mxp_samples *samples, uint64_t value)  // MXP_ENOMEM
{
    if (samples->short_counts == NULL || value >= MXP_SAMPLES_SHORT ||
        samples->short_counts[value] == UINT32_MAX) {
        return mxp__samples_add_slow(samples, value);
    }
    samples->short_counts[value]++;
    return 0;
}

// Adds all of another's, which is empty afterwards. MXP_ENOMEM.
int mxp__samples_merge(mxp_samples *into, mxp_samples *from);

// The smallest value that at least this fraction (0 to 1) of all do not exceed: exact, or from a
// histogram less than 25 % off. 0 of none.
uint64_t mxp__samples_quantile(mxp_samples *samples, double fraction, bool *is_exact);
void mxp__samples_fini(mxp_samples *samples);

#endif
