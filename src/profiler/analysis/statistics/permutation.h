// SPDX-License-Identifier: Apache-2.0
// Whether two groups differ, without an assumption on how their values are spread: were there no
// difference, each way of splitting all values would have been as likely as the one that was made.
//
// Values are on the scale on which a change moves all of a group by the same: for a ratio, logs.
// The interval holds every change that the same test would not refuse at that level, so it contains
// 0 where, and only where, p is above the level.
#ifndef MXP_STATISTICS_PERMUTATION_H
#define MXP_STATISTICS_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>

enum { MXP__SPLITS_MAX = 20000 };  // above it a sample of as many, from a fixed seed

typedef struct mxp_permutation {
    double change;  // mean of b less mean of a
    double p;  // two-sided
    double low, high;  // interval of the change; infinite where the groups are too small for one
    size_t splits;  // that were looked at, the one that was made among them
    bool is_exact;  // these are all
} mxp_permutation;

// n values of a and m of b, all finite, at least one of each; 0 < level < 1. 0 or MXP_ENOMEM.
int mxp__permutation_groups(const double *a, size_t n, const double *b, size_t m, double level,
                            mxp_permutation *result);
// The same for pairs, a[i] with b[i]: either of a pair might have been the other, so all signs of
// the differences are tried.
int mxp__permutation_pairs(const double *a, const double *b, size_t n, double level,
                           mxp_permutation *result);

#endif
