// SPDX-License-Identifier: Apache-2.0
// See replay.h. One pass over the nodes in the order of time.
#include "profiler/analysis/replay/replay.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

const mxp_changes mxp__no_changes = {.host = 1};

static void check_op(mxp_replay_run *run, uint32_t op)
{
    const bool is_wrong = run->starts[op] != mxp__replay_fine(run, run->graph->ops[op].start_ns) ||
                          (run->ends[op] != MXP__REPLAY_NEVER &&
                           run->ends[op] != mxp__replay_fine(run, run->graph->ops[op].end_ns));
    if (is_wrong && run->out->wrong_op == MXP__NO_OP) {
        run->out->wrong_op = op;
    }
}

static bool is_nothing(const mxp_changes *changes)
{
    return changes->by_name == NULL && changes->by_scope == NULL && changes->by_call == NULL &&
           changes->host == 1 && !changes->prefetch_input && changes->no_wait == NULL &&
           changes->workers == 0 && changes->run_ns == NULL;
}

static void go_all(mxp_replay_run *run)
{
    const bool is_unchanged = is_nothing(run->changes);
    for (size_t i = 0; i < run->plan->order_count && run->error == MXP_OK; i++) {
        const uint32_t node = run->plan->order[i];
        if ((node & MXP__NODE_IS_WAIT) != 0) {
            mxp__replay_go_wait(run, node & ~MXP__NODE_IS_WAIT);
            continue;
        }
        mxp__replay_go_op(run, node);
        if (is_unchanged) {
            check_op(run, node);
        }
    }
}

// As steps are found: what is latest of the end before, the next mark and the last operator.
static void take_lengths(mxp_replay_run *run)
{
    const mxp_steps *steps = run->plan->steps;
    int64_t before = mxp__replay_fine(run, steps->all[run->plan->first].begin_ns);
    for (size_t i = run->plan->first; i < run->plan->end; i++) {
        const mxp_step_window *step = &steps->all[i];
        const int64_t own = steps->thread < run->graph->thread_count
                                ? mxp__replay_host_at(run, steps->thread, step->next_ns)
                                : mxp__replay_fine(run, step->next_ns);
        int64_t end = own > before ? own : before;
        const int64_t last = run->last_ends[i - run->plan->first];
        end = last > end ? last : end;
        run->out->recorded_ns[i - run->plan->first] = step->end_ns - step->begin_ns;
        run->out->gains_ns[i - run->plan->first] =
            (double)(mxp__replay_distance(step->begin_ns, step->end_ns) - (end - before)) /
            MXP__FINE;
        run->out->lengths_ns[i - run->plan->first] = llround((double)(end - before) / MXP__FINE);
        before = end;
    }
}

static int take_overlap(mxp_replay_run *run)
{
    int64_t overlap, all;
    if (run->changes->workers > 0) {
        return mxp__replay_scheduled_overlap(run, &run->out->overlap_ns);
    }
    mxp__replay_overlap(run->graph, run->starts, run->ends, &overlap, &all);
    run->out->overlap_ns = overlap / MXP__FINE;
    return MXP_OK;
}

static int prepare(mxp_replay_run *run)
{
    const mxp_graph *graph = run->graph;
    const size_t steps = run->plan->end - run->plan->first;
    run->starts = run->plan->starts;
    run->ends = run->plan->ends;
    run->last_ends = mxp__alloc(steps * sizeof *run->last_ends);
    run->maps = mxp__alloc(graph->thread_count * sizeof *run->maps);
    run->out->count = steps;
    run->out->lengths_ns = mxp__alloc(steps * sizeof *run->out->lengths_ns);
    run->out->recorded_ns = mxp__alloc(steps * sizeof *run->out->recorded_ns);
    run->out->gains_ns = mxp__alloc(steps * sizeof *run->out->gains_ns);
    if ((steps > 0 && (run->last_ends == NULL || run->out->lengths_ns == NULL ||
                       run->out->recorded_ns == NULL || run->out->gains_ns == NULL)) ||
        (graph->thread_count > 0 && run->maps == NULL)) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        run->starts[i] = run->ends[i] = MXP__REPLAY_NEVER;
    }
    for (size_t i = 0; i < steps; i++) {
        run->last_ends[i] = MXP__REPLAY_NEVER;
    }
    int error = MXP_OK;
    for (uint32_t i = 0; i < graph->thread_count && error == MXP_OK; i++) {
        error = mxp__host_map_begin(graph, run->changes, i, &run->maps[i]);
    }
    return error;
}

static void replay_fini(mxp_replay_run *run)
{
    const mxp_graph *graph = run->graph;
    for (size_t i = 0; run->maps != NULL && i < graph->thread_count; i++) {
        run->out->changed += run->maps[i].changed;
        mxp__host_map_fini(&run->maps[i]);
    }
    mxp__free(run->maps, graph->thread_count * sizeof *run->maps);
    mxp__free(run->last_ends, (run->plan->end - run->plan->first) * sizeof *run->last_ends);
}

int mxp__replay_run(const mxp_replay_plan *plan, const mxp_changes *changes, mxp_replayed *replayed)
{
    *replayed = (mxp_replayed){.wrong_op = MXP__NO_OP};
    if (plan->graph->to_ns - plan->graph->from_ns > MXP__REPLAY_NS_MAX) {
        return mxp__fail(MXP_ENOTSUP, "the window is longer than 13 days");
    }
    if (plan->is_far) {
        return mxp__fail(MXP_ENOTSUP, "records in the window are hours longer than it");
    }
    mxp_replay_run run = {.plan = plan,
                          .graph = plan->graph,
                          .changes = changes,
                          .out = replayed,
                          .settled_old_ns = MXP__NS_NONE,
                          .settled_new = MXP__REPLAY_NEVER,
                          .wait_step = SIZE_MAX};
    run.error = prepare(&run);
    if (run.error == MXP_OK) {
        if (changes->workers > 0) {
            int error = mxp__replay_schedule(&run, changes->workers);
            run.error = run.error == MXP_OK ? error : run.error;
        } else {
            go_all(&run);
        }
    }
    if (run.error == MXP_OK) {
        take_lengths(&run);
    }
    if (run.error == MXP_OK) {
        run.error = take_overlap(&run);
    }
    replay_fini(&run);
    if (run.error != MXP_OK) {
        mxp__replayed_fini(replayed);
    }
    return run.error;
}

void mxp__replayed_fini(mxp_replayed *replayed)
{
    mxp__free(replayed->lengths_ns, replayed->count * sizeof *replayed->lengths_ns);
    mxp__free(replayed->recorded_ns, replayed->count * sizeof *replayed->recorded_ns);
    mxp__free(replayed->gains_ns, replayed->count * sizeof *replayed->gains_ns);
    *replayed = (mxp_replayed){0};
}
