// SPDX-License-Identifier: Apache-2.0
// See steps.h. The first reading looks only at marks; the second only at operators, because to know
// the step in which one was pushed takes the marks of all threads.
#include "profiler/analysis/steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/skim.h"

typedef struct step_mark {
    uint64_t ticks, number;
    uint64_t end_ticks;  // of the step as recorded, 0: it is not
    uint64_t last_end_ticks;  // of the operators pushed in it
    uint64_t cpu_ns, run_delay_ns;  // at the mark
    int64_t ns;
    uint32_t thread;
} step_mark;

typedef struct pause {
    int64_t from_ns, to_ns;
} pause;

typedef struct finder {
    mxp_source *source;
    mxp_steps *steps;
    step_mark *marks;
    size_t mark_count, mark_capacity;
    pause *pauses;
    size_t pause_count, pause_capacity;
    mxp_skimmed skimmed;
    mxp_event *ends;  // of steps, and their CPU times, until all marks are known
    size_t end_count, end_capacity;
    bool *idle;
    bool has_time;
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

// ---- the first reading: marks ------------------------------------------------------------------
static int add_mark(finder *find, const mxp_event *event)
{
    if (mxp__grow(&find->marks, &find->mark_capacity, find->mark_count + 1, sizeof *find->marks) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    find->marks[find->mark_count++] = (step_mark){.ticks = event->begin_ticks,
                                                  .ns = event->begin_ns,
                                                  .number = event->value.u64,
                                                  .cpu_ns = MXP__NOT_RECORDED,
                                                  .run_delay_ns = MXP__NOT_RECORDED,
                                                  .thread = event->thread};
    return MXP_OK;
}

static int keep_end(finder *find, const mxp_event *event)
{
    if (mxp__grow(&find->ends, &find->end_capacity, find->end_count + 1, sizeof *find->ends) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    find->ends[find->end_count++] = *event;
    return MXP_OK;
}

// State marks of a process come in the order of time on the thread that changed it; several threads
// may have changed it, so pauses are closed by whatever resumes next.
static int add_state(finder *find, const mxp_event *event)
{
    if (mxp__grow(&find->pauses, &find->pause_capacity, find->pause_count + 1,
                  sizeof *find->pauses) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const bool is_end = event->value.u64 == 1 || event->value.u64 == 3;
    find->pauses[find->pause_count++] = (pause){.from_ns = event->begin_ns, .to_ns = is_end};
    return MXP_OK;
}

static void extend_time(finder *find, const mxp_event *event)
{
    mxp_steps *steps = find->steps;
    if (!find->has_time || event->begin_ns < steps->first_ns) {
        steps->first_ns = event->begin_ns;
    }
    if (!find->has_time || event->end_ns > steps->last_ns) {
        steps->last_ns = event->end_ns;
    }
    find->has_time = true;
}

static int take_meta(finder *find, const mxp_event *event)
{
    switch (event->phase) {
    case MXP_META_STEP:
        return add_mark(find, event);
    case MXP_META_STEP_END:
    case MXP_META_STEP_CPU:
        return keep_end(find, event);
    case MXP_META_STATE:
        return add_state(find, event);
    default:
        return MXP_OK;
    }
}

// The time of one record; of a thread's records the first and the last tell its bounds.
static void extend_by(finder *find, const mxp_record_range *range, const uint64_t *record)
{
    mxp_record_range from = *range;
    from.words = record;
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, find->source->timebase, &from);
    if (mxp__decoder_next(&decoder, &event) == 1 && mxp__event_clock(&event) == MXP_CLOCK_TRACE) {
        extend_time(find, &event);
    }
}

static int read_marks(finder *find, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    int more;
    mxp__decoder_begin(&decoder, find->source->timebase, range);
    while ((more = mxp__skim_next(&decoder, MXP__KINDS(MXP_KIND_META), &find->skimmed, &event)) ==
           1) {
        extend_time(find, &event);
        int error = take_meta(find, &event);
        if (error != MXP_OK) {
            return error;
        }
    }
    find->steps->unread_ranges += more < 0;
    if (find->skimmed.last >= range->words && find->skimmed.last < range->end) {
        extend_by(find, range, range->words);
        extend_by(find, range, find->skimmed.last);
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

static uint64_t marks_of(const finder *find, uint32_t thread)
{
    uint64_t count = 0;
    for (size_t i = 0; i < find->mark_count; i++) {
        count += find->marks[i].thread == thread;
    }
    return count;
}

// The thread with most marks; of several the one that marked first.
static void choose_thread(finder *find)
{
    mxp_steps *steps = find->steps;
    uint64_t most = 0;
    for (uint32_t thread = 0; thread < find->source->thread_count; thread++) {
        const uint64_t count = marks_of(find, thread);
        steps->other_threads += count > 0;
        if (count > most) {
            most = count;
            steps->thread = thread;
        }
    }
    steps->other_threads -= most > 0;
    steps->other_marks = find->mark_count - most;
    size_t kept = 0;
    for (size_t i = 0; i < find->mark_count; i++) {
        if (find->marks[i].thread == steps->thread) {
            find->marks[kept++] = find->marks[i];
        }
    }
    find->mark_count = kept;
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

// The end that a step was given, and the times at its mark: of the step that the thread was in.
static void assign_ends(finder *find)
{
    for (size_t i = 0; i < find->end_count; i++) {
        const mxp_event *event = &find->ends[i];
        const size_t at = mxp__steps_of(find->steps, event->begin_ticks);
        if (at == SIZE_MAX || event->thread != find->steps->thread) {
            continue;
        }
        step_mark *mark = &find->marks[at];
        if (event->phase == MXP_META_STEP_CPU) {
            mark->cpu_ns = event->value.u64;
            mark->run_delay_ns = event->words[3];
        } else if (event->value.u64 == mark->number) {
            mark->end_ticks = event->begin_ticks;
        }
    }
}

// ---- the second reading: the last operator of each step ----------------------------------------
static void read_operators(finder *find, const mxp_record_range *range)
{
    const uint64_t kinds =
        MXP__KINDS(MXP_KIND_OPERATOR) | MXP__KINDS(MXP_KIND_HIDDEN) | MXP__KINDS(MXP_KIND_WAIT);
    mxp_skimmed skimmed = {0};
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, find->source->timebase, range);
    while (mxp__skim_next(&decoder, kinds, &skimmed, &event) == 1) {
        extend_time(find, &event);
        if (event.kind == MXP_KIND_WAIT ||
            (event.name < find->source->name_count && find->idle[event.name])) {
            continue;
        }
        const uint64_t pushed_before = event.words[3] & MXP_STAMP_MASK;
        const uint64_t push = event.begin_ticks - pushed_before;
        const size_t at = mxp__steps_of(find->steps, push > event.begin_ticks ? 0 : push);
        if (at != SIZE_MAX && event.end_ticks > find->marks[at].last_end_ticks) {
            find->marks[at].last_end_ticks = event.end_ticks;
        }
    }
}

static int each_range(finder *find, bool is_second)
{
    mxp_record_range range;
    int found;
    for (size_t i = 0; (found = find->source->range(find->source, i, &range)) != 0; i++) {
        if (found == MXP_EFORMAT) {
            find->steps->unread_ranges += !is_second;
            continue;
        }
        if (found < 0) {
            return found;
        }
        if (is_second) {
            read_operators(find, &range);
        } else {
            int error = read_marks(find, &range);
            if (error != MXP_OK) {
                return error;
            }
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
    for (size_t i = 0; i < steps->count; i++) {
        mxp_step_window *step = &steps->all[i];
        if (step->mark_ns <= to_ns && step->end_ns >= from_ns) {
            step->has_loss |= is_loss;
            step->has_pause |= !is_loss;
        }
    }
}

static int compare_pauses(const void *a, const void *b)
{
    const pause *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

// A pause goes from a mark that stops to the next one that goes on; the last one to the end.
static void mark_gaps(finder *find)
{
    mxp_steps *steps = find->steps;
    for (size_t i = 0; i < find->source->loss_count; i++) {
        const mxp_loss_entry *loss = &find->source->losses[i];
        if (loses_records(loss->reason) && loss->count > 0) {
            mark_interval(steps, ns_of(find, loss->from_ticks), ns_of(find, loss->to_ticks), true);
        }
    }
    if (find->pause_count > 1) {
        qsort(find->pauses, find->pause_count, sizeof *find->pauses, compare_pauses);
    }
    for (size_t i = 0; i < find->pause_count; i++) {
        if (find->pauses[i].to_ns != 0) {
            continue;  // goes on
        }
        const bool is_last = i + 1 == find->pause_count;
        const int64_t from_ns = find->pauses[i].from_ns;
        mark_interval(steps, from_ns, is_last ? steps->last_ns : find->pauses[i + 1].from_ns,
                      false);
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
    mark_gaps(find);
    return mark_first_run(steps);
}

// ---- all ---------------------------------------------------------------------------------------
static int prepare(finder *find)
{
    mxp_steps *steps = find->steps;
    if (find->mark_count > 1) {
        qsort(find->marks, find->mark_count, sizeof *find->marks, compare_marks);
    }
    choose_thread(find);
    find->idle = mxp__idle_operators(find->source);
    if (find->idle == NULL && find->source->name_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    if (find->mark_count == 0) {
        return MXP_OK;
    }
    steps->all = mxp__alloc(find->mark_count * sizeof *steps->all);
    steps->mark_ticks = mxp__alloc(find->mark_count * sizeof *steps->mark_ticks);
    steps->count = find->mark_count;
    if (steps->all == NULL || steps->mark_ticks == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < find->mark_count; i++) {
        steps->mark_ticks[i] = find->marks[i].ticks;
    }
    assign_ends(find);
    return MXP_OK;
}

static void finder_fini(finder *find)
{
    mxp__free(find->marks, find->mark_capacity * sizeof *find->marks);
    mxp__free(find->pauses, find->pause_capacity * sizeof *find->pauses);
    mxp__free(find->ends, find->end_capacity * sizeof *find->ends);
    mxp__free(find->idle, find->source->name_count * sizeof *find->idle);
}

int mxp__steps_find(mxp_source *process, mxp_steps *steps)
{
    assert(process->process_count == 0 && "steps are those of one process");
    *steps = (mxp_steps){0};
    finder find = {.source = process, .steps = steps};
    int error = each_range(&find, false);
    if (error == MXP_OK) {
        error = prepare(&find);
    }
    if (error == MXP_OK) {
        error = each_range(&find, true);
    }
    if (error == MXP_OK) {
        const uint64_t *counts = find.skimmed.counts;
        steps->operators = counts[MXP_KIND_OPERATOR] + counts[MXP_KIND_HIDDEN];
        steps->waits = counts[MXP_KIND_WAIT];
        steps->spans = counts[MXP_KIND_SPAN] + counts[MXP_KIND_SPAN_LONG];
        error = make_steps(&find);
    }
    finder_fini(&find);
    if (error != MXP_OK) {
        mxp__steps_fini(steps);
    }
    return error;
}

void mxp__steps_fini(mxp_steps *steps)
{
    mxp__free(steps->all, steps->count * sizeof *steps->all);
    mxp__free(steps->mark_ticks, steps->count * sizeof *steps->mark_ticks);
    *steps = (mxp_steps){0};
}
