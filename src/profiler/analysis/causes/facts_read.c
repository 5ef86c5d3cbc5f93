// SPDX-License-Identifier: Apache-2.0
// One reading of all records: how many each step has, where memory is taken from the system, and
// when each operator ran for the first time.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/causes/facts_parts.h"
#include "profiler/analysis/window/range_reader.h"

typedef struct reader {
    mxp_facts *facts;
    bool *takes;  // by name id: spans of category `memory`
    size_t near;  // index of the step of the record before
    size_t near_mark;  // the same by marks, a place in the table of steps
} reader;

// Index of the chosen step in whose window a moment lies; facts->count: in none.
static size_t index_at(reader *read, int64_t ns)
{
    const mxp_facts *facts = read->facts;
    const mxp_step_window *all = facts->steps->all;
    const mxp_step_window *near = &all[facts->at[read->near].place];
    if (ns >= near->begin_ns && ns < near->end_ns) {
        return read->near;
    }
    const size_t index = mxp__facts_index_at(facts, ns);
    read->near = index < facts->count ? index : read->near;
    return index;
}

// Index of the chosen step to which a record belongs: on the steps' thread by the marks, because it
// may run ahead of what it pushes; else by the windows. facts->count: to none.
static size_t index_of(reader *read, uint32_t thread, int64_t begin_ns)
{
    const mxp_facts *facts = read->facts;
    if (thread != facts->steps->thread) {
        return index_at(read, begin_ns);
    }
    const uint32_t index = mxp__facts_index_of_mark(facts, begin_ns, &read->near_mark);
    return index == UINT32_MAX ? facts->count : index;
}

static int add_taking(mxp_facts *facts, const mxp_event *event)
{
    if (mxp__grow(&facts->takings, &facts->taking_capacity, facts->taking_count + 1,
                  sizeof *facts->takings) != MXP_OK) {
        return mxp__fail_memory("the spans of memory");
    }
    facts->takings[facts->taking_count++] =
        (mxp_taking){.thread = event->thread, .begin_ns = event->begin_ns, .end_ns = event->end_ns};
    return MXP_OK;
}

static void count_event(mxp_facts *facts, mxp_facts_step *step, const mxp_event *event)
{
    step->records++;
    facts->records[event->kind]++;
    if (event->kind == MXP_KIND_MEMORY && (event->flags & (MXP_MEM_FREE | MXP_MEM_REUSED)) == 0) {
        mxp_memory_view view;
        mxp__event_memory(event, &view);
        step->fresh_blocks++;
        step->fresh_bytes += view.requested_bytes;
    }
}

static int add_event(reader *read, const mxp_event *event)
{
    mxp_facts *facts = read->facts;
    const size_t index = index_of(read, event->thread, event->begin_ns);
    if (index < facts->count) {
        count_event(facts, &facts->at[index], event);
    }
    int error = mxp__fresh_runs_add(&facts->fresh_runs, event, facts->process->thread_count);
    if (error != MXP_OK || event->name >= facts->process->name_count) {
        return error;
    }
    if (event->kind == MXP_KIND_SPAN && read->takes[event->name]) {
        if (index < facts->count) {
            facts->at[index].takings++;
        }
        return add_taking(facts, event);
    }
    if (event->kind == MXP_KIND_OPERATOR && (event->flags & MXP_OP_BULK_PARENT) == 0 &&
        !read->facts->steps->index.idle[event->name]) {
        mxp_operator_view view;
        mxp__event_operator(event, &view);
        return mxp__first_runs_add(&facts->first_runs, event->name, view.scope, event->begin_ns,
                                   event->end_ns - event->begin_ns);
    }
    return MXP_OK;
}

// Most records: nothing is asked of them but the step that they are in.
static bool is_counted_span(const reader *read, const mxp_plain_clock *clock, const uint64_t *words,
                            mxp_span_times *times)
{
    const uint32_t name = (uint32_t)words[1];
    return mxp__is_lean_span_head(words) && name < read->facts->process->name_count &&
           !read->takes[name] && mxp__span_times_at(clock, words, times);
}

static void count_span(reader *read, uint32_t thread, const mxp_span_times *times)
{
    mxp_facts *facts = read->facts;
    const size_t index = index_of(read, thread, times->begin_ns);
    if (index < facts->count) {
        facts->at[index].records++;
        facts->records[MXP_KIND_SPAN]++;
    }
}

static int read_range(reader *read, const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words;
    mxp_range_reader from;
    mxp_span_times times;
    mxp_event event;
    int error = MXP_OK;
    mxp__range_reader_begin(&from, read->facts->process, range);
    while (error == MXP_OK && (words = mxp__next_head(&at, range->end)) != NULL) {
        if (is_counted_span(read, &from.clock, words, &times)) {
            count_span(read, range->thread, &times);
        } else if ((*words & 0xff) == MXP_KIND_VARIABLES) {
            continue;
        } else if (!mxp__range_reader_decode(&from, words, &event)) {
            break;
        } else if (event.words == words) {  // else the decoder skips it
            error = add_event(read, &event);
        }
    }
    return error;
}

static int read_all(reader *read)
{
    mxp_source *source = read->facts->process;
    mxp_record_range range;
    int found, error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && (found = source->range(source, i, &range)) != 0; i++) {
        if (found == MXP_EFORMAT) {
            continue;
        }
        if (found < 0) {
            return found;
        }
        error = read_range(read, &range);
    }
    return error;
}

static int compare_takings(const void *a, const void *b)
{
    const mxp_taking *x = a, *y = b;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

int mxp__facts_read(mxp_facts *facts)
{
    const mxp_source *source = facts->process;
    reader read = {.facts = facts, .takes = mxp__alloc(source->name_count * sizeof *read.takes)};
    int error = MXP_OK;
    if (source->name_count > 0 && read.takes == NULL) {
        error = mxp__fail_memory("the names of a trace");
    }
    for (uint32_t id = 0; error == MXP_OK && id < source->name_count; id++) {
        const mxp_name_view name = source->name(source, id);
        read.takes[id] = name.style == MXP_STYLE_SPAN && name.category != id &&
                         strcmp(source->name(source, name.category).text, "memory") == 0;
    }
    if (error == MXP_OK && facts->count > 0) {
        error = read_all(&read);
    }
    if (facts->taking_count > 0) {
        qsort(facts->takings, facts->taking_count, sizeof *facts->takings, compare_takings);
    }
    mxp__free(read.takes, source->name_count * sizeof *read.takes);
    return error;
}
