// SPDX-License-Identifier: Apache-2.0
// The part of a recording that is looked at: some of its steps, or some of its time.
#ifndef MXP_ANALYSIS_CHOICE_H
#define MXP_ANALYSIS_CHOICE_H

#include "profiler/analysis/window/steps.h"

// For messages about a trace without steps. Python's has its package's name: torch.profiler has a
// step() of its own, which marks nothing here. Who has PyTorch and not the package finds the line
// to type in the help that it names.
#define MXP_STEPS_ARE_MARKED_BY                                                              \
    "mxp_step() marks them, in Python mxnet.profiler.step(); without mxnet see 'mxprof run " \
    "--help'"

typedef enum mxp_steps_wish {
    MXP_STEPS_USUAL,  // plain ones (mxp__step_is_plain); without any, all; without steps, all time
    MXP_STEPS_RANGE,  // by their numbers
    MXP_STEPS_LAST,  // the last one that is whole
    MXP_STEPS_SLOWEST,  // the longest window among the plain ones; without any, among those with
                        // an end; without any, among all
} mxp_steps_wish;

typedef enum mxp_time_base {
    MXP_TIME_UNSET,
    MXP_TIME_FROM_ZERO,  // trace time
    MXP_TIME_FROM_BEGIN,  // of what is recorded; of `until`: from `from`
    MXP_TIME_FROM_END,  // before the end of what is recorded
} mxp_time_base;

typedef struct mxp_time_wish {
    mxp_time_base base;
    int64_t ns;  // never negative
} mxp_time_wish;

// Begins as zeros: the usual. Steps other than the usual and times exclude each other.
typedef struct mxp_choice_wish {
    mxp_steps_wish steps;
    uint64_t first, last;  // of MXP_STEPS_RANGE, both included
    mxp_time_wish from, until;
} mxp_choice_wish;

typedef struct mxp_choice {
    const mxp_steps *of;
    bool *steps;  // by place in `of`; null: a time, or everything
    size_t step_count;  // how many are chosen
    size_t first_run,
        incomplete;  // left out by the usual, or by mxp__choice_leave_out: how many; incomplete:
                     // losses, pauses, no end
    unsigned reasons;  // MXP_STEP_*: why the incomplete ones are
    int64_t from_ns, until_ns;  // of a time, or everything: [from_ns, until_ns)
    uint64_t wall_ns;  // the windows of all that is chosen
    bool is_everything;  // no time was asked for: what began before from_ns is chosen as well
    bool is_forced;  // the usual found no plain step and took all
} mxp_choice;

// MXP_EINVAL: there is no such step or time, and the detail line says which there are. MXP_ENOTSUP:
// steps were asked for, and none are marked. MXP_ENOMEM. `steps` must outlive the choice.
int mxp__choice_make(const mxp_steps *steps, const mxp_choice_wish *wish, mxp_choice *choice);
// The part of a time that is recorded, which may be none of it: for a process without steps beside
// others whose steps are chosen. `steps` must outlive the choice.
void mxp__choice_make_time(const mxp_steps *steps, int64_t from_ns, int64_t until_ns,
                           mxp_choice *choice);
void mxp__choice_fini(mxp_choice *choice);
// Leaves the chosen steps out that lack something of `reasons` (MXP_STEP_*), and counts them as
// incomplete: what goes into means must be whole. False: none would remain, so all stay.
bool mxp__choice_leave_out(mxp_choice *choice, unsigned reasons);

// Whether a moment is chosen: in ticks where steps are, by the marks between which it lies; else by
// its time.
// `near`: as of mxp__steps_near.
static inline bool mxp__choice_takes_near(const mxp_choice *choice, uint64_t ticks, int64_t ns,
                                          size_t *near)
{
    if (choice->steps == NULL) {
        return choice->is_everything || (ns >= choice->from_ns && ns < choice->until_ns);
    }
    const size_t step = mxp__steps_near(choice->of, ticks, near);
    return step != SIZE_MAX && choice->steps[step];
}

static inline bool mxp__choice_takes(const mxp_choice *choice, uint64_t ticks, int64_t ns)
{
    size_t near = SIZE_MAX;
    return mxp__choice_takes_near(choice, ticks, ns, &near);
}

#endif
