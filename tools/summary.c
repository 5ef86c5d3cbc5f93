// SPDX-License-Identifier: Apache-2.0
// One pass over all records of a file, range by range: order does not matter here. Times are in ns
// of trace time; nothing here interprets names but ",frame", the end of a frame's category.
#include "summary.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/window/record_times.h"
#include "profiler/trace/event.h"
#include "profiler/trace/merge.h"

// What a pass keeps beside the summary. `frame_of` tells for each name id whether it is a frame
// row's: asking the names for each span would take longer than all the rest.
enum { FRAME_UNKNOWN = 0, FRAME_NOT = 1, FRAME_FIRST = 2 };

typedef struct summary_pass {
    mxp_source *source;
    mxp_summary *summary;
    uint32_t *frame_of;  // FRAME_*, or the place in summary->frames + FRAME_FIRST
    uint64_t lost_before;
} summary_pass;

static bool is_frame(const mxp_source *source, uint32_t name)
{
    static const char ending[] = ",frame";
    enum { ENDING_LENGTH = sizeof ending - 1 };
    mxp_name_view view = source->name(source, name);
    if (view.style != MXP_STYLE_ASYNC) {
        return false;
    }
    mxp_name_view category = source->name(source, view.category);
    return category.length >= ENDING_LENGTH &&
           memcmp(category.text + category.length - ENDING_LENGTH, ending, ENDING_LENGTH) == 0;
}

// Decides about a name that is met for the first time.
static int classify_name(summary_pass *pass, const mxp_event *event)
{
    mxp_summary *summary = pass->summary;
    if (!is_frame(pass->source, event->name)) {
        pass->frame_of[event->name] = FRAME_NOT;
        return MXP_OK;
    }
    int error = mxp__grow(&summary->frames, &summary->frame_capacity, summary->frame_count + 1,
                          sizeof *summary->frames);
    if (error == MXP_OK) {
        pass->frame_of[event->name] = (uint32_t)summary->frame_count + FRAME_FIRST;
        summary->frames[summary->frame_count++] = (mxp_frames){.source = pass->source,
                                                               .name = event->name,
                                                               .first_ns = event->begin_ns,
                                                               .last_ns = event->end_ns};
    }
    return error;
}

static int add_frame(summary_pass *pass, const mxp_event *event)
{
    if (event->name >= pass->source->name_count) {
        return MXP_OK;
    }
    if (pass->frame_of[event->name] == FRAME_UNKNOWN) {
        int error = classify_name(pass, event);
        if (error != MXP_OK) {
            return error;
        }
    }
    uint32_t place = pass->frame_of[event->name];
    if (place >= FRAME_FIRST) {
        mxp_frames *frames = &pass->summary->frames[place - FRAME_FIRST];
        frames->count++;
        frames->first_ns = event->begin_ns < frames->first_ns ? event->begin_ns : frames->first_ns;
        frames->last_ns = event->end_ns > frames->last_ns ? event->end_ns : frames->last_ns;
    }
    return MXP_OK;
}

static void extend_time(mxp_summary *summary, int64_t begin_ns, int64_t end_ns)
{
    if (!summary->has_time || begin_ns < summary->first_ns) {
        summary->first_ns = begin_ns;
    }
    if (!summary->has_time || end_ns > summary->last_ns) {
        summary->last_ns = end_ns;
    }
    summary->has_time = true;
}

static int add_event(summary_pass *pass, const mxp_event *event)
{
    mxp_summary *summary = pass->summary;
    if (mxp__event_clock(event) ==
        MXP_CLOCK_TRACE) {  // else it says nothing about the trace's time
        extend_time(summary, event->begin_ns, event->end_ns);
    }
    summary->records++;
    summary->by_kind[event->kind < MXP_SUMMARY_KINDS ? event->kind : 0]++;
    if (event->kind != MXP_KIND_SPAN) {
        return MXP_OK;
    }
    summary->long_spans += (event->words[0] & 0xff) == MXP_KIND_SPAN_LONG;
    if (event->flags & MXP_SPAN_OPEN_AT_CRASH) {
        return mxp__open_spans_add(&summary->open, pass->source, event);
    }
    summary->cut_spans += event->flags != 0;
    return add_frame(pass, event);
}

static void add_unread(summary_pass *pass, uint64_t bytes)
{
    pass->summary->unread_chunks++;
    pass->summary->unread_bytes += bytes;
}

// Passes over the calls without arguments at the decoder, which are most records: they are in no
// row of frames, and their times are plain.
static void add_calls(summary_pass *pass, mxp_decoder *decoder)
{
    mxp_summary *summary = pass->summary;
    const mxp_plain_clock clock = mxp__plain_clock_of(decoder);
    mxp_span_times times;
    while (decoder->range.end - decoder->at >= 2 && mxp__is_lean_span_head(decoder->at)) {
        const uint32_t name = (uint32_t)decoder->at[1];
        if (name >= pass->source->name_count || pass->frame_of[name] != FRAME_NOT ||
            !mxp__span_times_at(&clock, decoder->at, &times)) {
            return;
        }
        extend_time(summary, times.begin_ns, times.end_ns);
        summary->records++;
        summary->by_kind[MXP_KIND_SPAN]++;
        decoder->at += 2;
    }
}

// The records of a range up to its end, or to the first that is damaged.
static int add_records(summary_pass *pass, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    const uint64_t *at = range->words;
    uint64_t before = pass->summary->records;
    int more;
    mxp__decoder_begin(&decoder, pass->source->timebase, range);
    add_calls(pass, &decoder);
    at = decoder.at;
    while ((more = mxp__decoder_next(&decoder, &event)) == 1) {
        int error = add_event(pass, &event);
        if (error != MXP_OK) {
            return error;
        }
        add_calls(pass, &decoder);
        at = decoder.at;
    }
    pass->summary->thread_records[range->thread] += pass->summary->records - before;
    at = more < 0 ? at : range->end;
    pass->summary->bytes += (uint64_t)(at - range->words) * sizeof *at;
    if (more < 0) {
        add_unread(pass, (uint64_t)(range->end - at) * sizeof *at);
    }
    return MXP_OK;
}

// 1: there may be more; 0: there is none of that number; a negative error.
static int add_range(summary_pass *pass, size_t number)
{
    mxp_record_range range;
    int found = pass->source->range(pass->source, number, &range);
    if (found == MXP_EFORMAT) {
        add_unread(pass, range.unread_bytes);
        return 1;
    }
    if (found != 1) {
        return found;
    }
    if (range.thread >= pass->summary->thread_count) {
        return mxp__fail(MXP_EFORMAT, "a block of thread %" PRIu32 ", which is not there",
                         range.thread);
    }
    pass->summary->ranges++;
    pass->lost_before += range.lost_before;
    int error = add_records(pass, &range);
    return error == MXP_OK ? 1 : error;
}

// Losses are in the LOSS section. Where it is missing or damaged, the threads' own counts and
// those between the chunks tell how many there were at least.
static void add_losses(const mxp_source *source, uint64_t lost_before, mxp_summary *summary)
{
    uint64_t lost = 0, lost_by_threads = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        *(loss->reason == MXP_LOSS_NAMES_FULL ? &summary->unnamed : &lost) += loss->count;
    }
    for (uint32_t i = 0; i < source->thread_count; i++) {
        lost_by_threads += source->threads[i].lost;
    }
    lost = lost > lost_before ? lost : lost_before;
    summary->lost += lost > lost_by_threads ? lost : lost_by_threads;
}

static void free_threads(mxp_summary *summary)
{
    mxp__free(summary->thread_records, summary->thread_count * sizeof *summary->thread_records);
    summary->thread_records = NULL;
    summary->thread_count = 0;
}

static int add_process(mxp_source *source, mxp_summary *summary)
{
    size_t table_bytes = source->name_count * sizeof(uint32_t);
    free_threads(summary);
    summary->thread_records =
        mxp__alloc((size_t)source->thread_count * sizeof *summary->thread_records);
    if (summary->thread_records == NULL && source->thread_count > 0) {
        return mxp__fail_memory("a pass over the trace");
    }
    summary->thread_count = source->thread_count;
    summary_pass pass = {.source = source, .summary = summary};
    pass.frame_of = mxp__alloc(table_bytes);
    if (pass.frame_of == NULL && table_bytes > 0) {
        return mxp__fail_memory("a pass over the trace");
    }
    int read = 1;
    for (size_t number = 0; read == 1; number++) {
        read = add_range(&pass, number);
    }
    mxp__free(pass.frame_of, table_bytes);
    summary->threads += source->thread_count;
    add_losses(source, pass.lost_before, summary);
    return read;
}

int mxp__summary_make(const mxp_command *command, mxp_input *input, mxp_summary *summary)
{
    *summary = (mxp_summary){0};
    mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        int error = add_process(process, summary);
        if (error != MXP_OK) {
            mxp__summary_fini(summary);
            return error;
        }
    }
    if (summary->unread_chunks > 0) {
        mxp__input_cut_short(command, input);
    }
    const char *cost = mxp__source_info(input->source, "record_cost_ns");
    summary->record_cost_ns = cost == NULL ? 0 : strtod(cost, NULL);
    return MXP_OK;
}

void mxp__summary_fini(mxp_summary *summary)
{
    free_threads(summary);
    mxp__open_spans_fini(&summary->open);
    mxp__free(summary->frames, summary->frame_capacity * sizeof *summary->frames);
    *summary = (mxp_summary){0};
}

double mxp__frames_per_second(const mxp_frames *frames)
{
    int64_t ns = frames->last_ns - frames->first_ns;
    return ns > 0 ? (double)frames->count * 1e9 / (double)ns : 0;
}

const char *mxp__what_became(const mxp_source *source)
{
    static const char subject[] = "the process ";
    const char *noted = mxp__source_info(source, "unfinished");
    if (source->state == MXP__PROCESS_RECORDING) {
        return "is recording now";
    }
    if (noted == NULL) {
        return NULL;
    }
    return strncmp(noted, subject, strlen(subject)) == 0 ? noted + strlen(subject)
                                                         : "did not finish the file";
}

const char *mxp__overwritten(const mxp_source *source)
{
    return mxp__source_info(source, "overwritten_while_reading");
}

const char *mxp__left_out(const mxp_source *source)
{
    return mxp__source_info(source, "left_out");
}

const char *mxp__incomplete(const mxp_source *source)
{
    return mxp__source_info(source, "incomplete");
}
