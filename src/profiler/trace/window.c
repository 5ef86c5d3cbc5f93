// SPDX-License-Identifier: Apache-2.0
// See window.h. A thread's records are in the order of their ends, so a range is truncated at its
// first record that ends within the window. The state at the window's begin is written as records
// of that time: the scope of each thread before its first range, the step and the values of
// counters before all ranges.
#include "profiler/trace/window.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"
#include "profiler/trace/standing_values.h"

enum { META_WORDS = 4 };

// The scope a thread is in at the window's begin, found in the records before it.
typedef struct thread_state {
    bool known, told;
    uint32_t scope;
    uint64_t words[META_WORDS];
} thread_state;

typedef struct window {
    mxp_source source;  // must stay first
    mxp_source *inner;
    mxp_record_range *ranges;
    size_t count, capacity;
    int64_t from_ns;
    uint64_t from_ticks;
    thread_state *threads;
    mxp_standing *standing;
    uint64_t step, step_ticks;  // of the latest begin or end; 0: none
    uint32_t step_thread;
    bool step_stands;
    uint64_t *words;  // of the first range
    size_t word_count;
} window;

static window *window_of(const mxp_source *source)
{
    return (window *)(uintptr_t)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_source *inner = window_of(source)->inner;
    return inner->name(inner, id);
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    const window *self = window_of(source);
    size_t unused = self->word_count == 0;  // of the first range, if it has no records
    if (number >= self->count - unused) {
        return 0;
    }
    *range = self->ranges[number + unused];
    return 1;
}

static void close_window(mxp_source *source)
{
    window *self = window_of(source);
    mxp__free(self->threads, self->inner->thread_count * sizeof *self->threads);
    mxp__free(self->standing, sizeof *self->standing);
    mxp__free(self->words, self->word_count * sizeof *self->words);
    mxp__free(self->ranges, self->capacity * sizeof *self->ranges);
    mxp__source_close(self->inner);
    mxp__free(self, sizeof *self);
}

// ---- what is skipped ---------------------------------------------------------------------------
static void skip_meta(window *self, const mxp_event *event)
{
    thread_state *thread = &self->threads[event->thread];
    switch (event->phase) {
    case MXP_META_SCOPE_PUSH:
        thread->known = true;
        thread->scope = event->name;
        break;
    case MXP_META_SCOPE_POP: {
        mxp_name_view scope = self->inner->name(self->inner, event->name);
        thread->known = true;
        thread->scope = scope.style == MXP_STYLE_SCOPE ? scope.category : MXP_NAME_NONE;
        break;
    }
    case MXP_META_STEP:
    case MXP_META_STEP_STANDING: {
        uint64_t ticks = event->phase == MXP_META_STEP ? event->begin_ticks : event->words[3];
        if (ticks >= self->step_ticks) {
            self->step_ticks = ticks;
            self->step_stands = true;
            self->step = event->value.u64;
            self->step_thread =
                event->phase == MXP_META_STEP ? event->thread : (uint32_t)(event->words[1] >> 40);
        }
        break;
    }
    case MXP_META_STEP_END:
        if (event->begin_ticks >= self->step_ticks) {
            self->step_ticks = event->begin_ticks;
            self->step_stands = false;
        }
        break;
    default:
        break;
    }
}

static void skip(window *self, const mxp_event *event)
{
    if (event->kind == MXP_KIND_COUNTER) {
        bool stands = (event->flags & MXP_COUNTER_STANDING) != 0;
        mxp__standing_put(
            self->standing,
            &(mxp_standing_value){.name = event->name,
                                  .type = event->phase,
                                  .value = event->value.u64,
                                  .ticks = stands ? event->words[3] : event->begin_ticks});
    } else if (event->kind == MXP_KIND_META && event->thread < self->inner->thread_count) {
        skip_meta(self, event);
    }
}

// Skips the records at a range's begin that end before the window.
static void truncate_front(window *self, mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, self->inner->timebase, range);
    const uint64_t *at = range->words;
    mxp_event event;
    while (mxp__decoder_next(&decoder, &event) == 1 && event.end_ns < self->from_ns) {
        skip(self, &event);
        at = decoder.at;
    }
    range->first_unit += (uint32_t)(at - range->words) / 2;
    range->offset += range->offset == 0 ? 0 : (uint64_t)(at - range->words) * sizeof *at;
    range->words = at;
}

// ---- what is kept ------------------------------------------------------------------------------
static int append(window *self, const mxp_record_range *range)
{
    if (mxp__grow(&self->ranges, &self->capacity, self->count + 1, sizeof *self->ranges) !=
        MXP_OK) {
        return mxp__fail_memory("a window of a trace");
    }
    self->ranges[self->count++] = *range;
    return MXP_OK;
}

static void write_meta(uint64_t *words, uint64_t ticks, uint32_t what, uint32_t name,
                       uint64_t value, uint64_t second)
{
    words[0] = MXP_KIND_META | UINT64_C(2) << 8 | ticks << 16;
    words[1] = name | (uint64_t)what << 32;
    words[2] = value;
    words[3] = second;
}

static int tell_scope(window *self, const mxp_record_range *range)
{
    if (range->thread >= self->inner->thread_count || self->threads[range->thread].told) {
        return MXP_OK;
    }
    thread_state *thread = &self->threads[range->thread];
    thread->told = true;
    if (!thread->known) {
        return MXP_OK;
    }
    write_meta(thread->words, self->from_ticks,
               thread->scope != 0 ? MXP_META_SCOPE_PUSH : MXP_META_SCOPE_POP, thread->scope, 0, 0);
    return append(self, &(mxp_record_range){.words = thread->words,
                                            .end = thread->words + META_WORDS,
                                            .base_ticks = self->from_ticks,
                                            .thread = range->thread,
                                            .sequence = range->sequence});
}

static int add_range(window *self, mxp_record_range *range)
{
    truncate_front(self, range);
    if (range->words == range->end) {
        return MXP_OK;
    }
    int error = tell_scope(self, range);
    return error == MXP_OK ? append(self, range) : error;
}

// The first range is reserved for the step and the values of counters.
static int add_ranges(window *self)
{
    mxp_record_range range;
    int error = append(self, &(mxp_record_range){.base_ticks = self->from_ticks});
    for (size_t i = 0; error == MXP_OK; i++) {
        int found = self->inner->range(self->inner, i, &range);
        if (found == 0) {
            return MXP_OK;
        }
        if (found != MXP_EFORMAT) {
            error = found == 1 ? add_range(self, &range) : found;
        }
    }
    return error;
}

static int tell_standing(window *self)
{
    size_t steps = self->step_stands ? 1 : 0;
    self->word_count = self->standing->count * MXP__STANDING_WORDS + steps * META_WORDS;
    self->words = mxp__alloc(self->word_count * sizeof *self->words);
    if (self->words == NULL && self->word_count > 0) {
        return mxp__fail_memory("a window of a trace");
    }
    uint64_t *at = self->words;
    if (steps > 0) {
        write_meta(at, self->from_ticks, MXP_META_STEP_STANDING | self->step_thread << 8,
                   MXP_NAME_NONE, self->step, self->step_ticks);
        at += META_WORDS;
    }
    for (uint32_t i = 0; i < self->standing->count; i++) {
        mxp__standing_write(at, &self->standing->values[i], self->from_ticks);
        at += MXP__STANDING_WORDS;
    }
    self->ranges[0].words = self->words;
    self->ranges[0].end = at;
    self->ranges[0].thread = self->count > 1 ? self->ranges[1].thread : 0;
    return MXP_OK;
}

static int build(window *self)
{
    self->threads = mxp__alloc(self->inner->thread_count * sizeof *self->threads);
    self->standing = mxp__alloc(sizeof *self->standing);
    if ((self->threads == NULL && self->inner->thread_count > 0) || self->standing == NULL) {
        return mxp__fail_memory("a window of a trace");
    }
    self->from_ticks = mxp__timebase_ticks(self->inner->timebase, self->from_ns);
    int error = add_ranges(self);
    return error == MXP_OK ? tell_standing(self) : error;
}

int mxp__window_open(mxp_source *inner, int64_t from_ns, mxp_source **source)
{
    *source = NULL;
    window *self = mxp__alloc(sizeof *self);
    if (self == NULL) {
        mxp__source_close(inner);
        return mxp__fail_memory("a window of a trace");
    }
    self->source = *inner;
    self->source.name = view_name;
    self->source.range = get_range;
    self->source.rename = NULL;
    self->source.close = close_window;
    self->source.range_thread = NULL;
    self->inner = inner;
    self->from_ns = from_ns;
    int error = build(self);
    if (error != MXP_OK) {
        close_window(&self->source);
        return error;
    }
    *source = &self->source;
    return MXP_OK;
}
