// SPDX-License-Identifier: Apache-2.0
// The aggregate by step. First the begins of steps are collected and sorted. Then the duration of
// each span is added to the sum of its (step, name). Printing makes one sample of each sum.
//
// Steps belong to the process: one ends where the next begins, the last one where its end was
// marked, else with the last record. If several threads mark steps of their own, their ends are
// unknown, and there are no rows. An operator belongs to the step in which it was pushed, whenever
// a worker runs it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/export/table/aggregate_state.h"
#include "profiler/export/table/cover.h"

static const char memory_for[] = "the aggregate statistics";

typedef struct step_mark {
    int64_t begin_ns;
    uint64_t number;
} step_mark;

// Key: (index of the step's mark + 1) << 32 | name.
typedef struct step_sum {
    uint64_t key, total_ns;
} step_sum;

// All begins of one step number.
typedef struct step_total {
    char name[32];
    uint64_t number, count, total_ns, min_ns, max_ns;
} step_total;

struct mxp_step_state {
    step_mark *marks;  // ascending begin
    size_t mark_count, mark_capacity;
    uint32_t thread;  // of the first mark
    bool is_mixed;  // other threads have marked some
    int64_t end_ns;  // of all records
    step_mark last_end;  // the latest end of a step that was marked
    bool has_end;  // there is one
    mxp_id_map sums;  // of step_sum
    mxp_cover cover;  // by spans and operators, of any thread
    step_total *totals;  // made for printing
    mxp_row *rows;
    size_t total_count, total_capacity, row_capacity;
};

typedef struct step_pass {
    mxp_aggregate *aggregate;
    mxp_source *source;
    mxp_step_state *state;
    size_t hint;  // the step of the record before
    uint32_t last_name;
    bool last_is_async;  // whether the span before, of last_name, was one of a task or frame
} step_pass;

void mxp__step_state_destroy(mxp_step_state *state)
{
    if (state == NULL) {
        return;
    }
    mxp__free(state->marks, state->mark_capacity * sizeof *state->marks);
    mxp__id_map_fini(&state->sums);
    mxp__cover_fini(&state->cover);
    mxp__free(state->totals, state->total_capacity * sizeof *state->totals);
    mxp__free(state->rows, state->row_capacity * sizeof *state->rows);
    mxp__free(state, sizeof *state);
}

// ---- steps ------------------------------------------------------------------------------------
static int compare_marks(const void *a, const void *b)
{
    const step_mark *left = a, *right = b;
    if (left->begin_ns != right->begin_ns) {
        return left->begin_ns < right->begin_ns ? -1 : 1;
    }
    return (left->number > right->number) - (left->number < right->number);
}

static void note_end(mxp_step_state *state, const mxp_event *event)
{
    if (!state->has_end || event->begin_ns >= state->last_end.begin_ns) {
        state->last_end = (step_mark){event->begin_ns, event->value.u64};
        state->has_end = true;
    }
}

// Adds the mark of a step that is in progress. Many chunks have such a record, and the record of
// the step's begin may be gone.
static int note_mark(void *context, const mxp_event *event)
{
    step_pass *pass = context;
    mxp_step_state *state = pass->state;
    if (mxp__event_clock(event) == MXP_CLOCK_TRACE && event->end_ns > state->end_ns) {
        state->end_ns = event->end_ns;
    }
    if (event->kind == MXP_KIND_META && event->phase == MXP_META_STEP_END) {
        note_end(state, event);
    }
    if (event->kind != MXP_KIND_META ||
        (event->phase != MXP_META_STEP && event->phase != MXP_META_STEP_STANDING)) {
        return MXP_OK;
    }
    step_mark mark = {event->begin_ns, event->value.u64};
    uint32_t thread = event->thread;
    if (event->phase == MXP_META_STEP_STANDING) {
        int64_t ns = mxp__timebase_ns(pass->source->timebase, event->words[3]);
        mark.begin_ns = ns < -MXP__NS_MAX ? -MXP__NS_MAX : ns > MXP__NS_MAX ? MXP__NS_MAX : ns;
        thread = (uint32_t)(event->words[1] >> 40);
    }
    if (state->mark_count > 0 && compare_marks(&state->marks[state->mark_count - 1], &mark) == 0) {
        return MXP_OK;
    }
    if (mxp__grow(&state->marks, &state->mark_capacity, state->mark_count + 1,
                  sizeof *state->marks) != 0) {
        return mxp__fail_memory(memory_for);
    }
    if (state->mark_count == 0) {
        state->thread = thread;
    }
    state->is_mixed = state->is_mixed || thread != state->thread;
    state->marks[state->mark_count++] = mark;
    return MXP_OK;
}

// Drops marks that are there twice, also those of earlier sources.
static void drop_known_marks(mxp_step_state *state, size_t old_count)
{
    size_t kept = old_count;
    for (size_t i = old_count; i < state->mark_count; i++) {
        const step_mark *mark = &state->marks[i];
        bool known = kept > old_count && compare_marks(&state->marks[kept - 1], mark) == 0;
        known = known || (old_count > 0 && bsearch(mark, state->marks, old_count, sizeof *mark,
                                                   compare_marks) != NULL);
        if (!known) {
            state->marks[kept++] = *mark;
        }
    }
    state->mark_count = kept;
}

// Sums refer to marks by index, so marks of earlier sources keep their places.
static void sort_new_marks(mxp_step_state *state, size_t old_count)
{
    if (state->mark_count == old_count) {
        return;
    }
    qsort(state->marks + old_count, state->mark_count - old_count, sizeof *state->marks,
          compare_marks);
    drop_known_marks(state, old_count);
    for (size_t i = old_count > 0 ? old_count : 1; i < state->mark_count; i++) {
        if (state->marks[i].begin_ns < state->marks[i - 1].begin_ns) {
            state->marks[i].begin_ns = state->marks[i - 1].begin_ns;
        }
    }
}

// Whether the program said that the last step is over by then.
static bool is_over(const mxp_step_state *state, int64_t ns)
{
    const step_mark *last = &state->marks[state->mark_count - 1];
    return state->has_end && state->last_end.number == last->number &&
           state->last_end.begin_ns >= last->begin_ns && ns >= state->last_end.begin_ns;
}

static bool is_in_step(const mxp_step_state *state, size_t step, int64_t ns)
{
    return step > 0 && step <= state->mark_count && state->marks[step - 1].begin_ns <= ns &&
           (step == state->mark_count ? !is_over(state, ns) : ns < state->marks[step].begin_ns);
}

// Index + 1 of the step in which `ns` lies; 0 before the first and behind the last.
static size_t step_at(const mxp_step_state *state, int64_t ns, size_t hint)
{
    if (is_in_step(state, hint, ns)) {
        return hint;
    }
    size_t low = 0, high = state->mark_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->marks[middle].begin_ns <= ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && low == state->mark_count && is_over(state, ns) ? 0 : low;
}

// ---- sums -------------------------------------------------------------------------------------
static int add_to_sum(mxp_step_state *state, size_t step, uint32_t name, uint64_t ns)
{
    step_sum *sum = mxp__id_map_add(&state->sums, (uint64_t)step << 32 | name);
    if (sum == NULL) {
        return mxp__fail_memory(memory_for);
    }
    sum->total_ns += ns;
    return MXP_OK;
}

static mxp_duration_row *row_of_name(step_pass *pass, mxp_duration_table *table, uint32_t id,
                                     const char *suffix)
{
    uint32_t known = mxp__known_name(pass->source, id);
    mxp_duration_row *row = mxp__duration_find(table, known);
    mxp_label label;
    if (row != NULL || mxp__label_of_name(&label, pass->source, id, suffix) != MXP_OK) {
        return row;
    }
    return mxp__duration_add(pass->aggregate, table, known, &label);
}

static mxp_duration_row *row_outside(step_pass *pass, uint32_t id)
{
    return row_of_name(pass, &pass->aggregate->outside, id, " (outside steps)");
}

static int64_t asked_ns(const step_pass *pass, const mxp_event *event)
{
    if (event->kind != MXP_KIND_OPERATOR) {
        return event->begin_ns;
    }
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    int64_t push_ns = mxp__timebase_ns(pass->source->timebase, op.push_ticks);
    return push_ns < event->begin_ns ? push_ns : event->begin_ns;
}

// Adds the event's time to the time that is covered, unless it is of a task or frame: these may
// last for a whole step without telling what it was spent on.
static int cover_time(step_pass *pass, const mxp_event *event)
{
    if (pass->last_name != event->name) {
        pass->last_name = event->name;
        pass->last_is_async =
            pass->source->name(pass->source, event->name).style == MXP_STYLE_ASYNC;
    }
    return pass->last_is_async
               ? MXP_OK
               : mxp__cover_add(&pass->state->cover, event->begin_ns, event->end_ns);
}

static int add_record(void *context, const mxp_event *event)
{
    step_pass *pass = context;
    if (event->kind != MXP_KIND_SPAN && event->kind != MXP_KIND_OPERATOR) {
        return MXP_OK;
    }
    uint64_t duration_ns = (uint64_t)(event->end_ns - event->begin_ns);
    bool is_timed = mxp__event_clock(event) == MXP_CLOCK_TRACE;
    if (is_timed && cover_time(pass, event) != MXP_OK) {
        return MXP_ENOMEM;
    }
    size_t step = is_timed ? step_at(pass->state, asked_ns(pass, event), pass->hint) : 0;
    if (step == 0) {
        mxp_duration_row *row = row_outside(pass, event->name);
        if (row != NULL) {
            mxp__duration_note(row, duration_ns);
        }
        return row != NULL ? MXP_OK : MXP_ENOMEM;
    }
    pass->hint = step;
    // The row is only a label until printing.
    if (row_of_name(pass, &pass->aggregate->durations, event->name, "") == NULL) {
        return MXP_ENOMEM;
    }
    return add_to_sum(pass->state, step, mxp__known_name(pass->source, event->name), duration_ns);
}

int mxp__aggregate_steps(mxp_aggregate *aggregate, mxp_source *source)
{
    if (aggregate->steps == NULL) {
        aggregate->steps = mxp__alloc(sizeof *aggregate->steps);
        if (aggregate->steps == NULL) {
            return mxp__fail_memory(memory_for);
        }
        aggregate->steps->sums.entry_bytes = sizeof(step_sum);
    }
    step_pass pass = {.aggregate = aggregate,
                      .source = source,
                      .state = aggregate->steps,
                      .last_name = UINT32_MAX};
    size_t old_count = pass.state->mark_count;
    int error = mxp__each_record(source, note_mark, &pass);
    if (error == MXP_OK || error == MXP_EFORMAT) {
        sort_new_marks(pass.state, old_count);
        error = mxp__each_record(source, add_record, &pass);
    }
    for (size_t i = 0; i < source->stats_count && (error == MXP_OK || error == MXP_EFORMAT); i++) {
        mxp_duration_row *row = row_outside(&pass, source->stats[i].name);
        if (row == NULL) {
            return MXP_ENOMEM;
        }
        row->unit = source->name(source, source->stats[i].name).unit;
        mxp__histogram_merge(&row->histogram, source->stats[i].histogram);
    }
    return error;
}

// ---- printing ---------------------------------------------------------------------------------
static int64_t end_of(const mxp_step_state *state, size_t mark)
{
    if (mark + 1 < state->mark_count) {
        return state->marks[mark + 1].begin_ns;
    }
    return is_over(state, state->end_ns) ? state->last_end.begin_ns : state->end_ns;
}

// One sample for each step that has such time.
static int fill_uncovered(mxp_aggregate *aggregate)
{
    mxp_step_state *state = aggregate->steps;
    mxp_duration_row *row = mxp__duration_find(&aggregate->uncovered, 0);
    mxp_label label;
    if (row == NULL && state->mark_count > 0) {
        int error = mxp__label_make(&label, MXP__UNCOVERED, strlen(MXP__UNCOVERED),
                                    "in none of the above", strlen("in none of the above"));
        row =
            error == MXP_OK ? mxp__duration_add(aggregate, &aggregate->uncovered, 0, &label) : NULL;
        if (row == NULL) {
            return MXP_ENOMEM;
        }
    }
    if (row != NULL) {
        mxp__histogram_init(&row->histogram);
    }
    mxp__cover_join(&state->cover);
    for (size_t i = 0, from = 0; i < state->mark_count; i++) {
        int64_t begin_ns = state->marks[i].begin_ns, end_ns = end_of(state, i);
        uint64_t ns = (uint64_t)(end_ns - begin_ns) -
                      mxp__cover_within(&state->cover, &from, begin_ns, end_ns);
        if (ns > 0) {
            mxp__duration_note(row, ns);
        }
    }
    return MXP_OK;
}

static void fill_samples(const mxp_aggregate *aggregate)
{
    const mxp_step_state *state = aggregate->steps;
    for (size_t id = 0; id < aggregate->durations.count; id++) {
        if (aggregate->durations.rows[id] != NULL) {
            mxp__histogram_init(&aggregate->durations.rows[id]->histogram);
        }
    }
    const step_sum *sum = NULL;
    while ((sum = mxp__id_map_next(&state->sums, sum)) != NULL) {
        mxp__duration_note(aggregate->durations.rows[(uint32_t)sum->key], sum->total_ns);
    }
}

static int compare_totals(const void *a, const void *b)
{
    const step_total *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

// One total for each mark, then those of the same number together.
static int make_totals(mxp_step_state *state)
{
    if (mxp__grow(&state->totals, &state->total_capacity, state->mark_count,
                  sizeof *state->totals) != 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < state->mark_count; i++) {
        uint64_t ns = (uint64_t)(end_of(state, i) - state->marks[i].begin_ns);
        state->totals[i] = (step_total){"", state->marks[i].number, 1, ns, ns, ns};
    }
    state->total_count = 0;
    if (state->mark_count == 0) {
        return MXP_OK;
    }
    qsort(state->totals, state->mark_count, sizeof *state->totals, compare_totals);
    for (size_t i = 0; i < state->mark_count; i++) {
        const step_total *more = &state->totals[i];
        step_total *last = &state->totals[state->total_count > 0 ? state->total_count - 1 : 0];
        if (state->total_count == 0 || last->number != more->number) {
            state->totals[state->total_count++] = *more;
            continue;
        }
        last->count++;
        last->total_ns += more->total_ns;
        last->min_ns = more->min_ns < last->min_ns ? more->min_ns : last->min_ns;
        last->max_ns = more->max_ns > last->max_ns ? more->max_ns : last->max_ns;
    }
    return MXP_OK;
}

bool mxp__steps_are_mixed(const mxp_aggregate *aggregate)
{
    return aggregate->steps != NULL && aggregate->steps->is_mixed;
}

int mxp__step_rows(mxp_aggregate *aggregate, const mxp_row **rows, size_t *count)
{
    mxp_step_state *state = aggregate->steps;
    *rows = NULL;
    *count = 0;
    if (state == NULL) {
        return MXP_OK;
    }
    fill_samples(aggregate);
    int error = fill_uncovered(aggregate);
    if (error == MXP_OK) {
        error = make_totals(state);
    }
    if (error == MXP_OK && mxp__grow(&state->rows, &state->row_capacity, state->total_count,
                                     sizeof *state->rows) != 0) {
        error = mxp__fail_memory(memory_for);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < state->total_count; i++) {
        step_total *total = &state->totals[i];
        int length = snprintf(total->name, sizeof total->name, "step %" PRIu64, total->number);
        state->rows[i] = (mxp_row){.section = "Steps",
                                   .section_length = 5,
                                   .name = total->name,
                                   .name_length = (size_t)length,
                                   .count = total->count,
                                   .total = (double)total->total_ns,
                                   .min = (double)total->min_ns,
                                   .max = (double)total->max_ns,
                                   .avg = (double)total->total_ns / (double)total->count};
    }
    *rows = state->rows;
    *count = state->total_count;
    return MXP_OK;
}
