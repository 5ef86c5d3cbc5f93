// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/window: windows of steps, and what is looked at: steps, names, scopes.
//
// The steps of one process. A step is marked where it begins; its window goes to where its work is
// over: to the next mark or the recorded end of the step or the end of the last operator pushed in
// it, whatever is latest. So the windows of a program that waits in each step go from mark to mark,
// and those of one that runs ahead from completion to completion. They follow one another without
// gaps.
#ifndef MXP_ANALYSIS_STEPS_H
#define MXP_ANALYSIS_STEPS_H

#include <stdbool.h>

#include "profiler/analysis/window/range_index.h"

// Run delay above this share of the time: the machine was busy. Quiet runs of a runtime that spins
// have less.
#define MXP_BUSY_DELAY_SHARE 0.3

#define MXP__NOT_RECORDED UINT64_MAX

typedef struct mxp_step_window {
    uint64_t number;  // as the program has it
    int64_t mark_ns;  // where the program began it
    int64_t
        next_ns;  // where it began the next one; of the last: where it ended, or the last record
    int64_t begin_ns, end_ns;  // its window; equal if the step before took longer
    // From its mark to the next one: of the process, and of all its threads. MXP__NOT_RECORDED
    uint64_t cpu_ns, run_delay_ns;
    bool is_first_run;  // one of the first three, all of them slower than 99 % of the others
    bool is_open;  // nothing tells its end: it goes to the last record
    bool has_loss;  // records were lost within it
    bool has_pause;  // recording was paused or stopped within it
} mxp_step_window;

typedef struct mxp_steps {
    mxp_step_window *all;  // in the order of time
    size_t count;
    uint32_t thread;  // whose marks they are: the thread with most of them
    uint32_t other_threads;  // that have marks too, which are left out
    uint64_t other_marks;
    int64_t first_ns, last_ns;  // from the first to the last record of any kind that was looked at
    uint64_t operators, waits, spans;  // records, of all threads
    uint64_t unread_ranges;  // damaged ones
    uint64_t *mark_ticks;  // where each begins, for mxp__steps_of
    size_t at_once;  // steps whose graphs are made together at most; 0: as many as memory allows
    mxp_range_index index;  // of all records, for those who read windows
} mxp_steps;

// Finds the steps of a source of one process, which must outlive them. Without marks `count` is 0
// and the rest is valid. Damaged ranges are read up to the damage and counted. MXP_ENOMEM, or an
// error of the source.
int mxp__steps_find(mxp_source *process, mxp_steps *steps);
void mxp__steps_fini(mxp_steps *steps);

// Why a step is not whole. One without an end has a pause behind it, which is no reason of its own.
enum { MXP_STEP_LOSS = 1, MXP_STEP_PAUSE = 2, MXP_STEP_OPEN = 4 };
static inline unsigned mxp__step_reasons(const mxp_step_window *step)
{
    return (step->has_loss ? MXP_STEP_LOSS : 0u) | (step->is_open     ? MXP_STEP_OPEN
                                                    : step->has_pause ? MXP_STEP_PAUSE
                                                                      : 0u);
}

// All that it lacks, the pause behind a missing end as well.
static inline unsigned mxp__step_lacks(const mxp_step_window *step)
{
    return mxp__step_reasons(step) | (step->has_pause ? MXP_STEP_PAUSE : 0u);
}

// Whether a step is one of those that are looked at unless others are asked for: whole, without
// losses and pauses, and no first-run step.
static inline bool mxp__step_is_plain(const mxp_step_window *step)
{
    return !step->is_first_run && !step->is_open && !step->has_loss && !step->has_pause;
}

// Place of the step in which a moment lies by the marks: from a mark to before the next one.
// SIZE_MAX: before the first mark, or there is none.
size_t mxp__steps_of(const mxp_steps *steps, uint64_t ticks);
// The same of moments that come in about the order of time: `near` is the step of the one before, 0
// at first.
static inline size_t mxp__steps_near(const mxp_steps *steps, uint64_t ticks, size_t *near)
{
    const size_t i = *near;
    const bool is_same = i < steps->count && steps->mark_ticks[i] <= ticks &&
                         (i + 1 == steps->count || ticks < steps->mark_ticks[i + 1]);
    if (!is_same) {
        *near = mxp__steps_of(steps, ticks);
    }
    return *near;
}

// Place of the first step whose window ends later than a moment; `count`: there is none.
size_t mxp__steps_after(const mxp_steps *steps, int64_t ns);

// Names of operators that do no work of a step: deletions and the engine's own waits. By name id;
// true for those. Free with mxp__free(names, source->name_count). Null without memory or names.
bool *mxp__idle_operators(const mxp_source *source);

#endif
