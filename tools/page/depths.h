// SPDX-License-Identifier: Apache-2.0
// In which row of its track a span stands. Spans come from the last to the first by their ends, so
// an outer one before those inside it.
#ifndef MXP_TOOLS_PAGE_DEPTHS_H
#define MXP_TOOLS_PAGE_DEPTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MXP_PAGE_ROWS = 64 };  // of a track; what has none of its own is in the last one

// Begins as zeros. Both kinds of tracks use the same one.
typedef struct mxp_page_depths {
    int64_t begin_ns[MXP_PAGE_ROWS];  // nested: of the spans around; else: the first of the row
    int64_t end_ns[MXP_PAGE_ROWS];  // the same: of the last
    size_t count;
    bool is_full;  // the last row has what found no free one
} mxp_page_depths;

// The row of a span in a track whose spans nest: how many spans are around it.
uint32_t mxp__page_depth_nested(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns);
// In one whose spans may overlap: the first row in which it overlaps nothing.
uint32_t mxp__page_depth_free(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns);

#endif
