// SPDX-License-Identifier: Apache-2.0
// Several tests at once. Adjusted p: the test is significant at a level if its adjusted p is not
// above it.
#ifndef MXP_STATISTICS_CORRECTION_H
#define MXP_STATISTICS_CORRECTION_H

#include <stddef.h>

// Holm: the probability of even one wrong statement among all is kept. `p` and `adjusted` may be
// the same array. 0 or MXP_ENOMEM.
int mxp__correction_holm(const double *p, size_t count, double *adjusted);
// Benjamini-Hochberg: of the statements that are made, this share is expected to be wrong.
int mxp__correction_benjamini_hochberg(const double *p, size_t count, double *adjusted);

#endif
