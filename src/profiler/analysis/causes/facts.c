// SPDX-License-Identifier: Apache-2.0
// See facts.h.
#include "profiler/analysis/causes/facts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/causes/facts_parts.h"

static const char memory_for[] = "the figures of each step";

typedef struct walk {
    mxp_facts *facts;
    const mxp_path_listener *listener;
    uint64_t loads;  // of the graph that was looked at last
} walk;

uint32_t mxp__facts_index_of_mark(const mxp_facts *facts, int64_t ns, size_t *near)
{
    const mxp_steps *steps = facts->steps;
    size_t low = *near, high = steps->count;
    if (low + 1 < high && steps->all[low].mark_ns <= ns && ns < steps->all[low + 1].mark_ns) {
        return facts->index_of[low];
    }
    low = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool is_before = steps->all[middle].mark_ns <= ns;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    *near = low == 0 ? 0 : low - 1;
    return low == 0 ? UINT32_MAX : facts->index_of[low - 1];
}

size_t mxp__facts_index_at(const mxp_facts *facts, int64_t ns)
{
    const mxp_step_window *all = facts->steps->all;
    size_t low = 0, high = facts->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool is_before = all[facts->at[middle].place].end_ns <= ns;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low == facts->count || all[facts->at[low].place].begin_ns > ns ? facts->count : low;
}

// ---- on the path -------------------------------------------------------------------------------
// Time from `from_ns` to `to_ns` in which the thread was taking memory from the system.
static int64_t taking_of(const mxp_facts *facts, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0, high = facts->taking_count;
    while (low < high) {  // the first one of the thread that ends after from_ns
        const size_t middle = low + (high - low) / 2;
        const mxp_taking *at = &facts->takings[middle];
        const bool is_before =
            at->thread < thread || (at->thread == thread && at->end_ns <= from_ns);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    int64_t ns = 0;
    for (; low < facts->taking_count; low++) {
        const mxp_taking *at = &facts->takings[low];
        if (at->thread != thread || at->begin_ns >= to_ns) {
            break;
        }
        const int64_t from = at->begin_ns > from_ns ? at->begin_ns : from_ns;
        ns += (at->end_ns < to_ns ? at->end_ns : to_ns) - from;
    }
    return ns;
}

int64_t mxp__facts_fresh_ns(const mxp_facts *facts, const mxp_graph *graph, uint32_t op)
{
    const mxp_graph_op *at = &graph->ops[op];
    const int64_t excess_ns = mxp__fresh_excess_ns(&facts->fresh_runs, at->id, at->name,
                                                   at->start_ns, at->end_ns - at->start_ns);
    // The calls are inside of what it took longer.
    const int64_t calls_ns = taking_of(facts, at->thread, at->start_ns, at->end_ns);
    return excess_ns > calls_ns ? excess_ns : calls_ns;
}

// Of a piece in which an operator runs, no more than the piece.
static int64_t fresh_of(const mxp_facts *facts, const mxp_graph *graph, const mxp_path_piece *piece)
{
    const int64_t fresh_ns = mxp__facts_fresh_ns(facts, graph, piece->op);
    const int64_t piece_ns = piece->to_ns - piece->from_ns;
    return fresh_ns < piece_ns ? fresh_ns : piece_ns;
}

static int take_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                     const mxp_path *path)
{
    walk *at = context;
    mxp_facts *facts = at->facts;
    int error = mxp__path_rows_add(&facts->rows, graph, step, path);
    if (error == MXP_OK && at->listener != NULL) {
        error = at->listener->each(at->listener->context, graph, steps, step, path);
    }
    if (error == MXP_OK && at->loads != graph->loads) {
        at->loads = graph->loads;
        error = mxp__facts_take_graph(facts, graph);
    }
    mxp_facts_step *of = &facts->at[facts->index_of[step]];
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        if (piece->kind == MXP__PATH_RUN) {
            of->fresh_ns += (double)fresh_of(facts, graph, piece);
        }
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int prepare(mxp_facts *facts)
{
    const mxp_steps *steps = facts->steps;
    facts->at = mxp__alloc(facts->count * sizeof *facts->at);
    facts->index_of = mxp__alloc(steps->count * sizeof *facts->index_of);
    if (facts->at == NULL || facts->index_of == NULL) {
        return mxp__fail_memory(memory_for);
    }
    size_t index = 0;
    for (size_t i = 0; i < steps->count; i++) {
        facts->index_of[i] = UINT32_MAX;
        if (facts->choice->steps[i]) {
            facts->index_of[i] = (uint32_t)index;
            facts->at[index++] = (mxp_facts_step){
                .place = i, .wall_ns = (double)(steps->all[i].end_ns - steps->all[i].begin_ns)};
        }
    }
    assert(index == facts->count && "the choice counts its steps");
    return mxp__scope_tree_add(&facts->scopes, facts->process, &facts->node_of);
}

// Whether there is anything to tell: blocks, or calls of the system for them.
static bool has_memory(const mxp_facts *facts)
{
    const uint64_t *counts = facts->steps->index.counts;
    return counts[MXP_KIND_MEMORY] + counts[MXP_KIND_CENSUS] > 0 || facts->taking_count > 0;
}

// Records that cannot be read leave the memory as far as it is known.
static int take_memory(mxp_facts *facts)
{
    const mxp_live_memory_options options = {
        .from_ns = INT64_MIN, .until_ns = INT64_MAX, .at_ns = INT64_MAX};
    const int error =
        mxp__live_memory_of_steps(facts->process, facts->steps, &options, &facts->memory);
    return error == MXP_ENOMEM ? error : MXP_OK;
}

// What the engine says that it has for operators; some of them may never have had one.
static size_t workers_of(const mxp_source *process, const mxp_range_index *index)
{
    static const char *const keys[] = {"engine.workers", "engine.light"};
    enum { WORKERS_MAX = 4096 };
    unsigned long workers = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *text = mxp__source_info(process, keys[i]);
        const unsigned long count = text == NULL ? 0 : strtoul(text, NULL, 10);
        workers += count < WORKERS_MAX ? count : 0;
    }
    size_t ran = 0;
    for (size_t i = 0; i < index->thread_count; i++) {
        ran += index->roles[i] == MXP__RUNS_OTHERS;
    }
    return workers > ran ? workers : ran;
}

int mxp__facts_make(mxp_source *process, const mxp_steps *steps, const mxp_choice *choice,
                    uint64_t limit_bytes, const mxp_path_listener *listener, mxp_facts *facts)
{
    assert(choice->steps != NULL && "causes are looked for in steps");
    const char *cost = mxp__source_info(process, "record_cost_ns");
    const double cost_ns = cost == NULL ? 0 : strtod(cost, NULL);
    *facts = (mxp_facts){.process = process,
                         .steps = steps,
                         .choice = choice,
                         .count = choice->step_count,
                         .operators = steps->operators,
                         .waits = steps->waits,
                         .workers = workers_of(process, &steps->index),
                         .has_waits = steps->index.counts[MXP_KIND_WAIT] > 0,
                         .record_cost_ns = cost_ns > 0 && cost_ns < 1e6 ? cost_ns : 0};
    walk at = {.facts = facts, .listener = listener};
    int error = prepare(facts);
    if (error == MXP_OK) {
        error = mxp__facts_read(facts);
    }
    if (error == MXP_OK && has_memory(facts)) {
        error = take_memory(facts);
    }
    if (error == MXP_OK) {
        error = mxp__path_steps(process, steps, choice->steps, limit_bytes, take_step, &at);
    }
    if (error != MXP_OK) {
        mxp__facts_fini(facts);
    }
    return error;
}

void mxp__facts_fini(mxp_facts *facts)
{
    mxp__free(facts->at, facts->count * sizeof *facts->at);
    if (facts->steps != NULL) {
        mxp__free(facts->index_of, facts->steps->count * sizeof *facts->index_of);
    }
    mxp__path_rows_fini(&facts->rows);
    mxp__path_rows_fini(&facts->chains);
    mxp__scope_tree_fini(&facts->scopes);
    if (facts->process != NULL) {
        mxp__free(facts->node_of, facts->process->name_count * sizeof *facts->node_of);
    }
    mxp__first_runs_fini(&facts->first_runs);
    mxp__fresh_runs_fini(&facts->fresh_runs);
    mxp__live_memory_fini(&facts->memory);
    mxp__free(facts->takings, facts->taking_capacity * sizeof *facts->takings);
    *facts = (mxp_facts){0};
}

// ---- series ------------------------------------------------------------------------------------
void mxp__facts_add_row(const mxp_facts *facts, const mxp_path_rows *rows, const bool *wanted,
                        double *series)
{
    for (size_t i = 0; i < rows->cell_count; i++) {
        const mxp_path_cell *cell = &rows->cells[i];
        if (wanted[cell->row]) {
            series[facts->index_of[cell->step]] += (double)cell->ns;
        }
    }
}

int mxp__facts_kinds(const mxp_facts *facts, unsigned kinds, double *series)
{
    const mxp_path_rows *rows = &facts->rows;
    bool *wanted = mxp__alloc(rows->count * sizeof *wanted);
    if (wanted == NULL && rows->count > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < rows->count; i++) {
        wanted[i] = (kinds >> rows->rows[i].kind & 1) != 0;
    }
    for (size_t i = 0; i < facts->count; i++) {
        series[i] = 0;
    }
    mxp__facts_add_row(facts, rows, wanted, series);
    mxp__free(wanted, rows->count * sizeof *wanted);
    return MXP_OK;
}

uint32_t mxp__facts_layer(const mxp_facts *facts, uint32_t scope)
{
    enum { LAYER_DEPTH = 2 };
    if (scope == 0 || scope >= facts->process->name_count) {
        return 0;
    }
    return mxp__scope_tree_up(&facts->scopes, facts->node_of[scope], LAYER_DEPTH);
}
