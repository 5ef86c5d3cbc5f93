// SPDX-License-Identifier: Apache-2.0
// See depths.h.
#include "page/depths.h"

uint32_t mxp__page_depth_nested(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns)
{
    // What lasts no time is inside of what begins there, but not inside of its like.
    while (depths->count > 0) {
        const int64_t top_ns = depths->begin_ns[depths->count - 1];
        if (top_ns < end_ns || (top_ns == begin_ns && depths->end_ns[depths->count - 1] > top_ns)) {
            break;
        }
        depths->count--;
    }
    if (depths->count == MXP_PAGE_ROWS) {
        depths->is_full = true;
        return MXP_PAGE_ROWS - 1;
    }
    depths->begin_ns[depths->count] = begin_ns;
    depths->end_ns[depths->count] = end_ns;
    return (uint32_t)depths->count++;
}

uint32_t mxp__page_depth_free(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns)
{
    for (uint32_t i = 0; i < MXP_PAGE_ROWS; i++) {
        if (i == depths->count) {
            depths->begin_ns[i] = begin_ns;
            depths->end_ns[i] = end_ns;
            depths->count++;
            return i;
        }
        if (depths->begin_ns[i] >= end_ns) {
            depths->begin_ns[i] = begin_ns;
            return i;
        }
        if (depths->end_ns[i] <= begin_ns) {
            depths->end_ns[i] = end_ns;
            return i;
        }
    }
    depths->is_full = true;
    return MXP_PAGE_ROWS - 1;
}
