// SPDX-License-Identifier: Apache-2.0
// See page_walk.h.
#include "page/page_walk.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"
#include "profiler/analysis/window/range_reader.h"

typedef struct lane_track {
    uint64_t key;  // lane + 1
    mxp_page_track *track;
} lane_track;

typedef struct walk {
    mxp_page_data *page;
    const mxp_walked_process *of;
    mxp_page_track *tracks[MXP_TRACK_KINDS];  // of the thread at hand
    mxp_page_track *quiet[MXP_TRACK_KINDS];
    mxp_id_map lanes;
    uint32_t thread;
    size_t step;  // of the operator before
    const uint64_t **heads;  // of the range at hand
    size_t head_capacity;
} walk;

// ---- times -------------------------------------------------------------------------------------
static uint64_t time_of(walk *self, int64_t ns)
{
    const int64_t since_ns = ns - self->page->begin_ns;
    if (since_ns >= 0 && (uint64_t)since_ns <= MXP_PAGE_NUMBER_MAX) {
        return (uint64_t)since_ns;
    }
    self->page->cut_times++;
    return since_ns < 0 ? 0 : MXP_PAGE_NUMBER_MAX;
}

static mxp_page_span span_of(walk *self, int64_t from_ns, int64_t to_ns, uint32_t kind)
{
    const uint64_t begin_ns = time_of(self, from_ns);
    const uint64_t end_ns = time_of(self, to_ns);
    return (mxp_page_span){.begin_ns = begin_ns, .duration_ns = end_ns - begin_ns, .kind = kind};
}

// ---- tracks ------------------------------------------------------------------------------------
static mxp_page_track *track_of(walk *self, mxp_track_kind what)
{
    const bool is_quiet = self->of->is_quiet != NULL && self->of->is_quiet[self->thread];
    if (is_quiet && what == MXP_TRACK_CALLS) {
        what = MXP_TRACK_ASYNC;  // spans of several threads do not nest
    }
    mxp_page_track **track = is_quiet ? &self->quiet[what] : &self->tracks[what];
    if (*track == NULL) {
        *track = mxp__blocks_track(&self->page->blocks, what, self->of->number,
                                   is_quiet ? -1 : (int32_t)(self->of->thread_base + self->thread));
    }
    return *track;
}

// Where spans go whose thread or lane has no track of its own: not nested, because they are of
// several.
static mxp_page_track *others_of(walk *self)
{
    mxp_page_track **track = &self->quiet[MXP_TRACK_ASYNC];
    if (*track == NULL) {
        *track = mxp__blocks_track(&self->page->blocks, MXP_TRACK_ASYNC, self->of->number, -1);
    }
    return *track;
}

static mxp_page_track *lane_of(walk *self, uint32_t lane)
{
    const bool is_thread = (lane & MXP_LANE_THREAD) != 0;
    const uint32_t thread = lane & ~MXP_LANE_THREAD;
    lane_track *found = mxp__id_map_add(&self->lanes, (uint64_t)lane + 1);
    if (found == NULL) {
        mxp__fail_memory("the lanes of the page");
        return NULL;
    }
    if (found->track == NULL && self->page->blocks.track_count >= MXP_PAGE_TRACKS_MAX) {
        self->page->quiet_lanes++;
        found->track = others_of(self);
    }
    if (found->track == NULL) {
        const bool is_known = is_thread && thread < self->of->source->thread_count;
        found->track = mxp__blocks_track(&self->page->blocks, MXP_TRACK_LANE, self->of->number,
                                         is_known ? (int32_t)(self->of->thread_base + thread) : -1);
        if (found->track != NULL) {
            found->track->name = is_thread ? 0 : lane;
        }
    }
    return found->track;
}

static int add_times(walk *self, mxp_page_track *track, int64_t begin_ns, int64_t end_ns,
                     uint32_t kind, const mxp_page_operator *op)
{
    if (track == NULL) {
        return MXP_ENOMEM;
    }
    const mxp_page_span span = span_of(self, begin_ns, end_ns, kind);
    const int error = mxp__page_kind_count(&self->page->kinds, kind, span.duration_ns);
    return error == MXP_OK ? mxp__blocks_add(&self->page->blocks, track, span, op) : error;
}

static int add_span(walk *self, mxp_page_track *track, const mxp_event *event, uint32_t kind)
{
    return add_times(self, track, event->begin_ns, event->end_ns, kind, NULL);
}

// ---- records -----------------------------------------------------------------------------------
// Of a span that nests.
static int take_lean_span(walk *self, uint32_t name, const mxp_span_times *times)
{
    uint32_t kind;
    const int error = mxp__page_kind_of(&self->page->kinds, name, 0, 0, MXP_FORM_SPAN, &kind);
    return error == MXP_OK ? add_times(self, track_of(self, MXP_TRACK_CALLS), times->begin_ns,
                                       times->end_ns, kind, NULL)
                           : error;
}

static int take_span(walk *self, const mxp_event *event)
{
    const mxp_range_index *index = &self->of->steps->index;
    const bool nests = mxp__range_index_nests(index, event);
    uint32_t kind;
    if (mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        self->page->clock_spans++;
        return MXP_OK;
    }
    const bool is_async =
        self->of->source->name(self->of->source, event->name).style == MXP_STYLE_ASYNC;
    const int error = mxp__page_kind_of(&self->page->kinds, event->name, 0, 0,
                                        is_async ? MXP_FORM_ASYNC : MXP_FORM_SPAN, &kind);
    mxp_page_track *track = error != MXP_OK    ? NULL
                            : nests            ? track_of(self, MXP_TRACK_CALLS)
                            : event->lane != 0 ? lane_of(self, event->lane)
                                               : track_of(self, MXP_TRACK_ASYNC);
    return error == MXP_OK ? add_span(self, track, event, kind) : error;
}

static void count_in_step(walk *self, unsigned flags, const mxp_operator_times *times)
{
    const unsigned phase = flags & MXP_OP_PHASE_MASK;
    if (self->of->sums == NULL || (flags & (MXP_OP_BULK_PARENT | MXP_OP_ASYNC)) != 0) {
        return;
    }
    const size_t step = mxp__steps_near(self->of->steps, times->push_ticks, &self->step);
    if (step != SIZE_MAX) {
        self->of->sums[step].phases_ns[phase < MXP_PHASES ? phase : 0] +=
            (uint64_t)(times->end_ns - times->start_ns);
    }
}

// Of the operator at `words`, without what it computed.
static int take_operator(walk *self, const uint64_t *words, const mxp_operator_times *times)
{
    uint32_t kind;
    const mxp_source *source = self->of->source;
    const uint32_t name = (uint32_t)words[1], pusher = (uint32_t)(words[3] >> 48);
    const unsigned flags = (unsigned)(words[2] >> 48), phase = flags & MXP_OP_PHASE_MASK;
    const bool is_idle = (flags & MXP_OP_BULK_PARENT) != 0 ||
                         (name < source->name_count && self->of->steps->index.idle[name]);
    count_in_step(self, flags, times);
    const int error = mxp__page_kind_of(&self->page->kinds, name, (uint32_t)words[6],
                                        phase < MXP_PHASES ? (uint8_t)phase : 0,
                                        is_idle ? MXP_FORM_IDLE : MXP_FORM_OPERATOR, &kind);
    if (error != MXP_OK) {
        return error;
    }
    if ((flags & MXP_OP_ASYNC) != 0) {
        return add_times(self, track_of(self, MXP_TRACK_ASYNC), times->start_ns, times->end_ns,
                         kind, NULL);
    }
    const mxp_page_operator op = {
        .from_push_ns = times->start_ns - times->push_ns,
        .from_ready_ns = times->start_ns - times->ready_ns,
        .id = (uint32_t)(words[1] >> 32),
        .released_by = (uint32_t)words[5],
        .pusher = pusher < source->thread_count ? (int32_t)(self->of->thread_base + pusher) : -1};
    return add_times(self, track_of(self, MXP_TRACK_OPERATORS), times->start_ns, times->end_ns,
                     kind, &op);
}

static int take_wait(walk *self, const mxp_event *event)
{
    uint32_t kind;
    self->page->has_waits = true;
    if (self->of->sums != NULL && event->thread == self->of->steps->thread) {
        const size_t step = mxp__steps_near(self->of->steps, event->begin_ticks, &self->step);
        if (step != SIZE_MAX) {
            self->of->sums[step].waiting_ns += (uint64_t)(event->end_ns - event->begin_ns);
        }
    }
    const int error =
        mxp__page_kind_of(&self->page->kinds, event->name, 0, 0, MXP_FORM_WAIT, &kind);
    return error == MXP_OK ? add_span(self, track_of(self, MXP_TRACK_CALLS), event, kind) : error;
}

static int take_instant(walk *self, const mxp_event *event)
{
    uint32_t kind;
    const int error =
        mxp__page_kind_of(&self->page->kinds, event->name, 0, 0, MXP_FORM_INSTANT, &kind);
    return error == MXP_OK ? add_span(self, track_of(self, MXP_TRACK_INSTANTS), event, kind)
                           : error;
}

static int take_flow(walk *self, const mxp_event *event)
{
    mxp_page_flow point = {.at_ns = time_of(self, event->begin_ns),
                           .id = event->value.u64,
                           .thread = -1,
                           .lane = event->lane,
                           .phase = event->phase};
    if (mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        return MXP_OK;
    }
    if (event->lane == 0) {
        point.thread = (int32_t)(self->of->thread_base + self->thread);
    }
    const int error =
        mxp__page_kind_of(&self->page->kinds, event->name, 0, 0, MXP_FORM_INSTANT, &point.kind);
    return error == MXP_OK ? mxp__page_flows_add(&self->page->flows, &point) : error;
}

// A lane may have its first span behind its first flow.
static void find_lanes(walk *self, size_t first)
{
    mxp_page_flows *flows = &self->page->flows;
    for (size_t i = first; i < flows->count; i++) {
        const lane_track *found =
            flows->all[i].lane != 0
                ? mxp__id_map_find(&self->lanes, (uint64_t)flows->all[i].lane + 1)
                : NULL;
        flows->all[i].track = found != NULL ? found->track : NULL;
    }
}

static int take(walk *self, const mxp_event *event)
{
    switch (event->kind) {
    case MXP_KIND_SPAN:
        return take_span(self, event);
    case MXP_KIND_WAIT:
        return take_wait(self, event);
    case MXP_KIND_INSTANT:
        return take_instant(self, event);
    case MXP_KIND_COUNTER:
        return mxp__page_counters_add(&self->page->counters, self->of->number, event);
    case MXP_KIND_FLOW:
        return take_flow(self, event);
    default:
        return MXP_OK;
    }
}

// ---- ranges ------------------------------------------------------------------------------------
static bool is_taken(uint64_t head)
{
    enum {
        TAKEN = 1 << MXP_KIND_SPAN | 1 << MXP_KIND_SPAN_LONG | 1 << MXP_KIND_OPERATOR |
                1 << MXP_KIND_HIDDEN | 1 << MXP_KIND_WAIT | 1 << MXP_KIND_INSTANT |
                1 << MXP_KIND_COUNTER | 1 << MXP_KIND_FLOW
    };
    const unsigned kind = head & 0xff;
    return kind < MXP_KIND_END && (TAKEN >> kind & 1) != 0;
}

static int find_heads(walk *self, const mxp_record_range *range, size_t *count)
{
    const uint64_t *at = range->words, *head;
    const size_t most = (size_t)(range->end - range->words) / 2;
    if (mxp__grow(&self->heads, &self->head_capacity, most, sizeof *self->heads) != MXP_OK) {
        return mxp__fail_memory("the records of the page");
    }
    *count = 0;
    while ((head = mxp__next_head(&at, range->end)) != NULL) {
        self->heads[*count] = head;
        *count += is_taken(*head);
    }
    return MXP_OK;
}

static bool is_plain_call(const walk *self, const mxp_plain_clock *clock, const uint64_t *words,
                          mxp_span_times *times)
{
    const uint32_t name = (uint32_t)words[1];
    return mxp__is_lean_span_head(words) && name < self->of->source->name_count &&
           self->of->steps->index.nested[name] && mxp__span_times_at(clock, words, times);
}

static int take_record(walk *self, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_span_times span;
    mxp_operator_times op;
    mxp_event event;
    if (is_plain_call(self, &reader->clock, words, &span)) {
        return take_lean_span(self, (uint32_t)words[1], &span);
    }
    if (mxp__is_operator_head(words)) {
        return mxp__range_reader_operator(reader, words, &op) ? take_operator(self, words, &op)
                                                              : MXP_OK;
    }
    return mxp__range_reader_decode(reader, words, &event) ? take(self, &event) : MXP_OK;
}

static int walk_range(walk *self, size_t number)
{
    mxp_source *source = self->of->source;
    mxp_record_range range;
    mxp_range_reader reader;
    size_t count = 0;
    if (source->range(source, number, &range) != 1) {
        return MXP_OK;
    }
    int error = find_heads(self, &range, &count);
    mxp__range_reader_begin(&reader, source, &range);
    while (error == MXP_OK && count > 0) {
        error = take_record(self, &reader, self->heads[--count]);
    }
    return error;
}

static int end_tracks(walk *self, mxp_page_track **tracks)
{
    int error = MXP_OK;
    for (size_t i = 0; i < MXP_TRACK_KINDS; i++) {
        if (tracks[i] != NULL && error == MXP_OK) {
            error = mxp__blocks_end_track(&self->page->blocks, tracks[i]);
        }
        tracks[i] = NULL;
    }
    return error;
}

static int walk_threads(walk *self)
{
    const mxp_range_index *index = &self->of->steps->index;
    int error = MXP_OK;
    for (size_t at = 0; at < index->count && error == MXP_OK;) {
        const size_t next = mxp__range_index_next_thread(index, at);
        self->thread = index->places[at].thread;
        self->page->blocks.window = self->page->blocks.window_count;
        for (size_t i = next; i-- > at && error == MXP_OK;) {
            error = walk_range(self, index->places[i].number);
        }
        error = error == MXP_OK ? end_tracks(self, self->tracks) : error;
        at = next;
    }
    return error;
}

int mxp__page_walk(mxp_page_data *page, const mxp_walked_process *process)
{
    walk self = {.page = page, .of = process, .lanes.entry_bytes = sizeof(lane_track)};
    const size_t first_flow = page->flows.count;
    int error = mxp__page_kinds_next(&page->kinds, process->source);
    error = error == MXP_OK ? walk_threads(&self) : error;
    error = error == MXP_OK ? end_tracks(&self, self.quiet) : error;
    for (lane_track *lane = mxp__id_map_next(&self.lanes, NULL); lane != NULL && error == MXP_OK;
         lane = mxp__id_map_next(&self.lanes, lane)) {
        error = mxp__blocks_end_track(&page->blocks, lane->track);
    }
    find_lanes(&self, first_flow);
    mxp__id_map_fini(&self.lanes);
    mxp__free(self.heads, self.head_capacity * sizeof *self.heads);
    return error;
}

void mxp__page_data_fini(mxp_page_data *page)
{
    mxp__blocks_fini(&page->blocks);
    mxp__page_kinds_fini(&page->kinds);
    mxp__page_counters_fini(&page->counters);
    mxp__page_flows_fini(&page->flows);
    *page = (mxp_page_data){.blocks.spool.fd = -1};
}
