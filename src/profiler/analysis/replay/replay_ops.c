// SPDX-License-Identifier: Apache-2.0
// An operator in a replay: when it was pushed, starts and ends now.
#include <math.h>

#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

// ---- how long it runs --------------------------------------------------------------------------
// What is before the graph's begin stays as it was.
static int64_t run_time(mxp_replay_run *run, uint32_t op)
{
    const mxp_graph_op *at = &run->graph->ops[op];
    const int64_t from_ns = run->graph->from_ns;
    const int64_t before_ns = at->start_ns < from_ns ? from_ns - at->start_ns : 0;
    int64_t ns = at->end_ns - at->start_ns - before_ns;
    ns = ns < 0 ? 0 : ns;
    if (run->changes->run_ns != NULL) {
        const int64_t other_ns = run->changes->run_ns(run->changes->context, run->graph, op);
        if (other_ns != MXP__NS_NONE) {
            run->out->changed++;
            ns = other_ns > before_ns ? other_ns - before_ns : 0;
        }
    }
    const double factor = mxp__replay_factor_of(run, at);
    if (factor == 1) {
        return mxp__replay_distance(0, before_ns + ns);
    }
    run->out->changed++;
    return mxp__replay_distance(0, before_ns) + llround((double)ns * MXP__FINE * factor);
}

// ---- pushes ------------------------------------------------------------------------------------
// A moment in an operator: at the same share of it, or of what of it is in the graph.
static int64_t within(const mxp_replay_run *run, uint32_t op, int64_t ns)
{
    const mxp_graph_op *at = &run->graph->ops[op];
    const int64_t end = run->ends[op], from_ns = run->graph->from_ns;
    const int64_t fixed_ns = at->start_ns > from_ns ? at->start_ns : from_ns;
    const int64_t fixed = run->starts[op] + mxp__replay_distance(at->start_ns, fixed_ns);
    if (ns <= fixed_ns) {
        return fixed - mxp__replay_distance(ns, fixed_ns);
    }
    if (ns >= at->end_ns) {
        return end + mxp__replay_distance(at->end_ns, ns);
    }
    if (end - fixed == mxp__replay_distance(fixed_ns, at->end_ns)) {
        return fixed + mxp__replay_distance(fixed_ns, ns);
    }
    const double share = (double)(ns - fixed_ns) / (double)(at->end_ns - fixed_ns);
    return fixed + llround((double)(end - fixed) * share);
}

// A moment on a worker, which pushes from inside of an operator.
static int64_t worker_at(const mxp_replay_run *run, uint32_t thread, int64_t ns)
{
    const mxp_graph_thread *of = &run->graph->threads[thread];
    size_t at = mxp__graph_ending_from(run->graph, thread, ns);
    const bool is_inside = at < of->op_count && run->graph->ops[of->ops[at]].start_ns <= ns;
    at = is_inside || at == 0 ? at : at - 1;
    if (at >= of->op_count || run->starts[of->ops[at]] == MXP__REPLAY_NEVER) {
        return mxp__replay_fine(run, ns);
    }
    return within(run, of->ops[at], ns);
}

static int64_t push_at(mxp_replay_run *run, uint32_t head)
{
    const mxp_graph_op *op = &run->graph->ops[head];
    if (op->push_thread == run->plan->store_thread) {
        return mxp__replay_fine(run, op->push_ns) + run->exchange_shift;
    }
    return run->graph->threads[op->push_thread].role == MXP__ROLE_WORKER
               ? worker_at(run, op->push_thread, op->push_ns)
               : mxp__replay_host_at(run, op->push_thread, op->push_ns);
}

// ---- starts ------------------------------------------------------------------------------------
// From when on it could start, by its push and by what it waits for, and the same as recorded
// (mxp__replay_ready_ns). The one before on its worker counts only in a schedule, where others may
// be before it.
static inline int64_t ready_at(mxp_replay_run *run, uint32_t op, int64_t *old_ready_ns)
{
    const mxp_graph *graph = run->graph;
    const mxp_replay_plan *plan = run->plan;
    const uint32_t head = mxp__graph_head(graph, op);
    const int64_t start_ns = graph->ops[op].start_ns;
    const bool is_known = graph->ops[head].push_thread < graph->thread_count;
    int64_t ready = is_known ? push_at(run, head) : MXP__REPLAY_NEVER;
    int64_t old_ns = is_known ? graph->ops[head].push_ns : MXP__NS_NONE;
    const uint32_t previous = mxp__replay_worker_before(graph, op);
    for (uint32_t i = plan->edge_first[head]; i < plan->edge_ends[head]; i++) {
        const uint32_t before = plan->edges[i];
        const int64_t end_ns = graph->ops[before].end_ns;
        if (end_ns > start_ns) {
            continue;  // records contradict
        }
        if (before != previous) {
            old_ns = end_ns > old_ns ? end_ns : old_ns;
        }
        if (before != previous || run->schedule != NULL) {
            ready = run->ends[before] > ready ? run->ends[before] : ready;
        }
    }
    *old_ready_ns = old_ns;
    return ready;
}

int64_t mxp__replay_ready_at(mxp_replay_run *run, uint32_t op)
{
    int64_t old_ready_ns;
    return ready_at(run, op, &old_ready_ns);
}

static int64_t usual_idle_gap(const mxp_replay_run *run, int64_t idle_ns)
{
    const mxp_replay_plan *plan = run->plan;
    if (run->changes->gaps != 0) {
        return run->changes->gaps < 0 ? plan->gap_low_ns : plan->gap_high_ns;
    }
    const bool slept = plan->sleeps_after_ns >= 0 && idle_ns >= plan->sleeps_after_ns;
    const int64_t gap_ns = plan->idle_gap_ns[slept ? 1 : 0];
    const int64_t other_ns = plan->idle_gap_ns[slept ? 0 : 1];
    return gap_ns >= 0 ? gap_ns : other_ns >= 0 ? other_ns : 0;
}

static inline int64_t start_on_worker(mxp_replay_run *run, uint32_t op, int64_t old_ready_ns,
                                      int64_t ready, int64_t free)
{
    const int64_t start_ns = run->graph->ops[op].start_ns;
    int64_t old_free_ns = mxp__replay_free_ns(run->plan, op);
    old_free_ns = old_free_ns > start_ns ? start_ns : old_free_ns;  // records contradict
    int64_t old_ns = old_ready_ns > old_free_ns ? old_ready_ns : old_free_ns;
    if (old_ns == MXP__NS_NONE || (ready == MXP__REPLAY_NEVER && free == MXP__REPLAY_NEVER)) {
        return mxp__replay_fine(run, start_ns);
    }
    old_ns = old_ns > start_ns ? start_ns : old_ns;
    int64_t gap = mxp__replay_distance(old_ns, start_ns);
    const int64_t now = ready > free ? ready : free;
    if (old_free_ns != MXP__NS_NONE && old_ready_ns != MXP__NS_NONE && free != MXP__REPLAY_NEVER &&
        ready != MXP__REPLAY_NEVER &&
        mxp__replay_has_switched(run, mxp__replay_distance(old_free_ns, old_ready_ns), ready - free,
                                 gap)) {
        run->out->switched++;
        gap = ready > free ? usual_idle_gap(run, (ready - free) / MXP__FINE) * MXP__FINE : 0;
    }
    return now + gap;
}

// In a schedule, where every start is decided anew: the worker is idle or goes on, and nothing is
// at a tie.
static int64_t start_scheduled(mxp_replay_run *run, uint32_t op, int64_t old_ready_ns,
                               int64_t ready, int64_t free)
{
    const int64_t start_ns = run->graph->ops[op].start_ns;
    const int64_t old_free_ns = mxp__replay_free_ns(run->plan, op);
    const int64_t old_ns = old_ready_ns > old_free_ns ? old_ready_ns : old_free_ns;
    const bool was_idle = old_ready_ns > old_free_ns, is_idle = ready > free;
    run->out->changed++;
    if (old_ns == MXP__NS_NONE) {
        return mxp__replay_fine(run, start_ns) > free ? mxp__replay_fine(run, start_ns) : free;
    }
    if (was_idle == is_idle && old_ns <= start_ns) {
        return (is_idle ? ready : free) + mxp__replay_distance(old_ns, start_ns);
    }
    run->out->switched++;
    return is_idle ? ready + usual_idle_gap(run, (ready - free) / MXP__FINE) * MXP__FINE : free;
}

static int64_t start_of(mxp_replay_run *run, uint32_t op)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[op];
    const uint32_t previous = mxp__graph_previous(graph, op);
    if (at->start_ns < graph->from_ns) {
        return mxp__replay_fine(run, at->start_ns);
    }
    if (mxp__graph_follows_member(graph, op)) {
        return run->ends[previous] +
               mxp__replay_distance(graph->ops[previous].end_ns, at->start_ns);
    }
    int64_t old_ready_ns;
    const int64_t ready = ready_at(run, op, &old_ready_ns);
    if (run->schedule != NULL && mxp__replay_is_scheduled(graph, op)) {
        return start_scheduled(run, op, old_ready_ns, ready, run->worker_free);
    }
    const bool is_async = (at->flags & MXP_OP_ASYNC) != 0;
    return start_on_worker(run, op, old_ready_ns, ready,
                           is_async || previous == MXP__NO_OP ? MXP__REPLAY_NEVER
                                                              : run->ends[previous]);
}

// ---- ends --------------------------------------------------------------------------------------
static void settle(mxp_replay_run *run, uint32_t op)
{
    const int64_t end_ns = run->graph->ops[op].end_ns;
    run->settled_old_ns = end_ns > run->settled_old_ns ? end_ns : run->settled_old_ns;
    run->settled_new = run->ends[op] > run->settled_new ? run->ends[op] : run->settled_new;
}

// All that had ended by then is settled.
void mxp__replay_settle_until(mxp_replay_run *run, int64_t ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->open_count; i++) {
        if (run->graph->ops[run->open[i]].end_ns <= ns) {
            settle(run, run->open[i]);
        } else {
            run->open[kept++] = run->open[i];
        }
    }
    run->open_count = kept;
}

// Pushes come in about the order of time, so it is mostly the step of the one before.
static size_t step_of(mxp_replay_run *run, int64_t ns)
{
    const mxp_steps *steps = run->plan->steps;
    const size_t at = run->push_step;
    const bool is_same = at + 1 < steps->count && ns >= steps->all[at].mark_ns &&
                         ns < steps->all[at + 1].mark_ns && at >= run->plan->first &&
                         at < run->plan->end;
    if (is_same) {
        return at;
    }
    const size_t step = mxp__replay_step_of(run->plan, ns);
    run->push_step = step == SIZE_MAX ? at : step;
    return step;
}

static void set_end(mxp_replay_run *run, uint32_t op, int64_t end)
{
    const mxp_graph_op *at = &run->graph->ops[op];
    run->ends[op] = end;
    const size_t step = at->is_idle ? SIZE_MAX : step_of(run, at->push_ns);
    // What is pushed in a part of the time that is no step may end behind it.
    if (step != SIZE_MAX && at->end_ns <= run->plan->steps->all[step].end_ns &&
        end > run->last_ends[step - run->plan->first]) {
        run->last_ends[step - run->plan->first] = end;
    }
    if (mxp__graph_is_inline(run->graph, op)) {
        return;  // its thread does not wait meanwhile, and others need not wait for it
    }
    if (run->schedule != NULL) {
        mxp__replay_gate_end(run, op);
        return;
    }
    if (run->open_count == MXP__REPLAY_OPEN_MAX) {
        mxp__replay_settle_until(run, at->start_ns);
    }
    if (run->open_count == MXP__REPLAY_OPEN_MAX) {
        settle(run, run->open[--run->open_count]);
    }
    run->open[run->open_count++] = op;
}

// A sum of the store, or what else it does by itself: it moves with the exchange that is under way,
// and no step of the program waits for it but by that.
static void go_sum(mxp_replay_run *run, uint32_t op)
{
    run->starts[op] = mxp__replay_fine(run, run->graph->ops[op].start_ns) + run->exchange_shift;
    run->ends[op] = run->starts[op] + run_time(run, op);
}

static void note_exchange(mxp_replay_run *run, uint32_t op)
{
    const mxp_graph_op *at = &run->graph->ops[op];
    if ((at->flags & MXP_OP_ASYNC) != 0 && at->thread == run->plan->store_thread) {
        run->exchange_shift = run->ends[op] - mxp__replay_fine(run, at->end_ns);
    }
}

static void end_completed(mxp_replay_run *run, uint32_t completer)
{
    const mxp_graph *graph = run->graph;
    for (uint32_t op = mxp__replay_completed_by(run->plan, completer); op != MXP__NO_OP;
         op = run->plan->also_completed[op]) {
        set_end(run, op, within(run, completer, graph->ops[op].end_ns));
    }
}

static void end_bulk(mxp_replay_run *run, uint32_t member)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[member];
    const uint32_t head =
        at->bulk_parent == 0 ? MXP__NO_OP : mxp__graph_find(graph, at->bulk_parent, INT64_MAX);
    if (head != MXP__NO_OP && graph->ops[head].last_member == member) {
        set_end(run, head,
                run->ends[member] + mxp__replay_distance(at->end_ns, graph->ops[head].end_ns));
        run->starts[head] = run->ends[head] - mxp__replay_distance(graph->ops[head].start_ns,
                                                                   graph->ops[head].end_ns);
    }
}

void mxp__replay_go_op(mxp_replay_run *run, uint32_t op)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[op];
    if (at->inner_of != MXP__NO_OP) {  // moves with what it is in
        const int64_t start = run->starts[at->inner_of];
        run->starts[op] =
            start == MXP__REPLAY_NEVER
                ? mxp__replay_fine(run, at->start_ns)
                : start + mxp__replay_distance(graph->ops[at->inner_of].start_ns, at->start_ns);
        set_end(run, op, run->starts[op] + mxp__replay_distance(at->start_ns, at->end_ns));
        end_completed(run, op);
        return;
    }
    if (at->thread == run->plan->store_thread && (at->flags & MXP_OP_ASYNC) == 0) {
        go_sum(run, op);
        return;
    }
    if (mxp__graph_is_inline(graph, op)) {
        const int64_t start = mxp__replay_host_at(run, at->thread, at->start_ns);
        run->starts[op] = start;
        mxp__replay_host_jump(run, at->thread, at->start_ns, start);
        set_end(run, op, start + run_time(run, op));
        mxp__replay_host_jump(run, at->thread, at->end_ns, run->ends[op]);
        end_completed(run, op);
        return;
    }
    run->starts[op] = start_of(run, op);
    const bool is_async = (at->flags & MXP_OP_ASYNC) != 0;
    const bool is_completed = is_async && mxp__replay_completer(run->plan, op) != MXP__NO_OP;
    if (is_completed) {
        return;
    }
    set_end(run, op, run->starts[op] + run_time(run, op));
    note_exchange(run, op);
    end_completed(run, op);
    end_bulk(run, op);
}
