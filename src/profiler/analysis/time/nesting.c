// SPDX-License-Identifier: Apache-2.0
// See nesting.h. Scopes follow from marks that are read forwards: a first pass keeps the scope in
// which each range begins, and each range is decoded forwards before it is walked backwards.
#include "profiler/analysis/time/nesting.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/scope_path.h"

typedef struct open_thread {
    mxp_nested_span *spans;  // the outermost first, begins ascending
    size_t count, capacity;
} open_thread;

typedef struct span_place {
    uint32_t unit;  // of the record in its range
    uint32_t scope;  // of the thread at its end
} span_place;

typedef struct walk {
    mxp_source *source;
    const mxp_nesting_visitor *visitor;
    open_thread *threads;
    uint32_t *range_scopes;  // in which each range begins
    size_t range_count, range_capacity;
    span_place *places;  // of the range at hand
    size_t place_count, place_capacity;
    uint64_t count;  // of spans so far
    int damage;
} walk;

// How many open spans are searched for one that holds another: a damaged file may have a million
// that hold nothing.
enum { SEARCHED = 1024 };

static const char memory_for[] = "the nesting of spans";

static bool is_span(const mxp_event *event)
{
    return event->kind == MXP_KIND_SPAN || event->kind == MXP_KIND_OPERATOR;
}

static void follow_scope(const mxp_source *source, const mxp_event *event, uint32_t *scope)
{
    if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_PUSH) {
        *scope = event->name;
    } else if (event->kind == MXP_KIND_META && event->phase == MXP_META_SCOPE_POP) {
        *scope = mxp__scope_parent(source, event->name);
    }
}

// Damage costs its range and is returned at the end.
static int note_damage(walk *self, int error)
{
    self->damage = error == MXP_EFORMAT ? error : self->damage;
    return error == MXP_EFORMAT ? MXP_OK : error;
}

// ---- the first pass ---------------------------------------------------------------------------
static int survey_range(walk *self, const mxp_record_range *range, uint32_t *scope)
{
    mxp_decoder decoder;
    mxp_event event;
    int found;
    mxp__decoder_begin(&decoder, self->source->timebase, range);
    while ((found = mxp__decoder_next(&decoder, &event)) == 1) {
        follow_scope(self->source, &event, scope);
    }
    return note_damage(self, found);
}

// Counts the ranges, and keeps the scope in which each begins.
static int survey(walk *self, uint32_t *scopes)
{
    mxp_record_range range;
    int found, error = MXP_OK;
    while (error == MXP_OK &&
           (found = self->source->range(self->source, self->range_count, &range)) != 0) {
        if (mxp__grow(&self->range_scopes, &self->range_capacity, self->range_count + 1,
                      sizeof *self->range_scopes) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        bool known = found == 1 && range.thread < self->source->thread_count;
        self->range_scopes[self->range_count++] = known ? scopes[range.thread] : 0;
        error = !known ? note_damage(self, found == 1 ? MXP_EFORMAT : found)
                       : survey_range(self, &range, &scopes[range.thread]);
    }
    return error;
}

// ---- open spans -------------------------------------------------------------------------------
static int leave(walk *self, const mxp_nested_span *span)
{
    return self->visitor->leave(self->visitor->context, span);
}

static int leave_from(walk *self, open_thread *thread, int64_t begin_ns)
{
    int error = MXP_OK;
    while (error == MXP_OK && thread->count > 0 &&
           thread->spans[thread->count - 1].event.begin_ns > begin_ns) {
        error = leave(self, &thread->spans[--thread->count]);
    }
    return error;
}

// The innermost open span that holds all of the event; those that hold a part do not count.
static mxp_nested_span *find_around(const open_thread *thread, const mxp_event *event)
{
    size_t least = thread->count > SEARCHED ? thread->count - SEARCHED : 0;
    for (size_t i = thread->count; i-- > least;) {
        if (thread->spans[i].event.end_ns >= event->end_ns) {
            return &thread->spans[i];
        }
    }
    return NULL;
}

static int enter(walk *self, mxp_nested_span *span, const mxp_nested_span *around)
{
    const mxp_nesting_visitor *visitor = self->visitor;
    return visitor->enter != NULL ? visitor->enter(visitor->context, span, around) : MXP_OK;
}

static int enter_nested(walk *self, mxp_nested_span *span)
{
    open_thread *thread = &self->threads[span->event.thread];
    int error = leave_from(self, thread, span->event.begin_ns);
    if (error != MXP_OK) {
        return error;
    }
    if (mxp__grow(&thread->spans, &thread->capacity, thread->count + 1, sizeof *thread->spans) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_nested_span *around = find_around(thread, &span->event);
    if (around != NULL) {
        around->own_ns -= span->own_ns < around->own_ns ? span->own_ns : around->own_ns;
        span->parent = around->number;
        span->depth = around->depth + 1;
    }
    error = enter(self, span, around);
    thread->spans[thread->count++] = *span;
    return error;
}

static void describe(walk *self, mxp_nested_span *span, uint32_t thread_scope)
{
    const mxp_event *event = &span->event;
    const mxp_source *source = self->source;
    span->number = ++self->count;
    span->own_ns = (uint64_t)(event->end_ns - event->begin_ns);
    if (event->kind == MXP_KIND_OPERATOR) {
        mxp_operator_view op;
        mxp__event_operator(event, &op);
        span->scope = op.scope;
        return;
    }
    bool is_long = (event->words[0] & 0xff) == MXP_KIND_SPAN_LONG;
    uint32_t own_scope = is_long ? (uint32_t)(event->words[4] >> 32) : 0;
    span->is_async = source->name(source, event->name).style == MXP_STYLE_ASYNC;
    span->is_alone =
        span->is_async || event->lane != 0 || mxp__event_clock(event) != MXP_CLOCK_TRACE;
    span->scope = own_scope != 0 || event->lane != 0 ? own_scope : thread_scope;
}

static int add_span(walk *self, const mxp_event *event, uint32_t thread_scope)
{
    mxp_nested_span span = {.event = *event};
    describe(self, &span, thread_scope);
    if (!span.is_alone) {
        return enter_nested(self, &span);
    }
    int error = enter(self, &span, NULL);
    return error == MXP_OK ? leave(self, &span) : error;
}

// ---- ranges -----------------------------------------------------------------------------------
static int find_places(walk *self, const mxp_record_range *range, uint32_t scope)
{
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, self->source->timebase, range);
    self->place_count = 0;
    while (mxp__decoder_next(&decoder, &event) == 1) {  // damage was met by the survey
        follow_scope(self->source, &event, &scope);
        if (!is_span(&event)) {
            continue;
        }
        if (mxp__grow(&self->places, &self->place_capacity, self->place_count + 1,
                      sizeof *self->places) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        uint32_t unit = (uint32_t)((size_t)(event.words - range->words) / 2);
        self->places[self->place_count++] = (span_place){unit, scope};
    }
    return MXP_OK;
}

static int walk_range(walk *self, size_t number)
{
    mxp_record_range range;
    if (self->source->range(self->source, number, &range) != 1 ||
        range.thread >= self->source->thread_count) {
        return MXP_OK;
    }
    int error = find_places(self, &range, self->range_scopes[number]);
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, self->source->timebase, &range);
    while (error == MXP_OK && self->place_count > 0) {
        const span_place *place = &self->places[--self->place_count];
        decoder.at = range.words + 2 * (size_t)place->unit;
        if (mxp__decoder_next(&decoder, &event) == 1) {
            error = add_span(self, &event, place->scope);
        }
    }
    return error;
}

static int walk_all(walk *self, uint32_t *scopes)
{
    int error = survey(self, scopes);
    for (size_t i = self->range_count; i-- > 0 && error == MXP_OK;) {
        error = walk_range(self, i);
    }
    for (size_t i = 0; i < self->source->thread_count && error == MXP_OK; i++) {
        error = leave_from(self, &self->threads[i], INT64_MIN);
    }
    return error != MXP_OK ? error : self->damage;
}

int mxp__nesting_walk(mxp_source *source, const mxp_nesting_visitor *visitor)
{
    size_t count = (size_t)source->thread_count + 1;
    walk self = {.source = source, .visitor = visitor};
    uint32_t *scopes = mxp__alloc(count * sizeof *scopes);
    self.threads = mxp__alloc(count * sizeof *self.threads);
    int error = scopes == NULL || self.threads == NULL ? mxp__fail_memory(memory_for)
                                                       : walk_all(&self, scopes);
    for (size_t i = 0; self.threads != NULL && i < count; i++) {
        mxp__free(self.threads[i].spans, self.threads[i].capacity * sizeof(mxp_nested_span));
    }
    mxp__free(self.threads, count * sizeof *self.threads);
    mxp__free(scopes, count * sizeof *scopes);
    mxp__free(self.range_scopes, self.range_capacity * sizeof *self.range_scopes);
    mxp__free(self.places, self.place_capacity * sizeof *self.places);
    return error;
}
