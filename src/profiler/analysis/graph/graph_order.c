// SPDX-License-Identifier: Apache-2.0
// The order of operators on their threads, what ran inside of what, and which id is whose.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"

// Ids are given in the order of pushes, so those of a window lie close together and a table from
// the smallest up holds them. Where they do not, or one is there twice, `sorted` has all places by
// id and end.
struct mxp_graph_index {
    uint32_t *slots;  // place of the operator with id first + i, MXP__NO_OP: none
    uint32_t first;
    size_t count, capacity;
    bool is_sorted;
};

static const char memory_for[] = "the order of operators";

// ---- ids ---------------------------------------------------------------------------------------
typedef struct place_of_id {
    int64_t end_ns;
    uint32_t id, place;
} place_of_id;

static int compare_ids(const void *a, const void *b)
{
    const place_of_id *x = a, *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int sort_ids(mxp_graph *graph)
{
    struct mxp_graph_index *index = graph->index;
    const size_t count = graph->op_count, bytes = count * sizeof(place_of_id);
    place_of_id *all = mxp__alloc(bytes);
    if (all == NULL ||
        mxp__grow(&index->slots, &index->capacity, count, sizeof *index->slots) != MXP_OK) {
        mxp__free(all, bytes);
        return mxp__fail_memory(memory_for);
    }
    index->count = count;
    index->is_sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (place_of_id){.end_ns = graph->ops[i].end_ns, .id = graph->ops[i].id, .place = i};
    }
    qsort(all, count, sizeof *all, compare_ids);
    for (size_t i = 0; i < count; i++) {
        index->slots[i] = all[i].place;
    }
    mxp__free(all, bytes);
    return MXP_OK;
}

// False: ids lie too far apart, or one is there twice. MXP_ENOMEM leaves no slots.
static bool table_ids(mxp_graph *graph)
{
    struct mxp_graph_index *index = graph->index;
    const uint32_t least = graph->least_id, most = graph->most_id;
    const size_t count = (size_t)(most - least) + 1;
    if (count > 4 * graph->op_count + 1024) {
        return false;
    }
    if (mxp__grow(&index->slots, &index->capacity, count, sizeof *index->slots) != MXP_OK) {
        return false;
    }
    index->first = least;
    index->count = count;
    memset(index->slots, 0xff, count * sizeof *index->slots);
    for (uint32_t i = 0; i < graph->op_count; i++) {
        uint32_t *slot = &index->slots[graph->ops[i].id - least];
        if (*slot != MXP__NO_OP) {
            return false;
        }
        *slot = i;
    }
    return true;
}

static int make_index(mxp_graph *graph)
{
    if (graph->index == NULL) {
        graph->index = mxp__alloc(sizeof *graph->index);
    }
    if (graph->index == NULL) {
        return mxp__fail_memory(memory_for);
    }
    graph->index->count = 0;
    graph->index->is_sorted = false;
    return graph->op_count == 0 || table_ids(graph) ? MXP_OK : sort_ids(graph);
}

void mxp__graph_index_fini(mxp_graph *graph)
{
    if (graph->index != NULL) {
        mxp__free(graph->index->slots, graph->index->capacity * sizeof *graph->index->slots);
        mxp__free(graph->index, sizeof *graph->index);
        graph->index = NULL;
    }
}

// Place among the sorted ones of the first with this id.
static size_t first_of_id(const mxp_graph *graph, uint32_t id)
{
    const struct mxp_graph_index *index = graph->index;
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (graph->ops[index->slots[middle]].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t from_table(const struct mxp_graph_index *index, uint32_t id)
{
    const uint32_t at = id - index->first;
    return id >= index->first && at < index->count ? index->slots[at] : MXP__NO_OP;
}

uint32_t mxp__graph_find(const mxp_graph *graph, uint32_t id, int64_t end_ns)
{
    const struct mxp_graph_index *index = graph->index;
    if (!index->is_sorted) {
        const uint32_t op = from_table(index, id);
        return op != MXP__NO_OP && graph->ops[op].end_ns <= end_ns ? op : MXP__NO_OP;
    }
    uint32_t found = MXP__NO_OP;
    for (size_t i = first_of_id(graph, id); i < index->count; i++) {
        const uint32_t op = index->slots[i];
        if (graph->ops[op].id != id || graph->ops[op].end_ns > end_ns) {
            break;
        }
        found = op;
    }
    return found;
}

uint32_t mxp__graph_find_around(const mxp_graph *graph, uint32_t id, int64_t ns)
{
    const struct mxp_graph_index *index = graph->index;
    if (!index->is_sorted) {
        return from_table(index, id);
    }
    uint32_t found = MXP__NO_OP;
    for (size_t i = first_of_id(graph, id); i < index->count; i++) {
        const uint32_t op = index->slots[i];
        if (graph->ops[op].id != id) {
            break;
        }
        if (found == MXP__NO_OP || graph->ops[found].end_ns < ns) {
            found = op;
        }
    }
    return found;
}

// ---- threads -----------------------------------------------------------------------------------
typedef struct started {
    int64_t start_ns;
    uint32_t id, place;
} started;

static int compare_starts(const void *a, const void *b)
{
    const started *x = a, *y = b;
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (int32_t)(x->id - y->id) < 0 ? -1 : x->id != y->id;  // ids wrap
}

static started start_of(const mxp_graph *graph, uint32_t place)
{
    return (started){
        .start_ns = graph->ops[place].start_ns, .id = graph->ops[place].id, .place = place};
}

static int sort_thread(const mxp_graph *graph, uint32_t *places, size_t count)
{
    started *all = mxp__alloc(count * sizeof *all);
    if (all == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = start_of(graph, places[i]);
    }
    qsort(all, count, sizeof *all, compare_starts);
    for (size_t i = 0; i < count; i++) {
        places[i] = all[i].place;
    }
    mxp__free(all, count * sizeof *all);
    return MXP_OK;
}

// What begins before the one before it ends ran inside of that one.
static size_t take_inner_out(mxp_graph *graph, uint32_t *places, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        mxp_graph_op *op = &graph->ops[places[i]];
        if (kept > 0 && op->start_ns < graph->ops[places[kept - 1]].end_ns) {
            op->inner_of = places[kept - 1];
            op->place = MXP__NO_OP;
            continue;
        }
        op->place = (uint32_t)kept;
        places[kept++] = places[i];
    }
    return kept;
}

static int order_thread(mxp_graph *graph, const mxp_graph_raw_thread *raw, mxp_graph_thread *thread)
{
    if (raw->is_unordered) {
        int error = sort_thread(graph, thread->ops, thread->op_count);
        if (error != MXP_OK) {
            return error;
        }
    }
    if (raw->is_unordered || raw->has_inner) {
        thread->op_count = take_inner_out(graph, thread->ops, thread->op_count);
    }
    return MXP_OK;
}

// They were placed as they came.
static int order_threads(mxp_graph *graph, const mxp_range_index *index)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        const mxp_graph_raw_thread *raw = &graph->raw[i];
        mxp_graph_thread *thread = &graph->threads[i];
        const uint8_t roles = index->roles[i];
        thread->role = (roles & MXP__TAKES_TASKS) != 0   ? MXP__ROLE_CUSTOM
                       : (roles & MXP__RUNS_OTHERS) != 0 ? MXP__ROLE_WORKER
                                                         : MXP__ROLE_PROGRAM;
        thread->ops = raw->op_count > 0 ? graph->op_places + raw->first_place : NULL;
        thread->op_count = raw->op_count;
        error = order_thread(graph, raw, thread);
    }
    return error;
}

// ---- bulks and asynchronous operators ----------------------------------------------------------
static bool is_later(const mxp_graph_op *a, const mxp_graph_op *b)
{
    return a->end_ns != b->end_ns ? a->end_ns > b->end_ns : (int32_t)(a->id - b->id) > 0;
}

static void find_last_members(mxp_graph *graph)
{
    for (uint32_t i = 0; i < graph->op_count && graph->has_bulks; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        if (op->bulk_parent == 0) {
            continue;
        }
        const uint32_t parent = mxp__graph_find_around(graph, op->bulk_parent, op->end_ns);
        if (parent == MXP__NO_OP || (graph->ops[parent].flags & MXP_OP_BULK_PARENT) == 0) {
            continue;
        }
        uint32_t *last = &graph->ops[parent].last_member;
        if (*last == MXP__NO_OP || is_later(op, &graph->ops[*last])) {
            *last = i;
        }
    }
}

static int collect_async(mxp_graph *graph)
{
    if (graph->async_count == 0) {
        return MXP_OK;
    }
    const size_t count = graph->async_count;
    place_of_id *all = mxp__alloc(count * sizeof *all);
    if (all == NULL || mxp__grow(&graph->async_ops, &graph->async_capacity, count,
                                 sizeof *graph->async_ops) != MXP_OK) {
        mxp__free(all, count * sizeof *all);
        return mxp__fail_memory(memory_for);
    }
    size_t next = 0;
    for (uint32_t i = 0; i < graph->op_count; i++) {
        if ((graph->ops[i].flags & MXP_OP_ASYNC) != 0) {
            all[next++] = (place_of_id){.end_ns = graph->ops[i].end_ns, .place = i};
        }
    }
    qsort(all, count, sizeof *all, compare_ids);  // all with id 0: by their ends
    for (size_t i = 0; i < count; i++) {
        graph->async_ops[i] = all[i].place;
    }
    mxp__free(all, count * sizeof *all);
    return MXP_OK;
}

int mxp__graph_order(mxp_graph *graph, const mxp_range_index *index)
{
    int error = make_index(graph);
    if (error == MXP_OK) {
        error = order_threads(graph, index);
    }
    if (error == MXP_OK) {
        find_last_members(graph);
        error = collect_async(graph);
    }
    return error;
}
