// SPDX-License-Identifier: Apache-2.0
// A block is the difference of two sums from the begin of the series, so that a round costs as many
// additions as it has blocks. The last block is cut to the length of the series.
#include "profiler/analysis/statistics/bootstrap.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/analysis/statistics/seeded.h"

enum { SEED = 20261 };

size_t mxp__bootstrap_block(size_t count)
{
    const size_t block = (size_t)lround(2 * cbrt((double)count));
    return block > count ? count : block;
}

// sums[i]: of the first i values less `mean` each, once around the ring and a block further. Less
// the mean, so that sums of many like values keep their digits.
static void put_sums(double *sums, const double *values, size_t count, size_t block, double mean)
{
    sums[0] = 0;
    for (size_t i = 0; i < count + block; i++) {
        sums[i + 1] = sums[i] + (values[i % count] - mean);
    }
}

static double draw_mean(mxp_seeded *seeded, const double *sums, size_t count, size_t block)
{
    double sum = 0;
    for (size_t taken = 0; taken < count; taken += block) {
        const size_t from = (size_t)mxp__seeded_below(seeded, count);
        const size_t length = count - taken < block ? count - taken : block;
        sum += sums[from + length] - sums[from];
    }
    return sum / (double)count;
}

int mxp__bootstrap_init(mxp_bootstrap *bootstrap, const double *values, size_t count)
{
    assert(count > 0);
    const size_t block = mxp__bootstrap_block(count);
    const size_t sums_bytes = (count + block + 1) * sizeof(double);
    const double mean = mxp__sample_mean(values, count);
    double *sums = mxp__alloc(sums_bytes);
    bootstrap->means = mxp__alloc(MXP__BOOTSTRAP_ROUNDS * sizeof(double));
    if (sums == NULL || bootstrap->means == NULL) {
        mxp__free(sums, sums_bytes);
        mxp__bootstrap_fini(bootstrap);
        return mxp__fail_memory("a bootstrap of steps");
    }
    put_sums(sums, values, count, block, mean);
    mxp_seeded seeded = {SEED};
    for (size_t i = 0; i < MXP__BOOTSTRAP_ROUNDS; i++) {
        bootstrap->means[i] = mean + draw_mean(&seeded, sums, count, block);
    }
    mxp__sample_sort(bootstrap->means, MXP__BOOTSTRAP_ROUNDS);
    mxp__free(sums, sums_bytes);
    return MXP_OK;
}

void mxp__bootstrap_fini(mxp_bootstrap *bootstrap)
{
    mxp__free(bootstrap->means, MXP__BOOTSTRAP_ROUNDS * sizeof(double));
    bootstrap->means = NULL;
}

double mxp__bootstrap_bound(const mxp_bootstrap *bootstrap, double fraction)
{
    return mxp__sample_percentile(bootstrap->means, MXP__BOOTSTRAP_ROUNDS, fraction);
}

double mxp__bootstrap_doubt(const mxp_bootstrap *bootstrap, double threshold)
{
    size_t from = 0, to = MXP__BOOTSTRAP_ROUNDS;  // how many are not above it
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (bootstrap->means[middle] <= threshold) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return (double)(from + 1) / (MXP__BOOTSTRAP_ROUNDS + 1);
}
