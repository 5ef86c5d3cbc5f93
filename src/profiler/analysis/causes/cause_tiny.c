// SPDX-License-Identifier: Apache-2.0
// Pushing an operator takes longer than the operator, and the path goes through the pushes. A bulk
// of eight is pushed once.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/sample.h"

static const double of_a_bulk = 8;

typedef enum tiny_figure { FIGURE_TINY, FIGURE_PUSHED, FIGURE_PUSH_NS, FIGURE_RUN_NS } tiny_figure;

static double figure_of(const mxp_facts_step *step, tiny_figure figure)
{
    return figure == FIGURE_TINY      ? (double)step->tiny
           : figure == FIGURE_PUSHED  ? (double)step->pushed
           : figure == FIGURE_PUSH_NS ? step->push_ns
                                      : step->tiny_run_ns;
}

static double median_of(const mxp_facts *facts, tiny_figure figure, double *room)
{
    for (size_t i = 0; i < facts->count; i++) {
        room[i] = figure_of(&facts->at[i], figure);
    }
    mxp__sample_sort(room, facts->count);
    return mxp__sample_median(room, facts->count);
}

// What the pushes take of the path: no more than they take, and no more than is on the path.
static int take_gains(const mxp_facts *facts, mxp_cause *cause)
{
    int error =
        mxp__facts_kinds(facts, 1u << MXP__PATH_CALL | 1u << MXP__PATH_BETWEEN, cause->gains);
    double program_ns = 0, gained_ns = 0;
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        const double pushes_ns = (double)facts->at[i].tiny * facts->at[i].push_ns;
        const double on_path_ns = cause->gains[i] < pushes_ns ? cause->gains[i] : pushes_ns;
        program_ns += cause->gains[i];
        cause->gains[i] = on_path_ns * (1 - 1 / of_a_bulk);
        gained_ns += cause->gains[i];
        cause->steps += cause->gains[i] > 0;
    }
    cause->share = program_ns > 0 ? gained_ns / program_ns : 0;
    return error;
}

int mxp__find_tiny(const mxp_facts *facts, mxp_causes *causes)
{
    if (facts->count == 0) {
        return MXP_OK;
    }
    double *room = mxp__alloc(facts->count * sizeof *room);
    if (room == NULL) {
        return mxp__fail_memory("the pushes of each step");
    }
    const double tiny = median_of(facts, FIGURE_TINY, room);
    const double pushed = median_of(facts, FIGURE_PUSHED, room);
    const double push_ns = median_of(facts, FIGURE_PUSH_NS, room);
    const double run_ns = median_of(facts, FIGURE_RUN_NS, room);
    mxp__free(room, facts->count * sizeof *room);
    if (tiny <= pushed / 2 || push_ns <= run_ns) {
        return MXP_OK;
    }
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_TINY, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->is_upper_bound = true;  // what the program does between its calls may stay
    cause->count = tiny;
    cause->each_ns = push_ns;
    cause->run_ns = run_ns;
    return take_gains(facts, cause);
}
