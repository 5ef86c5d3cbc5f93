// SPDX-License-Identifier: Apache-2.0
// In which row of its track a span stands: the first in which it overlaps nothing. Spans come from
// the last to the first by their ends, so an outer one before those inside it, and of spans that
// nest the row is how many are around it.
#ifndef MXP_TOOLS_PAGE_DEPTHS_H
#define MXP_TOOLS_PAGE_DEPTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXP_PAGE_ROWS = 64 };  // of a track; what has none of its own is in the last one

// Begins as zeros.
typedef struct mxp_page_depths {
    int64_t begin_ns[MXP_PAGE_ROWS], end_ns[MXP_PAGE_ROWS];  // of all that is in a row
    size_t count;
    bool is_full;  // the last row has what found no free one
} mxp_page_depths;

uint32_t mxp__page_depth(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns);

#endif
