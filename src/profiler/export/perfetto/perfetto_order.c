// SPDX-License-Identifier: Apache-2.0
// Turns spans into begin and end events. A viewer sorts events by time and keeps the file's order
// among events of one timestamp, where the order decides the nesting: of two spans that begin
// together the outer one must begin first. The trace has spans in the order of their ends, so the
// outer one comes last.
//
// Spans are therefore taken from the last to the first. Then the outer span comes first. Its end is
// written at once. Its begin is written when a span comes that ended before it. The result is a
// proper file in reverse. Only events of one timestamp must be turned round again: they are
// collected and written in opposite order. Memory: a thread's open spans, and the events of one
// timestamp.
//
// A span that does not nest in those of its thread goes to a lane, as do spans that may overlap.
// Lanes are tracks of one name on each of which nothing overlaps. Viewers draw them as one track.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/perfetto/perfetto.h"

// Only the newest lanes are searched for a free one. With thousands of overlapping tasks, searching
// all of them would take quadratic time.
enum { LANES_SEARCHED = 256 };

typedef struct edge {
    mxp_event event;
    bool is_end;
} edge;

typedef struct thread_order {
    mxp_event *open;  // spans whose end is written and whose begin is not, the outermost first
    size_t open_count, open_capacity;
    edge *edges;  // begins and ends at the earliest timestamp so far, the last one first
    size_t edge_count, edge_capacity;
    int64_t edges_ns;
    size_t next_cross_thread;  // of the order's list
} thread_order;

typedef struct lane {
    uint64_t key;
    int64_t begin_ns;  // of the earliest span on it
    uint32_t track;
} lane;

struct mxp_span_order {
    mxp_packets *packets;
    thread_order *threads;
    size_t thread_count;
    mxp_event
        *cross_thread;  // on tracks of other threads than wrote them: by track, the last end first
    size_t cross_thread_count, cross_thread_capacity;
    bool sorted;
    lane *lanes;
    size_t lane_count, lane_capacity;
};

static const char memory_for[] = "the order of spans";

int mxp__span_order_create(mxp_packets *packets, mxp_span_order **made)
{
    size_t count = packets->source->thread_count;
    mxp_span_order *order = mxp__alloc(sizeof *order);
    thread_order *threads = mxp__alloc(count * sizeof *threads);
    if (order == NULL || (threads == NULL && count != 0)) {
        mxp__free(order, sizeof *order);
        return mxp__fail_memory(memory_for);
    }
    *order = (mxp_span_order){.packets = packets, .threads = threads, .thread_count = count};
    for (size_t i = 0; i < count; i++) {
        threads[i].edges_ns = INT64_MAX;
    }
    *made = order;
    return MXP_OK;
}

void mxp__span_order_destroy(mxp_span_order *order)
{
    if (order == NULL) {
        return;
    }
    for (size_t i = 0; i < order->thread_count; i++) {
        thread_order *thread = &order->threads[i];
        mxp__free(thread->open, thread->open_capacity * sizeof *thread->open);
        mxp__free(thread->edges, thread->edge_capacity * sizeof *thread->edges);
    }
    mxp__free(order->threads, order->thread_count * sizeof *order->threads);
    mxp__free(order->cross_thread, order->cross_thread_capacity * sizeof *order->cross_thread);
    mxp__free(order->lanes, order->lane_capacity * sizeof *order->lanes);
    mxp__free(order, sizeof *order);
}

// ---- lanes ------------------------------------------------------------------------------------
// Spans that touch count as overlapping: a viewer may see the second begin before the first end.
static lane *free_lane(const mxp_span_order *order, uint64_t key, int64_t end_ns)
{
    size_t least = order->lane_count > LANES_SEARCHED ? order->lane_count - LANES_SEARCHED : 0;
    for (size_t i = order->lane_count; i-- > least;) {
        if (order->lanes[i].key == key && end_ns < order->lanes[i].begin_ns) {
            return &order->lanes[i];
        }
    }
    return NULL;
}

static int add_to_lane(mxp_span_order *order, const mxp_event *event, uint32_t parent,
                       uint32_t name)
{
    uint64_t key = (uint64_t)parent << 32 | name;
    lane *found = free_lane(order, key, event->end_ns);
    if (found == NULL) {
        if (mxp__grow(&order->lanes, &order->lane_capacity, order->lane_count + 1,
                      sizeof *order->lanes) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        found = &order->lanes[order->lane_count++];
        *found = (lane){.key = key, .track = mxp__lane_track(order->packets, parent, name)};
    }
    found->begin_ns = event->begin_ns;
    mxp__packets_span(order->packets, event, found->track);
    mxp__packet_end(order->packets,
                    mxp__packet_event(order->packets, MXP__EVENT_END, found->track, event->end_ns));
    return MXP_OK;
}

// ---- nesting ----------------------------------------------------------------------------------
static void write_edges(mxp_span_order *order, uint32_t thread)
{
    thread_order *of = &order->threads[thread];
    uint32_t track = mxp__thread_track(order->packets, thread);
    while (of->edge_count > 0) {
        const edge *next = &of->edges[--of->edge_count];
        if (next->is_end) {
            mxp__packet_end(order->packets, mxp__packet_event(order->packets, MXP__EVENT_END, track,
                                                              next->event.end_ns));
        } else {
            mxp__packets_span(order->packets, &next->event, track);
        }
    }
}

static int add_event(mxp_span_order *order, uint32_t thread, const mxp_event *event, bool is_end)
{
    thread_order *of = &order->threads[thread];
    int64_t ns = is_end ? event->end_ns : event->begin_ns;
    if (ns != of->edges_ns) {
        write_edges(order, thread);
        of->edges_ns = ns;
    }
    if (mxp__grow(&of->edges, &of->edge_capacity, of->edge_count + 1, sizeof *of->edges) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    of->edges[of->edge_count++] = (edge){*event, is_end};
    return MXP_OK;
}

static int open_span(mxp_span_order *order, uint32_t thread, const mxp_event *event)
{
    thread_order *of = &order->threads[thread];
    int error = add_event(order, thread, event, true);
    if (error != MXP_OK) {
        return error;
    }
    if (event->begin_ns == event->end_ns) {
        return add_event(order, thread, event, false);
    }
    if (mxp__grow(&of->open, &of->open_capacity, of->open_count + 1, sizeof *of->open) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    of->open[of->open_count++] = *event;
    return MXP_OK;
}

// Writes the begins of open spans that begin at `ns` or later.
static int begin_from(mxp_span_order *order, uint32_t thread, int64_t ns)
{
    thread_order *of = &order->threads[thread];
    int error = MXP_OK;
    while (error == MXP_OK && of->open_count > 0 && of->open[of->open_count - 1].begin_ns >= ns) {
        error = add_event(order, thread, &of->open[--of->open_count], false);
    }
    return error;
}

static int add_nested(mxp_span_order *order, uint32_t thread, const mxp_event *event)
{
    thread_order *of = &order->threads[thread];
    int error = begin_from(order, thread, event->end_ns);
    if (error != MXP_OK) {
        return error;
    }
    bool nests = event->end_ns <= of->edges_ns &&
                 (of->open_count == 0 || of->open[of->open_count - 1].begin_ns <= event->begin_ns);
    return nests ? open_span(order, thread, event)
                 : add_to_lane(order, event, mxp__thread_track(order->packets, thread), 0);
}

// ---- spans on the tracks of other threads ------------------------------------------------------
int mxp__span_order_take(mxp_span_order *order, const mxp_event *event)
{
    if (mxp__grow(&order->cross_thread, &order->cross_thread_capacity,
                  order->cross_thread_count + 1, sizeof *order->cross_thread) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_event *taken = &order->cross_thread[order->cross_thread_count++];
    *taken = *event;
    taken->begin_ns = event->begin_ns < 0 ? 0 : event->begin_ns;
    taken->end_ns = event->end_ns < 0 ? 0 : event->end_ns;
    return MXP_OK;
}

static int compare(const void *a, const void *b)
{
    const mxp_event *first = a, *second = b;
    if (first->lane != second->lane) {
        return first->lane < second->lane ? -1 : 1;
    }
    if (first->end_ns != second->end_ns) {
        return first->end_ns > second->end_ns ? -1 : 1;
    }
    return first->begin_ns < second->begin_ns ? -1 : first->begin_ns > second->begin_ns;
}

static void sort_cross_thread(mxp_span_order *order)
{
    if (order->sorted) {
        return;
    }
    order->sorted = true;
    if (order->cross_thread_count > 1) {
        qsort(order->cross_thread, order->cross_thread_count, sizeof *order->cross_thread, compare);
    }
    for (size_t i = order->cross_thread_count; i-- > 0;) {
        order->threads[order->cross_thread[i].lane & ~MXP_LANE_THREAD].next_cross_thread = i;
    }
}

// Adds the spans of other threads on this thread's track that end at `ns` or later.
static int add_cross_thread(mxp_span_order *order, uint32_t thread, int64_t ns)
{
    thread_order *of = &order->threads[thread];
    int error = MXP_OK;
    while (error == MXP_OK && of->next_cross_thread < order->cross_thread_count) {
        const mxp_event *next = &order->cross_thread[of->next_cross_thread];
        if (next->lane != (MXP_LANE_THREAD | thread) || next->end_ns < ns) {
            break;
        }
        error = add_nested(order, thread, next);
        of->next_cross_thread++;
    }
    return error;
}

// ---- all --------------------------------------------------------------------------------------
static uint32_t category_of(const mxp_packets *packets, uint32_t name)
{
    return packets->source->name(packets->source, name).category;
}

int mxp__span_order_add(mxp_span_order *order, const mxp_event *span, bool late)
{
    mxp_event event = *span;
    event.begin_ns = span->begin_ns < 0 ? 0 : span->begin_ns;
    event.end_ns = span->end_ns < 0 ? 0 : span->end_ns;
    sort_cross_thread(order);
    bool is_async = event.kind == MXP_KIND_SPAN && mxp__span_is_async(order->packets, event.name);
    if (event.lane != 0 && (event.lane & MXP_LANE_THREAD) == 0) {
        return add_to_lane(order, &event, mxp__process_track(), event.lane);
    }
    if (is_async) {
        return add_to_lane(order, &event, mxp__process_track(),
                           category_of(order->packets, event.name));
    }
    if (event.lane != 0 || late || mxp__event_clock(&event) != MXP_CLOCK_TRACE) {
        uint32_t thread = event.lane != 0 ? event.lane & ~MXP_LANE_THREAD : event.thread;
        return add_to_lane(order, &event, mxp__thread_track(order->packets, thread), 0);
    }
    int error = add_cross_thread(order, event.thread, event.end_ns);
    return error == MXP_OK ? add_nested(order, event.thread, &event) : error;
}

int mxp__span_order_finish(mxp_span_order *order)
{
    int error = MXP_OK;
    sort_cross_thread(order);
    for (uint32_t i = 0; i < order->thread_count && error == MXP_OK; i++) {
        error = add_cross_thread(order, i, 0);
        if (error == MXP_OK) {
            error = begin_from(order, i, 0);
        }
        write_edges(order, i);
    }
    return error;
}
