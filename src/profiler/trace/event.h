// SPDX-License-Identifier: Apache-2.0
// A decoded record, and the one decoder of all record kinds. Lean spans, nearly everything a trace
// holds, are decoded inline: about a dozen instructions and one multiplication an end.
#ifndef MXP_TRACE_EVENT_H
#define MXP_TRACE_EVENT_H

#include <string.h>

#include "profiler/trace/source.h"

// Bound of an event's times: whatever the file holds, begin_ns <= end_ns and both lie within
// +-MXP__NS_MAX, so that the difference of any two times never overflows. Times beyond are clamped.
// begin_ticks <= end_ticks too, except on a lane's own clock, which may be negative
// (mxp__event_clock).
#define MXP__NS_MAX (INT64_C(1) << 61)
// Segments of a clock begin within +- this; a file where one does not is damaged.
#define MXP__CLOCK_NS_MAX (INT64_C(1) << 60)

typedef struct mxp_event {
    uint8_t kind;  // MXP_KIND_*; SPAN also for long spans
    uint8_t phase;  // scope of an instant, phase of a flow, what of a meta, type of a counter
    uint16_t flags;  // MXP_SPAN_*, MXP_OP_*, MXP_MEM_*
    uint32_t name;
    uint32_t thread;  // index of the thread that wrote it
    uint32_t lane;  // of a long span and of a flow, else 0
    uint64_t id;  // unique in the trace: thread, chunk and place in the chunk
    uint64_t begin_ticks, end_ticks;  // equal for everything that has no duration
    int64_t begin_ns, end_ns;  // trace time, or the lane's own (mxp__event_clock)
    union {
        uint64_t u64;  // counter, flow id, meta value; operator: variables that were found
        int64_t i64;
        double f64;
    } value;
    const uint64_t *words;  // the record itself: kind-specific fields are read from here
} mxp_event;

typedef struct mxp_decoder {
    const mxp_timebase *timebase;
    mxp_record_range range;
    const uint64_t *at;
    uint64_t first_id;
    uint64_t ticks_min, ticks_range;  // ticks whose time lies within +-MXP__NS_MAX
    size_t segment;  // the one in `clock`
    mxp_clock_segment clock;
    uint64_t clock_range;  // it holds up to clock.ticks0 + this
} mxp_decoder;

void mxp__decoder_begin(mxp_decoder *decoder, const mxp_timebase *timebase,
                        const mxp_record_range *range);

// The rest of mxp__decoder_next and mxp__decoder_ns; not for direct use.
int mxp__decoder_next_slow(mxp_decoder *decoder, mxp_event *event);
int64_t mxp__decoder_ns_slow(mxp_decoder *decoder, uint64_t ticks);

static inline int64_t mxp__decoder_ns(mxp_decoder *decoder, uint64_t ticks)
{
    uint64_t past = ticks - decoder->clock.ticks0;
    if (__builtin_expect(past > decoder->clock_range, 0)) {
        return mxp__decoder_ns_slow(decoder, ticks);
    }
    uint64_t ns = (uint64_t)((mxp_uint128)past * decoder->clock.mult >> 32);
    return (int64_t)((uint64_t)decoder->clock.ns0 + ns);
}

// The ticks whose low 48 bits are those of `stamp`, within 2^47 ticks of the range's base.
static inline uint64_t mxp__decoder_widen(const mxp_decoder *decoder, uint64_t stamp)
{
    uint64_t distance = (stamp - decoder->range.base_ticks) << (64 - MXP_STAMP_BITS);
    return decoder->range.base_ticks + (uint64_t)((int64_t)distance >> (64 - MXP_STAMP_BITS));
}

static inline uint64_t mxp__decoder_id(const mxp_decoder *decoder)
{
    return decoder->first_id + (uint64_t)(decoder->at - decoder->range.words) / 2;
}

// The next record that is known to this reader (VARIABLES records are skipped: they are reached
// from their operator by mxp__event_variable). 1, or 0 at the end of the range, or MXP_EFORMAT with
// the offset in the detail line if a length is 0, too small for its kind or reaches beyond the
// range; then the range is over.
static inline int mxp__decoder_next(mxp_decoder *decoder, mxp_event *event)
{
    const uint64_t *words = decoder->at;
    if (__builtin_expect(
            decoder->range.end - words < 2 || (words[0] & 0xffff) != (MXP_KIND_SPAN | 1 << 8), 0)) {
        return mxp__decoder_next_slow(decoder, event);
    }
    uint64_t duration = words[1] >> 32;
    uint64_t end = mxp__decoder_widen(decoder, (words[0] >> 16) + duration);
    uint64_t begin = end - duration;
    uint64_t end_past = end - decoder->ticks_min;
    if (__builtin_expect(end_past > decoder->ticks_range || end_past < duration, 0)) {
        return mxp__decoder_next_slow(decoder, event);
    }
    event->kind = MXP_KIND_SPAN;
    event->phase = 0;
    event->flags = 0;
    event->name = (uint32_t)words[1];
    event->thread = decoder->range.thread;
    event->lane = 0;
    event->id = mxp__decoder_id(decoder);
    event->begin_ticks = begin;
    event->end_ticks = end;
    // Begin and end are converted separately: equal ticks give equal ns in every record, so nesting
    // survives.
    event->begin_ns = mxp__decoder_ns(decoder, begin);
    event->end_ns = mxp__decoder_ns(decoder, end);
    event->value.u64 = 0;
    event->words = words;
    decoder->at = words + 2;
    return 1;
}

// The clock of a span: MXP_CLOCK_TRACE, or a lane's own. Then ticks and ns of the event are both
// that clock's ns, and say nothing about when it was relative to the other events.
static inline uint32_t mxp__event_clock(const mxp_event *event)
{
    return (event->words[0] & 0xff) == MXP_KIND_SPAN_LONG ? (uint32_t)(event->words[1] >> 56)
                                                          : (uint32_t)MXP_CLOCK_TRACE;
}

// The id of a long span's context, 0: it has none (or is no long span).
uint64_t mxp__event_context(const mxp_event *event);

// Long span: argument `i` of mxp__event_arg_count (0 for anything else).
uint32_t mxp__event_arg_count(const mxp_event *event);
void mxp__event_arg(const mxp_event *event, uint32_t i, uint32_t *key, uint32_t *type,
                    uint64_t *value);
// The number that an argument or a sample of this type stands for. False: it is none.
static inline bool mxp__arg_number(uint32_t type, uint64_t value, double *number)
{
    if (type == MXP_ARG_F64) {
        memcpy(number, &value, sizeof *number);
    } else {
        *number = type == MXP_ARG_I64 ? (double)(int64_t)value : (double)value;
    }
    return type == MXP_ARG_U64 || type == MXP_ARG_I64 || type == MXP_ARG_F64;
}
// Of an argument of type MXP_ARG_TEXT: its bytes, which stand in the record and end in no zero, and
// how many the text had before it was cut. Null if they are not where the record says.
const char *mxp__event_arg_text(const mxp_event *event, uint32_t i, uint32_t *length_bytes,
                                uint32_t *whole_bytes);

// Operators, those that tables do not show among them.
static inline bool mxp__event_is_operator(const mxp_event *event)
{
    return event->kind == MXP_KIND_OPERATOR || event->kind == MXP_KIND_HIDDEN;
}

// Fields of an operator.
typedef struct mxp_operator_view {
    uint32_t id, released_by, bulk_parent, scope, shape, device;
    uint32_t push_thread;  // 0xffff unknown
    uint32_t variable_count;
    uint64_t push_ticks, ready_ticks;
    float flops, bytes;
} mxp_operator_view;
void mxp__event_operator(const mxp_event *event, mxp_operator_view *view);
// How many variables an operator has whose record begins at `words` in the decoder's range.
uint32_t mxp__decoder_variables(const mxp_decoder *decoder, const uint64_t *words);
// Variable `i` of variable_count, with MXP_VARIABLE_WRITTEN.
uint32_t mxp__event_variable(const mxp_event *event, uint32_t i);
// The same of an operator's record that was decoded before, by its words.
uint32_t mxp__record_variable(const uint64_t *words, uint32_t i);

// Fields of a wait; its flags (MXP_WAIT_*) are the event's.
typedef struct mxp_wait_view {
    uint32_t what;  // MXP_WAIT_*
    uint32_t ended_by;  // operator id, 0: unknown
    uint32_t variable;  // 0: none
} mxp_wait_view;
void mxp__event_wait(const mxp_event *event, mxp_wait_view *view);

// Fields of MEMORY and CENSUS.
typedef struct mxp_memory_view {
    uint64_t block, requested_bytes, rounded_bytes, live_bytes;
    uint32_t device, category, scope;
} mxp_memory_view;
void mxp__event_memory(const mxp_event *event, mxp_memory_view *view);

#endif
