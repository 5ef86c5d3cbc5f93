// SPDX-License-Identifier: Apache-2.0
// How well the mean of a series is known whose neighbours resemble each other, as steps do: a
// circular block bootstrap. Blocks of 2 * n^(1/3) values are drawn from the series laid in a ring,
// and the mean is taken of each such series of the same length.
//
// It says something about this series only. Runs of one program differ by more than their steps
// tell: for those the run is the unit (permutation.h).
#ifndef MXP_STATISTICS_BOOTSTRAP_H
#define MXP_STATISTICS_BOOTSTRAP_H

#include <stddef.h>

enum { MXP__BOOTSTRAP_ROUNDS = 10000 };

typedef struct mxp_bootstrap {
    double *means;  // MXP__BOOTSTRAP_ROUNDS of them, ascending
} mxp_bootstrap;

// Values are finite, count is not 0. 0 or MXP_ENOMEM, with nothing to release. Time: rounds times
// blocks of the series.
int mxp__bootstrap_init(mxp_bootstrap *bootstrap, const double *values, size_t count);
void mxp__bootstrap_fini(mxp_bootstrap *bootstrap);

// Bound of the mean: 0.025 gives the lower one of 95 %, 0.975 the upper one.
double mxp__bootstrap_bound(const mxp_bootstrap *bootstrap, double fraction);
// Probability of the assertion that the mean is above `threshold` being wrong, as far as these
// rounds can tell: never 0, because the next round might have been below.
double mxp__bootstrap_doubt(const mxp_bootstrap *bootstrap, double threshold);

size_t mxp__bootstrap_block(size_t count);  // values in a block, 1 .. count

#endif
