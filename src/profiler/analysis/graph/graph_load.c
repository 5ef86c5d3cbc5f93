// SPDX-License-Identifier: Apache-2.0
// Reads a window of a trace into a graph: see graph.h. Records are read once, thread by thread as
// they stand; what depends on other records is settled afterwards.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_needed.h"
#include "profiler/analysis/graph/graph_parts.h"
#include "profiler/analysis/window/range_reader.h"

typedef struct loader {
    const mxp_range_index *index;
    mxp_graph *graph;
    mxp_graph_raw_thread *threads, *thread;  // the graph's, and the range's
    uint32_t thread_index;
    uint64_t limit_bytes;
    uint64_t span_bytes, wait_bytes;
    mxp_graph_needed *needed;  // spans that are kept; null: all
    const mxp_graph_steps *steps;  // that the window is of, or null
} loader;

static const char memory_for[] = "the graph of a window";

enum { SPAN_BYTES = sizeof(mxp_graph_span) + 2 * sizeof(mxp_graph_host) };

// ---- one record --------------------------------------------------------------------------------
enum { AT_ONCE = 1 << 12 };  // records between two looks for room, which is for any of them

static int make_room(loader *load)
{
    mxp_graph *graph = load->graph;
    mxp_graph_raw_thread *thread = load->thread;
    if (graph->op_count > MXP__NO_OP - 1 - AT_ONCE ||
        mxp__grow(&graph->ops, &graph->op_capacity, graph->op_count + AT_ONCE,
                  sizeof *graph->ops) != MXP_OK ||
        mxp__grow(&graph->op_places, &graph->place_capacity, graph->placed_count + AT_ONCE,
                  sizeof *graph->op_places) != MXP_OK ||
        mxp__grow(&thread->spans, &thread->span_capacity, thread->span_count + AT_ONCE,
                  sizeof *thread->spans) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    return MXP_OK;
}

// Operators are placed on their threads as they come, which is mostly the order of their starts.
static inline void place_op(loader *load, mxp_graph_op *op, uint32_t number)
{
    mxp_graph *graph = load->graph;
    mxp_graph_raw_thread *thread = load->thread;
    if (thread->op_count == 0) {
        thread->first_place = graph->placed_count;
    }
    graph->op_places[graph->placed_count++] = number;
    op->place = (uint32_t)thread->op_count++;
    thread->is_unordered |=
        op->start_ns < thread->last_start_ns ||
        (op->start_ns == thread->last_start_ns && (int32_t)(op->id - thread->last_id) < 0);
    thread->has_inner |= op->start_ns < thread->last_end_ns;
    thread->last_start_ns = op->start_ns;
    thread->last_end_ns = op->end_ns;
    thread->last_id = op->id;
}

// `next`: behind the operator; it moves behind its variables.
static inline void add_op(loader *load, const mxp_decoder *decoder, const uint64_t *words,
                          const mxp_operator_times *times, const uint64_t **next)
{
    mxp_graph *graph = load->graph;
    const uint16_t flags = (uint16_t)(words[2] >> 48);
    if ((flags & MXP_OP_SHARED) != 0) {
        return;
    }
    const uint32_t number = (uint32_t)graph->op_count++;
    mxp_graph_op *op = &graph->ops[number];
    *op = mxp__graph_op_at(load->index, decoder, words, times, load->thread_index, next);
    if ((flags & (MXP_OP_BULK_PARENT | MXP_OP_ASYNC)) == 0) {
        place_op(load, op, number);
    }
    mxp__graph_note_op(graph, op);
}

static inline void put_span(mxp_graph_raw_thread *thread, int64_t begin_ns, int64_t end_ns,
                            uint32_t name)
{
    thread->spans[thread->span_count++] =
        (mxp_graph_span){.begin_ns = begin_ns, .end_ns = end_ns, .name = name};
}

// What is not kept counts for the limit, too: what fits does not depend on what is asked.
static inline void add_span(loader *load, int64_t begin_ns, int64_t end_ns, uint32_t name)
{
    load->span_bytes += SPAN_BYTES;
    if (load->needed == NULL ||
        mxp__graph_needs(load->needed, load->thread_index, begin_ns, end_ns, name)) {
        put_span(load->thread, begin_ns, end_ns, name);
    }
}

static inline bool is_within(const loader *load, int64_t begin_ns, int64_t end_ns)
{
    return end_ns >= load->graph->from_ns && begin_ns <= load->graph->to_ns;
}

// Of a lean span. The long ones are in the index.
static inline void add_lean_span(loader *load, uint32_t name, const mxp_span_times *times)
{
    const mxp_range_index *index = load->index;
    if (!is_within(load, times->begin_ns, times->end_ns)) {
        return;
    }
    load->graph->records++;
    if (times->end_ns - times->begin_ns <= index->reach_ns && name < index->source->name_count &&
        index->nested[name]) {
        add_span(load, times->begin_ns, times->end_ns, name);
    }
}

static int add_event(loader *load, const mxp_event *event)
{
    if (!is_within(load, event->begin_ns, event->end_ns)) {
        return MXP_OK;
    }
    load->graph->records++;
    if (event->kind == MXP_KIND_SPAN) {
        if (event->end_ns - event->begin_ns <= load->index->reach_ns &&
            mxp__range_index_nests(load->index, event)) {
            add_span(load, event->begin_ns, event->end_ns, event->name);
        }
    }
    if (event->kind == MXP_KIND_WAIT) {
        load->wait_bytes += MXP__GRAPH_WAIT_BYTES;
        return mxp__graph_add_wait(load->graph, event);
    }
    return MXP_OK;
}

// ---- all records -------------------------------------------------------------------------------
static int check_limit(loader *load)
{
    mxp_graph *graph = load->graph;
    graph->bytes = (graph->op_count + graph->early_count) * MXP__GRAPH_OP_BYTES + load->span_bytes +
                   load->wait_bytes;
    if (graph->bytes <= load->limit_bytes) {
        return MXP_OK;
    }
    return mxp__fail(MXP_ENOMEM,
                     "this window needs more than the %" PRIu64 " MiB allowed: %" PRIu64
                     " records of %.3f s were read up to there; choose fewer steps (--step), a "
                     "shorter time (--from, --until) or more memory (--memory)",
                     load->limit_bytes >> 20, graph->records,
                     (double)(graph->to_ns - graph->from_ns) / 1e9);
}

// A record that needs the decoder's care. What the decoder skips is no record.
static int read_other(loader *load, mxp_range_reader *reader, const uint64_t *words)
{
    mxp_event event;
    return mxp__range_reader_decode(reader, words, &event) && event.words == words
               ? add_event(load, &event)
               : MXP_OK;
}

static inline int read_record(loader *load, mxp_range_reader *reader, const uint64_t *words,
                              const uint64_t **next)
{
    mxp_span_times span;
    mxp_operator_times times;
    if (mxp__is_lean_span_head(words) && mxp__span_times_at(&reader->clock, words, &span)) {
        add_lean_span(load, (uint32_t)words[1], &span);
    } else if (mxp__is_operator_head(words)) {
        if (mxp__range_reader_operator(reader, words, &times) &&
            is_within(load, times.start_ns, times.end_ns)) {
            load->graph->records++;
            add_op(load, &reader->decoder, words, &times, next);
        }
    } else if ((*words & 0xff) != MXP_KIND_VARIABLES) {
        return read_other(load, reader, words);
    }
    return MXP_OK;
}

static int read_records(loader *load, const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words = at;
    mxp_range_reader reader;
    int error = MXP_OK;
    mxp__range_reader_begin(&reader, load->graph->source, range);
    while (error == MXP_OK && words != NULL && !reader.is_damaged) {
        const size_t left = (size_t)(range->end - at);
        const uint64_t *const pause = at + (left < 2 * AT_ONCE ? left : 2 * AT_ONCE);
        error = make_room(load);
        while (error == MXP_OK && !reader.is_damaged &&
               (words = at < pause ? mxp__next_head(&at, range->end) : NULL) != NULL) {
            error = read_record(load, &reader, words, &at);
        }
        words = at < range->end && at >= pause ? at : NULL;
    }
    return error;
}

static int read_range(loader *load, const mxp_record_range *range)
{
    load->thread_index = range->thread;
    load->thread = &load->threads[range->thread];
    const int error = read_records(load, range);
    return error == MXP_OK ? check_limit(load) : error;
}

static int read_place(loader *load, size_t place)
{
    mxp_record_range range;
    const int found = mxp__graph_range(load->graph, load->index, place, &range);
    return found == 1 ? read_range(load, &range) : found;
}

static int read_all(loader *load)
{
    const mxp_range_index *index = load->index;
    const int64_t until_ns = load->graph->to_ns + index->reach_ns;
    int error = MXP_OK;
    for (size_t begin = 0, end; begin < index->count && error == MXP_OK; begin = end) {
        end = mxp__range_index_next_thread(index, begin);
        for (size_t i = mxp__range_index_first(index, begin, load->graph->from_ns);
             i < end && index->places[i].base_ns <= until_ns && error == MXP_OK; i++) {
            error = read_place(load, i);
        }
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int make_threads(mxp_graph *graph)
{
    const size_t count = graph->source->thread_count;
    graph->threads = mxp__alloc(count * sizeof *graph->threads);
    graph->raw = mxp__alloc(count * sizeof *graph->raw);
    if (count > 0 && (graph->threads == NULL || graph->raw == NULL)) {
        mxp__free(graph->threads, count * sizeof *graph->threads);
        mxp__free(graph->raw, count * sizeof *graph->raw);
        graph->threads = NULL;
        graph->raw = NULL;
        return mxp__fail_memory(memory_for);
    }
    graph->thread_count = count;
    return MXP_OK;
}

// Empties a graph; its memory stays.
static int begin(mxp_graph *graph, const mxp_range_index *index, int64_t from_ns, int64_t to_ns)
{
    mxp_source *source = index->source;
    graph->source = source;
    int error = graph->threads == NULL ? make_threads(graph) : MXP_OK;
    assert(error != MXP_OK || graph->thread_count == source->thread_count);
    graph->from_ns = from_ns;
    graph->to_ns = to_ns;
    graph->op_count = graph->placed_count = graph->async_count = graph->wait_count = 0;
    graph->early_count = 0;
    graph->records = graph->bytes = graph->cut_ops = 0;
    graph->steps = (mxp_graph_steps){0};
    graph->least_id = UINT32_MAX;
    graph->most_id = 0;
    graph->has_bulks = graph->has_idle_ops = false;
    graph->has_waits = index->counts[MXP_KIND_WAIT] > 0;
    for (size_t i = 0; i < graph->thread_count; i++) {
        const mxp_graph_raw_thread *old = &graph->raw[i];
        graph->threads[i] = (mxp_graph_thread){0};
        graph->raw[i] = (mxp_graph_raw_thread){.spans = old->spans,
                                               .span_capacity = old->span_capacity,
                                               .waits = old->waits,
                                               .wait_capacity = old->wait_capacity,
                                               .last_start_ns = INT64_MIN,
                                               .last_end_ns = INT64_MIN};
    }
    return error;
}

// What the steps need of the time before the window.
static int add_steps(loader *load)
{
    mxp_graph *graph = load->graph;
    const size_t first_ender = graph->op_count;
    graph->steps = *load->steps;
    int error = mxp__graph_add_enders(graph, load->index);
    if (error == MXP_OK) {
        error = mxp__graph_add_early(graph, load->index, first_ender);
    }
    load->wait_bytes = 0;  // with the early ones
    for (size_t i = 0; i < graph->thread_count; i++) {
        load->wait_bytes += graph->raw[i].wait_count * MXP__GRAPH_WAIT_BYTES;
    }
    return error;
}

// What depends on other records.
static int settle(loader *load)
{
    mxp_graph *graph = load->graph;
    int error = check_limit(load);
    if (error == MXP_OK) {
        error = mxp__graph_order(graph, load->index);
    }
    if (error == MXP_OK) {
        error = mxp__graph_take_waits(graph);
    }
    return error == MXP_OK ? mxp__graph_take_hosts(graph) : error;
}

static int load_window(loader *load, int64_t from_ns, int64_t to_ns)
{
    mxp_graph *graph = load->graph;
    int error = begin(graph, load->index, from_ns, to_ns);
    graph->loads++;
    load->threads = graph->raw;
    if (error == MXP_OK) {
        error = read_all(load);
    }
    if (error == MXP_OK) {
        error = mxp__graph_add_long_spans(graph, load->index);
    }
    if (error == MXP_OK && load->steps != NULL) {
        error = add_steps(load);
    }
    if (error == MXP_OK) {
        error = settle(load);
    }
    if (error != MXP_OK) {
        (void)begin(graph, load->index, from_ns, to_ns);
    }
    return error;
}

int mxp__graph_load_next(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                         uint64_t limit_bytes, mxp_graph *graph)
{
    loader load = {.index = index, .graph = graph, .limit_bytes = limit_bytes};
    return load_window(&load, from_ns, to_ns);
}

int mxp__graph_load_steps(const mxp_range_index *index, const mxp_graph_steps *steps,
                          int64_t from_ns, int64_t to_ns, uint64_t limit_bytes, mxp_graph *graph)
{
    loader load = {.index = index, .graph = graph, .limit_bytes = limit_bytes, .steps = steps};
    return load_window(&load, from_ns, to_ns);
}

int mxp__graph_load_waits(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                          bool has_waits, uint64_t limit_bytes, mxp_graph *graph)
{
    mxp_graph_needed needed;
    loader load = {.index = index, .graph = graph, .limit_bytes = limit_bytes, .needed = &needed};
    *graph = (mxp_graph){0};
    int error = mxp__graph_needed_make(index, from_ns, to_ns, has_waits, &needed);
    if (error == MXP_OK) {
        error = load_window(&load, from_ns, to_ns);
    }
    if (error != MXP_OK) {
        mxp__graph_fini(graph);
    }
    mxp__graph_needed_fini(&needed);
    return error;
}

int mxp__graph_load_part(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                         uint64_t limit_bytes, mxp_graph *graph)
{
    *graph = (mxp_graph){0};
    int error = mxp__graph_load_next(index, from_ns, to_ns, limit_bytes, graph);
    if (error != MXP_OK) {
        mxp__graph_fini(graph);
    }
    return error;
}

int mxp__graph_load(mxp_source *process, int64_t from_ns, int64_t to_ns, uint64_t limit_bytes,
                    mxp_graph *graph)
{
    assert(process->process_count == 0 && "a graph is of one process");
    mxp_range_index index;
    *graph = (mxp_graph){0};
    int error = mxp__range_index_make(process, &index);
    if (error == MXP_OK) {
        error = mxp__graph_load_part(&index, from_ns, to_ns, limit_bytes, graph);
        mxp__range_index_fini(&index);
    }
    return error;
}

void mxp__graph_fini(mxp_graph *graph)
{
    mxp__graph_index_fini(graph);
    for (size_t i = 0; graph->raw != NULL && i < graph->thread_count; i++) {
        mxp_graph_raw_thread *thread = &graph->raw[i];
        mxp__free(thread->spans, thread->span_capacity * sizeof *thread->spans);
        mxp__free(thread->waits, thread->wait_capacity * sizeof *thread->waits);
    }
    mxp__free(graph->raw, graph->thread_count * sizeof *graph->raw);
    mxp__free(graph->ops, graph->op_capacity * sizeof *graph->ops);
    mxp__free(graph->op_places, graph->place_capacity * sizeof *graph->op_places);
    mxp__free(graph->async_ops, graph->async_capacity * sizeof *graph->async_ops);
    mxp__free(graph->waits, graph->wait_capacity * sizeof *graph->waits);
    mxp__free(graph->threads, graph->thread_count * sizeof *graph->threads);
    *graph = (mxp_graph){0};
}
