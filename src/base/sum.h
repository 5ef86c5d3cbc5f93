// SPDX-License-Identifier: Apache-2.0
// Sums that stay at their largest value. Damaged files, and imported ones whose times are those of
// a clock that began in 1970, have spans of decades: some dozens of them are more than 2^64 ns, and
// what began anew behind that would look like a sound figure.
#ifndef MXP_BASE_SUM_H
#define MXP_BASE_SUM_H

#include <stdint.h>

static inline void mxp__sum_add(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum)) {
        *sum = UINT64_MAX;
    }
}

static inline uint64_t mxp__sum_times(uint64_t value, uint64_t times)
{
    uint64_t product;
    return __builtin_mul_overflow(value, times, &product) ? UINT64_MAX : product;
}

#endif
