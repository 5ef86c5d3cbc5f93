// SPDX-License-Identifier: Apache-2.0
// Reads a window of a trace into a graph: see graph.h. Records are read once, thread by thread as
// they stand; what depends on other records is settled afterwards.
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph_parts.h"

typedef struct loader {
    const mxp_range_index *index;
    mxp_graph *graph;
    mxp_graph_raw_thread *threads;
    uint64_t limit_bytes;
    uint64_t span_bytes, wait_bytes;
} loader;

static const char memory_for[] = "the graph of a window";

// ---- one record --------------------------------------------------------------------------------
static int64_t ns_of(const mxp_decoder *decoder, uint64_t ticks)
{
    const int64_t ns = mxp__decoder_ns((mxp_decoder *)decoder, ticks);
    return ns < -MXP__NS_MAX ? -MXP__NS_MAX : ns > MXP__NS_MAX ? MXP__NS_MAX : ns;
}

static int add_op(loader *load, const mxp_decoder *decoder, const mxp_event *event)
{
    mxp_graph *graph = load->graph;
    if ((event->flags & MXP_OP_SHARED) != 0) {
        return MXP_OK;
    }
    if (graph->op_count == MXP__NO_OP - 1 ||
        mxp__grow(&graph->ops, &graph->op_capacity, graph->op_count + 1, sizeof *graph->ops) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    mxp_graph_raw_thread *thread = &load->threads[event->thread];
    graph->ops[graph->op_count++] = (mxp_graph_op){
        .push_ns = ns_of(decoder, view.push_ticks),
        .ready_ns = ns_of(decoder, view.ready_ticks),
        .start_ns = event->begin_ns,
        .end_ns = event->end_ns,
        .words = event->words,
        .id = view.id,
        .name = event->name,
        .scope = view.scope,
        .released_by = view.released_by,
        .bulk_parent = view.bulk_parent,
        .thread = event->thread,
        .push_thread = (uint16_t)view.push_thread,
        .flags = event->flags,
        .use_count = (uint16_t)view.variable_count,
        .inner_of = MXP__NO_OP,
        .last_member = MXP__NO_OP,
        .place = MXP__NO_OP,
        .is_hidden = event->kind == MXP_KIND_HIDDEN,
        .is_idle = event->name < graph->source->name_count && load->index->idle[event->name]};
    const bool is_placed = (event->flags & (MXP_OP_BULK_PARENT | MXP_OP_ASYNC)) == 0;
    thread->op_count += is_placed;
    thread->runs_others |= is_placed && view.push_thread != event->thread;
    graph->cut_ops += (event->flags & MXP_OP_VARIABLES_CUT) != 0;
    return MXP_OK;
}

static int add_wait(loader *load, const mxp_event *event)
{
    mxp_graph_raw_thread *thread = &load->threads[event->thread];
    if (mxp__grow(&thread->waits, &thread->wait_capacity, thread->wait_count + 1,
                  sizeof *thread->waits) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_wait_view view;
    mxp__event_wait(event, &view);
    thread->waits[thread->wait_count++] =
        (mxp_graph_raw_wait){.wait = {.begin_ns = event->begin_ns,
                                      .end_ns = event->end_ns,
                                      .op = MXP__NO_OP,
                                      .name = event->name,
                                      .variable = view.variable,
                                      .what = (uint8_t)view.what,
                                      .flags = (uint8_t)event->flags},
                             .ended_by = view.ended_by};
    thread->waits_for_tasks |= view.what == MXP_WAIT_TASK;
    load->graph->has_waits = true;
    load->wait_bytes += sizeof(mxp_graph_raw_wait) + sizeof(mxp_graph_wait);
    return MXP_OK;
}

static int keep_span(loader *load, uint32_t thread_index, const mxp_graph_span *span)
{
    mxp_graph_raw_thread *thread = &load->threads[thread_index];
    if (mxp__grow(&thread->spans, &thread->span_capacity, thread->span_count + 1,
                  sizeof *thread->spans) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    thread->spans[thread->span_count++] = *span;
    load->span_bytes += sizeof(mxp_graph_span) + 2 * sizeof(mxp_graph_host);
    return MXP_OK;
}

// The long ones are in the index.
static int add_span(loader *load, const mxp_event *event)
{
    if (event->end_ns - event->begin_ns > load->index->reach_ns ||
        !mxp__range_index_nests(load->index, event)) {
        return MXP_OK;
    }
    return keep_span(load, event->thread,
                     &(mxp_graph_span){.begin_ns = event->begin_ns,
                                       .end_ns = event->end_ns,
                                       .name = event->name});
}

static int add_event(loader *load, const mxp_decoder *decoder, const mxp_event *event)
{
    if (event->end_ns < load->graph->from_ns || event->begin_ns > load->graph->to_ns) {
        return MXP_OK;
    }
    load->graph->records++;
    switch (event->kind) {
    case MXP_KIND_OPERATOR:
    case MXP_KIND_HIDDEN:
        return add_op(load, decoder, event);
    case MXP_KIND_WAIT:
        return add_wait(load, event);
    case MXP_KIND_SPAN:
        return add_span(load, event);
    default:
        return MXP_OK;
    }
}

// ---- all records -------------------------------------------------------------------------------
enum { OP_BYTES = sizeof(mxp_graph_op) + 3 * sizeof(uint32_t) };  // with its places

static int check_limit(loader *load)
{
    mxp_graph *graph = load->graph;
    graph->bytes = graph->op_count * OP_BYTES + load->span_bytes + load->wait_bytes;
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

static int read_range(loader *load, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, load->graph->source->timebase, range);
    while (mxp__decoder_next(&decoder, &event) == 1) {
        int error = add_event(load, &decoder, &event);
        if (error != MXP_OK) {
            return error;
        }
    }
    return check_limit(load);
}

static int read_all(loader *load)
{
    const mxp_range_index *index = load->index;
    mxp_source *source = index->source;
    const int64_t until_ns = load->graph->to_ns + index->reach_ns;
    mxp_record_range range;
    for (size_t i = 0; i < index->count; i++) {
        if (!mxp__range_index_covers(index, i, load->graph->from_ns, until_ns)) {
            continue;
        }
        const int found = source->range(source, index->places[i].number, &range);
        if (found == MXP_EFORMAT || (found == 1 && range.thread >= load->graph->thread_count)) {
            continue;
        }
        int error = found < 0 ? found : read_range(load, &range);
        if (error != MXP_OK) {
            return error;
        }
    }
    return MXP_OK;
}

// ---- spans that are longer than a window reaches -----------------------------------------------
// Of two that end together the longer one is around the other, so it comes later.
static int compare_ends(const void *a, const void *b)
{
    const mxp_graph_span *x = a, *y = b;
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    return (x->begin_ns < y->begin_ns) - (x->begin_ns > y->begin_ns);
}

static int add_long_span(loader *load, const mxp_long_span *span)
{
    const mxp_graph *graph = load->graph;
    if (span->end_ns < graph->from_ns || span->begin_ns > graph->to_ns ||
        span->thread >= graph->thread_count) {
        return MXP_OK;
    }
    load->threads[span->thread].has_long_spans = true;
    return keep_span(
        load, span->thread,
        &(mxp_graph_span){.begin_ns = span->begin_ns, .end_ns = span->end_ns, .name = span->name});
}

static int add_long_spans(loader *load)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < load->index->span_count; i++) {
        error = add_long_span(load, &load->index->spans[i]);
    }
    for (size_t i = 0; error == MXP_OK && i < load->graph->thread_count; i++) {
        mxp_graph_raw_thread *thread = &load->threads[i];
        if (thread->has_long_spans) {
            qsort(thread->spans, thread->span_count, sizeof *thread->spans, compare_ends);
        }
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int prepare(loader *load)
{
    mxp_graph *graph = load->graph;
    graph->thread_count = graph->source->thread_count;
    graph->threads = mxp__alloc(graph->thread_count * sizeof *graph->threads);
    load->threads = mxp__alloc(graph->thread_count * sizeof *load->threads);
    if (graph->thread_count > 0 && (graph->threads == NULL || load->threads == NULL)) {
        return mxp__fail_memory(memory_for);
    }
    return MXP_OK;
}

static void loader_fini(loader *load)
{
    const mxp_graph *graph = load->graph;
    for (size_t i = 0; load->threads != NULL && i < graph->thread_count; i++) {
        mxp_graph_raw_thread *thread = &load->threads[i];
        mxp__free(thread->spans, thread->span_capacity * sizeof *thread->spans);
        mxp__free(thread->waits, thread->wait_capacity * sizeof *thread->waits);
    }
    mxp__free(load->threads, graph->thread_count * sizeof *load->threads);
}

static int load_parts(loader *load)
{
    int (*const parts[])(mxp_graph * graph, const mxp_graph_raw_thread *raw) = {
        mxp__graph_order, mxp__graph_take_waits, mxp__graph_take_hosts};
    int error = prepare(load);
    if (error == MXP_OK) {
        error = read_all(load);
    }
    if (error == MXP_OK) {
        error = add_long_spans(load);
    }
    for (size_t i = 0; error == MXP_OK && i < sizeof parts / sizeof parts[0]; i++) {
        error = parts[i](load->graph, load->threads);
    }
    return error;
}

int mxp__graph_load_part(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                         uint64_t limit_bytes, mxp_graph *graph)
{
    *graph = (mxp_graph){.source = index->source, .from_ns = from_ns, .to_ns = to_ns};
    loader load = {.index = index, .graph = graph, .limit_bytes = limit_bytes};
    int error = load_parts(&load);
    loader_fini(&load);
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
    mxp__free(graph->ops, graph->op_capacity * sizeof *graph->ops);
    mxp__free(graph->op_places, graph->place_count * sizeof *graph->op_places);
    mxp__free(graph->async_ops, graph->async_count * sizeof *graph->async_ops);
    mxp__free(graph->waits, graph->wait_count * sizeof *graph->waits);
    mxp__free(graph->hosts, graph->host_count * sizeof *graph->hosts);
    mxp__free(graph->threads, graph->thread_count * sizeof *graph->threads);
    *graph = (mxp_graph){0};
}
