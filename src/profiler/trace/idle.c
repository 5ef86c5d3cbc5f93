// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/idle.h"

static bool is_idle_record(const uint64_t *words)
{
    uint32_t kind = *words & 0xff, what = (uint32_t)(words[1] >> 32);
    return kind == MXP_KIND_CENSUS ||
           (kind == MXP_KIND_META &&
            (what == MXP_META_STATE || what == MXP_META_SCOPE_PUSH || what == MXP_META_SCOPE_POP));
}

static bool is_idle_range(const mxp_record_range *range)
{
    const uint64_t *words = range->words;
    while (words < range->end && is_idle_record(words)) {
        words += 2 * (*words >> 8 & 0xff);
    }
    return words >= range->end;
}

bool mxp__source_is_idle(mxp_source *source)
{
    mxp_record_range range;
    bool idle = source->stats_count == 0;
    for (size_t i = 0; idle && source->range(source, i, &range) == 1; i++) {
        idle = is_idle_range(&range);
    }
    return idle;
}
