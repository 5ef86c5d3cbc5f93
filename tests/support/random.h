// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same in every run (splitmix64), for tests of properties.
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

// Any number of significant bits is equally likely, so small values and huge ones are.
static inline uint64_t random_size(uint64_t *state)
{
    return random_next(state) >> random_below(state, 64);
}

#endif
