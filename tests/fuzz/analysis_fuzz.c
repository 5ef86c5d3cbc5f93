// SPDX-License-Identifier: Apache-2.0
// Fuzzes the analyses: of whatever a native file holds, windows of steps follow one another, and
// the critical path of each fills it without a gap; rows, layers and trees of times add up; of a
// replay that is not refused every step is there.
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profiler/analysis/path/path_rows.h"
#include "profiler/analysis/replay/what_if.h"
#include "profiler/analysis/time/time_tree.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { THREADS_MAX = 256 };  // a chunk of thread 65,535 would cost a look at each

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_tiles(const mxp_path *path, int64_t from_ns, int64_t to_ns)
{
    int64_t at_ns = from_ns;
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        require(piece->from_ns == at_ns && piece->to_ns > at_ns);
        require(piece->kind < MXP__PATH_KINDS);
        at_ns = piece->to_ns;
    }
    require(at_ns == to_ns);
}

static int check_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                      const mxp_path *path)
{
    check_tiles(path, steps->all[step].begin_ns, steps->all[step].end_ns);
    return mxp__path_rows_add(context, graph, step, path);
}

static void check_steps(mxp_source *source, const mxp_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        require(steps->all[i].begin_ns <= steps->all[i].end_ns);
        require(i == 0 || steps->all[i].begin_ns == steps->all[i - 1].end_ns);
    }
    mxp_path_rows rows = {0};
    require(mxp__path_steps(source, steps, NULL, MXP__GRAPH_BYTES_MAX, check_step, &rows) ==
            MXP_OK);
    if (steps->count > 0) {
        const mxp_step_window *last = &steps->all[steps->count - 1];
        require(rows.total_ns == (uint64_t)(last->end_ns - steps->all[0].begin_ns));
    }
    mxp__path_rows_fini(&rows);
}

// From every thread, over all there is.
static void check_all(mxp_source *source, const mxp_steps *steps)
{
    mxp_graph graph;
    mxp_path path = {0};
    require(mxp__graph_load(source, steps->first_ns, steps->last_ns, MXP__GRAPH_BYTES_MAX,
                            &graph) == MXP_OK);
    for (uint32_t thread = 0; thread <= source->thread_count; thread++) {
        require(mxp__path_walk(&graph, steps->first_ns, steps->last_ns, thread, &path) == MXP_OK);
        require(mxp__path_split(&graph, &path) == MXP_OK);
        check_tiles(&path, steps->first_ns, steps->last_ns);
    }
    mxp__path_fini(&path);
    mxp__graph_fini(&graph);
}

// ---- times -------------------------------------------------------------------------------------
static void check_layers(const mxp_time_rows *rows, uint64_t total_ns)
{
    mxp_layers layers;
    require(mxp__layers_make(rows, 2, MXP_KEY_TOTAL, &layers) == MXP_OK);
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < layers.count; i++) {
        sum_ns += layers.all[i].sum_ns;
    }
    require(sum_ns == total_ns && layers.total.sum_ns == total_ns);
    mxp__layers_fini(&layers);
}

static void check_tree(mxp_time_tree *tree)
{
    require(mxp__time_tree_rank(tree, MXP_KEY_TOTAL) == MXP_OK);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint64_t inside_ns = 0;
        for (uint32_t c = tree->nodes[i].first_child; c != MXP_NO_NODE; c = tree->nodes[c].next) {
            require(tree->nodes[c].parent == i && c > i);
            inside_ns += tree->nodes[c].total_ns;
        }
        require(tree->nodes[i].total_ns == tree->nodes[i].self_ns + inside_ns);
    }
}

static void check_rows(mxp_source *process, const mxp_choice *choice)
{
    mxp_time_rows rows = {0};
    mxp_time_tree scopes = {0}, calls = {0};
    require(mxp__time_rows_add(&rows, process, choice, NULL) == MXP_OK);
    uint64_t total_ns = 0;
    for (size_t i = 0; i < rows.count; i++) {
        total_ns += rows.rows[i].is_operator ? rows.rows[i].total_ns : 0;
        require(rows.rows[i].self_ns <= rows.rows[i].total_ns);
    }
    check_layers(&rows, total_ns);
    require(mxp__scope_time_tree(&rows, &scopes) == MXP_OK);
    check_tree(&scopes);
    require(scopes.nodes[0].total_ns == total_ns);
    require(mxp__call_tree_add(&calls, process, choice, NULL, "") == MXP_OK);
    check_tree(&calls);
    mxp__time_tree_fini(&scopes);
    mxp__time_tree_fini(&calls);
    mxp__time_rows_fini(&rows);
}

static void check_times(mxp_source *process, const mxp_steps *steps)
{
    mxp_choice choice;
    const mxp_choice_wish wishes[] = {{0}, {.until = {MXP_TIME_FROM_BEGIN, 1000000}}};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        if (mxp__choice_make(steps, &wishes[i], &choice) == MXP_OK) {
            check_rows(process, &choice);
            mxp__choice_fini(&choice);
        }
    }
}

// ---- replays -----------------------------------------------------------------------------------
static void check_what_if(mxp_source *process, const mxp_steps *steps)
{
    mxp_ceilings ceilings = {.machine = {.cores = 2, .cache_bytes = {1 << 15, 1 << 20, 1 << 25}}};
    for (int i = 0; i < MXP__CEILINGS; i++) {
        ceilings.all[i].rate = 1e11 / (i + 1);
    }
    const mxp_change changes[] = {{.kind = MXP_CHANGE_NAME, .glob = "*", .factor = 0.5},
                                  {.kind = MXP_CHANGE_HOST, .factor = 2},
                                  {.kind = MXP_CHANGE_PREFETCH},
                                  {.kind = MXP_CHANGE_NO_WAIT, .glob = "*"},
                                  {.kind = MXP_CHANGE_WORKERS, .count = 2},
                                  {.kind = MXP_CHANGE_ROOF, .glob = "*", .ceilings = &ceilings},
                                  {.kind = MXP_CHANGE_BULK, .count = 8}};
    enum { SETS = sizeof changes / sizeof changes[0] };
    mxp_change_set sets[SETS];
    for (size_t i = 0; i < SETS; i++) {
        sets[i] = (mxp_change_set){.changes = &changes[i], .count = 1};
    }
    mxp_what_if result;
    const int error =
        mxp__what_if(process, steps, NULL, MXP__GRAPH_BYTES_MAX, true, sets, SETS, &result);
    require(error == MXP_OK || error == MXP_ENOTSUP || error == MXP_EINVAL);
    if (error == MXP_OK) {
        require(result.count > 0 && result.count + result.left_out <= steps->count + 1);
        mxp__what_if_fini(&result);
    }
}

static void check_slack(mxp_source *process, const mxp_steps *steps)
{
    mxp_graph graph;
    mxp_replay_plan plan;
    int64_t *slack_ns;
    require(mxp__graph_load(process, steps->first_ns, steps->last_ns, MXP__GRAPH_BYTES_MAX,
                            &graph) == MXP_OK);
    require(mxp__replay_plan_make(&graph, steps, 0, steps->count, &plan) == MXP_OK);
    require(mxp__replay_slack(&plan, &slack_ns) == MXP_OK);
    for (size_t i = 0; i < graph.op_count; i++) {
        require(slack_ns[i] >= 0);
    }
    mxp__free(slack_ns, graph.op_count * sizeof *slack_ns);
    mxp__replay_plan_fini(&plan);
    mxp__graph_fini(&graph);
}

static void analyse_process(mxp_source *process)
{
    mxp_steps steps;
    if (process->thread_count <= THREADS_MAX && mxp__steps_find(process, &steps) == MXP_OK) {
        check_steps(process, &steps);
        check_all(process, &steps);
        check_times(process, &steps);
        check_what_if(process, &steps);
        check_slack(process, &steps);
        mxp__steps_fini(&steps);
    }
}

static void analyse(const void *data, size_t size)
{
    use_processes(data, size, analyse_process);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, analyse);
    return 0;
}
