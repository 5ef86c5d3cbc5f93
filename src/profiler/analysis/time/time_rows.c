// SPDX-License-Identifier: Apache-2.0
// See time_rows.h. Records are added up by the ids of their process (time_part.h), by several
// threads where there are many; here those sums become rows, which have texts.
#include "profiler/analysis/time/time_rows.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"
#include "profiler/analysis/time/time_part.h"
#include "profiler/analysis/window/side_by_side.h"

typedef struct row_place {
    uint64_t key;
    uint32_t row;
} row_place;

typedef struct pass {
    mxp_time_rows *rows;
    mxp_source *source;
    const mxp_choice *choice;
    const mxp_filter *filter;
    uint32_t *node_of;  // scopes
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

static bool is_async(const mxp_source *source, uint32_t name)
{
    return source->name(source, name).style == MXP_STYLE_ASYNC;
}

// The row of what has this name id, and of an operator with this scope id.
static int row_of(pass *self, mxp_time_row ids, uint32_t *place)
{
    const mxp_source *source = self->source;
    const bool is_named = ids.name < source->name_count;
    mxp_time_row wanted = {.is_operator = ids.is_operator};
    if (ids.is_operator) {
        wanted.scope = ids.scope < source->name_count ? self->node_of[ids.scope] : 0;
        wanted.phase = ids.phase;
        wanted.is_idle = is_named && self->choice->of->index.idle[ids.name];
    } else {
        wanted.overlaps = is_async(source, ids.name);
    }
    int error = find_name(self, ids.name, &wanted);
    return error == MXP_OK ? find_row(self->rows, &wanted, place) : error;
}

// ---- parts -------------------------------------------------------------------------------------
static int fold_row(pass *self, mxp_time_row *from)
{
    uint32_t place;
    int error = row_of(self, *from, &place);
    if (error != MXP_OK) {
        return error;
    }
    mxp_time_row *to = &self->rows->rows[place];
    to->overlaps |= from->overlaps;
    to->count += from->count;
    mxp__sum_add(&to->total_ns, from->total_ns);
    mxp__sum_add(&to->self_ns, from->self_ns);
    to->longest_ns = from->longest_ns > to->longest_ns ? from->longest_ns : to->longest_ns;
    mxp__sum_add(&to->waited_ns, from->waited_ns);
    mxp__sum_add(&to->queued_ns, from->queued_ns);
    return mxp__samples_merge(&to->durations, &from->durations);
}

// Rows come in the order in which the trace has them first, however it was shared out. A range is
// of one part only.
static int fold(pass *self, mxp_time_part *parts, size_t count)
{
    size_t next[MXP__SIDES_MAX] = {0};
    int error = MXP_OK;
    while (error == MXP_OK) {
        mxp_time_part_row *first = NULL;
        size_t of = 0;
        for (size_t i = 0; i < count; i++) {
            mxp_time_part_row *row = next[i] < parts[i].count ? &parts[i].rows[next[i]] : NULL;
            if (row != NULL && (first == NULL || row->first_range < first->first_range)) {
                first = row;
                of = i;
            }
        }
        if (first == NULL) {
            break;
        }
        next[of]++;
        error = fold_row(self, &first->row);
    }
    for (size_t i = 0; i < count; i++) {
        self->rows->operators += parts[i].operators;
        self->rows->spans += parts[i].spans;
    }
    return error;
}

static int compare_ranges(const void *a, const void *b)
{
    const mxp_part_range *x = a, *y = b;
    if (x->part != y->part) {
        return x->part < y->part ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

// Each thread goes to the part that has fewest ranges yet. `ranges`: one for each place.
static void share_out(const mxp_range_index *index, mxp_time_part *parts, size_t count,
                      mxp_part_range *ranges)
{
    for (size_t begin = 0, end; begin < index->count; begin = end) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < count; i++) {
            least = parts[i].range_count < parts[least].range_count ? i : least;
        }
        end = mxp__range_index_next_thread(index, begin);
        parts[least].range_count += end - begin;
        for (size_t i = begin; i < end; i++) {
            ranges[i] = (mxp_part_range){.number = index->places[i].number, .part = least};
        }
    }
    if (index->count > 1) {
        qsort(ranges, index->count, sizeof *ranges, compare_ranges);
    }
    for (size_t i = 0, first = 0; i < count; first += parts[i++].range_count) {
        parts[i].ranges = parts[i].range_count > 0 ? ranges + first : NULL;
    }
}

static int read_part(void *context, size_t piece)
{
    return mxp__time_part_read((mxp_time_part *)context + piece);
}

static int add_parts(pass *self, const bool *overlaps, mxp_part_range *ranges)
{
    enum { RANGE_BYTES = 1 << 16 };  // as the recorder makes them
    const mxp_range_index *index = &self->choice->of->index;
    const size_t count = mxp__side_by_side_count((uint64_t)index->count * RANGE_BYTES);
    mxp_time_part parts[MXP__SIDES_MAX];
    for (size_t i = 0; i < count; i++) {
        parts[i] = (mxp_time_part){.source = self->source,
                                   .choice = self->choice,
                                   .filter = self->filter,
                                   .overlaps = overlaps,
                                   .has_no_durations = self->rows->has_no_durations};
    }
    share_out(index, parts, count, ranges);
    int error = mxp__side_by_side(count, read_part, parts);
    if (error == MXP_OK) {
        error = fold(self, parts, count);
    }
    for (size_t i = 0; i < count; i++) {
        mxp__time_part_fini(&parts[i]);
    }
    return error;
}

static int add_records(pass *self)
{
    const mxp_source *source = self->source;
    const size_t places = self->choice->of->index.count;
    bool *overlaps = mxp__alloc(source->name_count * sizeof *overlaps);
    mxp_part_range *ranges = mxp__alloc(places * sizeof *ranges);
    int error = (overlaps == NULL && source->name_count > 0) || (ranges == NULL && places > 0)
                    ? mxp__fail_memory(memory_for)
                    : MXP_OK;
    for (uint32_t id = 0; error == MXP_OK && id < source->name_count; id++) {
        overlaps[id] = is_async(source, id);
    }
    if (error == MXP_OK) {
        error = add_parts(self, overlaps, ranges);
    }
    mxp__free(overlaps, source->name_count * sizeof *overlaps);
    mxp__free(ranges, places * sizeof *ranges);
    return error;
}

// ---- a process ---------------------------------------------------------------------------------
static int pass_init(pass *self)
{
    return mxp__scope_tree_add(&self->rows->scopes, self->source, &self->node_of);
}

static void pass_fini(pass *self)
{
    mxp__free(self->node_of, self->source->name_count * sizeof *self->node_of);
}

int mxp__time_rows_add(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                       const mxp_filter *filter)
{
    assert(process->process_count == 0 && choice->of->index.source == process);
    pass self = {.rows = rows, .source = process, .choice = choice, .filter = filter};
    int error = pass_init(&self);
    if (error == MXP_OK) {
        error = add_records(&self);
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
    rows->path_kinds_ns[path->kind] += path->total_ns;
    if (self->filter != NULL &&
        !mxp__filter_takes(self->filter, path->name, path->scope, 0, path->phase)) {
        return MXP_OK;
    }
    // An operator without a name is a row all the same.
    if (!runs && (path->name == 0 || !mxp__path_kind_is_host(path->kind))) {
        return MXP_OK;
    }
    const mxp_time_row ids = {.name = path->name,
                              .scope = path->scope,
                              .phase = (uint8_t)path->phase,
                              .is_operator = runs};
    int error = row_of(self, ids, &place);
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

int mxp__time_rows_take_path(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                             const mxp_filter *filter, const mxp_path_rows *path)
{
    pass self = {.rows = rows, .source = process, .choice = choice, .filter = filter};
    int error = pass_init(&self);
    for (size_t i = 0; i < path->count && error == MXP_OK; i++) {
        error = add_path_row(&self, &path->rows[i]);
    }
    if (error == MXP_OK) {
        rows->has_path = true;
        rows->path_wall_ns += choice->wall_ns;
    }
    pass_fini(&self);
    return error;
}

int mxp__time_rows_add_path(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                            const mxp_filter *filter, uint64_t limit_bytes)
{
    mxp_path_rows path = {0};
    int error = path_of(process, choice, limit_bytes, &path);
    error =
        error == MXP_OK ? mxp__time_rows_take_path(rows, process, choice, filter, &path) : error;
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
