// SPDX-License-Identifier: Apache-2.0
// See range_index.h.
#include "profiler/analysis/window/range_index.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/window/range_heads.h"
#include "profiler/analysis/window/side_by_side.h"
#include "profiler/analysis/window/steps.h"

enum { REACH_NS = 16000 };

static const char memory_for[] = "the index of a trace";

// ---- ranges ------------------------------------------------------------------------------------
static int add_range(mxp_range_index *index, size_t number, const mxp_record_range *range)
{
    if (mxp__grow(&index->places, &index->capacity, index->count + 1, sizeof *index->places) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const mxp_timebase *timebase = index->source->timebase;
    mxp_range_place *place = &index->places[index->count++];
    *place = (mxp_range_place){.number = number,
                               .base_ns = mxp__timebase_ns(timebase, range->base_ticks),
                               .thread = range->thread};
    return mxp__range_heads_read(index, place, range);
}

static int compare_places(const void *a, const void *b)
{
    const mxp_range_place *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

// A source keeps each thread's sequence, but where a clock or a file lies, bases may go back: then
// the earlier ones are as late as the latest of them may be early.
static void order(mxp_range_index *index)
{
    if (index->count > 1) {
        qsort(index->places, index->count, sizeof *index->places, compare_places);
    }
    for (size_t i = index->count; i-- > 1;) {
        mxp_range_place *before = &index->places[i - 1];
        if (before->thread == index->places[i].thread &&
            before->base_ns > index->places[i].base_ns) {
            before->base_ns = index->places[i].base_ns;
        }
    }
}

static int look_at_names(mxp_range_index *index)
{
    const mxp_source *source = index->source;
    index->idle = mxp__idle_operators(source);
    index->nested = mxp__alloc(source->name_count * sizeof *index->nested);
    if (source->name_count > 0 && (index->idle == NULL || index->nested == NULL)) {
        return mxp__fail_memory(memory_for);
    }
    for (uint32_t id = 0; id < source->name_count; id++) {
        const uint8_t style = source->name(source, id).style;
        index->nested[id] = style == MXP_STYLE_SPAN || style == MXP_STYLE_ADDRESS;
    }
    return MXP_OK;
}

static int take_roles(mxp_range_index *index)
{
    const size_t count = index->source->thread_count;
    index->roles = mxp__alloc(count * sizeof *index->roles);
    if (count > 0 && index->roles == NULL) {
        return mxp__fail_memory(memory_for);
    }
    index->thread_count = count;
    for (size_t i = 0; i < index->count; i++) {
        const mxp_range_place *place = &index->places[i];
        if (place->thread < count) {
            index->roles[place->thread] |= place->roles;
        }
    }
    return MXP_OK;
}

// ---- slices of a trace, side by side -----------------------------------------------------------
// Ranges `first` to before `end`, or to the last one.
static int read_ranges(mxp_range_index *index, size_t first, size_t end)
{
    mxp_source *process = index->source;
    mxp_record_range range;
    int found, error = MXP_OK;
    for (size_t i = first;
         error == MXP_OK && i < end && (found = process->range(process, i, &range)) != 0; i++) {
        if (found == 1) {
            error = add_range(index, i, &range);
        } else if (found == MXP_EFORMAT) {
            index->unread_ranges++;
        } else {
            error = found;
        }
    }
    return error;
}

typedef struct slices {
    mxp_range_index *all;  // of each its own, with the whole index's names
    size_t count, range_count;
} slices;

static int read_slice(void *context, size_t piece)
{
    const slices *of = context;
    return read_ranges(&of->all[piece], of->range_count * piece / of->count,
                       of->range_count * (piece + 1) / of->count);
}

// How many ranges there are, where that is known without reaching for their records; else 0.
static size_t count_ranges(mxp_source *process)
{
    size_t low = 0, high = 1;
    uint32_t thread;
    if (process->range_thread == NULL) {
        return 0;
    }
    while (process->range_thread(process, high - 1, &thread) == 1) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {  // there are `low` at least, and fewer than `high`
        const size_t middle = low + (high - low) / 2;
        if (process->range_thread(process, middle - 1, &thread) == 1) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int append(void *to_pointer, size_t *to_count, size_t *to_capacity, const void *from,
                  size_t count, size_t element_bytes)
{
    if (count == 0) {
        return MXP_OK;
    }
    if (mxp__grow(to_pointer, to_capacity, *to_count + count, element_bytes) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    char *to;
    memcpy(&to, to_pointer, sizeof to);
    memcpy(to + *to_count * element_bytes, from, count * element_bytes);
    *to_count += count;
    return MXP_OK;
}

// What comes behind all that the index has.
static int append_slice(mxp_range_index *index, const mxp_range_index *slice)
{
    int error = append(&index->places, &index->count, &index->capacity, slice->places, slice->count,
                       sizeof *slice->places);
    if (error == MXP_OK) {
        error = append(&index->spans, &index->span_count, &index->span_capacity, slice->spans,
                       slice->span_count, sizeof *slice->spans);
    }
    if (error == MXP_OK) {
        error = append(&index->marks, &index->mark_count, &index->mark_capacity, slice->marks,
                       slice->mark_count, sizeof *slice->marks);
    }
    for (int kind = 0; kind < MXP_KIND_END; kind++) {
        index->counts[kind] += slice->counts[kind];
    }
    index->unread_ranges += slice->unread_ranges;
    index->reach_ns = slice->reach_ns > index->reach_ns ? slice->reach_ns : index->reach_ns;
    if (slice->has_time) {
        mxp__range_index_extend(index, slice->first_ns, slice->last_ns);
    }
    return error;
}

static int join_slices(mxp_range_index *index, const slices *of)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < of->count; i++) {
        error = append_slice(index, &of->all[i]);
    }
    mxp__long_spans_bound(index);
    return error;
}

static void free_records(mxp_range_index *index)
{
    mxp__free(index->places, index->capacity * sizeof *index->places);
    mxp__free(index->spans, index->span_capacity * sizeof *index->spans);
    mxp__free(index->marks, index->mark_capacity * sizeof *index->marks);
}

static int read_sliced(mxp_range_index *index, size_t range_count, size_t slice_count)
{
    slices of = {.all = mxp__alloc(slice_count * sizeof *of.all),
                 .count = slice_count,
                 .range_count = range_count};
    if (of.all == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < slice_count; i++) {
        of.all[i] = *index;
    }
    int error = mxp__side_by_side(slice_count, read_slice, &of);
    if (error == MXP_OK) {
        error = join_slices(index, &of);
    }
    for (size_t i = 0; i < slice_count; i++) {
        free_records(&of.all[i]);
    }
    mxp__free(of.all, slice_count * sizeof *of.all);
    return error;
}

int mxp__range_index_make(mxp_source *process, mxp_range_index *index)
{
    enum { RANGE_BYTES = 1 << 16 };  // as the recorder makes them
    *index = (mxp_range_index){.source = process, .reach_ns = REACH_NS};
    const size_t ranges = count_ranges(process);
    const size_t slice_count = mxp__side_by_side_count((uint64_t)ranges * RANGE_BYTES);
    int error = look_at_names(index);
    if (error == MXP_OK) {
        error = slice_count > 1 ? read_sliced(index, ranges, slice_count)
                                : read_ranges(index, 0, SIZE_MAX);
    }
    order(index);
    if (error == MXP_OK) {
        error = take_roles(index);
    }
    if (error != MXP_OK) {
        mxp__range_index_fini(index);
    }
    return error;
}

void mxp__range_index_fini(mxp_range_index *index)
{
    free_records(index);
    if (index->source != NULL) {
        mxp__free(index->idle, index->source->name_count * sizeof *index->idle);
        mxp__free(index->nested, index->source->name_count * sizeof *index->nested);
        mxp__free(index->roles, index->thread_count * sizeof *index->roles);
    }
    *index = (mxp_range_index){0};
}

size_t mxp__range_index_first(const mxp_range_index *index, size_t begin, int64_t from_ns)
{
    size_t low = begin, high = index->count;
    const uint32_t thread = begin < high ? index->places[begin].thread : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const mxp_range_place *at = &index->places[middle];
        if (at->thread == thread && at->base_ns <= from_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == begin ? begin : low - 1;
}

size_t mxp__range_index_next_thread(const mxp_range_index *index, size_t begin)
{
    size_t low = begin, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->places[middle].thread <= index->places[begin].thread) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
