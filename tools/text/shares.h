// SPDX-License-Identifier: Apache-2.0
// Percentages that add up as they are printed.
#ifndef MXP_TOOLS_SHARES_H
#define MXP_TOOLS_SHARES_H

#include <stddef.h>
#include <stdint.h>

// Tenths of a percent of `total` (above 0) for each value, such that the sum of the tenths is the
// sum of the values as tenths, rounded: 1000 where the values add up to `total`. Each is its
// value's rounded down or up. 0, or MXP_ENOMEM.
int mxp__share_tenths(const uint64_t *values, size_t count, uint64_t total, uint64_t *tenths);

#endif
