// SPDX-License-Identifier: Apache-2.0
// Chrome JSON, as chrome://tracing and ui.perfetto.dev read it. This file holds the inner loop: a
// lean span costs its decoding, a copy of its name's constant part and two times as text.
#include "profiler/export/chrome/chrome.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/text.h"

// ---- names ------------------------------------------------------------------------------------
int mxp__chrome_init(mxp_chrome *chrome, mxp_source *source, mxp_chrome_tracks *tracks)
{
    *chrome = (mxp_chrome){.source = source, .tracks = tracks, .name_count = source->name_count};
    chrome->names = mxp__alloc(((size_t)chrome->name_count + 1) * sizeof *chrome->names);
    return chrome->names != NULL ? MXP_OK : mxp__fail_memory("the names of the trace");
}

static size_t name_bytes(const mxp_chrome_name *name)
{
    return sizeof *name + name->length + MXP__CHROME_PAD;
}

void mxp__chrome_fini(mxp_chrome *chrome)
{
    for (size_t i = 0; chrome->names != NULL && i <= chrome->name_count; i++) {
        if (mxp_atomic_own(&chrome->names[i]) != NULL) {
            mxp__free(mxp_atomic_own(&chrome->names[i]),
                      name_bytes(mxp_atomic_own(&chrome->names[i])));
        }
    }
    mxp__free(chrome->names, ((size_t)chrome->name_count + 1) * sizeof *chrome->names);
    chrome->names = NULL;
    mxp__reader_close(chrome->samples);
    mxp__reader_close(chrome->operators);
    chrome->samples = chrome->operators = NULL;
    mxp__api_stream_close(chrome->api);
    chrome->api = NULL;
}

static mxp_chrome_name *make_name(const mxp_chrome *chrome, uint32_t id)
{
    const mxp_source *source = chrome->source;
    mxp_name_view view = source->name(source, id);
    mxp_name_view category = source->name(source, view.category);
    if (category.length == 0) {
        category = (mxp_name_view){.text = "user", .length = 4};  // some viewers require one
    }
    mxp_strbuf text = {0};
    mxp__strbuf_puts(&text, ",\n{\"ph\":\"X\",\"cat\":");
    mxp__json_string(&text, category.text, category.length);
    mxp__strbuf_puts(&text, ",\"name\":");
    mxp__json_string(&text, view.text, view.length);
    mxp__strbuf_printf(&text, ",\"pid\":%" PRIu32 ",\"tid\":", mxp__chrome_pid(source));
    mxp_chrome_name *name = NULL;
    if (!text.failed && text.length <= UINT32_MAX) {
        name = mxp__alloc(sizeof *name + text.length + MXP__CHROME_PAD);
    }
    if (name != NULL) {
        name->length = (uint32_t)text.length;
        name->category = view.category;
        name->is_async = view.style == MXP_STYLE_ASYNC;
        name->needs_id = mxp__chrome_counter_needs_id(chrome->tracks, id);
        memcpy(name->text, text.data, text.length);
    }
    mxp__strbuf_fini(&text);
    return name;
}

const mxp_chrome_name *mxp__chrome_name_slow(mxp_chrome *chrome, uint32_t id)
{
    mxp_chrome_name *made = make_name(chrome, id);
    if (made == NULL) {
        mxp__fail_memory("the names of the trace");
        return NULL;
    }
    // Two threads may have made it; the first one's stays.
    mxp_chrome_name *there = NULL;
    if (mxp_atomic_cas_acq_rel(&chrome->names[id], &there, made)) {
        return made;
    }
    mxp__free(made, name_bytes(made));
    return there;
}

// ---- ranges -----------------------------------------------------------------------------------
enum {
    TAIL_BYTES = 24,  // of a range's `tail`: ten digits, the key and a rest that is overwritten
    SPAN_BYTES = MXP__CHROME_PAD + TAIL_BYTES + 2 * MXP__US_CHARS + 16
};

// The parts of a span's text that are the same for most spans of a range: the track and ,"ts":, and
// the first digits of the time.
typedef struct range_tail {
    char text[TAIL_BYTES];
    size_t length;
    mxp_us_writer begins;
} range_tail;

static range_tail tail_of(const mxp_chrome *chrome, const mxp_record_range *range)
{
    range_tail tail = {.text = ""};
    char *end = mxp__write_u64(tail.text, mxp__chrome_thread_row(chrome->tracks, range->thread));
    memcpy(end, ",\"ts\":", 6);
    tail.length = (size_t)(end - tail.text) + 6;
    return tail;
}

// Copies in strides that may go beyond the end on both sides; nearly always one is enough. A stride
// is written as several small copies, which the compiler does in registers. For one larger copy it
// takes a string instruction, which is slower.
static inline char *copy_padded(char *at, const char *text, size_t length)
{
    size_t i = 0;
    do {
        memcpy(at + i, text + i, 32);
        memcpy(at + i + 32, text + i + 32, 32);
        memcpy(at + i + 64, text + i + 64, 32);
        i += MXP__CHROME_PAD;
    } while (__builtin_expect(i < length, 0));
    return at + length;
}

// False without memory.
static inline bool put_lean_span(const mxp_chrome_name *name, range_tail *tail,
                                 const mxp_event *event, mxp_strbuf *out)
{
    char *start = mxp__strbuf_reserve(out, name->length + SPAN_BYTES);
    if (start == NULL) {
        return false;
    }
    int64_t begin_ns = event->begin_ns < 0 ? 0 : event->begin_ns;
    int64_t end_ns = event->end_ns < 0 ? 0 : event->end_ns;
    char *at = copy_padded(start, name->text, name->length);
    memcpy(at, tail->text, TAIL_BYTES);
    at = mxp__write_us_near(&tail->begins, at + tail->length, begin_ns);
    memcpy(at, ",\"dur\":", 7);
    at = mxp__write_us(at + 7, end_ns - begin_ns);
    *at++ = '}';
    out->length += (size_t)(at - start);
    return true;
}

static inline bool is_lean(const mxp_event *event)
{
    return (event->words[0] & 0xff) == MXP_KIND_SPAN;
}

static void put_other(mxp_chrome *chrome, const mxp_chrome_name *name, const mxp_event *event,
                      mxp_strbuf *out)
{
    if (mxp__chrome_is_sample(event)) {
        mxp_atomic_store(&chrome->has_samples, true);
    } else {
        if (event->kind == MXP_KIND_OPERATOR) {
            mxp_atomic_store(&chrome->has_operators, true);
        }
        mxp__chrome_event(chrome, name, event, out);
    }
}

// Sets the range to the records that are left for the next call.
static int leave_rest(const mxp_decoder *decoder, mxp_record_range *range)
{
    size_t words = (size_t)(decoder->at - range->words);
    range->words = decoder->at;
    range->first_unit += (uint32_t)(words / 2);
    range->offset += range->offset == 0 ? 0 : words * sizeof(uint64_t);
    return 1;
}

int mxp__chrome_range(mxp_export *run, mxp_record_range *range)
{
    mxp_chrome *chrome = run->state;
    mxp_strbuf *out = run->out;
    range_tail tail = tail_of(chrome, range);
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, run->source->timebase, range);
    mxp_event event;
    int found;
    while ((found = mxp__decoder_next(&decoder, &event)) == 1) {
        const mxp_chrome_name *name = mxp__chrome_name(chrome, event.name);
        if (__builtin_expect(name == NULL, 0)) {
            return MXP_ENOMEM;
        }
        if (__builtin_expect(!is_lean(&event) || name->is_async, 0)) {
            put_other(chrome, name, &event, out);
        } else if (!put_lean_span(name, &tail, &event, out)) {
            break;
        }
        if (__builtin_expect(out->length >= run->flush_bytes, 0) && decoder.at < range->end) {
            return leave_rest(&decoder, range);
        }
    }
    return out->failed ? mxp__fail_memory("the exported text") : found;
}

// ---- the text around --------------------------------------------------------------------------
void mxp__chrome_opening(mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "{\n    \"traceEvents\": [\n");
}

static uint64_t count_lost(const mxp_source *source)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        if (source->losses[i].reason != MXP_LOSS_NAMES_FULL) {
            lost += source->losses[i].count;
        }
    }
    return lost;
}

void mxp__chrome_closing(const mxp_source *source, const char *note, uint64_t left_out,
                         mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "\n\n    ],\n    \"otherData\": {\n");
    for (size_t i = 0; i < source->info_count; i++) {
        mxp__strbuf_puts(out, "        ");
        mxp__json_string(out, source->info[i].key, strlen(source->info[i].key));
        mxp__strbuf_puts(out, ": ");
        mxp__json_string(out, source->info[i].value, strlen(source->info[i].value));
        mxp__strbuf_puts(out, ",\n");
    }
    if (note != NULL) {
        mxp__strbuf_puts(out, "        \"note\": ");
        mxp__json_string(out, note, strlen(note));
        mxp__strbuf_puts(out, ",\n");
    }
    if (left_out > 0) {
        mxp__strbuf_printf(out,
                           "        \"left_out\": \"%" PRIu64
                           " events: the file has reached trace_limit_bytes\",\n",
                           left_out);
    }
    if (source->timebase->point_count > 0) {
        mxp__strbuf_printf(out, "        \"start_realtime_ns\": \"%" PRIu64 "\",\n",
                           source->timebase->points[0].realtime_ns);
    }
    mxp__strbuf_printf(out, "        \"lost_records\": \"%" PRIu64 "\"\n    },\n",
                       count_lost(source) + left_out);
    mxp__strbuf_puts(out, "    \"displayTimeUnit\": \"ms\"\n}\n");
}

// ---- the exporter -----------------------------------------------------------------------------
// Writes the tracks of run->source and the items that come before its records.
static int begin_process(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    mxp_chrome_tracks *tracks;
    int error = mxp__chrome_tracks_create(&tracks);
    if (error == MXP_OK) {
        error = mxp__chrome_init(chrome, run->source, tracks);
    }
    if (error == MXP_OK) {
        error = mxp__chrome_tracks_begin(tracks, run->source);
    }
    if (error == MXP_OK) {
        mxp__chrome_tracks_head(tracks, run->source, run->out);
    }
    return error;
}

static void end_process(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    if (chrome->names != NULL) {
        mxp__chrome_tracks_tail(chrome->tracks, chrome->source, run->out);
        mxp__chrome_fini(chrome);
    }
    mxp__chrome_tracks_destroy(chrome->tracks);
    *chrome = (mxp_chrome){0};
}

static int chrome_begin(mxp_export *run)
{
    run->state = mxp__alloc(sizeof(mxp_chrome));
    if (run->state == NULL) {
        return mxp__fail_memory("the Chrome export");
    }
    mxp__chrome_opening(run->out);
    return begin_process(run);
}

static int chrome_process(mxp_export *run)
{
    end_process(run);
    mxp__strbuf_puts(run->out, ",\n");
    return begin_process(run);
}

static int chrome_end(mxp_export *run)
{
    if (run->state != NULL) {
        end_process(run);
        mxp__chrome_closing(run->source, NULL, 0, run->out);
        mxp__free(run->state, sizeof(mxp_chrome));
        run->state = NULL;
    }
    return MXP_OK;
}

const mxp_exporter mxp__exporter_chrome = {
    .name = "chrome",
    .extension = ".json",
    .help = "the trace as Chrome JSON, for ui.perfetto.dev, chrome://tracing, speedscope",
    .begin = chrome_begin,
    .range = mxp__chrome_range,
    .rest = mxp__chrome_rest,
    .process = chrome_process,
    .end = chrome_end,
};
