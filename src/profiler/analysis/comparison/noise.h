// SPDX-License-Identifier: Apache-2.0
// What noise is on a machine: how runs of one program differ, and how small a change of it so many
// runs would show.
#ifndef MXP_COMPARISON_NOISE_H
#define MXP_COMPARISON_NOISE_H

#include "profiler/analysis/comparison/compared_run.h"

enum { MXP__NOISE_LAGS = 3, MXP__NOISE_SIZES = 4 };
extern const size_t mxp__noise_lags[MXP__NOISE_LAGS];  // 1, 5, 10 steps
extern const size_t mxp__noise_sizes[MXP__NOISE_SIZES];  // 3, 5, 10, 20 runs a side

// NAN: too few runs or steps to say.
typedef struct mxp_noise {
    size_t runs;
    double mean_ns;  // of the runs' means
    double between;  // deviation of a run's mean, as a share
    double within;  // deviation of a step from its run's mean, as a share; mean of the runs
    double resemblance[MXP__NOISE_LAGS];  // correlation of steps so far apart; mean of the runs
    double neighbours;  // correlation of the means of runs that followed one another
    double smallest[MXP__NOISE_SIZES];  // change seen in 4 of 5 cases with so many runs a side
} mxp_noise;

// Of the runs that `chosen` has (null: all), in the order of time: of their wall time, or of their
// CPU time. Runs without the figure are left out. 0 or MXP_ENOMEM.
int mxp__noise_of(const mxp_compared_run *runs, size_t count, const bool *chosen, bool of_cpu,
                  mxp_noise *noise);

#endif
