// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same in every run and on every machine (splitmix64), because a
// statement about a file must not change when it is made again.
#ifndef MXP_STATISTICS_SEEDED_H
#define MXP_STATISTICS_SEEDED_H

#include <stdint.h>

typedef struct mxp_seeded {
    uint64_t state;  // the seed, at first
} mxp_seeded;

static inline uint64_t mxp__seeded_next(mxp_seeded *seeded)
{
    uint64_t z = seeded->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// 0 .. limit - 1, each equally likely; limit is not 0. What the last whole multiple of the limit
// leaves over is drawn again.
static inline uint64_t mxp__seeded_below(mxp_seeded *seeded, uint64_t limit)
{
    const uint64_t over = (UINT64_MAX % limit + 1) % limit;
    uint64_t drawn;
    do {
        drawn = mxp__seeded_next(seeded);
    } while (drawn > UINT64_MAX - over);
    return drawn % limit;
}

#endif
