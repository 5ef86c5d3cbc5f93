// SPDX-License-Identifier: Apache-2.0
// What steps need of the time before their windows: operators that were pushed in them and were
// over when the step before them was not yet, waits of the thread that marks them, and the task
// that a thread of custom operators was at. A program that runs far ahead marks a step long before
// its window, so ranges are read only where they have something of these steps.
#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"
#include "profiler/analysis/window/range_reader.h"

typedef struct early {
    mxp_graph *graph;
    const mxp_range_index *index;
    mxp_range_reader reader;
    uint32_t thread;  // of the range
    size_t first_ender;  // place of the operators that ended waits
} early;

// ---- records -----------------------------------------------------------------------------------
static bool is_wanted(const mxp_graph *graph, const mxp_operator_times *times)
{
    return times->end_ns < graph->from_ns && times->push_ns >= graph->steps.from_ns &&
           times->push_ns < graph->steps.until_ns;
}

// The operators that ended waits are there already, and are in no step a second time.
static bool is_there(const early *from, uint32_t id, int64_t end_ns)
{
    const mxp_graph *graph = from->graph;
    for (size_t i = from->first_ender; i < graph->op_count; i++) {
        if (graph->ops[i].id == id && graph->ops[i].end_ns == end_ns) {
            return true;
        }
    }
    return false;
}

static int take_op(early *from, const uint64_t *words, const uint64_t **next)
{
    mxp_graph *graph = from->graph;
    mxp_operator_times times;
    if (!mxp__range_reader_operator(&from->reader, words, &times) ||
        (words[2] >> 48 & MXP_OP_SHARED) != 0 || !is_wanted(graph, &times) ||
        is_there(from, (uint32_t)(words[1] >> 32), times.end_ns)) {
        return MXP_OK;
    }
    const size_t count = graph->op_count + graph->early_count;
    const int error = mxp__graph_room_for_op(graph, count);
    if (error != MXP_OK) {
        return error;
    }
    graph->ops[count] =
        mxp__graph_op_at(from->index, &from->reader.decoder, words, &times, from->thread, next);
    graph->early_count += !graph->ops[count].is_idle;
    return MXP_OK;
}

static int take_wait(early *from, const uint64_t *words)
{
    mxp_graph *graph = from->graph;
    mxp_event event;
    const bool is_one =
        mxp__range_reader_decode(&from->reader, words, &event) && event.words == words;
    if (!is_one || event.end_ns >= graph->from_ns || event.end_ns < graph->steps.from_ns ||
        event.begin_ns >= graph->steps.until_ns) {
        return MXP_OK;
    }
    return mxp__graph_add_wait(graph, &event);
}

static int read_range(early *from, const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words;
    const bool has_waits = range->thread == from->graph->steps.thread;
    int error = MXP_OK;
    from->thread = range->thread;
    mxp__range_reader_begin(&from->reader, from->graph->source, range);
    while (error == MXP_OK && !from->reader.is_damaged &&
           (words = mxp__next_head(&at, range->end)) != NULL) {
        if (mxp__is_operator_head(words)) {
            error = take_op(from, words, &at);
        } else if (has_waits && (*words & 0xff) == MXP_KIND_WAIT) {
            error = take_wait(from, words);
        }
    }
    return error;
}

// ---- ranges ------------------------------------------------------------------------------------
// Of the thread that marks the steps those up to the end of the last one, for its waits.
static bool has_something(const early *from, const mxp_range_place *place)
{
    const mxp_graph_steps *steps = &from->graph->steps;
    if (place->thread == steps->thread && place->base_ns <= steps->until_ns) {
        return true;
    }
    const mxp_timebase *timebase = from->graph->source->timebase;
    return place->last_end != 0 &&
           mxp__timebase_ns(timebase, place->first_push) < steps->until_ns &&
           mxp__timebase_ns(timebase, place->last_push) >= steps->from_ns;
}

static int read_thread(early *from, size_t begin, size_t end)
{
    const mxp_range_index *index = from->index;
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t i = mxp__range_index_first(index, begin, from->graph->steps.from_ns);
         error == MXP_OK && i < end && index->places[i].base_ns < from->graph->from_ns; i++) {
        if (has_something(from, &index->places[i])) {
            const int found = mxp__graph_range(from->graph, index, i, &range);
            error = found == 1 ? read_range(from, &range) : found;
        }
    }
    return error;
}

// ---- tasks -------------------------------------------------------------------------------------
// The last task of a range that was taken before the window. False: there is none.
static bool last_task(early *from, const mxp_record_range *range, mxp_event *task)
{
    const uint64_t *at = range->words, *words;
    bool is_found = false;
    mxp__range_reader_begin(&from->reader, from->graph->source, range);
    while (!from->reader.is_damaged && (words = mxp__next_head(&at, range->end)) != NULL) {
        mxp_event event;
        if ((*words & 0xff) != MXP_KIND_WAIT ||
            !mxp__range_reader_decode(&from->reader, words, &event) || event.words != words ||
            event.end_ns >= from->graph->from_ns) {
            continue;
        }
        mxp_wait_view view;
        mxp__event_wait(&event, &view);
        if (view.what == MXP_WAIT_TASK && (!is_found || event.end_ns >= task->end_ns)) {
            *task = event;
            is_found = true;
        }
    }
    return is_found;
}

static int take_task(early *from, size_t begin)
{
    const mxp_range_index *index = from->index;
    size_t i = mxp__range_index_first(index, begin, from->graph->from_ns) + 1;
    while (i-- > begin) {
        mxp_record_range range;
        mxp_event task;
        const int found = mxp__graph_range(from->graph, index, i, &range);
        if (found < 0) {
            return found;
        }
        if (found == 1 && last_task(from, &range, &task)) {
            return mxp__graph_add_wait(from->graph, &task);
        }
    }
    return MXP_OK;
}

int mxp__graph_add_early(mxp_graph *graph, const mxp_range_index *index, size_t first_ender)
{
    early from = {.graph = graph, .index = index, .first_ender = first_ender};
    int error = MXP_OK;
    for (size_t begin = 0, end; begin < index->count && error == MXP_OK; begin = end) {
        const uint32_t thread = index->places[begin].thread;
        end = mxp__range_index_next_thread(index, begin);
        if (graph->steps.from_ns < graph->from_ns) {
            error = read_thread(&from, begin, end);
        }
        if (error == MXP_OK && thread < graph->thread_count && thread != graph->steps.thread &&
            (index->roles[thread] & MXP__TAKES_TASKS) != 0) {
            error = take_task(&from, begin);
        }
    }
    return error;
}
