// SPDX-License-Identifier: Apache-2.0
// Parses CLOCK: one whole section, and what later ones add to it.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"
#include "profiler/trace/file/file_tables_parts.h"

static const uint64_t mult_max = UINT64_C(1) << 52;  // 1 ms a tick

// Trace time must never go back, or spans would end before they begin.
static bool segments_make_sense(const mxp_clock_segment *segments, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const mxp_clock_segment *segment = &segments[i];
        if (segment->mult == 0 || segment->mult > mult_max || segment->ns0 > MXP__CLOCK_NS_MAX ||
            segment->ns0 < -MXP__CLOCK_NS_MAX) {
            return false;
        }
        if (i > 0) {
            const mxp_clock_segment *before = &segments[i - 1];
            mxp_uint128 ticks = segment->ticks0 - before->ticks0;
            mxp_uint128 ns = ticks * before->mult >> 32;
            if (segment->ticks0 <= before->ticks0 || segment->ns0 < before->ns0 ||
                ns > (uint64_t)segment->ns0 - (uint64_t)before->ns0) {
                return false;
            }
        }
    }
    return count > 0;
}

static int take_clock(mxp_timebase *timebase, content *from, const mxp_clock_header *header)
{
    const size_t points = timebase->point_count + header->points;
    const size_t segments = timebase->segment_count + header->segments;
    if ((header->points > 0 && mxp__grow(&timebase->points, &timebase->point_capacity, points,
                                         sizeof *timebase->points) != MXP_OK) ||
        mxp__grow(&timebase->segments, &timebase->segment_capacity, segments,
                  sizeof *timebase->segments) != MXP_OK) {
        return mxp__fail_memory("the clock of a native trace");
    }
    if (header->points > 0) {
        take(from, timebase->points + timebase->point_count,
             header->points * sizeof *timebase->points);
    }
    take(from, timebase->segments + timebase->segment_count,
         header->segments * sizeof *timebase->segments);
    timebase->point_count = points;
    timebase->segment_count = segments;
    timebase->residual_ns =
        header->residual_ns >= 0 && header->residual_ns < 1e18 ? header->residual_ns : 0;
    timebase->jump_ns = header->jump_ns;
    timebase->jump_ticks = header->jump_ticks;
    return MXP_OK;
}

static bool has_clock(const content *from, const mxp_clock_header *header)
{
    const uint64_t points = from->left / sizeof(mxp_clock_point);
    return points >= header->points &&
           (from->left - header->points * sizeof(mxp_clock_point)) / sizeof(mxp_clock_segment) >=
               header->segments &&
           (header->segments != 0 || header->segments_before != 0);
}

static int read_clock_section(mxp_file_tables *tables, mxp_file_index *index, uint64_t offset)
{
    mxp_timebase *timebase = &tables->timebase;
    content from = content_of(index, offset);
    mxp_clock_header header;
    if (!take(&from, &header, sizeof header) || !has_clock(&from, &header) ||
        header.segments_before > timebase->segment_count) {
        mxp__file_index_damage(index, offset, "a clock without its segments");
        return MXP_OK;
    }
    timebase->segment_count = header.segments_before;
    timebase->source = header.source;
    return take_clock(timebase, &from, &header);
}

int mxp__file_tables_clock(mxp_file_tables *tables, mxp_file_index *index)
{
    mxp_timebase *timebase = &tables->timebase;
    int error = mxp__file_tables_each(tables, index, MXP_SECTION_CLOCK, read_clock_section);
    if (error == MXP_OK && timebase->segment_count != 0 &&
        !segments_make_sense(timebase->segments, (uint32_t)timebase->segment_count)) {
        mxp__file_index_damage(index, index->last[MXP_SECTION_CLOCK],
                               "a clock that goes backwards");
        mxp__timebase_fini(timebase);
    }
    return error;
}
