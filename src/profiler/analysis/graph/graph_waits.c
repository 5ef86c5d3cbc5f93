// SPDX-License-Identifier: Apache-2.0
// Waits of threads and the operators that ended them. Libraries of before recorded no waits; there,
// the calls that wait and the operators by which they do tell them.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"

static const char memory_for[] = "the waits of a window";

static int compare_waits(const void *a, const void *b)
{
    const mxp_graph_wait *x = a, *y = b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static bool is_in_order(const mxp_graph_wait *waits, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (waits[i - 1].end_ns > waits[i].end_ns) {
            return false;
        }
    }
    return true;
}

static int make_room(mxp_graph *graph, size_t count)
{
    graph->wait_count = count;
    return mxp__grow(&graph->waits, &graph->wait_capacity, count, sizeof *graph->waits) == MXP_OK
               ? MXP_OK
               : mxp__fail_memory(memory_for);
}

int mxp__graph_add_wait(mxp_graph *graph, const mxp_event *event)
{
    mxp_graph_raw_thread *thread = &graph->raw[event->thread];
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
    return MXP_OK;
}

// ---- waits as recorded -------------------------------------------------------------------------
static mxp_graph_wait resolved(const mxp_graph *graph, const mxp_graph_raw_wait *raw)
{
    mxp_graph_wait wait = raw->wait;
    if (raw->ended_by != 0) {
        wait.op = wait.what == MXP_WAIT_TASK  // the operator that handed over runs on
                      ? mxp__graph_find_around(graph, raw->ended_by, wait.end_ns)
                      : mxp__graph_find(graph, raw->ended_by, wait.end_ns);
    } else if (wait.what == MXP_WAIT_ALL && (wait.flags & MXP_WAIT_BLOCKED) != 0) {
        wait.op = mxp__graph_last_before(graph, wait.end_ns);
    }
    return wait;
}

static int take_recorded(mxp_graph *graph, const mxp_graph_raw_thread *raw)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->thread_count; i++) {
        count += raw[i].wait_count;
    }
    int error = make_room(graph, count);
    mxp_graph_wait *next = graph->waits;
    for (size_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        mxp_graph_thread *thread = &graph->threads[i];
        thread->waits = next;
        thread->wait_count = raw[i].wait_count;
        for (size_t k = 0; k < raw[i].wait_count; k++) {
            *next++ = resolved(graph, &raw[i].waits[k]);
        }
        if (!is_in_order(thread->waits, thread->wait_count)) {
            qsort(thread->waits, thread->wait_count, sizeof *thread->waits, compare_waits);
        }
    }
    return error;
}

// ---- waits of calls ----------------------------------------------------------------------------
enum { NO_WAIT, WAITS_FOR_ALL, WAITS_FOR_VARIABLE };

typedef struct pushed_wait {
    int64_t push_ns;
    uint32_t thread, op;
} pushed_wait;

typedef struct call_waits {
    mxp_graph *graph;
    uint8_t *calls;  // by name id: what it waits for
    pushed_wait *pushed;  // operators WaitForVar, by thread and push
    size_t pushed_count, pushed_capacity;
    mxp_graph_wait *waits;
    size_t wait_count, wait_capacity;
} call_waits;

static int compare_pushed(const void *a, const void *b)
{
    const pushed_wait *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->push_ns > y->push_ns) - (x->push_ns < y->push_ns);
}

static uint8_t what_waits(const char *name)
{
    static const char *const for_all[] = {"MXNDArrayWaitAll", "MXEngineWaitForAll"};
    static const char *const for_variable[] = {"MXNDArrayWaitToRead", "MXNDArrayWaitToWrite",
                                               "MXNDArraySyncCopyToCPU"};
    for (size_t i = 0; i < sizeof for_all / sizeof for_all[0]; i++) {
        if (strcmp(name, for_all[i]) == 0) {
            return WAITS_FOR_ALL;
        }
    }
    for (size_t i = 0; i < sizeof for_variable / sizeof for_variable[0]; i++) {
        if (strcmp(name, for_variable[i]) == 0) {
            return WAITS_FOR_VARIABLE;
        }
    }
    return NO_WAIT;
}

bool mxp__graph_call_waits(const char *name)
{
    return what_waits(name) != NO_WAIT;
}

static int collect_pushed(call_waits *from)
{
    mxp_graph *graph = from->graph;
    for (uint32_t i = 0; graph->has_idle_ops && i < graph->op_count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        if (!op->is_idle || op->push_thread >= graph->thread_count ||
            strcmp(graph->source->name(graph->source, op->name).text, "WaitForVar") != 0) {
            continue;
        }
        if (mxp__grow(&from->pushed, &from->pushed_capacity, from->pushed_count + 1,
                      sizeof *from->pushed) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        from->pushed[from->pushed_count++] =
            (pushed_wait){.push_ns = op->push_ns, .thread = op->push_thread, .op = i};
    }
    if (from->pushed_count > 1) {
        qsort(from->pushed, from->pushed_count, sizeof *from->pushed, compare_pushed);
    }
    return MXP_OK;
}

// The wait's own operator: the first one that the thread pushed within the call.
static uint32_t own_operator(const call_waits *from, uint32_t thread, const mxp_graph_span *call)
{
    size_t low = 0, high = from->pushed_count;
    const pushed_wait wanted = {.push_ns = call->begin_ns, .thread = thread};
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_pushed(&from->pushed[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == from->pushed_count || from->pushed[low].thread != thread ||
        from->pushed[low].push_ns > call->end_ns ||
        from->graph->ops[from->pushed[low].op].end_ns > call->end_ns) {
        return MXP__NO_OP;
    }
    return from->pushed[low].op;
}

static int add_call(call_waits *from, uint32_t thread, const mxp_graph_span *call)
{
    const mxp_graph *graph = from->graph;
    const bool for_all = from->calls[call->name] == WAITS_FOR_ALL;
    mxp_graph_wait wait = {.begin_ns = call->begin_ns,
                           .end_ns = call->end_ns,
                           .name = call->name,
                           .what = for_all ? MXP_WAIT_ALL : MXP_WAIT_WRITTEN};
    wait.op =
        for_all ? mxp__graph_last_before(graph, call->end_ns) : own_operator(from, thread, call);
    if (wait.op == MXP__NO_OP || (for_all && graph->ops[wait.op].end_ns <= call->begin_ns)) {
        return MXP_OK;
    }
    wait.begin_ns = for_all ? call->begin_ns : graph->ops[wait.op].push_ns;
    wait.flags = graph->ops[wait.op].end_ns > wait.begin_ns ? MXP_WAIT_BLOCKED : 0;
    if (mxp__grow(&from->waits, &from->wait_capacity, from->wait_count + 1, sizeof *from->waits) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    from->waits[from->wait_count++] = wait;
    return MXP_OK;
}

static int take_calls_of(call_waits *from, const mxp_graph_raw_thread *raw, uint32_t thread)
{
    const size_t first = from->wait_count;
    for (size_t k = 0; k < raw->span_count; k++) {
        if (from->calls[raw->spans[k].name] != NO_WAIT) {
            int error = add_call(from, thread, &raw->spans[k]);
            if (error != MXP_OK) {
                return error;
            }
        }
    }
    from->graph->threads[thread].wait_count = from->wait_count - first;
    return MXP_OK;
}

static int find_calls(call_waits *from)
{
    const mxp_source *source = from->graph->source;
    from->calls = mxp__alloc(source->name_count);
    if (from->calls == NULL && source->name_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (uint32_t id = 0; id < source->name_count; id++) {
        from->calls[id] = what_waits(source->name(source, id).text);
    }
    return collect_pushed(from);
}

// What was collected becomes the graph's, in one block of its size.
static int hand_over(call_waits *from)
{
    mxp_graph *graph = from->graph;
    int error = make_room(graph, from->wait_count);
    if (error != MXP_OK || from->wait_count == 0) {
        return error;
    }
    memcpy(graph->waits, from->waits, from->wait_count * sizeof *graph->waits);
    mxp_graph_wait *next = graph->waits;
    for (size_t i = 0; i < graph->thread_count; i++) {
        graph->threads[i].waits = next;
        next += graph->threads[i].wait_count;
        qsort(graph->threads[i].waits, graph->threads[i].wait_count, sizeof *next, compare_waits);
    }
    return MXP_OK;
}

static int take_from_calls(mxp_graph *graph, const mxp_graph_raw_thread *raw)
{
    call_waits from = {.graph = graph};
    int error = find_calls(&from);
    for (uint32_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        error = take_calls_of(&from, &raw[i], i);
    }
    if (error == MXP_OK) {
        error = hand_over(&from);
    }
    mxp__free(from.calls, graph->source->name_count);
    mxp__free(from.pushed, from.pushed_capacity * sizeof *from.pushed);
    mxp__free(from.waits, from.wait_capacity * sizeof *from.waits);
    return error;
}

int mxp__graph_take_waits(mxp_graph *graph)
{
    return graph->has_waits ? take_recorded(graph, graph->raw) : take_from_calls(graph, graph->raw);
}
