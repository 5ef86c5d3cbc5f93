// SPDX-License-Identifier: Apache-2.0
// See depths.h.
#include "page/depths.h"

uint32_t mxp__page_depth(mxp_page_depths *depths, int64_t begin_ns, int64_t end_ns)
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
        if (depths->end_ns[i] <= begin_ns) {  // it came later than it should
            depths->end_ns[i] = end_ns;
            return i;
        }
    }
    depths->is_full = true;
    return MXP_PAGE_ROWS - 1;
}
