// SPDX-License-Identifier: Apache-2.0
// The decoder of everything that is no lean span, and the views of records with more fields than an
// event has. Nothing a range holds makes it read outside the range: lengths are checked here, once,
// and what the views need later (how many variables follow) is settled when a record is decoded.
#include "profiler/trace/event.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

// Fewest units of each kind; 0: unknown to this reader. More are fine: a later writer may add.
static const uint8_t least_units[] = {
#define LEAST_UNITS(name, number, units, text) [number] = (units),
    MXP_RECORD_KINDS(LEAST_UNITS)
#undef LEAST_UNITS
};

static uint32_t kind_of(const uint64_t *words)
{
    return (uint32_t)(words[0] & 0xff);
}

static uint32_t units_of(const uint64_t *words)
{
    return (uint32_t)(words[0] >> 8 & 0xff);
}

static uint32_t low(uint64_t word)
{
    return (uint32_t)word;
}

static uint32_t high(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static float to_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- time --------------------------------------------------------------------------------------
static void load_segment(mxp_decoder *decoder, size_t i)
{
    const mxp_timebase *timebase = decoder->timebase;
    decoder->segment = i;
    decoder->clock = timebase->segments[i];
    uint64_t end = i + 1 < timebase->segment_count ? timebase->segments[i + 1].ticks0 : 0;
    decoder->clock_range = end - decoder->clock.ticks0 - 1;  // wraps to the very last tick
}

int64_t mxp__decoder_ns_slow(mxp_decoder *decoder, uint64_t ticks)
{
    load_segment(decoder, mxp__timebase_find(decoder->timebase, ticks, decoder->segment));
    return mxp__segment_ns(&decoder->clock, ticks);
}

void mxp__decoder_begin(mxp_decoder *decoder, const mxp_timebase *timebase,
                        const mxp_record_range *range)
{
    *decoder = (mxp_decoder){
        .timebase = timebase,
        .range = *range,
        .at = range->words,
        .first_id = (uint64_t)range->thread << 44 | (uint64_t)range->sequence << 12,
        .ticks_range = UINT64_MAX,
        .clock_range = UINT64_MAX,  // without any point every time is 0
    };
    decoder->first_id += range->first_unit;
    if (timebase->segment_count > 0) {
        decoder->ticks_min = mxp__timebase_ticks(timebase, -MXP__NS_MAX);
        decoder->ticks_range = mxp__timebase_ticks(timebase, MXP__NS_MAX) - 1 - decoder->ticks_min;
        load_segment(decoder, mxp__timebase_find(timebase, range->base_ticks, 0));
    }
}

// `ticks`, or the nearest ticks whose time lies within +-MXP__NS_MAX.
static uint64_t within(const mxp_decoder *decoder, uint64_t ticks)
{
    uint64_t max = decoder->ticks_min + decoder->ticks_range;
    ticks = ticks < decoder->ticks_min ? decoder->ticks_min : ticks;
    return ticks > max ? max : ticks;
}

static uint64_t minus(uint64_t ticks, uint64_t duration)
{
    return ticks > duration ? ticks - duration : 0;
}

static void set_times(mxp_decoder *decoder, mxp_event *event, uint64_t begin, uint64_t end)
{
    event->begin_ticks = within(decoder, begin);
    event->end_ticks = within(decoder, end);
    event->begin_ns = mxp__decoder_ns(decoder, event->begin_ticks);
    event->end_ns = mxp__decoder_ns(decoder, event->end_ticks);
}

// The ticks of a stamp. A wrong stamp far before tick 0 would come out near 2^64.
static uint64_t stamp_ticks(const mxp_decoder *decoder, uint64_t stamp)
{
    uint64_t ticks = mxp__decoder_widen(decoder, stamp);
    uint64_t base = decoder->range.base_ticks;
    bool wrapped = base < UINT64_C(1) << 47 && ticks > UINT64_C(1) << 63;
    return wrapped ? 0 : ticks;
}

// Stamp and duration of which it is the end that lies near the base.
static void set_stamped_times(mxp_decoder *decoder, mxp_event *event, uint64_t duration)
{
    uint64_t end = stamp_ticks(decoder, (event->words[0] >> 16) + duration);
    set_times(decoder, event, minus(end, duration), end);
}

// ---- kinds -------------------------------------------------------------------------------------
static int64_t clamp_ns(uint64_t value)
{
    int64_t ns = (int64_t)value;
    ns = ns < -MXP__NS_MAX ? -MXP__NS_MAX : ns;
    return ns > MXP__NS_MAX ? MXP__NS_MAX : ns;
}

static const char *decode_long(mxp_decoder *decoder, mxp_event *event)
{
    const uint64_t *words = event->words;
    event->kind = MXP_KIND_SPAN;
    event->flags = (uint16_t)high(words[1]);
    event->lane = low(words[4]);
    if (units_of(words) < least_units[MXP_KIND_SPAN_LONG] + (words[1] >> 48 & 0xff)) {
        return "it is too short for its arguments";
    }
    uint64_t begin = words[3];
    uint64_t end = begin + words[2];
    if (mxp__event_clock(event) == MXP_CLOCK_TRACE) {
        set_times(decoder, event, begin, end < begin ? UINT64_MAX : end);
        return NULL;
    }
    event->begin_ns = clamp_ns(begin);
    event->end_ns = words[2] > INT64_MAX ? MXP__NS_MAX : clamp_ns(end);
    if (event->end_ns < event->begin_ns) {
        event->end_ns = MXP__NS_MAX;
    }
    event->begin_ticks = (uint64_t)event->begin_ns;
    event->end_ticks = (uint64_t)event->end_ns;
    return NULL;
}

static bool is_variables_of(const uint64_t *words, const uint64_t *end, uint32_t id)
{
    return end - words >= 2 && kind_of(words) == MXP_KIND_VARIABLES && units_of(words) >= 1 &&
           units_of(words) <= (uint64_t)(end - words) / 2 && high(words[0]) == id;
}

static uint32_t variables_in(const uint64_t *words)
{
    uint32_t count = (uint32_t)(words[0] >> 16 & 0xff);
    uint32_t most = 4 * (uint32_t)units_of(words) - 2;
    most = most < MXP_VARIABLES_PER_RECORD ? most : MXP_VARIABLES_PER_RECORD;
    return count < most ? count : most;
}

// Counted when a record is decoded, where the range's end is known, so that mxp__event_variable
// need not look.
uint32_t mxp__decoder_variables(const mxp_decoder *decoder, const uint64_t *words)
{
    uint32_t count = 0;
    const uint64_t *more = words + 2 * units_of(words);
    while (is_variables_of(more, decoder->range.end, high(words[1]))) {
        count += variables_in(more);
        more += 2 * units_of(more);
    }
    return count;
}

static const char *decode_operator(mxp_decoder *decoder, mxp_event *event)
{
    const uint64_t *words = event->words;
    event->flags = (uint16_t)(words[2] >> 48);
    set_stamped_times(decoder, event, words[2] & MXP_STAMP_MASK);
    event->value.u64 = mxp__decoder_variables(decoder, words);
    return NULL;
}

// Does what decode_operator does where times and length are as they should be, in a fraction of the
// time: most of a trace of a program are operators and lean spans. False: nothing was done.
static bool decode_plain_operator(mxp_decoder *decoder, mxp_event *event)
{
    const uint64_t *words = decoder->at;
    const uint32_t kind = kind_of(words), units = units_of(words);
    if ((kind != MXP_KIND_OPERATOR && kind != MXP_KIND_HIDDEN) ||
        units < least_units[MXP_KIND_OPERATOR] ||
        units > (uint64_t)(decoder->range.end - words) / 2) {
        return false;
    }
    const uint64_t duration = words[2] & MXP_STAMP_MASK;
    const uint64_t end = mxp__decoder_widen(decoder, (words[0] >> 16) + duration);
    const uint64_t end_past = end - decoder->ticks_min;
    if (end > INT64_MAX || end < duration || end_past > decoder->ticks_range ||
        end_past < duration) {
        return false;
    }
    event->kind = (uint8_t)kind;
    event->phase = 0;
    event->flags = (uint16_t)(words[2] >> 48);
    event->name = low(words[1]);
    event->thread = decoder->range.thread;
    event->lane = 0;
    event->id = mxp__decoder_id(decoder);
    event->begin_ticks = end - duration;
    event->end_ticks = end;
    event->begin_ns = mxp__decoder_ns(decoder, end - duration);
    event->end_ns = mxp__decoder_ns(decoder, end);
    event->value.u64 = mxp__decoder_variables(decoder, words);
    event->words = words;
    decoder->at = words + 2 * units;
    return true;
}

static const char *decode(mxp_decoder *decoder, mxp_event *event)
{
    const uint64_t *words = event->words;
    switch (event->kind) {
    case MXP_KIND_SPAN:
        set_stamped_times(decoder, event, high(words[1]));
        return NULL;
    case MXP_KIND_SPAN_LONG:
        return decode_long(decoder, event);
    case MXP_KIND_OPERATOR:
    case MXP_KIND_HIDDEN:
        return decode_operator(decoder, event);
    case MXP_KIND_WAIT:
        event->flags = (uint16_t)(words[2] >> MXP_WAIT_FLAGS_SHIFT);
        set_stamped_times(decoder, event, words[2] & MXP_STAMP_MASK);
        return NULL;
    case MXP_KIND_MEMORY:
    case MXP_KIND_CENSUS:
        event->flags = (uint16_t)(words[2] >> 56 & 0xf);
        break;
    case MXP_KIND_INSTANT:
        event->phase = (uint8_t)high(words[1]);
        break;
    case MXP_KIND_FLOW:
        event->lane = low(words[3]);
        __attribute__((fallthrough));
    default:  // counter, flow, meta: a small number, then a value
        event->phase = (uint8_t)high(words[1]);
        event->flags = (uint16_t)(words[1] >> 40 & 0xff);
        event->value.u64 = words[2];
        break;
    }
    set_stamped_times(decoder, event, 0);
    return NULL;
}

// ---- records -----------------------------------------------------------------------------------
static int fail_record(mxp_decoder *decoder, const char *what)
{
    const mxp_record_range *range = &decoder->range;
    uint64_t place = (uint64_t)(decoder->at - range->words) * sizeof(uint64_t);
    decoder->at = range->end;
    if (range->offset != 0) {
        return mxp__fail(MXP_EFORMAT, "damaged record at offset %" PRIu64 ": %s",
                         range->offset + place, what);
    }
    return mxp__fail(MXP_EFORMAT,
                     "damaged record %" PRIu64 " bytes into chunk %" PRIu32 " of thread %" PRIu32
                     ": %s",
                     place, range->sequence, range->thread, what);
}

// What is wrong with the length of the record at hand, or null.
static const char *length_fault(const mxp_decoder *decoder)
{
    uint64_t words_left = (uint64_t)(decoder->range.end - decoder->at);
    uint32_t units = units_of(decoder->at);
    if (units == 0) {
        return "its length is 0";
    }
    if (units > words_left / 2) {
        return "it reaches beyond its chunk";
    }
    uint32_t kind = kind_of(decoder->at);
    if (kind < sizeof least_units && units < least_units[kind]) {
        return "it is too short for its kind";
    }
    return NULL;
}

int mxp__decoder_next_slow(mxp_decoder *decoder, mxp_event *event)
{
    while (decoder->at < decoder->range.end) {
        const uint64_t *words = decoder->at;
        if (decode_plain_operator(decoder, event)) {
            return 1;
        }
        const char *fault = length_fault(decoder);
        if (fault != NULL) {
            return fail_record(decoder, fault);
        }
        uint32_t kind = kind_of(words);
        if (kind < sizeof least_units && least_units[kind] != 0 && kind != MXP_KIND_VARIABLES) {
            *event = (mxp_event){
                .kind = (uint8_t)kind,
                .name = low(words[1]),
                .thread = decoder->range.thread,
                .id = mxp__decoder_id(decoder),
                .words = words,
            };
            fault = decode(decoder, event);
            if (fault != NULL) {
                return fail_record(decoder, fault);
            }
            decoder->at = words + 2 * units_of(words);
            return 1;
        }
        decoder->at = words + 2 * units_of(words);
    }
    return 0;
}

// ---- views -------------------------------------------------------------------------------------
uint64_t mxp__event_context(const mxp_event *event)
{
    return kind_of(event->words) == MXP_KIND_SPAN_LONG ? event->words[5] : 0;
}

uint32_t mxp__event_arg_count(const mxp_event *event)
{
    bool is_long = kind_of(event->words) == MXP_KIND_SPAN_LONG;
    return is_long ? (uint32_t)(event->words[1] >> 48 & 0xff) : 0;
}

void mxp__event_arg(const mxp_event *event, uint32_t i, uint32_t *key, uint32_t *type,
                    uint64_t *value)
{
    assert(i < mxp__event_arg_count(event));
    const uint64_t *words = event->words + 6 + 2 * (size_t)i;
    *key = low(words[0]);
    *type = high(words[0]) & 0xff;
    *value = words[1];
}

const char *mxp__event_arg_text(const mxp_event *event, uint32_t i, uint32_t *length_bytes,
                                uint32_t *whole_bytes)
{
    uint32_t count = mxp__event_arg_count(event);
    assert(i < count);
    const uint64_t *words = event->words + 6 + 2 * (size_t)i;
    uint64_t behind = (6 + 2 * (uint64_t)count) * sizeof(uint64_t);
    uint64_t record = (uint64_t)units_of(event->words) * MXP_RECORD_UNIT;
    uint64_t offset = low(words[1]), length = words[0] >> 40;
    *length_bytes = (uint32_t)length;
    *whole_bytes = high(words[1]);
    return offset < behind || offset + length > record ? NULL : (const char *)event->words + offset;
}

void mxp__event_operator(const mxp_event *event, mxp_operator_view *view)
{
    assert(mxp__event_is_operator(event));
    const uint64_t *words = event->words;
    *view = (mxp_operator_view){
        .id = high(words[1]),
        .released_by = low(words[5]),
        .bulk_parent = high(words[5]),
        .scope = low(words[6]),
        .shape = high(words[6]),
        .device = (uint32_t)(words[4] >> 48 & 0xff),
        .push_thread = (uint32_t)(words[3] >> 48),
        .variable_count = (uint32_t)event->value.u64,
        .push_ticks = minus(event->begin_ticks, words[3] & MXP_STAMP_MASK),
        .ready_ticks = minus(event->begin_ticks, words[4] & MXP_STAMP_MASK),
        .flops = to_float(low(words[7])),
        .bytes = to_float(high(words[7])),
    };
}

uint32_t mxp__event_variable(const mxp_event *event, uint32_t i)
{
    assert(mxp__event_is_operator(event) && i < event->value.u64);
    return mxp__record_variable(event->words, i);
}

uint32_t mxp__record_variable(const uint64_t *words, uint32_t i)
{
    words += 2 * units_of(words);
    while (i >= variables_in(words)) {
        if (units_of(words) == 0) {
            return 0;  // pages of a file that was shortened since
        }
        i -= variables_in(words);
        words += 2 * units_of(words);
    }
    return (uint32_t)(words[1 + i / 2] >> 32 * (i % 2));
}

void mxp__event_wait(const mxp_event *event, mxp_wait_view *view)
{
    assert(event->kind == MXP_KIND_WAIT);
    const uint64_t *words = event->words;
    *view = (mxp_wait_view){
        .what = (uint32_t)(words[2] >> MXP_WAIT_WHAT_SHIFT & 0xf),
        .ended_by = high(words[1]),
        .variable = low(words[3]),
    };
}

void mxp__event_memory(const mxp_event *event, mxp_memory_view *view)
{
    assert(event->kind == MXP_KIND_MEMORY || event->kind == MXP_KIND_CENSUS);
    const uint64_t *words = event->words;
    *view = (mxp_memory_view){
        .block = words[2] & MXP_STAMP_MASK,
        .requested_bytes = words[3],
        .rounded_bytes = words[4],
        .live_bytes = words[5],
        .device = (uint32_t)(words[2] >> 48 & 0xff),
        .category = (uint32_t)(words[2] >> 60),
        .scope = high(words[1]),
    };
}
