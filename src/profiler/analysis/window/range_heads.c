// SPDX-License-Identifier: Apache-2.0
// See range_heads.h.
#include "profiler/analysis/window/range_heads.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { SPANS_MAX = 1 << 12 };

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

void mxp__long_spans_bound(mxp_range_index *index)
{
    keep_long(index);
    while (index->span_count > SPANS_MAX) {
        index->reach_ns *= 2;
        keep_long(index);
    }
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

void mxp__range_index_extend(mxp_range_index *index, int64_t first_ns, int64_t last_ns)
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
        mxp__range_index_extend(index, event->begin_ns, event->end_ns);
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

int mxp__range_heads_read(mxp_range_index *index, mxp_range_place *place,
                          const mxp_record_range *range)
{
    const mxp_timebase *timebase = index->source->timebase;
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
