// SPDX-License-Identifier: Apache-2.0
// The paths of many steps, with the graph of as many at once as memory allows.
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/path/path.h"

// Steps whose graphs take no more than this are walked together: memory that a processor's caches
// nearly hold, and that is used again for the next ones.
#define BATCH_BYTES (UINT64_C(4) << 20)

typedef struct batch {
    const mxp_range_index *index;
    const mxp_steps *steps;
    const bool *chosen;
    uint64_t batch_bytes, limit_bytes;
    mxp_path_each *each;
    void *context;
} batch;

// ---- windows without steps ---------------------------------------------------------------------
static uint32_t last_thread(const mxp_graph *graph)
{
    uint32_t found = 0;
    int64_t latest_ns = INT64_MIN;
    for (uint32_t i = 0; i < graph->thread_count; i++) {
        const mxp_graph_thread *thread = &graph->threads[i];
        if (thread->role == MXP__ROLE_WORKER) {
            continue;
        }
        // The last piece is what comes after all spans.
        const int64_t host_ns =
            thread->host_count > 0 ? thread->hosts[thread->host_count - 1].begin_ns : INT64_MIN;
        const int64_t wait_ns =
            thread->wait_count > 0 ? thread->waits[thread->wait_count - 1].end_ns : INT64_MIN;
        const int64_t ns = host_ns > wait_ns ? host_ns : wait_ns;
        if (ns > latest_ns) {
            latest_ns = ns;
            found = i;
        }
    }
    return found;
}

uint32_t mxp__path_window_thread(const mxp_graph *graph)
{
    const size_t bytes = graph->thread_count * sizeof(size_t);
    size_t *pushes = mxp__alloc(bytes), most = 0;
    uint32_t found = UINT32_MAX;
    for (size_t i = 0; pushes != NULL && i < graph->op_count; i++) {
        const uint32_t thread = graph->ops[i].push_thread;
        if (thread < graph->thread_count && ++pushes[thread] > most) {
            most = pushes[thread];
            found = thread;
        }
    }
    mxp__free(pushes, bytes);
    return found == UINT32_MAX ? last_thread(graph) : found;
}

mxp_steps mxp__path_window(const mxp_steps *steps, int64_t from_ns, int64_t until_ns,
                           mxp_step_window *window)
{
    mxp_steps one = *steps;
    *window = (mxp_step_window){.mark_ns = from_ns,
                                .next_ns = until_ns,
                                .begin_ns = from_ns,
                                .end_ns = until_ns,
                                .cpu_ns = MXP__NOT_RECORDED,
                                .run_delay_ns = MXP__NOT_RECORDED};
    one.all = window;
    one.count = 1;
    one.thread = MXP__PATH_ANY_THREAD;
    return one;
}

// ---- steps -------------------------------------------------------------------------------------
static bool is_chosen(const batch *of, size_t step)
{
    return of->chosen == NULL || of->chosen[step];
}

static int walk_steps(const batch *of, const mxp_graph *graph, mxp_path *path, size_t first,
                      size_t end)
{
    const uint32_t thread = of->steps->thread == MXP__PATH_ANY_THREAD
                                ? mxp__path_window_thread(graph)
                                : of->steps->thread;
    int error = MXP_OK;
    for (size_t i = first; error == MXP_OK && i < end; i++) {
        const mxp_step_window *step = &of->steps->all[i];
        if (!is_chosen(of, i)) {
            continue;
        }
        error = mxp__path_walk(graph, step->begin_ns, step->end_ns, thread, path);
        if (error == MXP_OK) {
            error = mxp__path_split(graph, path);
        }
        if (error == MXP_OK) {
            error = of->each(of->context, graph, of->steps, i, path);
        }
    }
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

// Walks steps from `first` on, at most `*count` of them. A graph that is too large is made of half
// as many; *count is how many were walked.
static int walk_some(const batch *of, mxp_graph *graph, mxp_path *path, size_t first, size_t *count)
{
    const mxp_step_window *all = of->steps->all;
    for (;;) {
        const bool is_one = *count == 1;
        const size_t end = first + *count;
        const mxp_graph_steps steps = {.from_ns = all[first].mark_ns,
                                       .until_ns =
                                           end < of->steps->count ? all[end].mark_ns : MXP__NS_MAX,
                                       .thread = of->steps->thread};
        int error =
            mxp__graph_load_steps(of->index, &steps, all[first].begin_ns, all[end - 1].end_ns,
                                  is_one ? of->limit_bytes : of->batch_bytes, graph);
        if (error == MXP_ENOMEM && !is_one) {
            *count /= 2;
            continue;
        }
        return error == MXP_OK ? walk_steps(of, graph, path, first, end) : error;
    }
}

// How many steps may fit, by what all of them have.
static size_t usual_count(const batch *of)
{
    enum { OPERATOR_BYTES = 112, SPAN_BYTES = 64 };
    const mxp_steps *steps = of->steps;
    const uint64_t all =
        steps->operators * OPERATOR_BYTES + (steps->spans + steps->waits) * SPAN_BYTES;
    const uint64_t count = all == 0 ? steps->count : of->batch_bytes * steps->count / all;
    const size_t most = steps->at_once != 0 ? steps->at_once : steps->count;
    return count == 0 ? 1 : count > most ? most : (size_t)count;
}

static int walk_all(const batch *of)
{
    size_t first = 0, end = of->steps->count, wish = usual_count(of);
    mxp_graph graph = {0};
    mxp_path path = {0};
    int error = MXP_OK;
    trim(of, &first, &end);
    while (error == MXP_OK && first < end) {
        size_t count = end - first < wish ? end - first : wish;
        error = walk_some(of, &graph, &path, first, &count);
        wish = count;
        first += count;
        trim(of, &first, &end);
    }
    mxp__path_fini(&path);
    mxp__graph_fini(&graph);
    return error;
}

int mxp__path_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                    uint64_t limit_bytes, mxp_path_each *each, void *context)
{
    assert(steps->index.source == process && "steps are those of this process");
    (void)process;
    const batch of = {.index = &steps->index,
                      .steps = steps,
                      .chosen = chosen,
                      .batch_bytes = limit_bytes < BATCH_BYTES ? limit_bytes : BATCH_BYTES,
                      .limit_bytes = limit_bytes,
                      .each = each,
                      .context = context};
    return walk_all(&of);
}
