// SPDX-License-Identifier: Apache-2.0
// Questions to a graph: see graph.h.
#include "profiler/analysis/graph/graph.h"

#include <assert.h>
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"

int mxp__graph_range(const mxp_graph *graph, const mxp_range_index *index, size_t place,
                     mxp_record_range *range)
{
    mxp_source *source = index->source;
    const int found = source->range(source, index->places[place].number, range);
    const bool is_foreign = found == 1 && range->thread >= graph->thread_count;
    return found == MXP_EFORMAT || is_foreign ? 0 : found;
}

int mxp__graph_room_for_op(mxp_graph *graph, size_t count)
{
    return count < MXP__NO_OP - 1 && mxp__grow(&graph->ops, &graph->op_capacity, count + 1,
                                               sizeof *graph->ops) == MXP_OK
               ? MXP_OK
               : mxp__fail_memory("the graph of a window");
}

// ---- operators ---------------------------------------------------------------------------------
uint32_t mxp__graph_bulk_of(const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    const uint32_t parent = mxp__graph_find_around(graph, at->bulk_parent, at->end_ns);
    const bool is_parent =
        parent != MXP__NO_OP && (graph->ops[parent].flags & MXP_OP_BULK_PARENT) != 0;
    return is_parent ? parent : op;
}

uint32_t mxp__graph_releaser(const mxp_graph *graph, uint32_t head)
{
    const mxp_graph_op *at = &graph->ops[head];
    if (at->released_by == 0) {
        return MXP__NO_OP;
    }
    const uint32_t found = mxp__graph_find(graph, at->released_by, at->ready_ns);
    return found == head ? MXP__NO_OP : found;
}

size_t mxp__graph_ending_from(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_thread *at = &graph->threads[thread];
    size_t low = 0, high = at->op_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->ops[at->ops[middle]].end_ns < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t mxp__graph_completer(const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    assert((at->flags & MXP_OP_ASYNC) != 0);
    const mxp_graph_thread *thread = &graph->threads[at->thread];
    const size_t i = mxp__graph_ending_from(graph, at->thread, at->end_ns);
    if (i == thread->op_count || graph->ops[thread->ops[i]].start_ns > at->end_ns) {
        return MXP__NO_OP;
    }
    return thread->ops[i];
}

static uint32_t later_of(const mxp_graph *graph, uint32_t a, uint32_t b)
{
    if (a == MXP__NO_OP || b == MXP__NO_OP) {
        return a == MXP__NO_OP ? b : a;
    }
    const mxp_graph_op *x = &graph->ops[a], *y = &graph->ops[b];
    if (x->end_ns != y->end_ns) {
        return x->end_ns > y->end_ns ? a : b;
    }
    return (int32_t)(x->id - y->id) > 0 ? a : b;
}

static uint32_t last_async_before(const mxp_graph *graph, int64_t ns)
{
    size_t low = 0, high = graph->async_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->ops[graph->async_ops[middle]].end_ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? MXP__NO_OP : graph->async_ops[low - 1];
}

uint32_t mxp__graph_last_before(const mxp_graph *graph, int64_t ns)
{
    uint32_t last = last_async_before(graph, ns);
    for (uint32_t i = 0; i < graph->thread_count; i++) {
        const size_t end = mxp__graph_ending_from(graph, i, ns + 1);
        if (end > 0) {
            last = later_of(graph, last, graph->threads[i].ops[end - 1]);
        }
    }
    return last;
}

// ---- uses --------------------------------------------------------------------------------------
uint32_t mxp__graph_use_count(const mxp_graph *graph, uint32_t op)
{
    return graph->ops[op].use_count;
}

uint32_t mxp__graph_use(const mxp_graph *graph, uint32_t op, uint32_t i)
{
    assert(i < graph->ops[op].use_count);
    return mxp__record_variable(graph->ops[op].words, i);
}

// ---- threads of the program --------------------------------------------------------------------
size_t mxp__graph_wait_before(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_thread *at = &graph->threads[thread];
    size_t low = 0, high = at->wait_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at->waits[middle].end_ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? SIZE_MAX : low - 1;
}

// Place of the first piece that begins after `ns`.
static size_t host_after(const mxp_graph_thread *thread, int64_t ns)
{
    size_t low = 0, high = thread->host_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (thread->hosts[middle].begin_ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const mxp_graph_host *mxp__graph_host_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const size_t next = host_after(&graph->threads[thread], ns);
    return next == 0 ? NULL : &graph->threads[thread].hosts[next - 1];
}

void mxp__graph_hosts_within(const mxp_graph *graph, uint32_t thread, int64_t from_ns,
                             int64_t to_ns, size_t *first, size_t *end)
{
    const mxp_graph_thread *at = &graph->threads[thread];
    assert(from_ns < to_ns);
    *first = host_after(at, from_ns);
    *end = host_after(at, to_ns - 1);
}

bool mxp__graph_is_made_for(const mxp_graph *graph, uint32_t thread, const mxp_graph_wait *wait,
                            int64_t from_ns)
{
    const mxp_source *source = graph->source;
    return wait->what == MXP_WAIT_TASK && wait == graph->threads[thread].waits &&
           thread < source->thread_count && source->threads[thread].start_ticks != 0 &&
           mxp__timebase_ns(source->timebase, source->threads[thread].start_ticks) > from_ns;
}
