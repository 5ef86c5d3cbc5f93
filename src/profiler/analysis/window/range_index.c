// SPDX-License-Identifier: Apache-2.0
// See range_index.h.
#include "profiler/analysis/window/range_index.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/window/side_by_side.h"
#include "profiler/analysis/window/steps.h"

enum { SPANS_MAX = 1 << 12, REACH_NS = 16000 };

static const char memory_for[] = "the index of a trace";

// ---- long spans --------------------------------------------------------------------------------
// Forgets those that are not longer than `reach_ns`.
static void keep_long(mxp_range_index *index)
{
    size_t kept = 0;
    for (size_t i = 0; i < index->span_count; i++) {
        const mxp_long_span *span = &index->spans[i];
        if (span->end_ns - span->begin_ns > index->reach_ns) {
            index->spans[kept++] = *span;
        }
    }
    index->span_count = kept;
}

static int add_span(mxp_range_index *index, const mxp_event *event)
{
    if (event->end_ns - event->begin_ns <= index->reach_ns ||
        !mxp__range_index_nests(index, event)) {
        return MXP_OK;
    }
    while (index->span_count == SPANS_MAX) {  // only those twice as long are kept
        index->reach_ns *= 2;
        keep_long(index);
    }
    if (event->end_ns - event->begin_ns <= index->reach_ns) {
        return MXP_OK;
    }
    if (mxp__grow(&index->spans, &index->span_capacity, index->span_count + 1,
                  sizeof *index->spans) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    index->spans[index->span_count++] = (mxp_long_span){.begin_ns = event->begin_ns,
                                                        .end_ns = event->end_ns,
                                                        .thread = event->thread,
                                                        .name = event->name};
    return MXP_OK;
}

// ---- the heads of a range ----------------------------------------------------------------------
typedef struct heads {
    mxp_range_index *index;
    const mxp_record_range *range;
    mxp_decoder decoder;
    mxp_range_place *place;
    const bool *idle;  // the index's, by name id
    uint32_t name_count;
    uint64_t long_ticks;  // no span that is shorter is a long one
    const uint64_t *last;  // the last record
    const uint64_t *earliest;  // the short span that began first; it may have been written last
    int64_t earliest_distance;
} heads;

static void add_time(mxp_range_index *index, int64_t first_ns, int64_t last_ns)
{
    if (!index->has_time || first_ns < index->first_ns) {
        index->first_ns = first_ns;
    }
    if (!index->has_time || last_ns > index->last_ns) {
        index->last_ns = last_ns;
    }
    index->has_time = true;
}

static void extend_time(mxp_range_index *index, const mxp_event *event)
{
    if (mxp__event_clock(event) == MXP_CLOCK_TRACE) {
        add_time(index, event->begin_ns, event->end_ns);
    }
}

static bool decode_at(heads *of, const uint64_t *words, mxp_event *event)
{
    of->decoder.at = words;
    return mxp__decoder_next(&of->decoder, event) == 1 && event->words == words;
}

static int add_mark(heads *of, const mxp_event *event)
{
    mxp_range_index *index = of->index;
    if (event->phase != MXP_META_STEP && event->phase != MXP_META_STEP_END &&
        event->phase != MXP_META_STEP_CPU && event->phase != MXP_META_STATE) {
        return MXP_OK;
    }
    if (mxp__grow(&index->marks, &index->mark_capacity, index->mark_count + 1,
                  sizeof *index->marks) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    extend_time(index, event);
    index->marks[index->mark_count++] = (mxp_range_mark){.ticks = event->begin_ticks,
                                                         .ns = event->begin_ns,
                                                         .value = event->value.u64,
                                                         .second = event->words[3],
                                                         .thread = event->thread,
                                                         .what = event->phase};
    return MXP_OK;
}

// Most of a trace are runs of lean spans and runs of operators with their variables: both are gone
// through in loops of their own, which return the first record that is none. The records that they
// read do not reach beyond the range.

static const uint64_t *read_spans(heads *of, const uint64_t *words)
{
    const uint64_t *const begin = words, *const end = of->range->end, *earliest = of->earliest;
    // Stamps have the upper 48 bits of a head, so heads compare as begins do, from the base on.
    const uint64_t base = of->range->base_ticks << 16, long_ticks = of->long_ticks;
    int64_t least = of->earliest_distance;
    while (end - words >= 2 && (*words & 0xffff) == (MXP_KIND_SPAN | 1 << 8) &&
           words[1] >> 32 < long_ticks) {
        const int64_t distance = (int64_t)(*words - base);
        if (distance < least) {
            least = distance;
            earliest = words;
        }
        words += 2;
        __builtin_prefetch(words + MXP__WORDS_AHEAD);
    }
    of->index->counts[MXP_KIND_SPAN] += (uint64_t)(words - begin) / 2;
    of->last = words > begin ? words - 2 : of->last;
    of->earliest = earliest;
    of->earliest_distance = least;
    return words;
}

static inline void add_operator(heads *of, mxp_range_place *place, const uint64_t *words)
{
    enum { NOT_PLACED = MXP_OP_SHARED | MXP_OP_BULK_PARENT | MXP_OP_ASYNC };
    const uint32_t name = (uint32_t)words[1];
    uint64_t push, end;
    const bool is_other_s =
        (words[2] >> 48 & NOT_PLACED) == 0 && (uint32_t)(words[3] >> 48) != place->thread;
    place->roles |= is_other_s ? MXP__RUNS_OTHERS : 0;
    if ((name < of->name_count && of->idle[name]) ||
        !mxp__head_times(&of->decoder, words, &push, &end)) {
        return;
    }
    if (place->last_end == 0 || push < place->first_push) {
        place->first_push = push;
    }
    place->last_push = push > place->last_push ? push : place->last_push;
    place->last_end = end > place->last_end ? end : place->last_end;
}

static const uint64_t *read_operators(heads *of, const uint64_t *words)
{
    const uint64_t *const end = of->range->end, *next = words, *at;
    mxp_range_place place = *of->place;
    uint64_t operators = 0, variables = 0;
    while ((at = mxp__next_head(&next, end)) != NULL) {
        const uint32_t kind = (uint32_t)(*at & 0xff);
        if (kind == MXP_KIND_OPERATOR && next - at >= 8) {
            operators++;
            add_operator(of, &place, at);
        } else if (kind == MXP_KIND_VARIABLES) {
            variables++;
        } else {
            break;
        }
        words = next;
        of->last = at;
    }
    of->index->counts[MXP_KIND_OPERATOR] += operators;
    of->index->counts[MXP_KIND_VARIABLES] += variables;
    *of->place = place;
    return words;
}

static int look_closer(heads *of, const uint64_t *words, uint32_t kind)
{
    mxp_event event;
    if (!decode_at(of, words, &event)) {
        return MXP_OK;
    }
    if (kind == MXP_KIND_META) {
        return add_mark(of, &event);
    }
    extend_time(of->index, &event);
    return add_span(of->index, &event);
}

static void extend_to(heads *of, const uint64_t *words)
{
    mxp_event event;
    if (words != NULL && decode_at(of, words, &event)) {
        extend_time(of->index, &event);
    }
}

static int read_other(heads *of, const uint64_t *words)
{
    const uint32_t kind = (uint32_t)(*words & 0xff);
    of->index->counts[kind < MXP_KIND_END ? kind : 0]++;
    of->last = words;
    if (kind == MXP_KIND_HIDDEN && (*words >> 8 & 0xff) >= 4) {
        add_operator(of, of->place, words);
    }
    if (kind == MXP_KIND_WAIT && (*words >> 8 & 0xff) >= 2 &&
        (words[2] >> MXP_WAIT_WHAT_SHIFT & 0xf) == MXP_WAIT_TASK) {
        of->place->roles |= MXP__TAKES_TASKS;
    }
    const bool is_close =
        kind == MXP_KIND_META || kind == MXP_KIND_SPAN_LONG || kind == MXP_KIND_SPAN;
    return is_close ? look_closer(of, words, kind) : MXP_OK;
}

static int read_heads(heads *of)
{
    const uint64_t *at = of->range->words, *end = of->range->end, *words;
    int error = MXP_OK;
    do {
        at = read_operators(of, read_spans(of, at));
        words = mxp__next_head(&at, end);
        error = words != NULL ? read_other(of, words) : MXP_OK;
    } while (error == MXP_OK && words != NULL);
    of->index->unread_ranges += at < end;
    extend_to(of, of->last);
    extend_to(of, of->earliest);
    extend_to(of, of->last != NULL ? of->range->words : NULL);
    return error;
}

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
    const double ns_per_tick = mxp__timebase_ns_per_tick(timebase);
    heads of = {.index = index,
                .range = range,
                .place = place,
                .idle = index->idle,
                .name_count = index->source->name_count,
                .earliest_distance = INT64_MAX,
                // half of it, because the rate of one time is not that of all
                .long_ticks =
                    ns_per_tick > 0 ? (uint64_t)((double)index->reach_ns / ns_per_tick / 2) : 0};
    mxp__decoder_begin(&of.decoder, timebase, range);
    return read_heads(&of);
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
        add_time(index, slice->first_ns, slice->last_ns);
    }
    return error;
}

static int join_slices(mxp_range_index *index, const slices *of)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < of->count; i++) {
        error = append_slice(index, &of->all[i]);
    }
    keep_long(index);
    while (index->span_count > SPANS_MAX) {
        index->reach_ns *= 2;
        keep_long(index);
    }
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
