// SPDX-License-Identifier: Apache-2.0
// Spans come in the order of their ends, but counting also needs begins in the order of time. The
// stream therefore reads WINDOW calls ahead of the end that is due and sorts their begins. A call
// is out of order if it lasts so long that WINDOW other calls end within it: its begin is read too
// late. A first pass over the source collects the begins of all such calls. They are few, because
// each lasts through WINDOW others.
#include "profiler/export/api_calls.h"

#include <assert.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/reader.h"

enum { WINDOW = 4096 };

enum { UNKNOWN = 0, OTHER = 1, API = 2 };

typedef struct api_call {
    int64_t begin_ns, end_ns;
} api_call;

struct mxp_api_stream {
    mxp_source *source;
    mxp_arrows *arrows;  // that have not seen the calls
    mxp_reader *reader;
    uint8_t *kinds;  // of names
    int64_t *out_of_order;  // begins of calls that are read too late, sorted
    size_t out_of_order_count, out_of_order_capacity, next_out_of_order;
    uint64_t read, ended;  // calls that were read, and those whose end was returned
    api_call calls[WINDOW];  // a ring of the last ones read
    // Begins that were not returned yet: sorted, from `first` up to `last`. There are at most
    // WINDOW, because no end is returned before its begin.
    int64_t begins[2 * WINDOW];
    size_t first, last;
    uint64_t begun;
    int error;  // what the reader ended with
};

static const char memory_for[] = "the counters of API calls";

bool mxp__is_api_name(const mxp_source *source, uint32_t id)
{
    mxp_name_view category = source->name(source, source->name(source, id).category);
    return category.length == strlen(MXP__API_CATEGORY) &&
           memcmp(category.text, MXP__API_CATEGORY, category.length) == 0;
}

static bool is_call(mxp_api_stream *stream, const mxp_event *event)
{
    if (event->kind != MXP_KIND_SPAN || event->name >= stream->source->name_count) {
        return false;
    }
    uint8_t *kind = &stream->kinds[event->name];
    if (*kind == UNKNOWN) {
        *kind = mxp__is_api_name(stream->source, event->name) ? API : OTHER;
    }
    return *kind == API && mxp__event_clock(event) == MXP_CLOCK_TRACE;
}

// The next call of the reader; null at the end.
static const api_call *read_call(mxp_api_stream *stream, bool *is_late)
{
    mxp_event event;
    int found;
    while ((found = mxp__reader_next(stream->reader, &event)) == 1) {
        if (is_call(stream, &event)) {
            api_call *call = &stream->calls[stream->read % WINDOW];
            *is_late = stream->read >= WINDOW && event.begin_ns < call->end_ns;
            *call = (api_call){event.begin_ns, event.end_ns};
            stream->read++;
            if (stream->arrows != NULL) {
                mxp__arrows_see(stream->arrows, &event);
            }
            return call;
        }
    }
    stream->error = found;
    return NULL;
}

// ---- the first pass ---------------------------------------------------------------------------
static int compare_times(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int find_late(mxp_api_stream *stream)
{
    const api_call *call;
    bool is_late;
    while ((call = read_call(stream, &is_late)) != NULL) {
        if (!is_late) {
            continue;
        }
        if (mxp__grow(&stream->out_of_order, &stream->out_of_order_capacity,
                      stream->out_of_order_count + 1, sizeof *stream->out_of_order) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        stream->out_of_order[stream->out_of_order_count++] = call->begin_ns;
    }
    if (stream->out_of_order_count > 1) {
        qsort(stream->out_of_order, stream->out_of_order_count, sizeof *stream->out_of_order,
              compare_times);
    }
    return MXP_OK;
}

static int start(mxp_api_stream *stream)
{
    stream->kinds = mxp__alloc((size_t)stream->source->name_count + 1);
    if (stream->kinds == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int error = mxp__reader_open(stream->source, &stream->reader);
    if (error == MXP_OK) {
        error = find_late(stream);
        mxp__reader_close(stream->reader);
        stream->reader = NULL;
    }
    if (error == MXP_OK) {
        stream->read = 0;
        stream->arrows = NULL;
        stream->error = MXP_OK;
        error = mxp__reader_open(stream->source, &stream->reader);
    }
    return error;
}

// ---- the second pass --------------------------------------------------------------------------
static void insert_begin(mxp_api_stream *stream, int64_t begin)
{
    if (stream->last == 2 * WINDOW) {
        stream->last -= stream->first;
        memmove(stream->begins, stream->begins + stream->first,
                stream->last * sizeof *stream->begins);
        stream->first = 0;
    }
    assert(stream->last < 2 * WINDOW);
    size_t at = stream->last++;
    for (; at > stream->first && stream->begins[at - 1] > begin; at--) {
        stream->begins[at] = stream->begins[at - 1];
    }
    stream->begins[at] = begin;
}

static void read_ahead(mxp_api_stream *stream)
{
    const api_call *call;
    bool is_late;
    while (stream->error == MXP_OK && stream->read - stream->ended < WINDOW &&
           (call = read_call(stream, &is_late)) != NULL) {
        if (!is_late) {
            insert_begin(stream, call->begin_ns);
        }
    }
}

// Takes the earliest begin if it comes before the end of `call`. An end comes before a begin of the
// same timestamp, unless it is the end of a call that took no time.
static bool take_begin(mxp_api_stream *stream, const api_call *call, int64_t *begin)
{
    const int64_t *near = stream->first < stream->last ? &stream->begins[stream->first] : NULL;
    const int64_t *late = stream->next_out_of_order < stream->out_of_order_count
                              ? &stream->out_of_order[stream->next_out_of_order]
                              : NULL;
    bool is_late = near == NULL || (late != NULL && *late < *near);
    const int64_t *earliest = is_late ? late : near;
    if (earliest == NULL || *earliest > call->end_ns ||
        (*earliest == call->end_ns && call->begin_ns < call->end_ns)) {
        return false;
    }
    *begin = *earliest;
    stream->next_out_of_order += is_late;
    stream->first += !is_late;
    return true;
}

int mxp__api_stream_next(mxp_api_stream *stream, mxp_api_change *change)
{
    read_ahead(stream);
    if (stream->ended == stream->read) {
        return stream->error;
    }
    const api_call *call = &stream->calls[stream->ended % WINDOW];
    change->is_end = !take_begin(stream, call, &change->ns);
    if (change->is_end) {
        change->ns = call->end_ns;
        stream->ended++;
    } else {
        stream->begun++;
    }
    change->calls = stream->begun;
    change->open = stream->begun - stream->ended;
    return 1;
}

int mxp__api_stream_open(mxp_source *source, mxp_arrows *arrows, mxp_api_stream **opened)
{
    mxp_api_stream *stream = mxp__alloc(sizeof *stream);
    *opened = NULL;
    if (stream == NULL) {
        return mxp__fail_memory(memory_for);
    }
    stream->source = source;
    stream->arrows = arrows;
    int error = start(stream);
    if (error != MXP_OK) {
        mxp__api_stream_close(stream);
        return error;
    }
    *opened = stream;
    return MXP_OK;
}

void mxp__api_stream_close(mxp_api_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    mxp__reader_close(stream->reader);
    mxp__free(stream->out_of_order, stream->out_of_order_capacity * sizeof *stream->out_of_order);
    mxp__free(stream->kinds, (size_t)stream->source->name_count + 1);
    mxp__free(stream, sizeof *stream);
}
