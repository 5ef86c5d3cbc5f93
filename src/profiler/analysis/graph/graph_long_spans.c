// SPDX-License-Identifier: Apache-2.0
// Spans that are longer than a window reaches: they end far behind it, and are in the index. They
// go among the others of their thread.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"

static const char memory_for[] = "the graph of a window";

// Of two that end together the longer one is around the other, so it comes later.
static bool ends_later(const mxp_graph_span *a, const mxp_graph_span *b)
{
    return a->end_ns != b->end_ns ? a->end_ns > b->end_ns : a->begin_ns < b->begin_ns;
}

// The long spans, which come last, go to where they ended; both kinds are in order.
static int merge_long_spans(mxp_graph_raw_thread *thread, size_t long_count)
{
    const size_t bytes = long_count * sizeof(mxp_graph_span);
    mxp_graph_span *longs = mxp__alloc(bytes);
    if (longs == NULL) {
        return mxp__fail_memory(memory_for);
    }
    mxp_graph_span *spans = thread->spans;
    size_t at = thread->span_count, shorts = at - long_count, left = long_count;
    memcpy(longs, spans + shorts, bytes);
    while (left > 0) {
        const bool takes_long = shorts == 0 || ends_later(&longs[left - 1], &spans[shorts - 1]);
        spans[--at] = takes_long ? longs[--left] : spans[--shorts];
    }
    mxp__free(longs, bytes);
    return MXP_OK;
}

static int add_long_span(mxp_graph *graph, const mxp_long_span *span)
{
    if (span->end_ns < graph->from_ns || span->begin_ns > graph->to_ns ||
        span->thread >= graph->thread_count) {
        return MXP_OK;
    }
    mxp_graph_raw_thread *thread = &graph->raw[span->thread];
    if (mxp__grow(&thread->spans, &thread->span_capacity, thread->span_count + 1,
                  sizeof *thread->spans) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    thread->spans[thread->span_count++] =
        (mxp_graph_span){.begin_ns = span->begin_ns, .end_ns = span->end_ns, .name = span->name};
    thread->long_count++;
    return MXP_OK;
}

int mxp__graph_add_long_spans(mxp_graph *graph, const mxp_range_index *index)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < index->span_count; i++) {
        error = add_long_span(graph, &index->spans[i]);
    }
    for (size_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        mxp_graph_raw_thread *thread = &graph->raw[i];
        if (thread->long_count > 0) {
            error = merge_long_spans(thread, thread->long_count);
        }
    }
    return error;
}
