// SPDX-License-Identifier: Apache-2.0
// All are rounded down, and what the sum lacks then goes to those that lost most by it.
#include "text/shares.h"

#include <assert.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { TENTHS = 1000 };

typedef struct remainder {
    uint64_t rest;
    size_t place;
} remainder;

static int compare(const void *left, const void *right)
{
    const remainder *a = left, *b = right;
    if (a->rest != b->rest) {
        return a->rest < b->rest ? 1 : -1;
    }
    return a->place < b->place ? -1 : 1;
}

// So few bits less that 1000 times all of them fit.
static unsigned bits_too_many(const uint64_t *values, size_t count, uint64_t total)
{
    unsigned bits = 0;
    uint64_t largest = total;
    for (size_t i = 0; i < count; i++) {
        largest = values[i] > largest ? values[i] : largest;
    }
    while (largest >> bits > UINT64_MAX / TENTHS / 2) {
        bits++;
    }
    return bits;
}

int mxp__share_tenths(const uint64_t *values, size_t count, uint64_t total, uint64_t *tenths)
{
    assert(total > 0);
    remainder *remainders = mxp__alloc(count * sizeof *remainders);
    if (remainders == NULL) {
        return count == 0 ? MXP_OK : mxp__fail_memory("the percentages");
    }
    const unsigned bits = bits_too_many(values, count, total);
    const uint64_t whole = total >> bits;
    uint64_t rests = 0, missing = 0;  // the sum of the remainders, as so many wholes and a rest
    for (size_t i = 0; i < count; i++) {
        const uint64_t scaled = (values[i] >> bits) * TENTHS;
        tenths[i] = scaled / whole;
        remainders[i] = (remainder){scaled % whole, i};
        rests += remainders[i].rest;
        missing += rests / whole;
        rests %= whole;
    }
    missing += rests >= whole - rests;
    qsort(remainders, count, sizeof *remainders, compare);
    for (size_t i = 0; i < missing && i < count; i++) {
        tenths[remainders[i].place]++;
    }
    mxp__free(remainders, count * sizeof *remainders);
    return MXP_OK;
}
