// SPDX-License-Identifier: Apache-2.0
// What the operators of a graph tell of the steps in which they were pushed: how long, how many of
// them smaller than their push, and what chain they make.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/causes/facts_parts.h"
#include "profiler/analysis/statistics/sample.h"

typedef struct pushed_op {
    uint32_t index;  // of the step
    uint32_t id, op;
    int64_t push_ns;
} pushed_op;

static const char memory_for[] = "the operators of each step";

// By step and, in it, by id; ids begin anew after 2^32.
static int compare_ids(const void *a, const void *b)
{
    const pushed_op *x = a, *y = b;
    if (x->index != y->index) {
        return x->index < y->index ? -1 : 1;
    }
    const int32_t distance = (int32_t)(x->id - y->id);
    return (distance > 0) - (distance < 0);
}

static int compare_pushes(const void *a, const void *b)
{
    const pushed_op *x = a, *y = b;
    return (x->push_ns > y->push_ns) - (x->push_ns < y->push_ns);
}

// Operators come nearly in both orders: each is put before the few that it comes before, which
// keeps the order of equal ones as qsort does. What is far from it is sorted.
static inline void sort_ops(pushed_op *ops, size_t count,
                            int (*compare)(const void *, const void *))
{
    enum { SHIFTS = 16 };  // an operator, on the average
    size_t shifts = 0;
    for (size_t i = 1; i < count; i++) {
        const pushed_op op = ops[i];
        size_t to = i;
        while (to > 0 && compare(&ops[to - 1], &op) > 0) {
            ops[to] = ops[to - 1];
            to--;
        }
        ops[to] = op;
        shifts += i - to;
        if (shifts > count * SHIFTS) {
            qsort(ops, count, sizeof *ops, compare);
            return;
        }
    }
}

static bool is_counted(const mxp_facts *facts, const mxp_graph_op *op)
{
    return op->push_thread == facts->steps->thread && !op->is_hidden &&
           (op->flags & MXP_OP_BULK_PARENT) == 0;
}

// Intervals between pushes, and lengths of what was pushed: `figures` has room for both.
static void take_pushes(mxp_facts *facts, const mxp_graph *graph, pushed_op *ops, size_t count,
                        double *figures)
{
    mxp_facts_step *step = &facts->at[ops[0].index];
    double *intervals = figures, *runs = figures + count;
    size_t pushed = 0;
    int64_t before_ns = 0;
    sort_ops(ops, count, compare_pushes);
    for (size_t i = 0; i < count; i++) {
        const mxp_graph_op *op = &graph->ops[ops[i].op];
        if (is_counted(facts, op)) {
            if (pushed > 0) {
                intervals[pushed - 1] = (double)(op->push_ns - before_ns);
            }
            before_ns = op->push_ns;
            runs[pushed++] = (double)(op->end_ns - op->start_ns);
        }
    }
    step->pushed = pushed;
    if (pushed < 2) {
        return;
    }
    step->push_ns = mxp__sample_middle(intervals, pushed - 1);
    step->tiny_run_ns = mxp__sample_middle(runs, pushed);
    size_t tiny = 0;
    for (size_t i = 0; i < pushed; i++) {
        tiny += runs[i] < step->push_ns;
    }
    step->tiny = tiny;
}

static int take_step(mxp_facts *facts, const mxp_graph *graph, pushed_op *ops, size_t count,
                     mxp_id_map *variables)
{
    double *figures = mxp__alloc(2 * count * sizeof *figures);
    uint32_t *places = mxp__alloc(count * sizeof *places);
    int error = figures == NULL || places == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        const mxp_graph_op *op = &graph->ops[ops[i].op];
        places[i] = ops[i].op;
        if ((op->flags & (MXP_OP_BULK_PARENT | MXP_OP_ASYNC)) == 0) {
            facts->at[ops[i].index].run_ns += (double)(op->end_ns - op->start_ns);
        }
    }
    if (error == MXP_OK) {
        error = mxp__facts_take_chain(facts, graph, ops[0].index, places, count, variables);
    }
    if (error == MXP_OK) {
        take_pushes(facts, graph, ops, count, figures);
    }
    mxp__free(figures, 2 * count * sizeof *figures);
    mxp__free(places, count * sizeof *places);
    return error;
}

// How long the program waited for the workers of its loader. A wait that reaches over the end of
// the graph's last window is in the next graph, too.
static void take_input_waits(mxp_facts *facts, const mxp_graph *graph)
{
    if (facts->steps->thread >= graph->thread_count) {
        return;
    }
    const mxp_graph_thread *thread = &graph->threads[facts->steps->thread];
    for (size_t i = 0; i < thread->wait_count; i++) {
        const mxp_graph_wait *wait = &thread->waits[i];
        const size_t index = mxp__facts_index_at(facts, wait->begin_ns);
        const bool is_of_graph = wait->begin_ns >= graph->from_ns && wait->begin_ns < graph->to_ns;
        if (is_of_graph && wait->what == MXP_WAIT_INPUT && (wait->flags & MXP_WAIT_BLOCKED) != 0 &&
            index < facts->count) {
            facts->at[index].input_wait_ns += (double)(wait->end_ns - wait->begin_ns);
        }
    }
}

// Others are of steps whose graph is another one.
static bool is_pushed_in(const mxp_graph_steps *steps, const mxp_graph_op *op)
{
    return op->push_ns >= steps->from_ns && op->push_ns < steps->until_ns;
}

int mxp__facts_take_graph(mxp_facts *facts, const mxp_graph *graph)
{
    const size_t all = graph->op_count + graph->early_count;
    pushed_op *ops = mxp__alloc(all * sizeof *ops);
    size_t count = 0, near = 0;
    if (ops == NULL && all > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < all; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        if (op->is_idle || !is_pushed_in(&graph->steps, op)) {
            continue;
        }
        const uint32_t index = mxp__facts_index_of_mark(facts, op->push_ns, &near);
        if (index != UINT32_MAX) {
            facts->cut_ops += (op->flags & MXP_OP_VARIABLES_CUT) != 0;
            ops[count++] = (pushed_op){
                .index = index, .id = op->id, .op = (uint32_t)i, .push_ns = op->push_ns};
        }
    }
    sort_ops(ops, count, compare_ids);
    take_input_waits(facts, graph);
    mxp_id_map variables = {0};
    int error = MXP_OK;
    for (size_t first = 0, end; error == MXP_OK && first < count; first = end) {
        for (end = first; end < count && ops[end].index == ops[first].index; end++) {
        }
        error = take_step(facts, graph, ops + first, end - first, &variables);
    }
    mxp__id_map_fini(&variables);
    mxp__free(ops, all * sizeof *ops);
    return error;
}
