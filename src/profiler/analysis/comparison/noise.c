// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/comparison/noise.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/distribution.h"
#include "profiler/analysis/statistics/sample.h"

const size_t mxp__noise_lags[MXP__NOISE_LAGS] = {1, 5, 10};
const size_t mxp__noise_sizes[MXP__NOISE_SIZES] = {3, 5, 10, 20};

// The steps of one run.
typedef struct step_values {
    const double *values;
    size_t count;
    double mean;
    uint64_t began_ns;
} step_values;

static int by_time(const void *a, const void *b)
{
    const step_values *x = a, *y = b;
    return (x->began_ns > y->began_ns) - (x->began_ns < y->began_ns);
}

static size_t put_runs(const mxp_compared_run *runs, size_t count, const bool *chosen, bool of_cpu,
                       step_values *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const step_values run = {
            .values = of_cpu ? runs[i].step_cpu_ns : runs[i].lengths_ns,
            .count = of_cpu ? runs[i].cpu_count : runs[i].step_count,
            .mean = of_cpu ? runs[i].cpu_ns : runs[i].mean_ns,
            .began_ns = runs[i].began_ns,
        };
        if ((chosen == NULL || chosen[i]) && run.mean > 0) {
            all[kept++] = run;
        }
    }
    if (kept > 1) {
        qsort(all, kept, sizeof *all, by_time);
    }
    return kept;
}

// Means over the runs that have steps enough for the figure.
static void put_within(const step_values *runs, size_t count, mxp_noise *noise)
{
    double within = 0, resemblance[MXP__NOISE_LAGS] = {0};
    size_t with_spread = 0, with_lag[MXP__NOISE_LAGS] = {0};
    for (size_t i = 0; i < count; i++) {
        const step_values *run = &runs[i];
        if (run->count > 1) {
            within += mxp__sample_deviation(run->values, run->count) / run->mean;
            with_spread++;
        }
        for (size_t k = 0; k < MXP__NOISE_LAGS; k++) {
            if (run->count > 2 * mxp__noise_lags[k]) {
                resemblance[k] +=
                    mxp__sample_autocorrelation(run->values, run->count, mxp__noise_lags[k]);
                with_lag[k]++;
            }
        }
    }
    noise->within = with_spread > 0 ? within / (double)with_spread : NAN;
    for (size_t k = 0; k < MXP__NOISE_LAGS; k++) {
        noise->resemblance[k] = with_lag[k] > 0 ? resemblance[k] / (double)with_lag[k] : NAN;
    }
}

static void put_between(const double *logs, size_t count, mxp_noise *noise)
{
    const double deviation = mxp__sample_deviation(logs, count);
    noise->between = count > 1 ? expm1(deviation) : NAN;
    noise->neighbours = count > 3 ? mxp__sample_autocorrelation(logs, count, 1) : NAN;
    for (size_t k = 0; k < MXP__NOISE_SIZES; k++) {
        const size_t size = mxp__noise_sizes[k];
        noise->smallest[k] =
            count > 1 ? expm1(mxp__smallest_difference(deviation, size, size)) : NAN;
    }
}

int mxp__noise_of(const mxp_compared_run *runs, size_t count, const bool *chosen, bool of_cpu,
                  mxp_noise *noise)
{
    *noise = (mxp_noise){0};
    step_values *all = mxp__alloc(count * sizeof *all);
    double *logs = mxp__alloc(count * sizeof *logs);
    int error = MXP_OK;
    if ((all == NULL || logs == NULL) && count > 0) {
        error = mxp__fail_memory("the noise of runs");
    } else {
        noise->runs = put_runs(runs, count, chosen, of_cpu, all);
        double sum = 0;
        for (size_t i = 0; i < noise->runs; i++) {
            sum += all[i].mean;
            logs[i] = log(all[i].mean);
        }
        noise->mean_ns = noise->runs > 0 ? sum / (double)noise->runs : NAN;
        put_within(all, noise->runs, noise);
        put_between(logs, noise->runs, noise);
    }
    mxp__free(all, count * sizeof *all);
    mxp__free(logs, count * sizeof *logs);
    return error;
}
