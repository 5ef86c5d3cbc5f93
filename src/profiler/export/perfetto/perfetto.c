// SPDX-License-Identifier: Apache-2.0
// Perfetto's protobuf, read by ui.perfetto.dev and trace_processor. The ranges of the source are
// taken from the last to the first (perfetto_order.c says why), each in two passes: forwards for
// records without a duration, and backwards for spans. Memory: the places of the records of one
// range.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/api_calls.h"
#include "profiler/export/export.h"
#include "profiler/export/perfetto/perfetto.h"

typedef enum stage { SURVEY, NEXT_BLOCK, INSTANTS, SPANS, CALLS, DONE } stage;

typedef struct span_place {
    uint32_t unit;  // of the record in its range
    uint32_t late;  // it ended before one that was written before it
} span_place;

typedef struct perfetto {
    const mxp_source *first;  // process of the trace
    mxp_packets packets;
    mxp_chrome_tracks *tracks;
    mxp_span_order *order;
    stage stage;
    size_t ranges;  // that are not written yet
    mxp_decoder decoder;  // of the range at hand
    const uint64_t *range_words;
    span_place *spans;  // of it, in its order
    size_t span_count, span_capacity;
    int64_t last_end_ns;
    bool has_calls;
    mxp_api_stream *calls;
    uint32_t call_tracks[2];
    int damage;  // MXP_EFORMAT ...
    char damage_text[512];  // ... and its detail line, reported at the end
} perfetto;

static int note_damage(perfetto *state, int error)
{
    if (error == MXP_EFORMAT && state->damage == MXP_OK) {
        state->damage = error;
        strncat(state->damage_text, mxp_last_error(), sizeof state->damage_text - 1);
    }
    return error == MXP_EFORMAT ? MXP_OK : error;
}

static bool is_span(const mxp_event *event)
{
    return event->kind == MXP_KIND_SPAN || event->kind == MXP_KIND_OPERATOR;
}

// ---- survey -----------------------------------------------------------------------------------
// Takes the spans that are shown on the tracks of other threads, before all others, and sees the
// calls that arrows begin in.
static bool is_cross_thread(const perfetto *state, const mxp_event *event)
{
    return is_span(event) && (event->lane & MXP_LANE_THREAD) != 0 &&
           (event->lane & ~MXP_LANE_THREAD) < state->packets.source->thread_count &&
           !mxp__span_is_async(&state->packets, event->name) &&
           mxp__event_clock(event) == MXP_CLOCK_TRACE;
}

static int survey_range(perfetto *state, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    int found;
    mxp__decoder_begin(&decoder, state->packets.source->timebase, range);
    while ((found = mxp__decoder_next(&decoder, &event)) == 1) {
        mxp__arrows_see(state->packets.arrows, &event);
        if (event.lane != 0 && is_cross_thread(state, &event)) {
            int error = mxp__span_order_take(state->order, &event);
            if (error != MXP_OK) {
                return error;
            }
        }
    }
    return note_damage(state, found);
}

// Counts the ranges too.
static int survey(perfetto *state)
{
    mxp_source *source = state->packets.source;
    mxp_record_range range;
    int found;
    int error = MXP_OK;
    while (error == MXP_OK && (found = source->range(source, state->ranges, &range)) != 0) {
        error = found == 1 ? survey_range(state, &range) : note_damage(state, found);
        state->ranges++;
    }
    return error;
}

// ---- ranges -----------------------------------------------------------------------------------
static int open_range(perfetto *state)
{
    mxp_source *source = state->packets.source;
    mxp_record_range range;
    int found = source->range(source, --state->ranges, &range);
    if (found != 1) {
        return note_damage(state, found);
    }
    mxp__decoder_begin(&state->decoder, source->timebase, &range);
    state->range_words = range.words;
    state->span_count = 0;
    state->last_end_ns = INT64_MIN;
    state->stage = INSTANTS;
    return MXP_OK;
}

static int keep_span(perfetto *state, const mxp_event *event)
{
    if (mxp__grow(&state->spans, &state->span_capacity, state->span_count + 1,
                  sizeof *state->spans) != MXP_OK) {
        return mxp__fail_memory("the spans of a range");
    }
    bool is_own = event->lane == 0 && !mxp__span_is_async(&state->packets, event->name);
    state->spans[state->span_count++] = (span_place){
        .unit = (uint32_t)((size_t)(event->words - state->range_words) / 2),
        .late = is_own && event->end_ns < state->last_end_ns,
    };
    if (is_own && event->end_ns > state->last_end_ns) {
        state->last_end_ns = event->end_ns;
    }
    return MXP_OK;
}

static int next_instant(perfetto *state)
{
    mxp_event event;
    int found = mxp__decoder_next(&state->decoder, &event);
    if (found != 1) {
        state->stage = SPANS;
        return note_damage(state, found);
    }
    if (!is_span(&event)) {
        mxp__packets_record(&state->packets, &event);
        return MXP_OK;
    }
    if (event.lane != 0 && is_cross_thread(state, &event)) {
        return MXP_OK;
    }
    mxp__packets_push(&state->packets, &event);
    return keep_span(state, &event);
}

static int next_span(perfetto *state)
{
    if (state->span_count == 0) {
        state->stage = NEXT_BLOCK;
        return MXP_OK;
    }
    const span_place *place = &state->spans[--state->span_count];
    mxp_event event;
    state->decoder.at = state->range_words + 2 * (size_t)place->unit;
    int found = mxp__decoder_next(&state->decoder, &event);
    if (found != 1) {
        return found;
    }
    state->has_calls = state->has_calls || mxp__is_api_name(state->packets.source, event.name);
    return mxp__span_order_add(state->order, &event, place->late != 0);
}

static int next_range(perfetto *state)
{
    if (state->ranges > 0) {
        return open_range(state);
    }
    state->stage = CALLS;
    return mxp__span_order_finish(state->order);
}

// ---- API calls --------------------------------------------------------------------------------
static int open_calls(perfetto *state)
{
    static const char *const names[] = {MXP__API_CALLS, MXP__API_CONCURRENCY};
    for (int i = 0; i < 2; i++) {
        state->call_tracks[i] =
            mxp__counter_track(&state->packets, names[i], strlen(names[i]), MXP_UNIT_NONE);
    }
    return mxp__api_stream_open(state->packets.source, NULL, &state->calls);
}

static int next_call(perfetto *state)
{
    if (!state->has_calls) {
        state->stage = DONE;
        return MXP_OK;
    }
    int error = state->calls == NULL ? open_calls(state) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    mxp_api_change change;
    int found = mxp__api_stream_next(state->calls, &change);
    if (found != 1) {
        state->stage = DONE;
        return note_damage(state, found);
    }
    if (!change.is_end) {
        mxp__packets_sample(&state->packets, state->call_tracks[0], change.ns, change.calls);
    }
    mxp__packets_sample(&state->packets, state->call_tracks[1], change.ns, change.open);
    return MXP_OK;
}

// ---- the exporter -----------------------------------------------------------------------------
static int step(perfetto *state)
{
    switch (state->stage) {
    case SURVEY:
        state->stage = NEXT_BLOCK;
        return survey(state);
    case NEXT_BLOCK:
        return next_range(state);
    case INSTANTS:
        return next_instant(state);
    case SPANS:
        return next_span(state);
    default:
        return next_call(state);
    }
}

static int perfetto_rest(mxp_export *run)
{
    perfetto *state = run->state;
    while (state->stage != DONE) {
        int error = step(state);
        if (error != MXP_OK) {
            return error;
        }
        if (run->out->failed) {
            return mxp__fail_memory("the exported trace");
        }
        if (run->out->length >= run->flush_bytes) {
            return 1;
        }
    }
    if (state->damage != MXP_OK) {
        mxp_set_last_error(state->damage, state->damage_text);
    }
    return state->damage;
}

static int begin_process(mxp_export *run, const mxp_source *first)
{
    perfetto *state = mxp__alloc(sizeof *state);
    if (state == NULL) {
        return mxp__fail_memory("the Perfetto export");
    }
    state->first = first;
    run->state = state;
    int error = mxp__chrome_tracks_create(&state->tracks);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__chrome_tracks_begin(state->tracks, run->source);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__packets_begin(&state->packets, run->source, first, state->tracks, run->out);
    if (error != MXP_OK) {
        return error;
    }
    state->packets.arrows = mxp__chrome_tracks_arrows(state->tracks);
    return mxp__span_order_create(&state->packets, &state->order);
}

static int perfetto_begin(mxp_export *run)
{
    return begin_process(run, run->source);
}

static int perfetto_end(mxp_export *run)
{
    perfetto *state = run->state;
    if (state == NULL) {
        return MXP_OK;
    }
    if (state->order != NULL) {
        mxp__packets_end(&state->packets);
    }
    mxp__api_stream_close(state->calls);
    mxp__span_order_destroy(state->order);
    mxp__packets_fini(&state->packets);
    mxp__chrome_tracks_destroy(state->tracks);
    mxp__free(state->spans, state->span_capacity * sizeof *state->spans);
    mxp__free(state, sizeof *state);
    run->state = NULL;
    return MXP_OK;
}

static int perfetto_process(mxp_export *run)
{
    const perfetto *state = run->state;
    const mxp_source *first = state->first;
    perfetto_end(run);
    return begin_process(run, first);
}

const mxp_exporter mxp__exporter_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .help = "the trace as Perfetto's protobuf, for ui.perfetto.dev, trace_processor",
    .begin = perfetto_begin,
    .rest = perfetto_rest,
    .process = perfetto_process,
    .end = perfetto_end,
};
