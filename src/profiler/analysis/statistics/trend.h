// SPDX-License-Identifier: Apache-2.0
// Whether a series rises or falls, and by how much a place, without an assumption on its noise.
#ifndef MXP_STATISTICS_TREND_H
#define MXP_STATISTICS_TREND_H

#include <stddef.h>
#include <stdint.h>

// Mann-Kendall: of all pairs, those that rise less those that fall.
typedef struct mxp_mann_kendall {
    int64_t score;  // rising pairs less falling ones
    double variance;  // of the score without a trend; equal values are taken into account
    double z, p;  // with continuity correction; two-sided
} mxp_mann_kendall;

// 0 or MXP_ENOMEM. Fewer than three values have z 0 and p 1. Time: n log n.
int mxp__mann_kendall(const double *values, size_t count, mxp_mann_kendall *result);

// Theil-Sen: the median slope of all pairs, with bounds of the given level from Kendall's variance.
// Above MXP__SLOPES_OF points neighbours are averaged to half as many, as often as it takes; slopes
// stay those of one place.
enum { MXP__SLOPES_OF = 2048 };
typedef struct mxp_theil_sen {
    double slope, low, high;
} mxp_theil_sen;

// At least two values; 0 < level < 1. 0 or MXP_ENOMEM.
int mxp__theil_sen(const double *values, size_t count, double level, mxp_theil_sen *result);

// Sign test: the probability of at least so one-sided a result among `trials` throws of a coin.
double mxp__sign_test(uint64_t successes, uint64_t trials);

#endif
