// SPDX-License-Identifier: Apache-2.0
// See replay.h. One pass over the nodes in the order of time; new times are fine ones
// (replay_host.h).
#include "profiler/analysis/replay/replay.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"
#include "profiler/analysis/replay/replay_run.h"

#define NEVER MXP__REPLAY_NEVER

const mxp_changes mxp__no_changes = {.host = 1};

typedef mxp_replay_run replay;

static int64_t distance(int64_t from_ns, int64_t to_ns)
{
    const int64_t ns = to_ns - from_ns;
    return (ns < -MXP__REPLAY_NS_MAX  ? -MXP__REPLAY_NS_MAX
            : ns > MXP__REPLAY_NS_MAX ? MXP__REPLAY_NS_MAX
                                      : ns) *
           MXP__FINE;
}

static int64_t fine(const replay *run, int64_t ns)
{
    return distance(run->graph->from_ns, ns);
}

static int64_t host_at(replay *run, uint32_t thread, int64_t ns)
{
    int64_t now = 0;
    int error = mxp__host_map_at(&run->maps[thread], ns, &now);
    run->error = run->error == MXP_OK ? error : run->error;
    return now;
}

static void host_jump(replay *run, uint32_t thread, int64_t ns, int64_t now)
{
    int error = mxp__host_map_jump(&run->maps[thread], ns, now);
    run->error = run->error == MXP_OK ? error : run->error;
}

// ---- how long an operator runs -----------------------------------------------------------------
static double factor_of(const replay *run, const mxp_graph_op *op)
{
    const uint32_t names = run->graph->source->name_count;
    double factor = 1;
    if (run->changes->by_name != NULL && op->name < names) {
        factor *= run->changes->by_name[op->name];
    }
    if (run->changes->by_scope != NULL && op->scope < names) {
        factor *= run->changes->by_scope[op->scope];
    }
    return factor;
}

// What is before the graph's begin stays as it was.
static int64_t run_time(replay *run, uint32_t op)
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
    const double factor = factor_of(run, at);
    if (factor == 1) {
        return distance(0, before_ns + ns);
    }
    run->out->changed++;
    return distance(0, before_ns) + llround((double)ns * MXP__FINE * factor);
}

// ---- pushes ------------------------------------------------------------------------------------
// A moment in an operator: at the same share of it, or of what of it is in the graph.
static int64_t within(const replay *run, uint32_t op, int64_t ns)
{
    const mxp_graph_op *at = &run->graph->ops[op];
    const int64_t end = run->ends[op], from_ns = run->graph->from_ns;
    const int64_t fixed_ns = at->start_ns > from_ns ? at->start_ns : from_ns;
    const int64_t fixed = run->starts[op] + distance(at->start_ns, fixed_ns);
    if (ns <= fixed_ns) {
        return fixed - distance(ns, fixed_ns);
    }
    if (ns >= at->end_ns) {
        return end + distance(at->end_ns, ns);
    }
    if (end - fixed == distance(fixed_ns, at->end_ns)) {
        return fixed + distance(fixed_ns, ns);
    }
    const double share = (double)(ns - fixed_ns) / (double)(at->end_ns - fixed_ns);
    return fixed + llround((double)(end - fixed) * share);
}

// A moment on a worker, which pushes from inside of an operator.
static int64_t worker_at(const replay *run, uint32_t thread, int64_t ns)
{
    const mxp_graph_thread *of = &run->graph->threads[thread];
    size_t at = mxp__graph_ending_from(run->graph, thread, ns);
    const bool is_inside = at < of->op_count && run->graph->ops[of->ops[at]].start_ns <= ns;
    at = is_inside || at == 0 ? at : at - 1;
    if (at >= of->op_count || run->starts[of->ops[at]] == NEVER) {
        return fine(run, ns);
    }
    return within(run, of->ops[at], ns);
}

static int64_t push_at(replay *run, uint32_t head)
{
    const mxp_graph_op *op = &run->graph->ops[head];
    return run->graph->threads[op->push_thread].role == MXP__ROLE_WORKER
               ? worker_at(run, op->push_thread, op->push_ns)
               : host_at(run, op->push_thread, op->push_ns);
}

// ---- starts ------------------------------------------------------------------------------------
// From when on it could start, by its push and by what it waits for, and the same as recorded
// (mxp__replay_ready_ns). The one before on its worker counts only in a schedule, where others may
// be before it.
static inline int64_t ready_at(replay *run, uint32_t op, int64_t *old_ready_ns)
{
    const mxp_graph *graph = run->graph;
    const mxp_replay_plan *plan = run->plan;
    const uint32_t head = mxp__graph_head(graph, op);
    const int64_t start_ns = graph->ops[op].start_ns;
    const bool is_known = graph->ops[head].push_thread < graph->thread_count;
    int64_t ready = is_known ? push_at(run, head) : NEVER;
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

int64_t mxp__replay_ready_at(replay *run, uint32_t op)
{
    int64_t old_ready_ns;
    return ready_at(run, op, &old_ready_ns);
}

static int64_t usual_idle_gap(const replay *run, int64_t idle_ns)
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

// The gap after what was waited for last. `before` and `now`: how much later than the first the
// second of two things came, as recorded and as it is now. The situation is another one only if
// `now` is on the other side by more than the recorded gap, so that nothing jumps at a tie. A
// schedule jumps anyway, and takes each situation as it is.
static bool has_switched(const replay *run, int64_t before, int64_t now, int64_t gap)
{
    if (run->schedule != NULL) {
        return (before > 0) != (now > 0);
    }
    return before > 0 ? now < -gap : now > gap;
}

static inline int64_t start_on_worker(replay *run, uint32_t op, int64_t old_ready_ns, int64_t ready,
                                      int64_t free)
{
    const int64_t start_ns = run->graph->ops[op].start_ns;
    int64_t old_free_ns = mxp__replay_free_ns(run->plan, op);
    old_free_ns = old_free_ns > start_ns ? start_ns : old_free_ns;  // records contradict
    int64_t old_ns = old_ready_ns > old_free_ns ? old_ready_ns : old_free_ns;
    if (old_ns == MXP__NS_NONE || (ready == NEVER && free == NEVER)) {
        return fine(run, start_ns);
    }
    old_ns = old_ns > start_ns ? start_ns : old_ns;
    int64_t gap = distance(old_ns, start_ns);
    const int64_t now = ready > free ? ready : free;
    if (old_free_ns != MXP__NS_NONE && old_ready_ns != MXP__NS_NONE && free != NEVER &&
        ready != NEVER &&
        has_switched(run, distance(old_free_ns, old_ready_ns), ready - free, gap)) {
        run->out->switched++;
        gap = ready > free ? usual_idle_gap(run, (ready - free) / MXP__FINE) * MXP__FINE : 0;
    }
    return now + gap;
}

// In a schedule, where every start is decided anew: the worker is idle or goes on, and nothing is
// at a tie.
static int64_t start_scheduled(replay *run, uint32_t op, int64_t old_ready_ns, int64_t ready,
                               int64_t free)
{
    const int64_t start_ns = run->graph->ops[op].start_ns;
    const int64_t old_free_ns = mxp__replay_free_ns(run->plan, op);
    const int64_t old_ns = old_ready_ns > old_free_ns ? old_ready_ns : old_free_ns;
    const bool was_idle = old_ready_ns > old_free_ns, is_idle = ready > free;
    run->out->changed++;
    if (old_ns == MXP__NS_NONE) {
        return fine(run, start_ns) > free ? fine(run, start_ns) : free;
    }
    if (was_idle == is_idle && old_ns <= start_ns) {
        return (is_idle ? ready : free) + distance(old_ns, start_ns);
    }
    run->out->switched++;
    return is_idle ? ready + usual_idle_gap(run, (ready - free) / MXP__FINE) * MXP__FINE : free;
}

static int64_t start_of(replay *run, uint32_t op)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[op];
    const uint32_t previous = mxp__graph_previous(graph, op);
    if (at->start_ns < graph->from_ns) {
        return fine(run, at->start_ns);
    }
    if (mxp__graph_follows_member(graph, op)) {
        return run->ends[previous] + distance(graph->ops[previous].end_ns, at->start_ns);
    }
    int64_t old_ready_ns;
    const int64_t ready = ready_at(run, op, &old_ready_ns);
    if (run->schedule != NULL && mxp__replay_is_scheduled(graph, op)) {
        return start_scheduled(run, op, old_ready_ns, ready, run->worker_free);
    }
    const bool is_async = (at->flags & MXP_OP_ASYNC) != 0;
    return start_on_worker(run, op, old_ready_ns, ready,
                           is_async || previous == MXP__NO_OP ? NEVER : run->ends[previous]);
}

// ---- ends --------------------------------------------------------------------------------------
static void settle(replay *run, uint32_t op)
{
    const int64_t end_ns = run->graph->ops[op].end_ns;
    run->settled_old_ns = end_ns > run->settled_old_ns ? end_ns : run->settled_old_ns;
    run->settled_new = run->ends[op] > run->settled_new ? run->ends[op] : run->settled_new;
}

// All that had ended by then is settled.
static void settle_until(replay *run, int64_t ns)
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
static size_t step_of(replay *run, int64_t ns)
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

static void set_end(replay *run, uint32_t op, int64_t end)
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
        settle_until(run, at->start_ns);
    }
    if (run->open_count == MXP__REPLAY_OPEN_MAX) {
        settle(run, run->open[--run->open_count]);
    }
    run->open[run->open_count++] = op;
}

static void end_completed(replay *run, uint32_t completer)
{
    const mxp_graph *graph = run->graph;
    for (uint32_t op = mxp__replay_completed_by(run->plan, completer); op != MXP__NO_OP;
         op = run->plan->also_completed[op]) {
        set_end(run, op, within(run, completer, graph->ops[op].end_ns));
    }
}

static void end_bulk(replay *run, uint32_t member)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[member];
    const uint32_t head =
        at->bulk_parent == 0 ? MXP__NO_OP : mxp__graph_find(graph, at->bulk_parent, INT64_MAX);
    if (head != MXP__NO_OP && graph->ops[head].last_member == member) {
        set_end(run, head, run->ends[member] + distance(at->end_ns, graph->ops[head].end_ns));
        run->starts[head] =
            run->ends[head] - distance(graph->ops[head].start_ns, graph->ops[head].end_ns);
    }
}

void mxp__replay_go_op(replay *run, uint32_t op)
{
    const mxp_graph *graph = run->graph;
    const mxp_graph_op *at = &graph->ops[op];
    if (at->inner_of != MXP__NO_OP) {  // moves with what it is in
        const int64_t start = run->starts[at->inner_of];
        run->starts[op] = start == NEVER
                              ? fine(run, at->start_ns)
                              : start + distance(graph->ops[at->inner_of].start_ns, at->start_ns);
        set_end(run, op, run->starts[op] + distance(at->start_ns, at->end_ns));
        end_completed(run, op);
        return;
    }
    if (mxp__graph_is_inline(graph, op)) {
        const int64_t start = host_at(run, at->thread, at->start_ns);
        run->starts[op] = start;
        host_jump(run, at->thread, at->start_ns, start);
        set_end(run, op, start + run_time(run, op));
        host_jump(run, at->thread, at->end_ns, run->ends[op]);
        end_completed(run, op);
        return;
    }
    run->starts[op] = start_of(run, op);
    const bool is_async = (at->flags & MXP_OP_ASYNC) != 0;
    const bool is_completed = is_async && mxp__graph_completer(graph, op) != MXP__NO_OP;
    if (is_completed) {
        return;
    }
    set_end(run, op, run->starts[op] + run_time(run, op));
    end_completed(run, op);
    end_bulk(run, op);
}

// ---- waits -------------------------------------------------------------------------------------
// The innermost span of a thread at a moment; 0: none.
static uint32_t span_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, ns);
    return host == NULL ? 0 : host->name;
}

// Waits have the engine's names, and users know the calls. The second and later ones of a step have
// their own numbers, so that one can be left out.
static bool is_left_out(replay *run, const mxp_graph_wait *wait, uint32_t thread)
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
static bool cause_of(replay *run, uint32_t at, int64_t *old_ns, int64_t *now)
{
    const mxp_graph_wait *wait = &run->graph->waits[at];
    const uint32_t op = run->plan->wait_ops[at];
    if (wait->what == MXP_WAIT_ALL) {
        if (run->schedule != NULL) {
            mxp__replay_gate_open(run, at);
        } else {
            settle_until(run, wait->end_ns);
        }
        *old_ns = run->settled_old_ns;
        *now = run->settled_new;
        if (op != MXP__NO_OP && run->ends[op] > *now) {
            *old_ns = run->graph->ops[op].end_ns;
            *now = run->ends[op];
        }
        return *now != NEVER;
    }
    if (op == MXP__NO_OP || run->starts[op] == NEVER) {
        return false;
    }
    const bool is_task = wait->what == MXP_WAIT_TASK;
    *old_ns = is_task ? run->graph->ops[op].start_ns : run->graph->ops[op].end_ns;
    *now = is_task ? run->starts[op] : run->ends[op];
    return *now != NEVER && *old_ns <= wait->end_ns;
}

void mxp__replay_go_wait(replay *run, uint32_t at)
{
    const mxp_graph_wait *wait = &run->graph->waits[at];
    const uint32_t thread = run->plan->wait_threads[at];
    int64_t old_cause_ns, cause;
    if (!cause_of(run, at, &old_cause_ns, &cause)) {
        return;
    }
    const int64_t begin = host_at(run, thread, wait->begin_ns);
    if (wait->what == MXP_WAIT_TASK) {
        const double factor = factor_of(run, &run->graph->ops[run->plan->wait_ops[at]]);
        run->maps[thread].task_factor = factor;
        run->out->changed += factor != 1;
    }
    if (is_left_out(run, wait, thread)) {
        host_jump(run, thread, wait->end_ns, begin);
        return;
    }
    if (mxp__graph_is_made_for(run->graph, thread, wait)) {
        host_jump(run, thread, wait->end_ns, cause + distance(old_cause_ns, wait->end_ns));
        return;
    }
    const int64_t old_ns = old_cause_ns > wait->begin_ns ? old_cause_ns : wait->begin_ns;
    int64_t gap = distance(old_ns, wait->end_ns);
    if (has_switched(run, distance(wait->begin_ns, old_cause_ns), cause - begin, gap)) {
        run->out->switched++;
        gap = cause > begin ? run->plan->wake_ns * MXP__FINE : 0;
    }
    host_jump(run, thread, wait->end_ns, (cause > begin ? cause : begin) + gap);
}

// ---- all ---------------------------------------------------------------------------------------
static void check_op(replay *run, uint32_t op)
{
    const bool is_wrong =
        run->starts[op] != fine(run, run->graph->ops[op].start_ns) ||
        (run->ends[op] != NEVER && run->ends[op] != fine(run, run->graph->ops[op].end_ns));
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

static void go_all(replay *run)
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
static void take_lengths(replay *run)
{
    const mxp_steps *steps = run->plan->steps;
    int64_t before = fine(run, steps->all[run->plan->first].begin_ns);
    for (size_t i = run->plan->first; i < run->plan->end; i++) {
        const mxp_step_window *step = &steps->all[i];
        const int64_t own = steps->thread < run->graph->thread_count
                                ? host_at(run, steps->thread, step->next_ns)
                                : fine(run, step->next_ns);
        int64_t end = own > before ? own : before;
        const int64_t last = run->last_ends[i - run->plan->first];
        end = last > end ? last : end;
        run->out->recorded_ns[i - run->plan->first] = step->end_ns - step->begin_ns;
        run->out->gains_ns[i - run->plan->first] =
            (double)(distance(step->begin_ns, step->end_ns) - (end - before)) / MXP__FINE;
        run->out->lengths_ns[i - run->plan->first] = llround((double)(end - before) / MXP__FINE);
        before = end;
    }
}

static int take_overlap(replay *run)
{
    int64_t overlap, all;
    if (run->changes->workers > 0) {
        return mxp__replay_scheduled_overlap(run, &run->out->overlap_ns);
    }
    mxp__replay_overlap(run->graph, run->starts, run->ends, &overlap, &all);
    run->out->overlap_ns = overlap / MXP__FINE;
    return MXP_OK;
}

static int prepare(replay *run)
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
        run->starts[i] = run->ends[i] = NEVER;
    }
    for (size_t i = 0; i < steps; i++) {
        run->last_ends[i] = NEVER;
    }
    int error = MXP_OK;
    for (uint32_t i = 0; i < graph->thread_count && error == MXP_OK; i++) {
        error = mxp__host_map_begin(graph, run->changes, i, &run->maps[i]);
    }
    return error;
}

static void replay_fini(replay *run)
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
    replay run = {.plan = plan,
                  .graph = plan->graph,
                  .changes = changes,
                  .out = replayed,
                  .settled_old_ns = MXP__NS_NONE,
                  .settled_new = NEVER,
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
