// SPDX-License-Identifier: Apache-2.0
// What each node of a plan waits for, as edges to those that wait for it: for a schedule in another
// order than the recorded one. Every edge goes forward in the plan's order, so there is no circle.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

#define NO_PLACE UINT32_MAX

typedef struct needs_maker {
    const mxp_replay_plan *plan;
    const mxp_graph *graph;
    mxp_replay_needs *out;
    uint32_t **lanes;  // by thread of the program: its nodes, places in the plan's order
    size_t *lane_counts;
    uint32_t place;  // of the node at hand
    bool counts;  // the first of two passes: edges are counted
} needs_maker;

static void need_place(needs_maker *make, uint32_t place)
{
    mxp_replay_needs *out = make->out;
    if (place == NO_PLACE || place >= make->place) {
        return;
    }
    if (make->counts) {
        out->first[place + 1]++;
        out->edge_count++;
    } else {
        out->next[out->first[place]++] = make->place;
        out->counts[make->place]++;
    }
}

// The node with which an operator's end is known.
static void need_end(needs_maker *make, uint32_t op)
{
    const mxp_graph *graph = make->graph;
    const uint32_t completer = (graph->ops[op].flags & MXP_OP_ASYNC) != 0
                                   ? mxp__replay_completer(make->plan, op)
                                   : MXP__NO_OP;
    uint32_t settler = completer != MXP__NO_OP ? completer : op;
    if ((graph->ops[settler].flags & MXP_OP_BULK_PARENT) != 0) {
        settler = graph->ops[settler].last_member;
    }
    if (settler != MXP__NO_OP) {
        need_place(make, make->out->place_of_op[settler]);
    }
}

// ---- threads of the program --------------------------------------------------------------------
static int64_t moment_of(const needs_maker *make, uint32_t place)
{
    const uint32_t node = make->plan->order[place];
    return (node & MXP__NODE_IS_WAIT) != 0 ? make->graph->waits[node & ~MXP__NODE_IS_WAIT].end_ns
                                           : make->graph->ops[node].start_ns;
}

// The last node of the thread before a place, or at or before a moment.
static uint32_t lane_before(const needs_maker *make, uint32_t thread, uint32_t before, int64_t ns)
{
    const uint32_t *lane = make->lanes[thread];
    size_t low = 0, high = make->lane_counts[thread];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane[middle] < before && moment_of(make, lane[middle]) <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? NO_PLACE : lane[low - 1];
}

static uint32_t lane_thread(const needs_maker *make, uint32_t node)
{
    const mxp_graph *graph = make->graph;
    if ((node & MXP__NODE_IS_WAIT) != 0) {
        return make->plan->wait_threads[node & ~MXP__NODE_IS_WAIT];
    }
    const bool is_its =
        graph->ops[node].inner_of == MXP__NO_OP && mxp__graph_is_inline(graph, node);
    return is_its ? graph->ops[node].thread : MXP__NO_OP;
}

static int make_lanes(needs_maker *make)
{
    const mxp_replay_plan *plan = make->plan;
    const size_t threads = make->graph->thread_count;
    make->lanes = mxp__alloc(threads * sizeof *make->lanes);
    make->lane_counts = mxp__alloc(threads * sizeof *make->lane_counts);
    if (threads > 0 && (make->lanes == NULL || make->lane_counts == NULL)) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < plan->order_count; i++) {
        const uint32_t thread = lane_thread(make, plan->order[i]);
        make->lane_counts[thread == MXP__NO_OP ? 0 : thread] += thread != MXP__NO_OP;
    }
    for (size_t i = 0; i < threads; i++) {
        make->lanes[i] = mxp__alloc(make->lane_counts[i] * sizeof **make->lanes);
        if (make->lanes[i] == NULL && make->lane_counts[i] > 0) {
            return mxp__fail_memory(mxp__replay_memory);
        }
        make->lane_counts[i] = 0;
    }
    for (size_t i = 0; i < plan->order_count; i++) {
        const uint32_t thread = lane_thread(make, plan->order[i]);
        if (thread != MXP__NO_OP) {
            make->lanes[thread][make->lane_counts[thread]++] = (uint32_t)i;
        }
    }
    return MXP_OK;
}

// ---- nodes -------------------------------------------------------------------------------------
static void need_push(needs_maker *make, uint32_t head)
{
    const mxp_graph_op *op = &make->graph->ops[head];
    if (op->push_thread >= make->graph->thread_count) {
        return;
    }
    const mxp_graph_thread *thread = &make->graph->threads[op->push_thread];
    if (thread->role != MXP__ROLE_WORKER) {
        need_place(make, lane_before(make, op->push_thread, make->place, op->push_ns));
        return;
    }
    size_t at = mxp__graph_ending_from(make->graph, op->push_thread, op->push_ns);
    const bool is_inside =
        at < thread->op_count && make->graph->ops[thread->ops[at]].start_ns <= op->push_ns;
    at = is_inside || at == 0 ? at : at - 1;
    if (at < thread->op_count) {
        need_end(make, thread->ops[at]);
    }
}

static void need_of_op(needs_maker *make, uint32_t op)
{
    const mxp_graph *graph = make->graph;
    const mxp_graph_op *at = &graph->ops[op];
    const uint32_t head = mxp__graph_head(graph, op), previous = mxp__graph_previous(graph, op);
    if (at->inner_of != MXP__NO_OP) {
        need_end(make, at->inner_of);
        return;
    }
    if (mxp__graph_is_inline(graph, op)) {
        need_place(make, lane_before(make, at->thread, make->place, INT64_MAX));
        return;
    }
    if (at->start_ns < graph->from_ns) {
        return;
    }
    if (mxp__graph_follows_member(graph, op)) {
        need_end(make, previous);
        return;
    }
    if (previous != MXP__NO_OP && !mxp__replay_is_scheduled(graph, op)) {
        need_end(make, previous);
    }
    need_push(make, head);
    for (uint32_t i = make->plan->edge_first[head]; i < make->plan->edge_ends[head]; i++) {
        need_end(make, make->plan->edges[i]);
    }
}

static void need_of_wait(needs_maker *make, uint32_t at)
{
    const uint32_t op = make->plan->wait_ops[at];
    need_place(make, lane_before(make, make->plan->wait_threads[at], make->place, INT64_MAX));
    if (op != MXP__NO_OP && make->graph->waits[at].what == MXP_WAIT_TASK) {
        need_place(make, make->out->place_of_op[op]);
    } else if (op != MXP__NO_OP) {
        need_end(make, op);
    }
}

size_t mxp__replay_gate_of(const mxp_replay_plan *plan, const mxp_replay_needs *needs, int64_t ns)
{
    size_t low = 0, high = needs->gate_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (plan->graph->waits[needs->gates[middle]].end_ns < ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Each operator is needed by the first gate behind it, and each gate by the next one.
static void need_gates(needs_maker *make)
{
    const mxp_graph *graph = make->graph;
    const mxp_replay_needs *out = make->out;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        const size_t gate = mxp__replay_gate_of(make->plan, out, graph->ops[op].end_ns);
        if (gate < out->gate_count && !mxp__graph_is_inline(graph, op)) {
            make->place = out->place_of_wait[out->gates[gate]];
            need_end(make, op);
        }
    }
    for (size_t i = 1; i < out->gate_count; i++) {
        make->place = out->place_of_wait[out->gates[i]];
        need_place(make, out->place_of_wait[out->gates[i - 1]]);
    }
}

static void go_all(needs_maker *make)
{
    for (size_t i = 0; i < make->plan->order_count; i++) {
        const uint32_t node = make->plan->order[i];
        make->place = (uint32_t)i;
        if ((node & MXP__NODE_IS_WAIT) != 0) {
            need_of_wait(make, node & ~MXP__NODE_IS_WAIT);
        } else {
            need_of_op(make, node);
        }
    }
    need_gates(make);
}

// ---- all ---------------------------------------------------------------------------------------
static int make_places(const mxp_replay_plan *plan, mxp_replay_needs *needs)
{
    const mxp_graph *graph = plan->graph;
    needs->place_of_op = mxp__alloc(graph->op_count * sizeof *needs->place_of_op);
    needs->place_of_wait = mxp__alloc(graph->wait_count * sizeof *needs->place_of_wait);
    needs->gates = mxp__alloc(graph->wait_count * sizeof *needs->gates);
    needs->counts = mxp__alloc(plan->order_count * sizeof *needs->counts);
    needs->first = mxp__alloc((plan->order_count + 2) * sizeof *needs->first);
    if ((graph->op_count > 0 && needs->place_of_op == NULL) ||
        (graph->wait_count > 0 && (needs->place_of_wait == NULL || needs->gates == NULL)) ||
        (plan->order_count > 0 && needs->counts == NULL) || needs->first == NULL) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        needs->place_of_op[i] = NO_PLACE;
    }
    for (size_t i = 0; i < plan->order_count; i++) {
        const uint32_t node = plan->order[i], wait = node & ~MXP__NODE_IS_WAIT;
        if ((node & MXP__NODE_IS_WAIT) == 0) {
            needs->place_of_op[node] = (uint32_t)i;
            continue;
        }
        needs->place_of_wait[wait] = (uint32_t)i;
        if (graph->waits[wait].what == MXP_WAIT_ALL) {
            needs->gates[needs->gate_count++] = wait;
        }
    }
    return MXP_OK;
}

// Counts of those that wait for each node become places; filling moves each to where the next one
// begins, so they stand one further on before.
static int make_edges(needs_maker *make)
{
    mxp_replay_needs *out = make->out;
    const size_t nodes = make->plan->order_count;
    make->counts = true;
    go_all(make);
    out->next = mxp__alloc(out->edge_count * sizeof *out->next);
    if (out->next == NULL && out->edge_count > 0) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < nodes; i++) {
        out->first[i + 1] += out->first[i];
    }
    make->counts = false;
    go_all(make);
    for (size_t i = nodes; i > 0; i--) {
        out->first[i] = out->first[i - 1];
    }
    out->first[0] = 0;
    return MXP_OK;
}

int mxp__replay_needs_make(const mxp_replay_plan *plan, mxp_replay_needs *needs)
{
    needs_maker make = {.plan = plan, .graph = plan->graph, .out = needs};
    const size_t threads = plan->graph->thread_count;
    *needs = (mxp_replay_needs){0};
    int error = make_places(plan, needs);
    if (error == MXP_OK) {
        error = make_lanes(&make);
    }
    if (error == MXP_OK) {
        error = make_edges(&make);
    }
    for (size_t i = 0; make.lanes != NULL && make.lane_counts != NULL && i < threads; i++) {
        mxp__free(make.lanes[i], make.lane_counts[i] * sizeof **make.lanes);
    }
    mxp__free(make.lanes, threads * sizeof *make.lanes);
    mxp__free(make.lane_counts, threads * sizeof *make.lane_counts);
    return error;
}

void mxp__replay_needs_fini(const mxp_replay_plan *plan, mxp_replay_needs *needs)
{
    const mxp_graph *graph = plan->graph;
    mxp__free(needs->place_of_op, graph->op_count * sizeof *needs->place_of_op);
    mxp__free(needs->place_of_wait, graph->wait_count * sizeof *needs->place_of_wait);
    mxp__free(needs->gates, graph->wait_count * sizeof *needs->gates);
    mxp__free(needs->counts, plan->order_count * sizeof *needs->counts);
    mxp__free(needs->first, (plan->order_count + 2) * sizeof *needs->first);
    mxp__free(needs->next, needs->edge_count * sizeof *needs->next);
    *needs = (mxp_replay_needs){0};
}
