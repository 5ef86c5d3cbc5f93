// SPDX-License-Identifier: Apache-2.0
// See levels.h. Widths are made from the narrowest, so that bins of a level are whole bins of the
// next one and sums can be handed up.
#include "page/levels.h"

mxp_page_levels mxp__page_levels_of(uint64_t length_ns)
{
    mxp_page_levels levels = {0};
    const uint64_t top_ns = length_ns / MXP_PAGE_TOP_BINS + 1;
    uint64_t ratio = 1;
    while (levels.count < MXP_PAGE_LEVELS && top_ns / ratio >= MXP_PAGE_LEAST_WIDTH_NS) {
        levels.count++;
        ratio *= MXP_PAGE_RADIX;
    }
    if (levels.count == 0) {
        return levels;
    }
    ratio /= MXP_PAGE_RADIX;
    uint64_t width_ns = (top_ns + ratio - 1) / ratio;
    for (size_t i = levels.count; i-- > 0; width_ns *= MXP_PAGE_RADIX) {
        levels.width_ns[i] = width_ns;
    }
    return levels;
}
