// SPDX-License-Identifier: Apache-2.0
// A wait in a replay: when its thread goes on now.
#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

// The innermost span of a thread at a moment; 0: none.
static uint32_t span_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, ns);
    return host == NULL ? 0 : host->name;
}

// Waits have the engine's names, and users know the calls. The second and later ones of a step have
// their own numbers, so that one can be left out.
static bool is_left_out(mxp_replay_run *run, const mxp_graph_wait *wait, uint32_t thread)
{
    const mxp_changes *changes = run->changes;
    const uint32_t names = run->graph->source->name_count;
    const uint32_t span =
        changes->no_wait == NULL ? 0 : span_at(run->graph, thread, wait->begin_ns);
    if (changes->no_wait == NULL || !((wait->name < names && changes->no_wait[wait->name]) ||
                                      (span < names && changes->no_wait[span]))) {
        return false;
    }
    const size_t step = mxp__replay_step_of(run->plan, wait->begin_ns);
    run->waits_in_step = step == run->wait_step ? run->waits_in_step + 1 : 1;
    run->wait_step = step;
    const bool is_it =
        changes->no_wait_number == 0 || changes->no_wait_number == run->waits_in_step;
    run->out->changed += is_it;
    return is_it;
}

// When what was waited for was there, before and now. False: nothing of the engine was.
static bool cause_of(mxp_replay_run *run, uint32_t at, int64_t *old_ns, int64_t *now)
{
    const mxp_graph_wait *wait = &run->graph->waits[at];
    const uint32_t op = run->plan->wait_ops[at];
    if (wait->what == MXP_WAIT_ALL) {
        if (run->schedule != NULL) {
            mxp__replay_gate_open(run, at);
        } else {
            mxp__replay_settle_until(run, wait->end_ns);
        }
        *old_ns = run->settled_old_ns;
        *now = run->settled_new;
        if (op != MXP__NO_OP && run->ends[op] > *now) {
            *old_ns = run->graph->ops[op].end_ns;
            *now = run->ends[op];
        }
        return *now != MXP__REPLAY_NEVER;
    }
    if (op == MXP__NO_OP || run->starts[op] == MXP__REPLAY_NEVER) {
        return false;
    }
    const bool is_task = wait->what == MXP_WAIT_TASK;
    *old_ns = is_task ? run->graph->ops[op].start_ns : run->graph->ops[op].end_ns;
    *now = is_task ? run->starts[op] : run->ends[op];
    return *now != MXP__REPLAY_NEVER && *old_ns <= wait->end_ns;
}

void mxp__replay_go_wait(mxp_replay_run *run, uint32_t at)
{
    const mxp_graph_wait *wait = &run->graph->waits[at];
    const uint32_t thread = run->plan->wait_threads[at];
    int64_t old_cause_ns, cause;
    if (!cause_of(run, at, &old_cause_ns, &cause)) {
        return;
    }
    const int64_t begin = mxp__replay_host_at(run, thread, wait->begin_ns);
    if (wait->what == MXP_WAIT_TASK) {
        const double factor = mxp__replay_factor_of(run, &run->graph->ops[run->plan->wait_ops[at]]);
        run->maps[thread].task_factor = factor;
        run->out->changed += factor != 1;
    }
    if (is_left_out(run, wait, thread)) {
        mxp__replay_host_jump(run, thread, wait->end_ns, begin);
        return;
    }
    if (mxp__graph_is_made_for(run->graph, thread, wait, run->graph->from_ns)) {
        mxp__replay_host_jump(run, thread, wait->end_ns,
                              cause + mxp__replay_distance(old_cause_ns, wait->end_ns));
        return;
    }
    const int64_t old_ns = old_cause_ns > wait->begin_ns ? old_cause_ns : wait->begin_ns;
    int64_t gap = mxp__replay_distance(old_ns, wait->end_ns);
    if (mxp__replay_has_switched(run, mxp__replay_distance(wait->begin_ns, old_cause_ns),
                                 cause - begin, gap)) {
        run->out->switched++;
        gap = cause > begin ? run->plan->wake_ns * MXP__FINE : 0;
    }
    mxp__replay_host_jump(run, thread, wait->end_ns, (cause > begin ? cause : begin) + gap);
}
