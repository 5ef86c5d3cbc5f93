// SPDX-License-Identifier: Apache-2.0
// Reading a range for those who look at nearly all of its records: heads one after the other
// (mxp__next_head), operators and lean spans in one go by `clock` (record_times.h), and what needs
// more care by the decoder.
#ifndef MXP_ANALYSIS_RANGE_READER_H
#define MXP_ANALYSIS_RANGE_READER_H

#include "profiler/analysis/window/record_times.h"

typedef struct mxp_range_reader {
    mxp_decoder decoder;
    mxp_plain_clock clock;
    bool is_damaged;  // nothing behind is to be read
} mxp_range_reader;

void mxp__range_reader_begin(mxp_range_reader *reader, const mxp_source *source,
                             const mxp_record_range *range);
// The record at `words`, or the first one behind it that the decoder does not skip. False: there is
// none, or damage.
bool mxp__range_reader_decode(mxp_range_reader *reader, const uint64_t *words, mxp_event *event);
// The same of the operator at `words`, and its times.
bool mxp__range_reader_decode_operator(mxp_range_reader *reader, const uint64_t *words,
                                       mxp_operator_times *times);

// The times of the operator at `words`: by the clock, or where that does not do by the decoder.
static inline bool mxp__range_reader_operator(mxp_range_reader *reader, const uint64_t *words,
                                              mxp_operator_times *times)
{
    return mxp__operator_times_at(&reader->clock, words, times) ||
           mxp__range_reader_decode_operator(reader, words, times);
}

#endif
