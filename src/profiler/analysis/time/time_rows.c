// SPDX-License-Identifier: Apache-2.0
// See time_rows.h.
#include "profiler/analysis/time/time_rows.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/time/pending_spans.h"
#include "profiler/analysis/window/range_reader.h"

enum { RECENT_BITS = 11 };

typedef struct row_place {
    uint64_t key;
    uint32_t row;
} row_place;

typedef struct pass {
    mxp_time_rows *rows;
    mxp_source *source;
    const mxp_choice *choice;
    const mxp_filter *filter;
    mxp_pending_spans *threads, *pending;  // of all, and of the range's
    uint32_t thread;  // the range's
    uint32_t *node_of;  // scopes
    uint32_t *span_rows;  // of each name id: its row + 1
    mxp_id_map operator_rows;  // by name, phase and scope id
    row_place recent[1 << RECENT_BITS];  // some of them
    const bool *idle;  // of the index
    uint64_t step_begin, step_end;  // ticks of the step in which the last record was
    bool step_is_chosen;
} pass;

static const char memory_for[] = "where the time went";

// ---- rows --------------------------------------------------------------------------------------
static uint64_t hash_of(const mxp_time_row *row)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = ((uint64_t)row->name << 32 | row->scope) * odd;
    hash = (hash ^ hash >> 29 ^ (uint64_t)row->category << 8 ^ (uint64_t)row->phase << 1 ^
            row->is_operator) *
           odd;
    return hash ^ hash >> 32;
}

static bool is_same(const mxp_time_row *a, const mxp_time_row *b)
{
    return a->scope == b->scope && a->name == b->name && a->category == b->category &&
           a->phase == b->phase && a->is_operator == b->is_operator;
}

// The place of the row with the key of `wanted`, which becomes a row if there is none.
static int find_row(mxp_time_rows *rows, const mxp_time_row *wanted, uint32_t *place)
{
    rows->places.entry_bytes = sizeof(row_place);
    uint64_t key = hash_of(wanted);
    for (;; key++) {
        key += key == 0;
        const row_place *known = mxp__id_map_find(&rows->places, key);
        if (known == NULL) {
            break;
        }
        if (is_same(&rows->rows[known->row], wanted)) {
            *place = known->row;
            return MXP_OK;
        }
    }
    row_place *added = mxp__id_map_add(&rows->places, key);
    if (added == NULL ||
        mxp__grow(&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    *place = added->row = (uint32_t)rows->count;
    rows->rows[rows->count++] = *wanted;
    return MXP_OK;
}

static int find_name(pass *self, uint32_t name, mxp_time_row *wanted)
{
    const mxp_name_view view = self->source->name(self->source, name);
    const mxp_name_view category = self->source->name(self->source, view.category);
    mxp_texts *texts = &self->rows->scopes.texts;
    int error = mxp__texts_number(texts, view.text, view.length, &wanted->name);
    return error == MXP_OK
               ? mxp__texts_number(texts, category.text, category.length, &wanted->category)
               : error;
}

// Its row, of an operator that is not among the recent ones.
static int find_operator_row(pass *self, uint32_t name, uint32_t scope, unsigned phase,
                             row_place *recent)
{
    const uint64_t key = ((uint64_t)name << 3 | phase) << 32 | scope;
    const row_place *known = mxp__id_map_find(&self->operator_rows, key + 1);
    if (known != NULL) {
        *recent = *known;
        return MXP_OK;
    }
    const bool is_named = name < self->source->name_count;
    uint32_t place;
    mxp_time_row wanted = {.scope = scope < self->source->name_count ? self->node_of[scope] : 0,
                           .phase = (uint8_t)phase,
                           .is_operator = true,
                           .is_idle = is_named && self->idle[name]};
    int error = find_name(self, name, &wanted);
    if (error == MXP_OK) {
        error = find_row(self->rows, &wanted, &place);
    }
    row_place *added = error == MXP_OK ? mxp__id_map_add(&self->operator_rows, key + 1) : NULL;
    if (added == NULL) {
        return error != MXP_OK ? error : mxp__fail_memory(memory_for);
    }
    added->row = place;
    *recent = *added;
    return MXP_OK;
}

static inline int operator_row(pass *self, uint32_t name, uint32_t scope, unsigned phase,
                               uint32_t *place)
{
    const uint64_t key = ((uint64_t)name << 3 | phase) << 32 | scope;
    row_place *recent = &self->recent[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RECENT_BITS)];
    int error =
        recent->key == key + 1 ? MXP_OK : find_operator_row(self, name, scope, phase, recent);
    *place = recent->row;
    return error;
}

static int find_span_row(pass *self, uint32_t name, uint32_t *place)
{
    mxp_time_row wanted = {.overlaps =
                               self->source->name(self->source, name).style == MXP_STYLE_ASYNC};
    int error = find_name(self, name, &wanted);
    error = error == MXP_OK ? find_row(self->rows, &wanted, place) : error;
    if (error == MXP_OK && name < self->source->name_count) {
        self->span_rows[name] = *place + 1;
    }
    return error;
}

static inline int span_row(pass *self, uint32_t name, uint32_t *place)
{
    if (name >= self->source->name_count || self->span_rows[name] == 0) {
        return find_span_row(self, name, place);
    }
    *place = self->span_rows[name] - 1;
    return MXP_OK;
}

// ---- records -----------------------------------------------------------------------------------
static inline int own_time(pass *self, int64_t begin_ns, int64_t end_ns, uint64_t *own_ns)
{
    return mxp__pending_spans_add(self->pending, &self->choice->of->index, self->thread, begin_ns,
                                  end_ns, own_ns);
}

// The step of a moment in ticks, and from when to when its answer holds.
static void find_step(pass *self, uint64_t ticks)
{
    const mxp_steps *steps = self->choice->of;
    const size_t step = mxp__steps_of(steps, ticks);
    const size_t next = step == SIZE_MAX ? 0 : step + 1;
    self->step_begin = step == SIZE_MAX ? 0 : steps->mark_ticks[step];
    self->step_end = next < steps->count ? steps->mark_ticks[next] : UINT64_MAX;
    self->step_is_chosen = step != SIZE_MAX && self->choice->steps[step];
}

// As mxp__choice_takes: neighbouring records are mostly of one step.
static inline bool is_chosen(pass *self, uint64_t ticks, int64_t ns)
{
    if (self->choice->steps == NULL) {
        return mxp__choice_takes(self->choice, ticks, ns);
    }
    if (ticks < self->step_begin || ticks >= self->step_end) {
        find_step(self, ticks);
    }
    return self->step_is_chosen;
}

static inline bool is_wanted(const pass *self, uint32_t name, uint32_t scope, unsigned phase)
{
    return self->filter == NULL ||
           mxp__filter_takes(self->filter, name, scope, self->thread, phase);
}

static inline int add_duration(const mxp_time_rows *rows, mxp_time_row *row, uint64_t duration_ns,
                               uint64_t own_ns)
{
    row->count++;
    row->total_ns += duration_ns;
    row->self_ns += own_ns;
    row->longest_ns = duration_ns > row->longest_ns ? duration_ns : row->longest_ns;
    return rows->has_no_durations ? MXP_OK : mxp__samples_add(&row->durations, duration_ns);
}

static uint64_t distance_ns(int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

static inline int add_operator(pass *self, const uint64_t *words, const mxp_operator_times *times)
{
    const unsigned skipped = MXP_OP_BULK_PARENT | MXP_OP_SHARED | MXP_OP_ASYNC;
    const unsigned flags = (unsigned)(words[2] >> 48), phase = flags & MXP_OP_PHASE_MASK;
    if ((flags & skipped) != 0) {
        return MXP_OK;
    }
    uint64_t own_ns;
    int error = own_time(self, times->start_ns, times->end_ns, &own_ns);
    const uint32_t name = (uint32_t)words[1], scope = (uint32_t)words[6];
    if (error != MXP_OK || !is_chosen(self, times->push_ticks, times->start_ns) ||
        !is_wanted(self, name, scope, phase)) {
        return error;
    }
    uint32_t place;
    error = operator_row(self, name, scope, phase, &place);
    if (error != MXP_OK) {
        return error;
    }
    mxp_time_row *row = &self->rows->rows[place];
    const uint64_t duration_ns = (uint64_t)(times->end_ns - times->start_ns);
    row->waited_ns += distance_ns(times->push_ns, times->ready_ns);
    row->queued_ns += distance_ns(times->ready_ns, times->start_ns);
    self->rows->operators++;
    return add_duration(self->rows, row, duration_ns, duration_ns);
}

// `is_of_lane`: on no thread of its own, or not that on which it was written.
static inline int add_span(pass *self, uint32_t name, const mxp_span_times *times, bool is_of_lane)
{
    uint32_t place;
    int error = span_row(self, name, &place);
    if (error != MXP_OK) {
        return error;
    }
    mxp_time_row *row = &self->rows->rows[place];
    const uint64_t duration_ns = (uint64_t)(times->end_ns - times->begin_ns);
    uint64_t own_ns = duration_ns;
    row->overlaps |= is_of_lane;
    if (!row->overlaps) {
        error = own_time(self, times->begin_ns, times->end_ns, &own_ns);
    }
    if (error != MXP_OK || !is_chosen(self, times->begin_ticks, times->begin_ns) ||
        !is_wanted(self, name, 0, MXP_PHASE_NONE)) {
        return error;
    }
    self->rows->spans++;
    return add_duration(self->rows, row, duration_ns, own_ns);
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

static inline int read_span(pass *self, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_span_times times;
    bool is_of_lane = false;
    const bool is_plain =
        mxp__is_lean_span_head(words) && mxp__span_times_at(&reader->clock, words, &times);
    return is_plain || decode_span(reader, words, &times, &is_of_lane)
               ? add_span(self, (uint32_t)words[1], &times, is_of_lane)
               : MXP_OK;
}

static inline int read_operator(pass *self, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_operator_times times;
    return mxp__operator_times_at(&reader->clock, words, &times) ||
                   mxp__range_reader_operator(reader, words, &times)
               ? add_operator(self, words, &times)
               : MXP_OK;
}

static int add_range(pass *self, const mxp_record_range *range)
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
static int add_ranges(pass *self)
{
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t number = 0; error == MXP_OK; number++) {
        const int found = self->source->range(self->source, number, &range);
        if (found != 1 && found != MXP_EFORMAT) {
            return found;
        }
        error = found == 1 ? add_range(self, &range) : MXP_OK;
    }
    return error;
}

// ---- a process ---------------------------------------------------------------------------------
static int pass_init(pass *self)
{
    const size_t names = (size_t)self->source->name_count + 1;
    self->operator_rows.entry_bytes = sizeof(row_place);
    int error = mxp__scope_tree_add(&self->rows->scopes, self->source, &self->node_of);
    if (error != MXP_OK) {
        return error;
    }
    self->threads = mxp__alloc((self->source->thread_count + 1) * sizeof *self->threads);
    self->span_rows = mxp__alloc(names * sizeof *self->span_rows);
    self->idle = self->choice->of->index.idle;
    return self->threads == NULL || self->span_rows == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
}

static void pass_fini(pass *self)
{
    const size_t names = self->source->name_count;
    for (size_t i = 0; self->threads != NULL && i < self->source->thread_count; i++) {
        mxp__pending_spans_fini(&self->threads[i]);
    }
    mxp__free(self->threads, (self->source->thread_count + 1) * sizeof *self->threads);
    mxp__free(self->span_rows, (names + 1) * sizeof *self->span_rows);
    mxp__free(self->node_of, names * sizeof *self->node_of);
    mxp__id_map_fini(&self->operator_rows);
}

int mxp__time_rows_add(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                       const mxp_filter *filter)
{
    assert(process->process_count == 0 && choice->of->index.source == process);
    pass self = {.rows = rows, .source = process, .choice = choice, .filter = filter};
    int error = pass_init(&self);
    if (error == MXP_OK) {
        error = add_ranges(&self);
    }
    if (error == MXP_OK) {
        rows->steps += choice->step_count;
        rows->wall_ns += choice->wall_ns;
    }
    pass_fini(&self);
    return error;
}

// ---- the path ----------------------------------------------------------------------------------
static int add_path_row(pass *self, const mxp_path_row *path)
{
    mxp_time_rows *rows = self->rows;
    const bool runs = path->kind == MXP__PATH_RUN || path->kind == MXP__PATH_COMMUNICATION;
    uint32_t place;
    int error = MXP_OK;
    rows->path_kinds_ns[path->kind] += path->total_ns;
    if (self->filter != NULL &&
        !mxp__filter_takes(self->filter, path->name, path->scope, 0, path->phase)) {
        return MXP_OK;
    }
    if (runs && path->name != 0) {
        error = operator_row(self, path->name, path->scope, path->phase, &place);
    } else if (mxp__path_kind_is_host(path->kind) && path->name != 0) {
        error = span_row(self, path->name, &place);
    } else {
        return MXP_OK;
    }
    if (error == MXP_OK) {
        rows->rows[place].path_ns += path->total_ns;
    }
    return error;
}

static int path_of(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                   mxp_path_rows *path)
{
    if (choice->steps != NULL) {
        return mxp__path_rows_of_steps(process, choice->of, choice->steps, limit_bytes, path);
    }
    // A window of time is walked as one step.
    mxp_step_window step = {.begin_ns = choice->from_ns, .end_ns = choice->until_ns};
    mxp_steps one = *choice->of;
    one.all = &step;
    one.count = 1;
    one.thread = MXP__PATH_ANY_THREAD;
    return mxp__path_rows_of_steps(process, &one, NULL, limit_bytes, path);
}

int mxp__time_rows_add_path(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                            const mxp_filter *filter, uint64_t limit_bytes)
{
    pass self = {.rows = rows, .source = process, .choice = choice, .filter = filter};
    mxp_path_rows path = {0};
    int error = path_of(process, choice, limit_bytes, &path);
    if (error == MXP_OK) {
        error = pass_init(&self);
    }
    for (size_t i = 0; i < path.count && error == MXP_OK; i++) {
        error = add_path_row(&self, &path.rows[i]);
    }
    if (error == MXP_OK) {
        rows->has_path = true;
        rows->path_wall_ns += choice->wall_ns;
    }
    if (self.node_of != NULL || self.threads != NULL) {
        pass_fini(&self);
    }
    mxp__path_rows_fini(&path);
    return error;
}

void mxp__time_rows_fini(mxp_time_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        mxp__samples_fini(&rows->rows[i].durations);
    }
    mxp__free(rows->rows, rows->capacity * sizeof *rows->rows);
    mxp__id_map_fini(&rows->places);
    mxp__scope_tree_fini(&rows->scopes);
    *rows = (mxp_time_rows){0};
}
