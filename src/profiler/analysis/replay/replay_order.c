// SPDX-License-Identifier: Apache-2.0
// Nodes of a graph in the order of time: those of each thread are in order already, so they are
// merged by a heap with an entry for each thread's operators and each thread's waits.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"

typedef struct lane {
    const uint32_t *places;  // of operators; null: waits from `next` on
    uint32_t next, end;
    int64_t ns;  // of its first node
    int rank;
    uint32_t id;
} lane;

typedef struct merger {
    const mxp_graph *graph;
    lane *lanes;  // a heap: the first comes first
    size_t count;
    uint32_t
        *others;  // operators that are in no thread's order: asynchronous ones, those in others
    size_t other_count;
} merger;

static uint32_t node_of(const lane *of)
{
    return of->places != NULL ? of->places[of->next] : of->next | MXP__NODE_IS_WAIT;
}

// What was pushed at the moment at which it starts comes behind a wait that ends then.
static void set_key(const mxp_graph *graph, lane *of)
{
    const uint32_t node = node_of(of);
    if ((node & MXP__NODE_IS_WAIT) != 0) {
        of->ns = graph->waits[node & ~MXP__NODE_IS_WAIT].end_ns;
        of->rank = 1;
        return;
    }
    const mxp_graph_op *op = &graph->ops[node];
    of->ns = op->start_ns;
    of->rank = op->push_ns < op->start_ns ? 0 : 2;
    of->id = op->id;
}

static bool comes_first(const lane *a, const lane *b)
{
    if (a->ns != b->ns) {
        return a->ns < b->ns;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    return (int32_t)(a->id - b->id) < 0;  // ids begin anew after 2^32
}

static void sink(merger *merge, size_t at)
{
    const lane moved = merge->lanes[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < merge->count &&
            comes_first(&merge->lanes[child + 1], &merge->lanes[child])) {
            child++;
        }
        if (child >= merge->count || !comes_first(&merge->lanes[child], &moved)) {
            break;
        }
        merge->lanes[at] = merge->lanes[child];
        at = child;
    }
    merge->lanes[at] = moved;
}

static void add_lane(merger *merge, lane added)
{
    if (added.next < added.end) {
        set_key(merge->graph, &added);
        merge->lanes[merge->count++] = added;
    }
}

typedef struct placed {
    int64_t start_ns;
    uint32_t id, op;
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (int32_t)(x->id - y->id) < 0 ? -1 : 1;
}

static int take_others(merger *merge)
{
    const mxp_graph *graph = merge->graph;
    size_t count = 0;
    for (size_t i = 0; i < graph->op_count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        count += op->place == MXP__NO_OP && (op->flags & MXP_OP_BULK_PARENT) == 0;
    }
    placed *all = mxp__alloc(count * sizeof *all);
    merge->others = mxp__alloc(count * sizeof *merge->others);
    merge->other_count = count;
    if (count > 0 && (all == NULL || merge->others == NULL)) {
        mxp__free(all, count * sizeof *all);
        return mxp__fail_memory(mxp__replay_memory);
    }
    size_t next = 0;
    for (uint32_t i = 0; next < count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        if (op->place == MXP__NO_OP && (op->flags & MXP_OP_BULK_PARENT) == 0) {
            all[next++] = (placed){.start_ns = op->start_ns, .id = op->id, .op = i};
        }
    }
    if (count > 0) {
        qsort(all, count, sizeof *all, compare_placed);
    }
    for (size_t i = 0; i < count; i++) {
        merge->others[i] = all[i].op;
    }
    mxp__free(all, count * sizeof *all);
    return MXP_OK;
}

static void open_lanes(merger *merge)
{
    const mxp_graph *graph = merge->graph;
    for (size_t i = 0; i < graph->thread_count; i++) {
        const mxp_graph_thread *thread = &graph->threads[i];
        add_lane(merge, (lane){.places = thread->ops, .end = (uint32_t)thread->op_count});
        if (thread->role != MXP__ROLE_WORKER && thread->wait_count > 0) {
            const uint32_t first = (uint32_t)(thread->waits - graph->waits);
            add_lane(merge, (lane){.next = first, .end = first + (uint32_t)thread->wait_count});
        }
    }
    add_lane(merge, (lane){.places = merge->others, .end = (uint32_t)merge->other_count});
    for (size_t i = merge->count / 2; i-- > 0;) {
        sink(merge, i);
    }
}

int mxp__replay_order(mxp_replay_plan *plan)
{
    merger merge = {.graph = plan->graph};
    const size_t most = 2 * plan->graph->thread_count + 1;
    const size_t nodes = plan->graph->op_count + plan->graph->wait_count;
    int error = take_others(&merge);
    merge.lanes = mxp__alloc(most * sizeof *merge.lanes);
    plan->order = mxp__alloc(nodes * sizeof *plan->order);
    if (error == MXP_OK && (merge.lanes == NULL || (plan->order == NULL && nodes > 0))) {
        error = mxp__fail_memory(mxp__replay_memory);
    }
    if (error == MXP_OK) {
        open_lanes(&merge);
        while (merge.count > 0) {
            plan->order[plan->order_count++] = node_of(&merge.lanes[0]);
            if (++merge.lanes[0].next < merge.lanes[0].end) {
                set_key(merge.graph, &merge.lanes[0]);
            } else {
                merge.lanes[0] = merge.lanes[--merge.count];
            }
            sink(&merge, 0);
        }
    }
    mxp__free(merge.lanes, most * sizeof *merge.lanes);
    mxp__free(merge.others, merge.other_count * sizeof *merge.others);
    return error;
}
