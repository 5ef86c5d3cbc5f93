// SPDX-License-Identifier: Apache-2.0
// The first steps were slower than 99 % of the others, or, where they are not among the steps,
// operators when they ran for the first time. It is spread over all steps: what does not come again
// is little of a long run.
#include "profiler/analysis/causes/cause.h"

static double length_of(const mxp_step_window *step)
{
    return (double)(step->end_ns - step->begin_ns);
}

// Whether the first steps are looked at: chosen, or left out by themselves because they are first.
static bool has_first_steps(const mxp_facts *facts)
{
    return facts->choice->first_run > 0 ||
           (facts->count > 0 && facts->steps->all[facts->at[0].place].is_first_run);
}

// Of the steps that are slow because they are first, what they have beyond the others' mean.
static double excess_of_steps(const mxp_facts *facts, size_t *count)
{
    double first_ns = 0, others_ns = 0;
    size_t first = 0;
    *count = 0;
    if (!has_first_steps(facts)) {
        return 0;
    }
    for (size_t i = 0; i < facts->steps->count; i++) {
        if (facts->steps->all[i].is_first_run) {
            first_ns += length_of(&facts->steps->all[i]);
            first++;
        }
    }
    size_t others = 0;
    for (size_t i = 0; i < facts->count; i++) {
        if (!facts->steps->all[facts->at[i].place].is_first_run) {
            others_ns += facts->at[i].wall_ns;
            others++;
        }
    }
    *count = first;
    return first == 0 || others == 0 ? 0 : first_ns - (double)first * others_ns / (double)others;
}

// Operators with the largest excess, the largest first; returns the sum of all that ran for the
// first time in a chosen step.
static double excess_of_operators(const mxp_facts *facts, mxp_cause *cause)
{
    double sum_ns = 0;
    for (size_t i = 0; i < facts->first_runs.count; i++) {
        const mxp_first_run *run = &facts->first_runs.all[i];
        const double ns = (double)mxp__first_run_excess_ns(run);
        if (ns <= 0 || mxp__facts_index_at(facts, run->first_begin_ns) == facts->count) {
            continue;
        }
        sum_ns += ns;
        mxp__cause_keep_place(cause, (mxp_cause_place){.name = run->name, .scope = run->scope}, ns);
    }
    return sum_ns;
}

int mxp__find_first_run(const mxp_facts *facts, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_FIRST_RUN, MXP_GAIN_COUNTED);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    size_t first = 0;
    const double steps_ns = excess_of_steps(facts, &first);
    const double operators_ns = excess_of_operators(facts, cause);
    const double excess_ns = first > 0 ? steps_ns : operators_ns;
    if (excess_ns <= 0 || facts->count == 0) {
        mxp__causes_drop(causes);
        return MXP_OK;
    }
    // Once, at the beginning: spread over all steps, those that are left out as first among them.
    const size_t left_out = first > 0 ? facts->choice->first_run : 0;
    const double a_step_ns = excess_ns / (double)(facts->count + left_out);
    for (size_t i = 0; i < facts->count; i++) {
        cause->gains[i] = a_step_ns;
    }
    cause->is_certain = true;
    cause->is_left_out = left_out > 0;
    cause->first_steps = first;
    cause->count = excess_ns;
    cause->steps = first > 0 ? first : 1;
    return MXP_OK;
}
