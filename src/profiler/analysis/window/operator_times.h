// SPDX-License-Identifier: Apache-2.0
// The times of an operator straight from the words of its record: a fraction of what decoding an
// event and then its view takes, which counts where all records of a trace are looked at.
#ifndef MXP_ANALYSIS_OPERATOR_TIMES_H
#define MXP_ANALYSIS_OPERATOR_TIMES_H

#include "profiler/trace/event.h"

typedef struct mxp_operator_times {
    uint64_t push_ticks;
    int64_t push_ns, ready_ns, start_ns, end_ns;  // within +-MXP__NS_MAX
} mxp_operator_times;

static inline uint64_t mxp__ticks_before(uint64_t ticks, uint64_t word)
{
    const uint64_t distance = word & MXP_STAMP_MASK;
    return distance < ticks ? ticks - distance : 0;
}

static inline int64_t mxp__decoder_ns_within(mxp_decoder *decoder, uint64_t ticks)
{
    const int64_t ns = mxp__decoder_ns(decoder, ticks);
    return ns < -MXP__NS_MAX ? -MXP__NS_MAX : ns > MXP__NS_MAX ? MXP__NS_MAX : ns;
}

// Of an operator that was decoded.
static inline mxp_operator_times mxp__event_operator_times(mxp_decoder *decoder,
                                                           const mxp_event *event)
{
    const uint64_t push = mxp__ticks_before(event->begin_ticks, event->words[3]);
    const uint64_t ready = mxp__ticks_before(event->begin_ticks, event->words[4]);
    return (mxp_operator_times){.push_ticks = push,
                                .push_ns = mxp__decoder_ns_within(decoder, push),
                                .ready_ns = mxp__decoder_ns_within(decoder, ready),
                                .start_ns = event->begin_ns,
                                .end_ns = event->end_ns};
}

// The same of the operator at `words`, a whole record of the decoder's range. False: its length or
// times need the care that mxp__decoder_next takes.
static inline bool mxp__operator_times_at(mxp_decoder *decoder, const uint64_t *words,
                                          mxp_operator_times *times)
{
    if ((words[0] >> 8 & 0xff) < 4) {
        return false;
    }
    const uint64_t run = words[2] & MXP_STAMP_MASK;
    const uint64_t end = mxp__decoder_widen(decoder, (words[0] >> 16) + run);
    const uint64_t start = end - run, least = decoder->ticks_min;
    if (end > INT64_MAX || end < run || start < least || end - least > decoder->ticks_range) {
        return false;
    }
    const uint64_t push = mxp__ticks_before(start, words[3]);
    const uint64_t ready = mxp__ticks_before(start, words[4]);
    if (push < least || ready < least) {
        return false;
    }
    *times = (mxp_operator_times){.push_ticks = push,
                                  .push_ns = mxp__decoder_ns(decoder, push),
                                  .ready_ns = mxp__decoder_ns(decoder, ready),
                                  .start_ns = mxp__decoder_ns(decoder, start),
                                  .end_ns = mxp__decoder_ns(decoder, end)};
    return true;
}

static inline bool mxp__is_operator_head(const uint64_t *words)
{
    const uint32_t kind = (uint32_t)(words[0] & 0xff);
    return kind == MXP_KIND_OPERATOR || kind == MXP_KIND_HIDDEN;
}

#endif
