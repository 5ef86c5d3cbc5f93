// SPDX-License-Identifier: Apache-2.0
// The times of operators and lean spans straight from the words of their records: a fraction of
// what decoding an event and then its view takes, which counts where all records of a trace are
// looked at.
#ifndef MXP_ANALYSIS_RECORD_TIMES_H
#define MXP_ANALYSIS_RECORD_TIMES_H

#include "profiler/trace/event.h"

typedef struct mxp_operator_times {
    uint64_t push_ticks;
    int64_t push_ns, ready_ns, start_ns, end_ns;  // within +-MXP__NS_MAX
} mxp_operator_times;

typedef struct mxp_span_times {
    uint64_t begin_ticks;
    int64_t begin_ns, end_ns;  // within +-MXP__NS_MAX
} mxp_span_times;

// ---- with a decoder's care ---------------------------------------------------------------------
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

// ---- in one go ---------------------------------------------------------------------------------
// The ticks in which nothing needs care: one segment of the clock converts them, to times within
// the bounds. What lies in them is converted without a further look.
typedef struct mxp_plain_clock {
    uint64_t base_ticks;  // of the range
    uint64_t first, count;  // ticks
    mxp_clock_segment segment;
} mxp_plain_clock;

// Those around what the decoder converted last.
static inline mxp_plain_clock mxp__plain_clock_of(const mxp_decoder *decoder)
{
    const mxp_clock_segment *segment = &decoder->clock;
    const uint64_t least = decoder->ticks_min, most = least + decoder->ticks_range;
    const uint64_t segment_most = segment->ticks0 + decoder->clock_range;
    const uint64_t first = segment->ticks0 > least ? segment->ticks0 : least;
    uint64_t last = segment_most < most ? segment_most : most;
    last = last < INT64_MAX ? last : INT64_MAX;
    return (mxp_plain_clock){.base_ticks = decoder->range.base_ticks,
                             .first = first,
                             .count = first <= last ? last - first + 1 : 0,
                             .segment = *segment};
}

static inline int64_t mxp__plain_ns(const mxp_plain_clock *clock, uint64_t ticks)
{
    const uint64_t past = ticks - clock->segment.ticks0;
    const uint64_t ns = (uint64_t)((mxp_uint128)past * clock->segment.mult >> 32);
    return (int64_t)((uint64_t)clock->segment.ns0 + ns);
}

// As mxp__decoder_widen.
static inline uint64_t mxp__plain_ticks(const mxp_plain_clock *clock, uint64_t stamp)
{
    const uint64_t distance = (stamp - clock->base_ticks) << (64 - MXP_STAMP_BITS);
    return clock->base_ticks + (uint64_t)((int64_t)distance >> (64 - MXP_STAMP_BITS));
}

// Of the operator at `words`, a whole record. False: it needs the decoder.
static inline bool mxp__operator_times_at(const mxp_plain_clock *clock, const uint64_t *words,
                                          mxp_operator_times *times)
{
    if ((words[0] >> 8 & 0xff) < 4) {
        return false;
    }
    const uint64_t run = words[2] & MXP_STAMP_MASK, queued = words[4] & MXP_STAMP_MASK;
    const uint64_t pushed = words[3] & MXP_STAMP_MASK, most = pushed > queued ? pushed : queued;
    const uint64_t end = mxp__plain_ticks(clock, (words[0] >> 16) + run), start = end - run;
    const uint64_t past = end - clock->first;
    if (past >= clock->count || past < run + most) {
        return false;
    }
    *times = (mxp_operator_times){.push_ticks = start - pushed,
                                  .push_ns = mxp__plain_ns(clock, start - pushed),
                                  .ready_ns = mxp__plain_ns(clock, start - queued),
                                  .start_ns = mxp__plain_ns(clock, start),
                                  .end_ns = mxp__plain_ns(clock, end)};
    return true;
}

// The same of the lean span at `words`.
static inline bool mxp__span_times_at(const mxp_plain_clock *clock, const uint64_t *words,
                                      mxp_span_times *times)
{
    const uint64_t duration = words[1] >> 32;
    const uint64_t end = mxp__plain_ticks(clock, (words[0] >> 16) + duration);
    const uint64_t past = end - clock->first;
    if (past >= clock->count || past < duration) {
        return false;
    }
    *times = (mxp_span_times){.begin_ticks = end - duration,
                              .begin_ns = mxp__plain_ns(clock, end - duration),
                              .end_ns = mxp__plain_ns(clock, end)};
    return true;
}

static inline bool mxp__is_operator_head(const uint64_t *words)
{
    const uint32_t kind = (uint32_t)(words[0] & 0xff);
    return kind == MXP_KIND_OPERATOR || kind == MXP_KIND_HIDDEN;
}

static inline bool mxp__is_lean_span_head(const uint64_t *words)
{
    return (words[0] & 0xffff) == (MXP_KIND_SPAN | 1 << 8);
}

static inline bool mxp__is_span_head(const uint64_t *words)
{
    const uint32_t kind = (uint32_t)(words[0] & 0xff);
    return kind == MXP_KIND_SPAN || kind == MXP_KIND_SPAN_LONG;
}

// As mxp__decoder_variables, without a call where they are in one record, as most are; then *next,
// which is behind the operator, moves behind that record.
static inline uint32_t mxp__variables_behind(const mxp_decoder *decoder, const uint64_t *words,
                                             const uint64_t **next)
{
    const uint64_t *const end = decoder->range.end, *at = *next;
    const uint64_t units = end - at >= 2 ? *at >> 8 & 0xff : 0;
    if (units == 0 || (*at & 0xff) != MXP_KIND_VARIABLES || 2 * units + 2 > (uint64_t)(end - at) ||
        (at[2 * units] & 0xff) == MXP_KIND_VARIABLES || *at >> 32 != words[1] >> 32) {
        return mxp__decoder_variables(decoder, words);
    }
    const uint64_t count = *at >> 16 & 0xff, most = 4 * units - 2;
    const uint64_t held = most < MXP_VARIABLES_PER_RECORD ? most : MXP_VARIABLES_PER_RECORD;
    *next = at + 2 * units;
    return (uint32_t)(count < held ? count : held);
}

#endif
