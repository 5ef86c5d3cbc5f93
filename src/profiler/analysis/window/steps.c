// SPDX-License-Identifier: Apache-2.0
// See steps.h. Marks and the bounds of operators come from the index of the trace, for which all
// records were looked at once. Operators are looked at again only where a step begins between them.
#include "profiler/analysis/window/steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct step_mark {
    uint64_t ticks, number;
    uint64_t end_ticks;  // of the step as recorded, 0: it is not
    uint64_t last_end_ticks;  // of the operators pushed in it
    uint64_t cpu_ns, run_delay_ns;  // at the mark
    int64_t ns;
    uint32_t thread;
} step_mark;

typedef struct finder {
    mxp_source *source;
    mxp_steps *steps;
    const mxp_range_index *index;
    step_mark *marks;
    size_t mark_count, mark_capacity;
} finder;

static const char memory_for[] = "the steps of a trace";

bool *mxp__idle_operators(const mxp_source *source)
{
    static const char *const names[] = {"DeleteVariable", "WaitForVar", "WaitToWrite",
                                        "CustomOperatorWait"};
    bool *idle = mxp__alloc(source->name_count * sizeof *idle);
    for (uint32_t id = 0; idle != NULL && id < source->name_count; id++) {
        const mxp_name_view view = source->name(source, id);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            idle[id] |= strcmp(view.text, names[i]) == 0;
        }
    }
    return idle;
}

// ---- marks -------------------------------------------------------------------------------------
static int take_marks(finder *find)
{
    const mxp_range_index *index = find->index;
    for (size_t i = 0; i < index->mark_count; i++) {
        const mxp_range_mark *mark = &index->marks[i];
        if (mark->what != MXP_META_STEP) {
            continue;
        }
        if (mxp__grow(&find->marks, &find->mark_capacity, find->mark_count + 1,
                      sizeof *find->marks) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        find->marks[find->mark_count++] = (step_mark){.ticks = mark->ticks,
                                                      .ns = mark->ns,
                                                      .number = mark->value,
                                                      .cpu_ns = MXP__NOT_RECORDED,
                                                      .run_delay_ns = MXP__NOT_RECORDED,
                                                      .thread = mark->thread};
    }
    return MXP_OK;
}

static int compare_marks(const void *a, const void *b)
{
    const step_mark *x = a, *y = b;
    if (x->ticks != y->ticks) {
        return x->ticks < y->ticks ? -1 : 1;
    }
    return x->thread != y->thread ? (x->thread < y->thread ? -1 : 1) : 0;
}

// The thread with most marks; of several the one with the lowest index.
static int choose_thread(finder *find)
{
    mxp_steps *steps = find->steps;
    const size_t threads = find->source->thread_count;
    uint64_t *marks = mxp__alloc(threads * sizeof *marks), most = 0;
    if (marks == NULL && threads > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < find->mark_count; i++) {
        if (find->marks[i].thread < threads) {
            marks[find->marks[i].thread]++;
        }
    }
    for (uint32_t thread = 0; thread < threads; thread++) {
        steps->other_threads += marks[thread] > 0;
        steps->thread = marks[thread] > most ? thread : steps->thread;
        most = marks[thread] > most ? marks[thread] : most;
    }
    mxp__free(marks, threads * sizeof *marks);
    steps->other_threads -= most > 0;
    steps->other_marks = find->mark_count - most;
    size_t kept = 0;
    for (size_t i = 0; i < find->mark_count; i++) {
        if (find->marks[i].thread == steps->thread) {
            find->marks[kept++] = find->marks[i];
        }
    }
    find->mark_count = kept;
    return MXP_OK;
}

size_t mxp__steps_of(const mxp_steps *steps, uint64_t ticks)
{
    size_t low = 0, high = steps->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (steps->mark_ticks[middle] <= ticks) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? SIZE_MAX : low - 1;
}

size_t mxp__steps_after(const mxp_steps *steps, int64_t ns)
{
    size_t low = 0, high = steps->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool is_over = steps->all[middle].end_ns <= ns;
        low = is_over ? middle + 1 : low;
        high = is_over ? high : middle;
    }
    return low;
}

// The end that a step was given, and the times at its mark: of the step that the thread was in.
static void assign_ends(finder *find)
{
    for (size_t i = 0; i < find->index->mark_count; i++) {
        const mxp_range_mark *from = &find->index->marks[i];
        const size_t at = mxp__steps_of(find->steps, from->ticks);
        if (at == SIZE_MAX || from->thread != find->steps->thread) {
            continue;
        }
        step_mark *mark = &find->marks[at];
        if (from->what == MXP_META_STEP_CPU) {
            mark->cpu_ns = from->value;
            mark->run_delay_ns = from->second;
        } else if (from->what == MXP_META_STEP_END && from->value == mark->number) {
            mark->end_ticks = from->ticks;
        }
    }
}

// ---- the last operator of each step ------------------------------------------------------------
static void put_end(finder *find, size_t step, uint64_t end_ticks)
{
    if (step != SIZE_MAX && end_ticks > find->marks[step].last_end_ticks) {
        find->marks[step].last_end_ticks = end_ticks;
    }
}

static bool is_in(const finder *find, size_t step, uint64_t ticks)
{
    const uint64_t *marks = find->steps->mark_ticks;
    return ticks >= marks[step] && (step + 1 == find->mark_count || ticks < marks[step + 1]);
}

// A worker's operators come in the order of time, so most are of the step of the one before.
static void read_operators(finder *find, const mxp_record_range *range)
{
    const bool *idle = find->index->idle;
    const uint64_t *at = range->words, *words;
    mxp_decoder decoder;
    size_t step = SIZE_MAX;
    mxp__decoder_begin(&decoder, find->source->timebase, range);
    while ((words = mxp__next_head(&at, range->end)) != NULL) {
        const uint32_t kind = (uint32_t)(*words & 0xff), name = (uint32_t)words[1];
        uint64_t push, end;
        if ((kind != MXP_KIND_OPERATOR && kind != MXP_KIND_HIDDEN) || (*words >> 8 & 0xff) < 4 ||
            (name < find->source->name_count && idle[name]) ||
            !mxp__head_times(&decoder, words, &push, &end)) {
            continue;
        }
        if (step == SIZE_MAX || !is_in(find, step, push)) {
            step = mxp__steps_of(find->steps, push);
        }
        put_end(find, step, end);
    }
}

static int find_last_operators(finder *find)
{
    for (size_t i = 0; i < find->index->count; i++) {
        const mxp_range_place *place = &find->index->places[i];
        if (place->last_end == 0) {
            continue;
        }
        const size_t first = mxp__steps_of(find->steps, place->first_push);
        if (first == mxp__steps_of(find->steps, place->last_push)) {
            put_end(find, first, place->last_end);
            continue;
        }
        mxp_record_range range;
        const int found = find->source->range(find->source, place->number, &range);
        if (found == 1) {
            read_operators(find, &range);
        } else if (found != 0 && found != MXP_EFORMAT) {
            return found;
        }
    }
    return MXP_OK;
}

// ---- windows -----------------------------------------------------------------------------------
static int64_t ns_of(const finder *find, uint64_t ticks)
{
    return mxp__timebase_ns(find->source->timebase, ticks);
}

static uint64_t difference(uint64_t later, uint64_t earlier)
{
    const bool is_known =
        later != MXP__NOT_RECORDED && earlier != MXP__NOT_RECORDED && later >= earlier;
    return is_known ? later - earlier : MXP__NOT_RECORDED;
}

static void make_window(finder *find, size_t i)
{
    const step_mark *mark = &find->marks[i], *next = mark + 1;
    const bool is_last = i + 1 == find->mark_count;
    mxp_step_window *step = &find->steps->all[i];
    const int64_t before_ns = i == 0 ? mark->ns : step[-1].end_ns;
    int64_t end_ns = before_ns;
    if (mark->last_end_ticks != 0 && ns_of(find, mark->last_end_ticks) > end_ns) {
        end_ns = ns_of(find, mark->last_end_ticks);
    }
    const bool is_open = is_last && mark->end_ticks == 0;
    const int64_t own_ns = !is_last               ? next->ns
                           : mark->end_ticks != 0 ? ns_of(find, mark->end_ticks)
                                                  : find->steps->last_ns;
    *step = (mxp_step_window){.number = mark->number,
                              .mark_ns = mark->ns,
                              .next_ns = own_ns,
                              .begin_ns = before_ns,
                              .end_ns = own_ns > end_ns ? own_ns : end_ns,
                              .cpu_ns = MXP__NOT_RECORDED,
                              .run_delay_ns = MXP__NOT_RECORDED,
                              .is_open = is_open};
    if (!is_last) {
        step->cpu_ns = difference(next->cpu_ns, mark->cpu_ns);
        step->run_delay_ns = difference(next->run_delay_ns, mark->run_delay_ns);
    }
}

// Reasons by which whole records are missing; of the others something about a record is.
static bool loses_records(uint32_t reason)
{
    return reason == 1 || reason == 2 || reason == 4 || (reason >= 8 && reason <= 11);
}

static void mark_interval(mxp_steps *steps, int64_t from_ns, int64_t to_ns, bool is_loss)
{
    for (size_t i = mxp__steps_after(steps, from_ns - 1); i < steps->count; i++) {
        mxp_step_window *step = &steps->all[i];
        if (step->mark_ns > to_ns) {
            break;
        }
        step->has_loss |= is_loss;
        step->has_pause |= !is_loss;
    }
}

// Of the marks of state only: by their time.
static int compare_states(const void *a, const void *b)
{
    const mxp_range_mark *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

// A pause goes from a mark that stops to the next one that goes on; the last one to the end.
static int mark_pauses(finder *find)
{
    mxp_steps *steps = find->steps;
    const size_t bytes = find->index->mark_count * sizeof(mxp_range_mark);
    mxp_range_mark *states = mxp__alloc(bytes);
    if (states == NULL && bytes > 0) {
        return mxp__fail_memory(memory_for);
    }
    size_t count = 0;
    for (size_t i = 0; i < find->index->mark_count; i++) {
        if (find->index->marks[i].what == MXP_META_STATE) {
            states[count++] = find->index->marks[i];
        }
    }
    if (count > 1) {
        qsort(states, count, sizeof *states, compare_states);
    }
    for (size_t i = 0; i < count; i++) {
        const bool goes_on = states[i].value == 1 || states[i].value == 3;
        if (!goes_on) {
            const int64_t to_ns = i + 1 == count ? steps->last_ns : states[i + 1].ns;
            mark_interval(steps, states[i].ns, to_ns, false);
        }
    }
    mxp__free(states, bytes);
    return MXP_OK;
}

static void mark_losses(finder *find)
{
    for (size_t i = 0; i < find->source->loss_count; i++) {
        const mxp_loss_entry *loss = &find->source->losses[i];
        if (loses_records(loss->reason) && loss->count > 0) {
            mark_interval(find->steps, ns_of(find, loss->from_ticks), ns_of(find, loss->to_ticks),
                          true);
        }
    }
}

static int compare_lengths(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The first three steps, if each lasted longer than 99 % of the others.
static int mark_first_run(mxp_steps *steps)
{
    enum { FIRST = 3, FEWEST = 10 };
    if (steps->count < FIRST + FEWEST) {
        return MXP_OK;
    }
    const size_t others = steps->count - FIRST, bytes = others * sizeof(int64_t);
    int64_t *lengths = mxp__alloc(bytes);
    if (lengths == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < others; i++) {
        lengths[i] = steps->all[FIRST + i].end_ns - steps->all[FIRST + i].begin_ns;
    }
    qsort(lengths, others, sizeof *lengths, compare_lengths);
    const int64_t p99_ns = lengths[(others * 99 + 99) / 100 - 1];
    bool all = true;
    for (size_t i = 0; i < FIRST; i++) {
        all &= steps->all[i].end_ns - steps->all[i].begin_ns > p99_ns;
    }
    for (size_t i = 0; all && i < FIRST; i++) {
        steps->all[i].is_first_run = true;
    }
    mxp__free(lengths, bytes);
    return MXP_OK;
}

static int make_steps(finder *find)
{
    mxp_steps *steps = find->steps;
    for (size_t i = 0; i < steps->count; i++) {
        make_window(find, i);
    }
    mark_losses(find);
    int error = mark_pauses(find);
    return error == MXP_OK ? mark_first_run(steps) : error;
}

// ---- all ---------------------------------------------------------------------------------------
static int make_room(finder *find)
{
    mxp_steps *steps = find->steps;
    const size_t count = find->mark_count;
    steps->all = mxp__alloc(count * sizeof *steps->all);
    steps->mark_ticks = mxp__alloc(count * sizeof *steps->mark_ticks);
    steps->count = count;
    if (count > 0 && (steps->all == NULL || steps->mark_ticks == NULL)) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < count; i++) {
        steps->mark_ticks[i] = find->marks[i].ticks;
    }
    return MXP_OK;
}

static int find_all(finder *find)
{
    int error = take_marks(find);
    if (error != MXP_OK) {
        return error;
    }
    if (find->mark_count > 1) {
        qsort(find->marks, find->mark_count, sizeof *find->marks, compare_marks);
    }
    error = choose_thread(find);
    if (error == MXP_OK) {
        error = make_room(find);
    }
    if (error == MXP_OK) {
        assign_ends(find);
        error = find_last_operators(find);
    }
    return error == MXP_OK ? make_steps(find) : error;
}

int mxp__steps_find(mxp_source *process, mxp_steps *steps)
{
    assert(process->process_count == 0 && "steps are those of one process");
    *steps = (mxp_steps){0};
    int error = mxp__range_index_make(process, &steps->index);
    if (error != MXP_OK) {
        return error;
    }
    const mxp_range_index *index = &steps->index;
    steps->first_ns = index->first_ns;
    steps->last_ns = index->last_ns;
    steps->unread_ranges = index->unread_ranges;
    steps->operators = index->counts[MXP_KIND_OPERATOR] + index->counts[MXP_KIND_HIDDEN];
    steps->waits = index->counts[MXP_KIND_WAIT];
    steps->spans = index->counts[MXP_KIND_SPAN] + index->counts[MXP_KIND_SPAN_LONG];
    finder find = {.source = process, .steps = steps, .index = index};
    error = find_all(&find);
    mxp__free(find.marks, find.mark_capacity * sizeof *find.marks);
    if (error != MXP_OK) {
        mxp__steps_fini(steps);
    }
    return error;
}

void mxp__steps_fini(mxp_steps *steps)
{
    mxp__free(steps->all, steps->count * sizeof *steps->all);
    mxp__free(steps->mark_ticks, steps->count * sizeof *steps->mark_ticks);
    mxp__range_index_fini(&steps->index);
    *steps = (mxp_steps){0};
}
