// SPDX-License-Identifier: Apache-2.0
// See range_reader.h.
#include "profiler/analysis/window/range_reader.h"

void mxp__range_reader_begin(mxp_range_reader *reader, const mxp_source *source,
                             const mxp_record_range *range)
{
    reader->is_damaged = false;
    mxp__decoder_begin(&reader->decoder, source->timebase, range);
    reader->clock = mxp__plain_clock_of(&reader->decoder);
}

// The clock goes on from there, where another segment of it may have begun.
bool mxp__range_reader_decode(mxp_range_reader *reader, const uint64_t *words, mxp_event *event)
{
    reader->decoder.at = words;
    reader->is_damaged = mxp__decoder_next(&reader->decoder, event) != 1;
    reader->clock = mxp__plain_clock_of(&reader->decoder);
    return !reader->is_damaged;
}

bool mxp__range_reader_decode_operator(mxp_range_reader *reader, const uint64_t *words,
                                       mxp_operator_times *times)
{
    mxp_event event;
    if (!mxp__range_reader_decode(reader, words, &event)) {
        return false;
    }
    *times = mxp__event_operator_times(&reader->decoder, &event);
    return true;
}
