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

__extension__ typedef unsigned __int128 mxp_seeded_product;

// 0 .. limit - 1, each equally likely; limit is not 0. The high half of a product (Lemire): the few
// draws by which some numbers would come once more than others are made again.
static inline uint64_t mxp__seeded_below(mxp_seeded *seeded, uint64_t limit)
{
    mxp_seeded_product product = (mxp_seeded_product)mxp__seeded_next(seeded) * limit;
    if ((uint64_t)product < limit) {
        const uint64_t uneven = (0 - limit) % limit;
        while ((uint64_t)product < uneven) {
            product = (mxp_seeded_product)mxp__seeded_next(seeded) * limit;
        }
    }
    return (uint64_t)(product >> 64);
}

#endif
