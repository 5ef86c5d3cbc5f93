// SPDX-License-Identifier: Apache-2.0
// Levels of detail: widths of bins, each a quarter of the one before, and the class of a duration:
// how many of them are longer than it.
#ifndef MXP_TOOLS_LEVELS_H
#define MXP_TOOLS_LEVELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    MXP_PAGE_LEVELS = 9,
    MXP_PAGE_CLASSES = MXP_PAGE_LEVELS + 1,
    MXP_PAGE_TOP_BINS = 1024,  // of level 0, at most
    MXP_PAGE_LEAST_WIDTH_NS = 16,
    MXP_PAGE_RADIX = 4
};

typedef struct mxp_page_levels {
    size_t count;
    uint64_t width_ns[MXP_PAGE_LEVELS];  // the widest first
} mxp_page_levels;

// Of a trace that lasts `length_ns`: as many levels as there are from a bin for each of
// MXP_PAGE_TOP_BINS down to MXP_PAGE_LEAST_WIDTH_NS. None of a trace that is too short.
mxp_page_levels mxp__page_levels_of(uint64_t length_ns);

static inline unsigned mxp__page_class(const mxp_page_levels *levels, uint64_t duration_ns)
{
    unsigned found = 0;
    while (found < levels->count && duration_ns < levels->width_ns[found]) {
        found++;
    }
    return found;
}

#endif
