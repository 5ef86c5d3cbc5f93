// SPDX-License-Identifier: Apache-2.0
// The paths of many steps, with the graph of as many at once as memory allows.
#include "base/fail.h"
#include "profiler/analysis/path.h"

typedef struct batch {
    mxp_source *process;
    const mxp_steps *steps;
    const bool *chosen;
    uint64_t limit_bytes;
    mxp_path_each *each;
    void *context;
} batch;

static bool is_chosen(const batch *of, size_t step)
{
    return of->chosen == NULL || of->chosen[step];
}

static int walk_steps(const batch *of, const mxp_graph *graph, size_t first, size_t end)
{
    mxp_path path = {0};
    int error = MXP_OK;
    for (size_t i = first; error == MXP_OK && i < end; i++) {
        const mxp_step_window *step = &of->steps->all[i];
        if (!is_chosen(of, i)) {
            continue;
        }
        error = mxp__path_walk(graph, step->begin_ns, step->end_ns, of->steps->thread, &path);
        if (error == MXP_OK) {
            error = mxp__path_split(graph, &path);
        }
        if (error == MXP_OK) {
            error = of->each(of->context, graph, of->steps, i, &path);
        }
    }
    mxp__path_fini(&path);
    return error;
}

// Steps that were not chosen at either end need not be read.
static void trim(const batch *of, size_t *first, size_t *end)
{
    while (*first < *end && !is_chosen(of, *first)) {
        ++*first;
    }
    while (*first < *end && !is_chosen(of, *end - 1)) {
        --*end;
    }
}

// Loads the steps at once, or else each half of them.
static int walk_batch(const batch *of, size_t first, size_t end)
{
    trim(of, &first, &end);
    if (first == end) {
        return MXP_OK;
    }
    mxp_graph graph;
    const mxp_step_window *all = of->steps->all;
    int error = mxp__graph_load(of->process, all[first].begin_ns, all[end - 1].end_ns,
                                of->limit_bytes, &graph);
    if (error == MXP_ENOMEM && end - first > 1) {
        const size_t middle = first + (end - first) / 2;
        error = walk_batch(of, first, middle);
        return error == MXP_OK ? walk_batch(of, middle, end) : error;
    }
    if (error == MXP_OK) {
        error = walk_steps(of, &graph, first, end);
        mxp__graph_fini(&graph);
    }
    return error;
}

int mxp__path_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                    uint64_t limit_bytes, mxp_path_each *each, void *context)
{
    const batch of = {.process = process,
                      .steps = steps,
                      .chosen = chosen,
                      .limit_bytes = limit_bytes,
                      .each = each,
                      .context = context};
    return walk_batch(&of, 0, steps->count);
}
