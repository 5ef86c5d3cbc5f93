// SPDX-License-Identifier: Apache-2.0
// What follows from a run that is over: windows of steps, their true paths, and whether two runs
// did the same in the same order.
#include <mxprof/format.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "sim_arena.h"

// ---- what was not recorded ---------------------------------------------------------------------
typedef struct hole {
    int64_t from_ns, to_ns;
} hole;

static bool in_hole(const hole *holes, size_t count, int64_t ns)
{
    for (size_t i = 0; i < count; i++) {
        if (ns >= holes[i].from_ns && ns < holes[i].to_ns) {
            return true;
        }
    }
    return false;
}

static size_t find_pauses(const sim_run *run, hole *holes, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < run->mark_count; i++) {
        const sim_marked *mark = &run->marks[i];
        if (mark->kind != MXP_META_STATE) {
            continue;
        }
        if (mark->value == 2 && count < most) {
            holes[count++] = (hole){.from_ns = mark->at_ns, .to_ns = INT64_MAX};
        } else if (mark->value == 3 && count > 0) {
            holes[count - 1].to_ns = mark->at_ns;
        }
    }
    return count;
}

static void leave_out(sim_run *run, const hole *holes, size_t count)
{
    for (size_t i = 0; i < run->op_count; i++) {
        sim_ran *op = &run->ops[i];
        uint64_t state = run->program->seed * 977 + i;
        op->is_unrecorded = in_hole(holes, count, op->end_ns) ||
                            (op->op->kind == SIM_OP_PLAIN &&
                             random_below(&state, 1000) < run->program->lost_permille);
        if (op->parent != SIM_NONE) {
            op->is_unrecorded = run->ops[op->parent].is_unrecorded;
        }
    }
    for (size_t i = 0; i < run->wait_count; i++) {
        run->waits[i].is_unrecorded |= in_hole(holes, count, run->waits[i].end_ns);
    }
    for (size_t i = 0; i < run->span_count; i++) {
        run->spans[i].is_unrecorded = in_hole(holes, count, run->spans[i].end_ns);
    }
}

static bool is_recorded_mark(const sim_run *run, const sim_marked *mark)
{
    hole holes[8];
    return mark->thread == 0 && !in_hole(holes, find_pauses(run, holes, 8), mark->at_ns);
}

// ---- windows -----------------------------------------------------------------------------------
static bool counts_for_step(const sim_ran *op)
{
    return !op->is_unrecorded && op->name != SIM_NAME_DELETE && op->name != SIM_NAME_WAIT_FOR_VAR &&
           op->name != SIM_NAME_CUSTOM_WAIT;
}

static void window_add(sim_run *run, uint64_t step, const sim_marked *end, int64_t mark_ns)
{
    int64_t begin = run->window_count == 0 ? mark_ns : run->windows[run->window_count - 1].end_ns;
    sim_window window = {.step = step, .begin_ns = begin, .end_ns = begin};
    int64_t next_ns = end->at_ns;
    for (size_t i = run->mark_count; i-- > 0;) {  // pushes up to the next mark are this step's
        const sim_marked *mark = &run->marks[i];
        if (mark->kind == MXP_META_STEP && mark->at_ns > mark_ns && is_recorded_mark(run, mark)) {
            next_ns = mark->at_ns;
        }
    }
    if (next_ns == end->at_ns && end->kind == MXP_META_STEP_END) {
        next_ns = INT64_MAX;  // the last one
    }
    if (end->at_ns > window.end_ns) {
        window.end_ns = end->at_ns;
        window.chain = end->chain;
    }
    for (size_t i = 0; i < run->op_count; i++) {
        const sim_ran *op = &run->ops[i];
        bool is_of_step = op->push_ns >= mark_ns && op->push_ns < next_ns;
        if (is_of_step && counts_for_step(op) && op->end_ns > window.end_ns) {
            window.end_ns = op->end_ns;
            window.chain = op->chain_end;
        }
    }
    // Whatever else ends there might be taken for what ended it.
    size_t ends = 0;
    for (size_t i = 0; i < run->op_count; i++) {
        const sim_ran *op = &run->ops[i];
        bool is_parent = op->op->kind == SIM_OP_BULK && op->parent == SIM_NONE;
        ends += !is_parent && op->end_ns == window.end_ns;
    }
    window.is_ambiguous = ends > 1 || (ends == 1 && end->at_ns == window.end_ns);
    sim_grow(&run->windows, &run->window_capacity, run->window_count, sizeof *run->windows);
    run->windows[run->window_count++] = window;
}

static void mark_cut(sim_run *run, const hole *holes, size_t count)
{
    for (size_t i = 0; i < run->window_count; i++) {
        sim_window *window = &run->windows[i];
        for (size_t k = 0; k < count; k++) {
            window->is_cut |=
                holes[k].from_ns <= window->end_ns && holes[k].to_ns >= window->begin_ns;
        }
        for (size_t k = 0; k < run->op_count; k++) {
            const sim_ran *op = &run->ops[k];
            window->is_cut |= op->is_unrecorded && op->push_ns <= window->end_ns &&
                              op->end_ns >= window->begin_ns;
        }
    }
}

void sim_windows_find(sim_run *run)
{
    hole holes[8];
    size_t count = find_pauses(run, holes, 8);
    leave_out(run, holes, count);
    const sim_marked *step = NULL, *end = NULL;
    for (size_t i = 0; i < run->mark_count; i++) {
        const sim_marked *mark = &run->marks[i];
        if (mark->kind == MXP_META_STATE || !is_recorded_mark(run, mark)) {
            continue;
        }
        if (mark->kind == MXP_META_STEP_END) {
            end = step != NULL && mark->value == step->value ? mark : end;
            continue;
        }
        if (step != NULL) {
            window_add(run, step->value, mark, step->at_ns);
        }
        step = mark;
        end = NULL;
    }
    if (step != NULL && end != NULL) {
        window_add(run, step->value, end, step->at_ns);
    }
    mark_cut(run, holes, count);
}

void sim_run_free(sim_run *run)
{
    free(run->ops);
    free(run->waits);
    free(run->spans);
    free(run->marks);
    free(run->windows);
    sim_arena_free(run->arena);
    free(run);
}

// ---- paths -------------------------------------------------------------------------------------
static bool joins(const sim_piece *a, const sim_piece *b)
{
    return a->what == b->what && a->name == b->name && a->op == b->op &&
           (a->what != SIM_IS_HOST || a->thread == b->thread);
}

sim_piece *sim_window_path(const sim_window *window, size_t *count)
{
    size_t length = 0;
    for (const sim_chain *at = window->chain; at != NULL; at = at->before) {
        length++;
    }
    sim_piece *pieces = sim_alloc((length + 1) * sizeof *pieces);
    size_t first = length;
    for (const sim_chain *at = window->chain; at != NULL; at = at->before) {
        sim_piece piece = at->piece;
        piece.from_ns = piece.from_ns < window->begin_ns ? window->begin_ns : piece.from_ns;
        if (piece.to_ns <= window->begin_ns) {
            break;
        }
        if (first < length && joins(&piece, &pieces[first])) {
            pieces[first].from_ns = piece.from_ns;
        } else {
            pieces[--first] = piece;
        }
    }
    *count = length - first;
    memmove(pieces, pieces + first, *count * sizeof *pieces);
    return pieces;
}

// ---- the same order ----------------------------------------------------------------------------
static bool same_situation(const sim_ran *a, const sim_ran *b)
{
    return a->was_idle == b->was_idle && a->woke == b->woke;
}

// The operator before each one on its thread, by start.
static int before_of(const sim_run *run, size_t number)
{
    const sim_ran *op = &run->ops[number];
    int before = SIM_NONE;
    for (size_t i = 0; i < run->op_count; i++) {
        const sim_ran *each = &run->ops[i];
        if (i != number && each->thread == op->thread && each->start_ns <= op->start_ns &&
            (each->start_ns < op->start_ns || i < number) &&
            (before == SIM_NONE || each->start_ns >= run->ops[before].start_ns)) {
            before = (int)i;
        }
    }
    return before;
}

// How many steps had been begun when it was pushed.
static size_t step_of(const sim_run *run, const sim_ran *op)
{
    size_t steps = 0;
    for (size_t i = 0; i < run->mark_count; i++) {
        steps += run->marks[i].kind == MXP_META_STEP && run->marks[i].at_ns <= op->push_ns;
    }
    return steps;
}

bool sim_same_order(const sim_run *a, const sim_run *b)
{
    if (a->op_count != b->op_count || a->wait_count != b->wait_count) {
        return false;
    }
    for (size_t i = 0; i < a->op_count; i++) {
        if (a->ops[i].op->number != b->ops[i].op->number || a->ops[i].thread != b->ops[i].thread ||
            !same_situation(&a->ops[i], &b->ops[i]) ||
            step_of(a, &a->ops[i]) != step_of(b, &b->ops[i]) ||
            before_of(a, i) != before_of(b, i)) {
            return false;
        }
    }
    for (size_t i = 0; i < a->wait_count; i++) {
        if (a->waits[i].flags != b->waits[i].flags ||
            a->waits[i].ended_by != b->waits[i].ended_by) {
            return false;
        }
    }
    return true;
}
