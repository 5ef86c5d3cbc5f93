// SPDX-License-Identifier: Apache-2.0
// Operators that were over before a window, and ended a wait that reaches into it: a thread that
// was woken comes back a little later.
#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"
#include "profiler/analysis/window/range_reader.h"

typedef struct woken {
    uint32_t id;  // of the operator that ended it
    int64_t begin_ns, end_ns;
} woken;

typedef struct enders {
    mxp_graph *graph;
    const mxp_range_index *index;
    woken *all;
    size_t count, capacity;
    mxp_range_reader reader;
    uint32_t thread;  // of the range
} enders;

static const char memory_for[] = "the graph of a window";

// ---- waits -------------------------------------------------------------------------------------
static bool is_in_graph(const mxp_graph *graph, const mxp_graph_raw_wait *raw)
{
    if (raw->ended_by < graph->least_id || raw->ended_by > graph->most_id) {
        return false;
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        if (graph->ops[i].id == raw->ended_by && graph->ops[i].end_ns <= raw->wait.end_ns) {
            return true;
        }
    }
    return false;
}

static int add_woken(enders *of, const mxp_graph_raw_wait *raw)
{
    if (mxp__grow(&of->all, &of->capacity, of->count + 1, sizeof *of->all) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    of->all[of->count++] =
        (woken){.id = raw->ended_by, .begin_ns = raw->wait.begin_ns, .end_ns = raw->wait.end_ns};
    return MXP_OK;
}

static int collect(enders *of)
{
    const mxp_graph *graph = of->graph;
    int error = MXP_OK;
    for (size_t i = 0; i < graph->thread_count; i++) {
        const mxp_graph_raw_thread *thread = &graph->raw[i];
        for (size_t k = 0; error == MXP_OK && k < thread->wait_count; k++) {
            const mxp_graph_raw_wait *raw = &thread->waits[k];
            const bool reaches = raw->ended_by != 0 && raw->wait.begin_ns < graph->from_ns;
            if (reaches && raw->wait.what != MXP_WAIT_TASK && !is_in_graph(graph, raw)) {
                error = add_woken(of, raw);
            }
        }
    }
    return error;
}

// ---- operators ---------------------------------------------------------------------------------
static bool is_ender(const enders *of, uint32_t id, int64_t end_ns)
{
    for (size_t i = 0; i < of->count; i++) {
        const woken *at = &of->all[i];
        if (at->id == id && at->begin_ns < end_ns && end_ns <= at->end_ns) {
            return true;
        }
    }
    return false;
}

static int take_op(enders *of, const uint64_t *words, const uint64_t **next)
{
    mxp_graph *graph = of->graph;
    mxp_operator_times times;
    if (!mxp__range_reader_operator(&of->reader, words, &times) ||
        (words[2] >> 48 & MXP_OP_SHARED) != 0 || times.end_ns >= graph->from_ns ||
        !is_ender(of, (uint32_t)(words[1] >> 32), times.end_ns)) {
        return MXP_OK;
    }
    const int error = mxp__graph_room_for_op(graph, graph->op_count);
    if (error != MXP_OK) {
        return error;
    }
    mxp_graph_op *op = &graph->ops[graph->op_count++];
    *op = mxp__graph_op_at(of->index, &of->reader.decoder, words, &times, of->thread, next);
    mxp__graph_note_op(graph, op);
    return MXP_OK;
}

static int read_range(enders *of, const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words;
    int error = MXP_OK;
    of->thread = range->thread;
    mxp__range_reader_begin(&of->reader, of->graph->source, range);
    while (error == MXP_OK && !of->reader.is_damaged &&
           (words = mxp__next_head(&at, range->end)) != NULL) {
        error = mxp__is_operator_head(words) ? take_op(of, words, &at) : MXP_OK;
    }
    return error;
}

static int read_all(enders *of)
{
    const mxp_range_index *index = of->index;
    int64_t from_ns = of->graph->from_ns;
    for (size_t i = 0; i < of->count; i++) {
        from_ns = of->all[i].begin_ns < from_ns ? of->all[i].begin_ns : from_ns;
    }
    int error = MXP_OK;
    for (size_t begin = 0, end; begin < index->count && error == MXP_OK; begin = end) {
        end = mxp__range_index_next_thread(index, begin);
        for (size_t i = mxp__range_index_first(index, begin, from_ns);
             error == MXP_OK && i < end && index->places[i].base_ns < of->graph->from_ns; i++) {
            mxp_record_range range;
            const int found = mxp__graph_range(of->graph, index, i, &range);
            error = found == 1 ? read_range(of, &range) : found;
        }
    }
    return error;
}

int mxp__graph_add_enders(mxp_graph *graph, const mxp_range_index *index)
{
    enders of = {.graph = graph, .index = index};
    int error = collect(&of);
    if (error == MXP_OK && of.count > 0) {
        error = read_all(&of);
    }
    mxp__free(of.all, of.capacity * sizeof *of.all);
    return error;
}
