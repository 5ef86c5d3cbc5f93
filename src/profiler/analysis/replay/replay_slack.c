// SPDX-License-Identifier: Apache-2.0
// Slack: one pass over the nodes of the replay, the latest first. What may come later by so much
// lets what it waited for come later by so much, and by what it was early besides.
#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay.h"
#include "profiler/analysis/replay/replay_parts.h"

#define ANY INT64_MAX

// A moment of a thread that may come later by `slack_ns` only.
typedef struct bound {
    int64_t at_ns, slack_ns;
} bound;

typedef struct thread_slack {
    bound *bounds;  // a heap, the latest first: those before the moment at hand
    size_t count, capacity;
    int64_t slack_ns;  // of the moment at hand
} thread_slack;

typedef struct slackening {
    const mxp_replay_plan *plan;
    const mxp_graph *graph;
    int64_t *ends, *starts;  // by operator
    thread_slack *threads;
    bound
        *alls;  // waits for everything, the earliest last: their begin, and the latest end of what
    size_t all_count, all_capacity;  // was pushed before
    int error;
} slackening;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t plus(int64_t slack_ns, int64_t early_ns)
{
    return slack_ns == ANY ? ANY : slack_ns + early_ns;
}

// ---- threads of the program --------------------------------------------------------------------
static void add_bound(slackening *on, uint32_t thread, int64_t at_ns, int64_t slack_ns)
{
    thread_slack *to = &on->threads[thread];
    if (slack_ns == ANY || on->error != MXP_OK) {
        return;
    }
    if (mxp__grow(&to->bounds, &to->capacity, to->count + 1, sizeof *to->bounds) != MXP_OK) {
        on->error = mxp__fail_memory(mxp__replay_memory);
        return;
    }
    size_t at = to->count++;
    while (at > 0 && to->bounds[(at - 1) / 2].at_ns < at_ns) {
        to->bounds[at] = to->bounds[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    to->bounds[at] = (bound){.at_ns = at_ns, .slack_ns = slack_ns};
}

static void take_first(thread_slack *from)
{
    const bound moved = from->bounds[--from->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < from->count && from->bounds[child + 1].at_ns > from->bounds[child].at_ns) {
            child++;
        }
        if (child >= from->count || from->bounds[child].at_ns <= moved.at_ns) {
            break;
        }
        from->bounds[at] = from->bounds[child];
        at = child;
    }
    from->bounds[at] = moved;
}

// By how much the thread may be later at `ns`.
static int64_t thread_at(slackening *on, uint32_t thread, int64_t ns)
{
    thread_slack *of = &on->threads[thread];
    while (of->count > 0 && of->bounds[0].at_ns >= ns) {
        of->slack_ns = least(of->slack_ns, of->bounds[0].slack_ns);
        take_first(of);
    }
    return of->slack_ns;
}

// ---- steps -------------------------------------------------------------------------------------
static void bound_steps(slackening *on)
{
    const mxp_steps *steps = on->plan->steps;
    for (size_t i = on->plan->first; i < on->plan->end; i++) {
        const mxp_step_window *step = &steps->all[i];
        if (steps->thread < on->graph->thread_count) {
            add_bound(on, steps->thread, step->next_ns, step->end_ns - step->next_ns);
        }
    }
}

static void bound_by_step(slackening *on, uint32_t op)
{
    const mxp_graph_op *at = &on->graph->ops[op];
    const size_t step = mxp__replay_step_of(on->plan, at->push_ns);
    if (!at->is_idle && step != SIZE_MAX) {
        const int64_t end_ns = on->plan->steps->all[step].end_ns;
        on->ends[op] = least(on->ends[op], end_ns < at->end_ns ? 0 : end_ns - at->end_ns);
    }
}

// ---- operators ---------------------------------------------------------------------------------
static void to_push(slackening *on, uint32_t head, int64_t slack_ns)
{
    const mxp_graph *graph = on->graph;
    const mxp_graph_op *at = &graph->ops[head];
    if (at->push_thread >= graph->thread_count) {
        return;
    }
    if (graph->threads[at->push_thread].role != MXP__ROLE_WORKER) {
        add_bound(on, at->push_thread, at->push_ns, slack_ns);
        return;
    }
    const mxp_graph_thread *thread = &graph->threads[at->push_thread];
    const size_t i = mxp__graph_ending_from(graph, at->push_thread, at->push_ns);
    if (i < thread->op_count && graph->ops[thread->ops[i]].start_ns <= at->push_ns) {
        int64_t *outer = &on->starts[thread->ops[i]];
        *outer = least(*outer, slack_ns);
    }
}

// What a start may be later by, what it waited for may be, and what that was early besides.
static void to_causes(slackening *on, uint32_t op, int64_t slack_ns)
{
    const mxp_graph *graph = on->graph;
    const mxp_replay_plan *plan = on->plan;
    const mxp_graph_op *at = &graph->ops[op];
    const uint32_t previous = mxp__graph_previous(graph, op);
    if (slack_ns == ANY || at->start_ns < graph->from_ns) {
        return;
    }
    if (mxp__graph_follows_member(graph, op)) {
        on->ends[previous] = least(on->ends[previous], slack_ns);
        return;
    }
    const uint32_t head = mxp__graph_head(graph, op);
    const int64_t ready_ns = mxp__replay_ready_ns(plan, op);
    const int64_t free_ns = mxp__replay_free_ns(plan, op);
    const int64_t latest_ns = ready_ns > free_ns ? ready_ns : free_ns;
    if (latest_ns == MXP__NS_NONE) {
        return;  // nobody knows what it waited for
    }
    for (uint32_t i = plan->edge_first[head]; i < plan->edge_ends[head]; i++) {
        int64_t *end = &on->ends[plan->edges[i]];
        *end = least(*end, plus(slack_ns, latest_ns - graph->ops[plan->edges[i]].end_ns));
    }
    if (free_ns != MXP__NS_NONE) {
        on->ends[previous] = least(on->ends[previous], plus(slack_ns, latest_ns - free_ns));
    }
    to_push(on, head, plus(slack_ns, latest_ns - graph->ops[head].push_ns));
}

static void go_inline(slackening *on, uint32_t op)
{
    const mxp_graph_op *at = &on->graph->ops[op];
    const int64_t slack_ns = thread_at(on, at->thread, at->start_ns);
    on->ends[op] = least(on->ends[op], slack_ns);
    on->threads[at->thread].slack_ns = on->ends[op];
}

static void take_bulk(slackening *on, uint32_t member)
{
    const mxp_graph *graph = on->graph;
    const uint32_t bulk = graph->ops[member].bulk_parent;
    const uint32_t parent = bulk == 0 ? MXP__NO_OP : mxp__graph_find(graph, bulk, INT64_MAX);
    if (parent != MXP__NO_OP && graph->ops[parent].last_member == member) {
        bound_by_step(on, parent);
        on->ends[member] = least(on->ends[member], on->ends[parent]);
    }
}

// The first wait for everything that began behind its push.
static void bound_by_all(slackening *on, uint32_t op)
{
    const mxp_graph_op *at = &on->graph->ops[op];
    for (size_t i = on->all_count; i-- > 0;) {
        if (on->alls[i].at_ns > at->push_ns) {
            on->ends[op] = least(on->ends[op], on->alls[i].slack_ns - at->end_ns);
            return;
        }
    }
}

static void go_op(slackening *on, uint32_t op)
{
    const mxp_graph *graph = on->graph;
    const mxp_graph_op *at = &graph->ops[op];
    bound_by_step(on, op);
    const bool is_own = (at->flags & MXP_OP_ASYNC) == 0 && at->inner_of == MXP__NO_OP;
    if (!is_own || !mxp__graph_is_inline(graph, op)) {
        bound_by_all(on, op);
    }
    for (uint32_t done = mxp__replay_completed_by(on->plan, op); done != MXP__NO_OP;
         done = on->plan->also_completed[done]) {
        bound_by_step(on, done);
        on->ends[op] = least(on->ends[op], on->ends[done]);
    }
    if (at->inner_of != MXP__NO_OP) {
        on->starts[at->inner_of] = least(on->starts[at->inner_of], on->ends[op]);
        return;
    }
    if (mxp__graph_is_inline(graph, op)) {
        go_inline(on, op);
        return;
    }
    take_bulk(on, op);
    const bool is_completed =
        (at->flags & MXP_OP_ASYNC) != 0 && mxp__replay_completer(on->plan, op) != MXP__NO_OP;
    // An asynchronous operator ends when its completer says so, however early it began.
    to_causes(on, op, is_completed ? on->starts[op] : least(on->starts[op], on->ends[op]));
}

// ---- waits -------------------------------------------------------------------------------------
static void go_wait(slackening *on, uint32_t at)
{
    const mxp_graph *graph = on->graph;
    const mxp_graph_wait *wait = &graph->waits[at];
    const uint32_t thread = on->plan->wait_threads[at], op = on->plan->wait_ops[at];
    if (op == MXP__NO_OP) {
        return;
    }
    const bool is_task = wait->what == MXP_WAIT_TASK;
    const int64_t cause_ns = is_task ? graph->ops[op].start_ns : graph->ops[op].end_ns;
    const bool is_made_for = mxp__graph_is_made_for(graph, thread, wait, graph->from_ns);
    const int64_t latest_ns = cause_ns > wait->begin_ns || is_made_for ? cause_ns : wait->begin_ns;
    const int64_t slack_ns = thread_at(on, thread, wait->end_ns);
    int64_t *of = is_task ? &on->starts[op] : &on->ends[op];
    *of = least(*of, plus(slack_ns, latest_ns - cause_ns));
    on->threads[thread].slack_ns = is_made_for ? ANY : plus(slack_ns, latest_ns - wait->begin_ns);
    if (wait->what == MXP_WAIT_ALL && slack_ns != ANY) {
        if (mxp__grow(&on->alls, &on->all_capacity, on->all_count + 1, sizeof *on->alls) !=
            MXP_OK) {
            on->error = mxp__fail_memory(mxp__replay_memory);
            return;
        }
        on->alls[on->all_count++] =
            (bound){.at_ns = wait->begin_ns, .slack_ns = latest_ns + slack_ns};
    }
}

// ---- all ---------------------------------------------------------------------------------------
static int begin_slack(slackening *on)
{
    const mxp_graph *graph = on->graph;
    const size_t bytes = graph->op_count * sizeof *on->ends;
    on->ends = mxp__alloc(bytes);
    on->starts = mxp__alloc(bytes);
    on->threads = mxp__alloc(graph->thread_count * sizeof *on->threads);
    if ((bytes > 0 && (on->ends == NULL || on->starts == NULL)) ||
        (graph->thread_count > 0 && on->threads == NULL)) {
        return mxp__fail_memory(mxp__replay_memory);
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        on->ends[i] = on->starts[i] = ANY;
    }
    for (size_t i = 0; i < graph->thread_count; i++) {
        on->threads[i].slack_ns = ANY;
    }
    bound_steps(on);
    return on->error;
}

static void end_slack(slackening *on)
{
    const mxp_graph *graph = on->graph;
    for (size_t i = 0; on->threads != NULL && i < graph->thread_count; i++) {
        mxp__free(on->threads[i].bounds, on->threads[i].capacity * sizeof(bound));
    }
    mxp__free(on->threads, graph->thread_count * sizeof *on->threads);
    mxp__free(on->alls, on->all_capacity * sizeof *on->alls);
    mxp__free(on->starts, graph->op_count * sizeof *on->starts);
}

// What nothing waits for may end when the last window does.
static void limit_all(slackening *on)
{
    const mxp_replay_plan *plan = on->plan;
    const int64_t last_ns =
        plan->first < plan->end ? plan->steps->all[plan->end - 1].end_ns : on->graph->to_ns;
    for (size_t i = 0; i < on->graph->op_count; i++) {
        const int64_t end_ns = on->graph->ops[i].end_ns;
        on->ends[i] = least(on->ends[i], last_ns > end_ns ? last_ns - end_ns : 0);
        on->ends[i] = on->ends[i] < 0 ? 0 : on->ends[i];
    }
}

int mxp__replay_slack(const mxp_replay_plan *plan, int64_t **slack_ns)
{
    slackening on = {.plan = plan, .graph = plan->graph};
    on.error = begin_slack(&on);
    for (size_t i = plan->order_count; i-- > 0 && on.error == MXP_OK;) {
        const uint32_t node = plan->order[i];
        if ((node & MXP__NODE_IS_WAIT) != 0) {
            go_wait(&on, node & ~MXP__NODE_IS_WAIT);
        } else {
            go_op(&on, node);
        }
    }
    if (on.error == MXP_OK) {
        limit_all(&on);
        *slack_ns = on.ends;
    } else {
        mxp__free(on.ends, plan->graph->op_count * sizeof *on.ends);
    }
    end_slack(&on);
    return on.error;
}
