// SPDX-License-Identifier: Apache-2.0
// See what_if.h. Chosen steps are looked at in stretches: as many steps in a row as memory allows
// that have no loss and no pause in them.
#include "profiler/analysis/replay/what_if.h"

#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/path/path.h"
#include "profiler/analysis/replay/change_tables.h"
#include "profiler/analysis/statistics/bootstrap.h"
#include "profiler/analysis/statistics/sample.h"

static const double unknown_max = 0.01;  // share of the path
static const double overlap_error = 0.05;  // of a change, where operators share cores otherwise
static const double overlap_matters = 0.01;  // of the time of all operators

typedef struct forecast {
    mxp_source *process;
    mxp_steps *steps;
    const bool *chosen;
    uint64_t limit_bytes;
    bool wants_slack;
    mxp_what_if *out;
    mxp_change_tables *tables;  // by set
    // By set: how much less and more would be gained, of all steps, if workers that are idle then
    // took long or short to start.
    double *long_ns, *short_ns;
    bool *overlaps;  // by set
    int64_t path_ns, unknown_ns;
} forecast;

// Of a graph of several steps; plan and replay take half as much again.
#define STRETCH_BYTES (UINT64_C(32) << 20)

static const char memory_for[] = "the prediction";

static bool is_usable(const forecast *of, size_t step)
{
    const mxp_step_window *window = &of->steps->all[step];
    return !window->has_loss && !window->has_pause && !window->is_open;
}

static bool is_chosen(const forecast *of, size_t step)
{
    return of->chosen == NULL || of->chosen[step];
}

// ---- one stretch -------------------------------------------------------------------------------
static int add_step(forecast *of, size_t step)
{
    mxp_what_if *out = of->out;
    const size_t needed = out->count + 1;
    if (mxp__grow(&out->places, &out->capacity, needed, sizeof *out->places) != MXP_OK ||
        mxp__grow(&out->lengths_ns, &out->length_capacity, needed, sizeof *out->lengths_ns) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const mxp_step_window *window = &of->steps->all[step];
    out->places[out->count] = step;
    out->lengths_ns[out->count++] = (double)(window->end_ns - window->begin_ns);
    return MXP_OK;
}

static int fail_wrong(const forecast *of, const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    return mxp__fail(MXP_ENOTSUP,
                     "the recorded run does not come out of its own replay: '%s' at %.6f s is the "
                     "first operator that does not, so nothing is predicted",
                     of->process->name(of->process, at->name).text, (double)at->start_ns / 1e9);
}

// The unchanged run must come out exactly.
static int check_unchanged(const forecast *of, const mxp_replay_plan *plan)
{
    if (plan->contradictions > 0) {
        return mxp__fail(MXP_ENOTSUP,
                         "records contradict one another in %" PRIu64
                         " places, first at %.6f s: something began before what it waited for, so "
                         "nothing is predicted",
                         plan->contradictions, (double)plan->first_contradiction_ns / 1e9);
    }
    mxp_replayed same;
    int error = mxp__replay_run(plan, &mxp__no_changes, &same);
    if (error != MXP_OK) {
        return error;
    }
    if (same.wrong_op != MXP__NO_OP) {
        error = fail_wrong(of, plan->graph, same.wrong_op);
    }
    for (size_t i = 0; i < same.count && error == MXP_OK; i++) {
        if (same.lengths_ns[i] != same.recorded_ns[i]) {
            error = mxp__fail(MXP_ENOTSUP,
                              "step %" PRIu64 " comes out of its own replay %" PRId64
                              " ns off, so nothing is predicted",
                              of->steps->all[plan->first + i].number,
                              same.lengths_ns[i] - same.recorded_ns[i]);
        }
    }
    mxp__replayed_fini(&same);
    return error;
}

static int add_unknown(forecast *of, const mxp_graph *graph, size_t first, size_t end)
{
    mxp_path path = {0};
    int error = MXP_OK;
    for (size_t step = first; step < end && error == MXP_OK; step++) {
        const mxp_step_window *window = &of->steps->all[step];
        if (!is_chosen(of, step)) {
            continue;
        }
        error = mxp__path_walk(graph, window->begin_ns, window->end_ns, of->steps->thread, &path);
        for (size_t i = 0; i < path.count && error == MXP_OK; i++) {
            const int64_t ns = path.pieces[i].to_ns - path.pieces[i].from_ns;
            of->path_ns += ns;
            of->unknown_ns += path.pieces[i].kind == MXP__PATH_UNKNOWN ? ns : 0;
        }
    }
    mxp__path_fini(&path);
    return error;
}

// By how much the gain of the steps from `first_of` on is another one with other gaps.
static int gain_with(const forecast *of, const mxp_replay_plan *plan, size_t at, size_t first_of,
                     int gaps, double *more_ns)
{
    mxp_changes changes = of->tables[at].changes;
    mxp_replayed replayed;
    changes.gaps = gaps;
    int error = mxp__replay_run(plan, &changes, &replayed);
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = first_of; i < of->out->count; i++) {
        *more_ns +=
            replayed.gains_ns[of->out->places[i] - plan->first] - of->out->sets[at].gains_ns[i];
    }
    mxp__replayed_fini(&replayed);
    return MXP_OK;
}

static int replay_set(forecast *of, const mxp_replay_plan *plan, size_t at, size_t first_of)
{
    mxp_change_set *set = &of->out->sets[at];
    mxp_replayed replayed;
    of->tables[at].roofless = 0;
    int error = mxp__change_tables_for(&of->tables[at], plan->graph);
    if (error == MXP_OK) {
        error = mxp__replay_run(plan, &of->tables[at].changes, &replayed);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = first_of; i < of->out->count; i++) {
        set->gains_ns[i] = replayed.gains_ns[of->out->places[i] - plan->first];
    }
    set->changed += replayed.changed;
    set->switched += replayed.switched;
    set->roofless += of->tables[at].roofless;
    const double off = fabs((double)(replayed.overlap_ns - plan->overlap_ns));
    of->overlaps[at] |= off > overlap_matters * (double)plan->run_ns;
    const bool has_switched = replayed.switched > 0;
    mxp__replayed_fini(&replayed);
    if (has_switched) {
        error = gain_with(of, plan, at, first_of, 1, &of->long_ns[at]);
    }
    return error == MXP_OK && has_switched
               ? gain_with(of, plan, at, first_of, -1, &of->short_ns[at])
               : error;
}

static int add_steps(forecast *of, size_t first, size_t end)
{
    int error = MXP_OK;
    for (size_t step = first; step < end && error == MXP_OK; step++) {
        error = is_chosen(of, step) ? add_step(of, step) : MXP_OK;
    }
    return error;
}

static int look_at(forecast *of, const mxp_graph *graph, size_t first, size_t end)
{
    mxp_replay_plan plan;
    const size_t first_of = of->out->count;
    if (of->out->is_window) {  // it ends where the thread does that its path is walked from
        of->steps->thread = mxp__path_window_thread(graph);
    }
    int error = mxp__replay_plan_make(graph, of->steps, first, end, &plan);
    if (error != MXP_OK) {
        return error;
    }
    of->out->operators += graph->op_count;
    of->out->cut_ops += graph->cut_ops;
    of->out->has_exchanges |= plan.store_thread != UINT32_MAX;
    error = check_unchanged(of, &plan);
    if (error == MXP_OK) {
        error = add_unknown(of, graph, first, end);
    }
    if (error == MXP_OK) {
        error = add_steps(of, first, end);
    }
    if (error == MXP_OK && of->wants_slack) {
        error = mxp__slack_rows_add(&of->out->slack, &plan, of->chosen);
    }
    for (size_t i = 0; i < of->out->set_count && error == MXP_OK; i++) {
        error = replay_set(of, &plan, i, first_of);
    }
    mxp__replay_plan_fini(&plan);
    return error;
}

static uint64_t stretch_bytes(const forecast *of)
{
    return of->limit_bytes < STRETCH_BYTES ? of->limit_bytes : STRETCH_BYTES;
}

// A single step may take all that is allowed, several no more than is worth it.
static int load_steps(const forecast *of, size_t first, size_t end, mxp_graph *graph)
{
    const mxp_step_window *all = of->steps->all;
    const bool is_single = end - first == 1;
    const uint64_t limit_bytes = is_single ? of->limit_bytes : stretch_bytes(of);
    return mxp__graph_load_part(&of->steps->index, all[first].begin_ns, all[end - 1].end_ns,
                                limit_bytes, graph);
}

// How many steps to load next, by what those before took.
static size_t next_count(const forecast *of, size_t count, uint64_t bytes)
{
    const double fits = 0.8 * (double)count * (double)stretch_bytes(of) / ((double)bytes + 1);
    return fits < 1 ? 1 : fits > 1e9 ? (size_t)1000000000 : (size_t)fits;
}

static int look_at_stretch(forecast *of, size_t first, size_t end)
{
    size_t count = end - first;
    while (true) {
        while (first < end && !is_chosen(of, first)) {
            first++;
        }
        if (first == end) {
            return MXP_OK;
        }
        count = count < end - first ? count : end - first;
        mxp_graph graph;
        int error = load_steps(of, first, first + count, &graph);
        if (error == MXP_ENOMEM && count > 1) {
            count /= 2;
            continue;
        }
        if (error != MXP_OK) {
            return error;
        }
        error = look_at(of, &graph, first, first + count);
        first += count;
        count = next_count(of, count, graph.bytes);
        mxp__graph_fini(&graph);
        if (error != MXP_OK) {
            return error;
        }
    }
}

static int look_at_all(forecast *of)
{
    int error = MXP_OK;
    size_t first = 0;
    for (size_t i = 0; i <= of->steps->count && error == MXP_OK; i++) {
        if (i < of->steps->count && is_usable(of, i)) {
            continue;
        }
        error = look_at_stretch(of, first, i);
        of->out->left_out += i < of->steps->count && is_chosen(of, i);
        first = i + 1;
    }
    return error;
}

// ---- what is said of it ------------------------------------------------------------------------
static int refuse_all(const forecast *of)
{
    const mxp_what_if *out = of->out;
    if (of->steps->operators == 0 || (out->count > 0 && out->operators == 0)) {
        return mxp__fail(MXP_ENOTSUP,
                         "there are no operators of libmxnet in it, so nothing can be predicted");
    }
    if (out->count == 0) {
        return mxp__fail(MXP_ENOTSUP,
                         "all chosen steps have losses or pauses in them, or no end: nothing is "
                         "predicted from a part of what happened");
    }
    const double unknown = of->path_ns == 0 ? 0 : (double)of->unknown_ns / (double)of->path_ns;
    of->out->unknown = unknown;
    if (unknown > unknown_max) {
        return mxp__fail(MXP_ENOTSUP,
                         "%.1f %% of the path is unknown, for operators on it have no record: "
                         "above 1 %% nothing is predicted",
                         100 * unknown);
    }
    return MXP_OK;
}

static void describe(mxp_change_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const mxp_change_kind kind = set->changes[i].kind;
        set->is_model |=
            kind == MXP_CHANGE_WORKERS || kind == MXP_CHANGE_BULK || kind == MXP_CHANGE_PREFETCH;
        set->is_upper_bound |= kind == MXP_CHANGE_NO_WAIT;
    }
}

static int middle_length(const forecast *of, mxp_change_set *set)
{
    const size_t count = of->out->count;
    double *lengths = mxp__alloc(count * sizeof *lengths);
    if (lengths == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < count; i++) {
        lengths[i] = of->out->lengths_ns[i] - set->gains_ns[i];
    }
    mxp__sample_sort(lengths, count);
    set->p50_ns = mxp__sample_median(lengths, count);
    mxp__free(lengths, count * sizeof *lengths);
    return MXP_OK;
}

// The steps' own variation, what a switched situation may take, and what shared cores may.
static int judge(const forecast *of, size_t at)
{
    mxp_change_set *set = &of->out->sets[at];
    const size_t count = of->out->count;
    mxp_bootstrap bootstrap;
    int error = mxp__bootstrap_init(&bootstrap, set->gains_ns, count);
    if (error != MXP_OK) {
        return error;
    }
    set->gain_ns = mxp__sample_mean(set->gains_ns, count);
    set->changes_overlap = of->overlaps[at];
    const double cores_ns = set->changes_overlap ? overlap_error * fabs(set->gain_ns) : 0;
    const double less_ns = fmin(of->long_ns[at], 0), more_ns = fmax(of->short_ns[at], 0);
    set->low_ns = mxp__bootstrap_bound(&bootstrap, 0.025) + less_ns / (double)count - cores_ns;
    set->high_ns = mxp__bootstrap_bound(&bootstrap, 0.975) + more_ns / (double)count + cores_ns;
    mxp__bootstrap_fini(&bootstrap);
    describe(set);
    return middle_length(of, set);
}

static int prepare(forecast *of)
{
    const size_t sets = of->out->set_count;
    of->tables = mxp__alloc(sets * sizeof *of->tables);
    of->long_ns = mxp__alloc(sets * sizeof *of->long_ns);
    of->short_ns = mxp__alloc(sets * sizeof *of->short_ns);
    of->overlaps = mxp__alloc(sets * sizeof *of->overlaps);
    if (sets > 0 && (of->tables == NULL || of->long_ns == NULL || of->short_ns == NULL ||
                     of->overlaps == NULL)) {
        return mxp__fail_memory(memory_for);
    }
    int error = MXP_OK;
    for (size_t step = 0; step < of->steps->count; step++) {
        of->out->gain_capacity += is_chosen(of, step);
    }
    for (size_t i = 0; i < sets && error == MXP_OK; i++) {
        mxp_change_set *set = &of->out->sets[i];
        set->gains_ns = mxp__alloc(of->out->gain_capacity * sizeof *set->gains_ns);
        if (set->gains_ns == NULL && of->out->gain_capacity > 0) {
            return mxp__fail_memory(memory_for);
        }
        error = mxp__change_tables_make(of->process, &of->out->sets[i], &of->tables[i]);
    }
    return error;
}

static void forecast_fini(forecast *of)
{
    const size_t sets = of->out->set_count;
    for (size_t i = 0; of->tables != NULL && i < sets; i++) {
        mxp__change_tables_fini(&of->tables[i]);
    }
    mxp__free(of->tables, sets * sizeof *of->tables);
    mxp__free(of->long_ns, sets * sizeof *of->long_ns);
    mxp__free(of->short_ns, sets * sizeof *of->short_ns);
    mxp__free(of->overlaps, sets * sizeof *of->overlaps);
}

int mxp__what_if(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                 uint64_t limit_bytes, bool wants_slack, mxp_change_set *sets, size_t set_count,
                 mxp_what_if *result)
{
    const bool is_window = steps->count == 0;
    *result = (mxp_what_if){
        .process = process, .sets = sets, .set_count = set_count, .is_window = is_window};
    for (size_t i = 0; i < set_count; i++) {
        sets[i] = (mxp_change_set){.changes = sets[i].changes, .count = sets[i].count};
    }
    mxp_step_window window;
    mxp_steps one =
        is_window ? mxp__path_window(steps, steps->first_ns, steps->last_ns, &window) : *steps;
    forecast of = {.process = process,
                   .steps = &one,
                   .chosen = is_window ? NULL : chosen,
                   .limit_bytes = limit_bytes,
                   .wants_slack = wants_slack,
                   .out = result};
    int error = prepare(&of);
    if (error == MXP_OK) {
        error = look_at_all(&of);
    }
    if (error == MXP_OK) {
        error = refuse_all(&of);
    }
    for (size_t i = 0; i < set_count && error == MXP_OK; i++) {
        error = judge(&of, i);
    }
    if (error == MXP_OK) {
        result->mean_ns = mxp__sample_mean(result->lengths_ns, result->count);
    }
    forecast_fini(&of);
    if (error != MXP_OK) {
        mxp__what_if_fini(result);
    }
    return error;
}

void mxp__what_if_fini(mxp_what_if *result)
{
    for (size_t i = 0; i < result->set_count; i++) {
        mxp_change_set *set = &result->sets[i];
        mxp__free(set->gains_ns, result->gain_capacity * sizeof *set->gains_ns);
        set->gains_ns = NULL;
    }
    mxp__slack_rows_fini(&result->slack);
    mxp__free(result->places, result->capacity * sizeof *result->places);
    mxp__free(result->lengths_ns, result->length_capacity * sizeof *result->lengths_ns);
    *result = (mxp_what_if){0};
}
