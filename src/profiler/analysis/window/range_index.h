// SPDX-License-Identifier: Apache-2.0
// What one look at the heads of all records tells: where a window's records are, so that it can be
// read without all the rest; marks; the longest spans.
//
// A record is written when what it tells is over, so the records of a range ended before the next
// range of its thread begins. Only spans that ended long after a window can have been around it:
// the longest ones are kept here, and of all others a window's reader looks `reach_ns` beyond it.
#ifndef MXP_ANALYSIS_RANGE_INDEX_H
#define MXP_ANALYSIS_RANGE_INDEX_H

#include "profiler/trace/event.h"

typedef struct mxp_range_place {
    size_t number;  // as the source counts them
    int64_t base_ns;  // no record of it was written before
    uint32_t thread;
    // Of the operators in it that do work of a step: the first and last push and the last end, in
    // ticks. 0: there are none.
    uint64_t first_push, last_push, last_end;
    uint8_t roles;  // MXP__RUNS_OTHERS, MXP__TAKES_TASKS
} mxp_range_place;

// What a thread does, by all of its records: a window of them may not tell.
enum {
    MXP__RUNS_OTHERS = 1,  // operators that another thread pushed
    MXP__TAKES_TASKS = 2  // of custom operators
};

// A mark: META of what STEP, STEP_END, STEP_CPU or STATE.
typedef struct mxp_range_mark {
    uint64_t ticks, value, second;
    int64_t ns;
    uint32_t thread, what;
} mxp_range_mark;

typedef struct mxp_long_span {
    int64_t begin_ns, end_ns;
    uint32_t thread, name;
} mxp_long_span;

typedef struct mxp_range_index {
    mxp_source *source;
    mxp_range_place *places;  // by thread, each thread's in the order of time
    size_t count, capacity;
    mxp_long_span *spans;  // longer than reach_ns, in the order of the trace
    size_t span_count, span_capacity;
    int64_t reach_ns;
    mxp_range_mark *marks;  // in the order of the trace
    size_t mark_count, mark_capacity;
    uint64_t counts[MXP_KIND_END];  // records by kind; kinds that are not known under 0
    uint64_t unread_ranges;  // damaged ones
    int64_t first_ns,
        last_ns;  // of marks and spans, and of the first and last record of each range
    bool has_time;
    // By name id: operators that do no work of a step (mxp__idle_operators), and spans that nest on
    // their thread.
    bool *idle, *nested;
    uint8_t *roles;  // by thread: those of its ranges together
    size_t thread_count;
} mxp_range_index;

// Looks at the heads of all records once. Of a source of one process, which must outlive it.
// Damaged ranges are read up to the damage. MXP_ENOMEM, or an error of the source.
int mxp__range_index_make(mxp_source *process, mxp_range_index *index);
void mxp__range_index_fini(mxp_range_index *index);

// Whether it is a span that nests on the thread of its record, in the trace's time.
static inline bool mxp__range_index_nests(const mxp_range_index *index, const mxp_event *event)
{
    return event->lane == 0 && event->name < index->source->name_count &&
           index->nested[event->name] && mxp__event_clock(event) == MXP_CLOCK_TRACE;
}

// A processor loads ahead by itself within a page of memory, and waits where the next one begins.
enum { MXP__WORDS_AHEAD = 576 };

// Words of the next record head, or null at the end of the range or at damage; *at moves behind it.
static inline const uint64_t *mxp__next_head(const uint64_t **at, const uint64_t *end)
{
    const uint64_t *words = *at;
    const uintptr_t left_bytes = (uintptr_t)end - (uintptr_t)words;
    if (left_bytes == 0) {
        return NULL;
    }
    const uintptr_t bytes = (uintptr_t)(*words >> 8 & 0xff) * MXP_RECORD_UNIT;
    if (bytes - 1 >= left_bytes) {  // also of length 0
        return NULL;
    }
    *at = words + bytes / sizeof *words;
    __builtin_prefetch(words + MXP__WORDS_AHEAD);
    return words;
}

// Push and end of an operator's record of at least four units, in ticks. False: they cannot be.
static inline bool mxp__head_times(const mxp_decoder *decoder, const uint64_t *words,
                                   uint64_t *push, uint64_t *end)
{
    const uint64_t run = words[2] & MXP_STAMP_MASK, queued = words[3] & MXP_STAMP_MASK;
    *end = mxp__decoder_widen(decoder, (words[0] >> 16) + run);
    *push = *end - run - queued;
    return *end >= run + queued;
}

// Place of the first range of a thread, whose ranges begin at place `begin`, that may have records
// which ended at `from_ns` or later.
size_t mxp__range_index_first(const mxp_range_index *index, size_t begin, int64_t from_ns);
// Where the ranges of the next thread begin.
size_t mxp__range_index_next_thread(const mxp_range_index *index, size_t begin);

#endif
