// SPDX-License-Identifier: Apache-2.0
// See time_part.h.
#include "profiler/analysis/time/time_part.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "base/sum.h"
#include "profiler/analysis/time/pending_spans.h"
#include "profiler/analysis/window/range_reader.h"

enum { RECENT_BITS = 11 };
#define SPAN_KEY (UINT64_C(1) << 62)  // with a span's name; of operators name, phase and scope
#define NO_NAME (UINT32_C(0xffffffff) >> 5)  // for all ids beyond the names, to fit into a key

typedef struct row_place {
    uint64_t key;  // plus 1
    uint32_t row;  // plus 1
} row_place;

typedef struct reading {
    mxp_time_part *part;
    mxp_source *source;
    const mxp_choice *choice;
    const mxp_filter *filter;
    mxp_pending_spans *threads, *pending;  // of all, and of the range's
    uint32_t thread;  // the range's
    size_t range;  // its number
    uint64_t step_begin, step_end;  // ticks of the step in which the last record was
    bool step_is_chosen;
    mxp_id_map places;
    row_place recent[1 << RECENT_BITS];  // some of them
} reading;

static const char memory_for[] = "where the time went";

// ---- rows --------------------------------------------------------------------------------------
static inline bool may_overlap(const reading *self, uint32_t name)
{
    return name < self->source->name_count && self->part->overlaps[name];
}

static mxp_time_row row_with(const reading *self, uint64_t key)
{
    const uint32_t low = (uint32_t)key;
    if ((key & SPAN_KEY) != 0) {
        return (mxp_time_row){
            .name = low, .overlaps = low < self->source->name_count && self->part->overlaps[low]};
    }
    return (mxp_time_row){.name = (uint32_t)(key >> 35),
                          .scope = low,
                          .phase = (uint8_t)(key >> 32 & MXP_OP_PHASE_MASK),
                          .is_operator = true};
}

// False without memory.
static bool find_row(reading *self, uint64_t key, row_place *recent)
{
    mxp_time_part *part = self->part;
    row_place *place = mxp__id_map_add(&self->places, key + 1);
    if (place == NULL) {
        return false;
    }
    if (place->row == 0) {
        if (mxp__grow(&part->rows, &part->capacity, part->count + 1, sizeof *part->rows) !=
            MXP_OK) {
            return false;
        }
        part->rows[part->count++] =
            (mxp_time_part_row){.first_range = self->range, .row = row_with(self, key)};
        place->row = (uint32_t)part->count;
    }
    *recent = *place;
    return true;
}

// Null without memory.
static inline mxp_time_row *row_of(reading *self, uint64_t key)
{
    row_place *recent = &self->recent[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
    if (recent->key != key + 1 && !find_row(self, key, recent)) {
        return NULL;
    }
    return &self->part->rows[recent->row - 1].row;
}

// ---- records -----------------------------------------------------------------------------------
static inline int own_time(reading *self, int64_t begin_ns, int64_t end_ns, uint64_t *own_ns)
{
    return mxp__pending_spans_add(self->pending, &self->choice->of->index, self->thread, begin_ns,
                                  end_ns, own_ns);
}

// The step of a moment in ticks, and from when to when its answer holds.
static void find_step(reading *self, uint64_t ticks)
{
    const mxp_steps *steps = self->choice->of;
    const size_t step = mxp__steps_of(steps, ticks);
    const size_t next = step == SIZE_MAX ? 0 : step + 1;
    self->step_begin = step == SIZE_MAX ? 0 : steps->mark_ticks[step];
    self->step_end = next < steps->count ? steps->mark_ticks[next] : UINT64_MAX;
    self->step_is_chosen = step != SIZE_MAX && self->choice->steps[step];
}

// As mxp__choice_takes: neighbouring records are mostly of one step.
static inline bool is_chosen(reading *self, uint64_t ticks, int64_t ns)
{
    if (self->choice->steps == NULL) {
        return mxp__choice_takes(self->choice, ticks, ns);
    }
    if (ticks < self->step_begin || ticks >= self->step_end) {
        find_step(self, ticks);
    }
    return self->step_is_chosen;
}

static inline bool is_wanted(const reading *self, uint32_t name, uint32_t scope, unsigned phase)
{
    return self->filter == NULL ||
           mxp__filter_takes(self->filter, name, scope, self->thread, phase);
}

static inline int add_duration(const reading *self, mxp_time_row *row, uint64_t duration_ns,
                               uint64_t own_ns)
{
    row->count++;
    mxp__sum_add(&row->total_ns, duration_ns);
    mxp__sum_add(&row->self_ns, own_ns);
    row->longest_ns = duration_ns > row->longest_ns ? duration_ns : row->longest_ns;
    return self->part->has_no_durations ? MXP_OK : mxp__samples_add(&row->durations, duration_ns);
}

static uint64_t distance_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

static inline int add_to_row(reading *self, const uint64_t *words, const mxp_operator_times *times,
                             unsigned phase, bool overlaps)
{
    const uint32_t name = (uint32_t)words[1], scope = (uint32_t)words[6];
    if (!is_chosen(self, times->push_ticks, times->start_ns) ||
        !is_wanted(self, name, scope, phase)) {
        return MXP_OK;
    }
    const uint64_t known = name < self->source->name_count ? name : NO_NAME;
    mxp_time_row *row = row_of(self, (known << 3 | phase) << 32 | scope);
    if (row == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (overlaps) {
        row->overlaps = true;
    }
    const uint64_t duration_ns = (uint64_t)(times->end_ns - times->start_ns);
    mxp__sum_add(&row->waited_ns, distance_ns(times->push_ns, times->ready_ns));
    mxp__sum_add(&row->queued_ns, distance_ns(times->ready_ns, times->start_ns));
    self->part->operators++;
    return add_duration(self, row, duration_ns, duration_ns);
}

// What an asynchronous operator does is counted by the operators it runs; communication runs none.
// Out of line, because the loop of the others is hot.
__attribute__((noinline)) static int add_skipped(reading *self, const uint64_t *words,
                                                 const mxp_operator_times *times, unsigned flags)
{
    const unsigned phase = flags & MXP_OP_PHASE_MASK;
    const bool is_exchange =
        (flags & (MXP_OP_BULK_PARENT | MXP_OP_SHARED)) == 0 && phase == MXP_PHASE_COMMUNICATION;
    return is_exchange ? add_to_row(self, words, times, phase, true) : MXP_OK;
}

static inline int add_operator(reading *self, const uint64_t *words,
                               const mxp_operator_times *times)
{
    const unsigned skipped = MXP_OP_BULK_PARENT | MXP_OP_SHARED | MXP_OP_ASYNC;
    const unsigned flags = (unsigned)(words[2] >> 48);
    if ((flags & skipped) != 0) {
        return add_skipped(self, words, times, flags);
    }
    uint64_t own_ns;
    int error = own_time(self, times->start_ns, times->end_ns, &own_ns);
    return error != MXP_OK ? error
                           : add_to_row(self, words, times, flags & MXP_OP_PHASE_MASK, false);
}

// `is_of_lane`: on no thread of its own, or not that on which it was written.
static inline int add_span(reading *self, uint32_t name, const mxp_span_times *times,
                           bool is_of_lane)
{
    mxp_time_row *row = row_of(self, SPAN_KEY | name);
    if (row == NULL) {
        return mxp__fail_memory(memory_for);
    }
    const uint64_t duration_ns = (uint64_t)(times->end_ns - times->begin_ns);
    uint64_t own_ns = duration_ns;
    int error = MXP_OK;
    row->overlaps |= is_of_lane;
    if (!is_of_lane && !may_overlap(self, name)) {
        error = own_time(self, times->begin_ns, times->end_ns, &own_ns);
    }
    if (error != MXP_OK || !is_chosen(self, times->begin_ticks, times->begin_ns) ||
        !is_wanted(self, name, 0, MXP_PHASE_NONE)) {
        return error;
    }
    self->part->spans++;
    return add_duration(self, row, duration_ns, own_ns);
}

// ---- a range -----------------------------------------------------------------------------------
// False also of a span on a clock of its own: it says nothing about when it was.
static bool decode_span(mxp_range_reader *reader, const uint64_t *words, mxp_span_times *times,
                        bool *is_of_lane)
{
    mxp_event event;
    if (!mxp__range_reader_decode(reader, words, &event) ||
        mxp__event_clock(&event) != MXP_CLOCK_TRACE) {
        return false;
    }
    *times = (mxp_span_times){event.begin_ticks, event.begin_ns, event.end_ns};
    *is_of_lane = event.lane != 0;
    return true;
}

static inline int read_span(reading *self, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_span_times times;
    bool is_of_lane = false;
    const bool is_plain =
        mxp__is_lean_span_head(words) && mxp__span_times_at(&reader->clock, words, &times);
    return is_plain || decode_span(reader, words, &times, &is_of_lane)
               ? add_span(self, (uint32_t)words[1], &times, is_of_lane)
               : MXP_OK;
}

static inline int read_operator(reading *self, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_operator_times times;
    return mxp__range_reader_operator(reader, words, &times) ? add_operator(self, words, &times)
                                                             : MXP_OK;
}

static int add_range(reading *self, const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words;
    mxp_range_reader reader;
    int error = MXP_OK;
    if (range->thread >= self->source->thread_count) {
        return MXP_OK;
    }
    self->thread = range->thread;
    self->pending = &self->threads[range->thread];
    mxp__range_reader_begin(&reader, self->source, range);
    while (error == MXP_OK && !reader.is_damaged &&
           (words = mxp__next_head(&at, range->end)) != NULL) {
        if (mxp__is_span_head(words)) {
            error = read_span(self, &reader, words);
        } else if (mxp__is_operator_head(words)) {
            error = read_operator(self, &reader, words);
        }
    }
    return error;
}

// ---- all ranges --------------------------------------------------------------------------------
static int read_ranges(reading *self)
{
    const mxp_time_part *part = self->part;
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < part->range_count; i++) {
        self->range = part->ranges[i].number;
        const int found = self->source->range(self->source, self->range, &range);
        if (found == 1) {
            error = add_range(self, &range);
        } else if (found != MXP_EFORMAT) {
            return found;
        }
    }
    return error;
}

int mxp__time_part_read(mxp_time_part *part)
{
    const size_t threads = part->source->thread_count;
    reading *self = mxp__alloc(sizeof *self);
    mxp_pending_spans *pending = mxp__alloc((threads + 1) * sizeof *pending);
    int error = self == NULL || pending == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    if (error == MXP_OK) {
        *self = (reading){.part = part,
                          .source = part->source,
                          .choice = part->choice,
                          .filter = part->filter,
                          .threads = pending,
                          .places = {.entry_bytes = sizeof(row_place)}};
        error = read_ranges(self);
        mxp__id_map_fini(&self->places);
    }
    for (size_t i = 0; pending != NULL && i < threads; i++) {
        mxp__pending_spans_fini(&pending[i]);
    }
    mxp__free(pending, (threads + 1) * sizeof *pending);
    mxp__free(self, sizeof *self);
    return error;
}

void mxp__time_part_fini(mxp_time_part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        mxp__samples_fini(&part->rows[i].row.durations);
    }
    mxp__free(part->rows, part->capacity * sizeof *part->rows);
    part->rows = NULL;
    part->count = part->capacity = 0;
}
