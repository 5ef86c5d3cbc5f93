// SPDX-License-Identifier: Apache-2.0
// Which operators each one waits for. On one variable operators start in the order in which they
// depend on one another, whatever their ids: a write after the write before it and all reads since,
// a read after the last write. So one pass in the order of time finds the edges.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/analysis/replay/replay_parts.h"

typedef struct variable {
    uint64_t key;  // its id plus 1
    uint32_t writer;  // place plus 1; 0: none in the window
    uint32_t reader;  // the last read since, place in `reads` plus 1; 0: none
} variable;

typedef struct one_read {
    uint32_t op, before;  // before: as variable.reader
} one_read;

typedef struct weaver {
    mxp_replay_plan *plan;
    mxp_id_map variables;
    one_read *reads;
    size_t read_count, read_capacity;
    uint32_t number;  // of the operator at hand, from 1
    uint32_t *edge_of;  // by operator: the number of the last one that has an edge to it
    uint32_t free_read;  // a chain of reads that a write has done with
} weaver;

static int add_edge(weaver *weave, uint32_t to)
{
    mxp_replay_plan *plan = weave->plan;
    if (weave->edge_of[to] == weave->number) {
        return MXP_OK;
    }
    if (mxp__grow(&plan->edges, &plan->edge_capacity, plan->edge_count + 1, sizeof *plan->edges) !=
        MXP_OK) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    weave->edge_of[to] = weave->number;
    plan->edges[plan->edge_count++] = to;
    return MXP_OK;
}

static int keep_read(weaver *weave, variable *var, uint32_t op)
{
    uint32_t place = weave->free_read;
    if (place != 0) {
        weave->free_read = weave->reads[place - 1].before;
    } else {
        if (mxp__grow(&weave->reads, &weave->read_capacity, weave->read_count + 1,
                      sizeof *weave->reads) != MXP_OK) {
            return mxp__fail_memory(mxp__replay_memory);
        }
        place = (uint32_t)++weave->read_count;
    }
    weave->reads[place - 1] = (one_read){.op = op, .before = var->reader};
    var->reader = place;
    return MXP_OK;
}

// The write waits for all reads since the write before it; nothing later has to.
static int take_reads(weaver *weave, variable *var, uint32_t op)
{
    int error = MXP_OK;
    while (var->reader != 0 && error == MXP_OK) {
        one_read *read = &weave->reads[var->reader - 1];
        error = read->op == op ? MXP_OK : add_edge(weave, read->op);
        const uint32_t done = var->reader;
        var->reader = read->before;
        read->before = weave->free_read;
        weave->free_read = done;
    }
    return error;
}

static int take_use(weaver *weave, uint32_t op, uint32_t use)
{
    const uint64_t id = use & ~MXP_VARIABLE_WRITTEN;
    variable *var = id == 0 ? NULL : mxp__id_map_add(&weave->variables, id + 1);
    if (var == NULL) {
        return id == 0 ? MXP_OK : mxp__fail_memory(mxp__replay_memory);
    }
    int error =
        var->writer != 0 && var->writer != op + 1 ? add_edge(weave, var->writer - 1) : MXP_OK;
    if (error == MXP_OK && (use & MXP_VARIABLE_WRITTEN) == 0) {
        return keep_read(weave, var, op);
    }
    if (error == MXP_OK) {
        error = take_reads(weave, var, op);
        var->writer = op + 1;
    }
    return error;
}

// What released it is an edge, whether or not a variable says so.
static int take_release(weaver *weave, uint32_t op)
{
    mxp_replay_plan *plan = weave->plan;
    if (plan->graph->ops[op].released_by == 0) {
        return MXP_OK;
    }
    const uint32_t releaser = mxp__graph_releaser(plan->graph, op);
    if (releaser == MXP__NO_OP) {
        plan->unknown_releases += plan->graph->ops[op].ready_ns > plan->graph->from_ns;
        return MXP_OK;
    }
    return add_edge(weave, releaser);
}

static int weave_op(weaver *weave, uint32_t op)
{
    mxp_replay_plan *plan = weave->plan;
    const mxp_graph *graph = plan->graph;
    const uint32_t head = mxp__graph_head(graph, op);
    if ((head == op && graph->ops[op].bulk_parent != 0 && mxp__graph_follows_member(graph, op)) ||
        graph->ops[op].inner_of != MXP__NO_OP) {
        return MXP_OK;  // waits for the member before it, or moves with what it is in
    }
    weave->number++;
    plan->edge_first[head] = (uint32_t)plan->edge_count;
    const uint32_t count = mxp__graph_use_count(graph, head);
    int error = MXP_OK;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = take_use(weave, head, mxp__graph_use(graph, head, i));
    }
    if (error == MXP_OK) {
        error = take_release(weave, head);
    }
    plan->edge_ends[head] = (uint32_t)plan->edge_count;
    return error;
}

static void weave_wait(weaver *weave, uint32_t at)
{
    mxp_replay_plan *plan = weave->plan;
    const mxp_graph_wait *wait = &plan->graph->waits[at];
    plan->wait_ops[at] = wait->op;
    const bool is_for_one = wait->what == MXP_WAIT_WRITTEN || wait->what == MXP_WAIT_UNUSED;
    const bool has_blocked = (wait->flags & MXP_WAIT_BLOCKED) != 0;
    if (wait->op != MXP__NO_OP || !is_for_one || has_blocked || wait->variable == 0) {
        return;
    }
    const variable *var = mxp__id_map_find(&weave->variables, (uint64_t)wait->variable + 1);
    const uint32_t writer = var != NULL && var->writer != 0 ? var->writer - 1 : MXP__NO_OP;
    if (writer != MXP__NO_OP && plan->graph->ops[writer].push_ns <= wait->begin_ns) {
        plan->wait_ops[at] = writer;
    }
}

int mxp__replay_edges(mxp_replay_plan *plan)
{
    const mxp_graph *graph = plan->graph;
    weaver weave = {.plan = plan, .variables = {.entry_bytes = sizeof(variable)}};
    plan->edge_first = mxp__alloc(graph->op_count * sizeof *plan->edge_first);
    plan->edge_ends = mxp__alloc(graph->op_count * sizeof *plan->edge_ends);
    plan->wait_ops = mxp__alloc(graph->wait_count * sizeof *plan->wait_ops);
    weave.edge_of = mxp__alloc(graph->op_count * sizeof *weave.edge_of);
    int error = MXP_OK;
    if ((graph->op_count > 0 &&
         (plan->edge_first == NULL || plan->edge_ends == NULL || weave.edge_of == NULL)) ||
        (graph->wait_count > 0 && plan->wait_ops == NULL)) {
        error = mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < plan->order_count && error == MXP_OK; i++) {
        const uint32_t node = plan->order[i];
        if ((node & MXP__NODE_IS_WAIT) != 0) {
            weave_wait(&weave, node & ~MXP__NODE_IS_WAIT);
        } else {
            error = weave_op(&weave, node);
        }
    }
    mxp__id_map_fini(&weave.variables);
    mxp__free(weave.reads, weave.read_capacity * sizeof *weave.reads);
    mxp__free(weave.edge_of, graph->op_count * sizeof *weave.edge_of);
    return error;
}
