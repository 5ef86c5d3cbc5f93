// SPDX-License-Identifier: Apache-2.0
// The paths of many steps, with the graph of as many at once as memory allows.
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/path/path.h"
#include "profiler/analysis/window/side_by_side.h"

// Steps whose graphs take no more than this are walked together: memory that a processor's caches
// nearly hold, and that is used again for the next ones.
#define BATCH_BYTES (UINT64_C(4) << 20)

typedef struct batch {
    const mxp_range_index *index;
    const mxp_steps *steps;
    const bool *chosen;
    uint64_t batch_bytes, limit_bytes;
    bool is_long;  // enough for a second thread
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

// ---- the graphs of some steps ------------------------------------------------------------------
// The graph of steps `first` to before first + count.
typedef struct loaded {
    mxp_graph graph;
    size_t first, count;
    bool is_there;
} loaded;

// Of as many steps as may be, from `first` on. A graph that is too large is made of half as many,
// and one of a single step up to `limit_bytes`.
static int load(const batch *of, loaded *to, size_t first, size_t count, uint64_t limit_bytes)
{
    const mxp_step_window *all = of->steps->all;
    int error;
    do {
        const bool is_one = count == 1;
        to->first = first;
        to->count = count;
        error = mxp__graph_load_next(of->index, all[first].begin_ns, all[first + count - 1].end_ns,
                                     is_one ? limit_bytes : of->batch_bytes, &to->graph);
        count /= 2;
    } while (error == MXP_ENOMEM && count > 0);
    to->is_there = error == MXP_OK;
    return error;
}

// Walks the steps at hand, and meanwhile loads the next ones. Those that do not fit into a batch
// are left for later, so that there are never two large graphs.
typedef struct walk_beside {
    const batch *of;
    mxp_path *path;
    loaded *now, *next;
    size_t next_first, next_count;
} walk_beside;

static int walk_or_load(void *context, size_t piece)
{
    const walk_beside *two = context;
    if (piece == 0) {
        const loaded *now = two->now;
        return walk_steps(two->of, &now->graph, two->path, now->first, now->first + now->count);
    }
    (void)load(two->of, two->next, two->next_first, two->next_count, two->of->batch_bytes);
    return MXP_OK;
}

// How many steps may fit, by what all of them have.
static size_t usual_count(const batch *of)
{
    enum { OPERATOR_BYTES = 112, SPAN_BYTES = 64 };
    const mxp_steps *steps = of->steps;
    const uint64_t all =
        steps->operators * OPERATOR_BYTES + (steps->spans + steps->waits) * SPAN_BYTES;
    const uint64_t count = all == 0 ? steps->count : of->batch_bytes * steps->count / all;
    return count == 0 ? 1 : count > steps->count ? steps->count : (size_t)count;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int walk_all(const batch *of, loaded *now, loaded *next, mxp_path *path)
{
    size_t first = 0, end = of->steps->count, wish = usual_count(of);
    int error = MXP_OK;
    trim(of, &first, &end);
    while (error == MXP_OK && first < end) {
        if (!now->is_there) {
            error = load(of, now, first, least(end - first, wish), of->limit_bytes);
        }
        if (error != MXP_OK) {
            break;
        }
        wish = now->count;
        first += now->count;
        trim(of, &first, &end);
        walk_beside two = {of, path, now, next, first, least(end - first, wish)};
        error = mxp__side_by_side(of->is_long && first < end ? 2 : 1, walk_or_load, &two);
        loaded *const walked = now;
        walked->is_there = false;
        now = next;
        next = walked;
    }
    return error;
}

int mxp__path_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                    uint64_t limit_bytes, mxp_path_each *each, void *context)
{
    assert(steps->index.source == process && "steps are those of this process");
    (void)process;
    enum { RANGE_BYTES = 1 << 16 };  // as the recorder makes them
    const uint64_t bytes = (uint64_t)steps->index.count * RANGE_BYTES;
    const batch of = {.index = &steps->index,
                      .is_long = mxp__side_by_side_count(bytes) > 1,
                      .steps = steps,
                      .chosen = chosen,
                      .batch_bytes = limit_bytes < BATCH_BYTES ? limit_bytes : BATCH_BYTES,
                      .limit_bytes = limit_bytes,
                      .each = each,
                      .context = context};
    loaded *two = mxp__alloc(2 * sizeof *two);
    if (two == NULL) {
        return mxp__fail_memory("the graph of a window");
    }
    mxp_path path = {0};
    const int error = walk_all(&of, &two[0], &two[1], &path);
    mxp__path_fini(&path);
    mxp__graph_fini(&two[0].graph);
    mxp__graph_fini(&two[1].graph);
    mxp__free(two, 2 * sizeof *two);
    return error;
}
