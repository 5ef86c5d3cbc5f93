// SPDX-License-Identifier: Apache-2.0
// The function of a custom operator is on the path. What it did there follows from the process's
// CPU time: what operators and the program did not use of it may be the function's. Less than half
// of its time: it waited, for a lock or a device, or slept.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"

typedef struct cpu_use {
    double custom_ns, cpu_ns, delay_ns;  // sums over steps of which the CPU time is known
    size_t steps;
} cpu_use;

static int use_of(const mxp_facts *facts, const double *custom, cpu_use *use)
{
    double *program = mxp__alloc(facts->count * sizeof *program);
    if (program == NULL) {
        return mxp__fail_memory("the CPU time of each step");
    }
    const unsigned kinds = 1u << MXP__PATH_CALL | 1u << MXP__PATH_BETWEEN | 1u << MXP__PATH_SPAN |
                           1u << MXP__PATH_GARBAGE | 1u << MXP__PATH_MEMORY;
    int error = mxp__facts_kinds(facts, kinds, program);
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        const mxp_step_window *step = &facts->steps->all[facts->at[i].place];
        if (step->cpu_ns == MXP__NOT_RECORDED || step->run_delay_ns == MXP__NOT_RECORDED) {
            continue;
        }
        const double free_ns = (double)step->cpu_ns - facts->at[i].run_ns - program[i];
        use->custom_ns += custom[i];
        use->cpu_ns += free_ns > 0 ? free_ns : 0;
        use->delay_ns += (double)step->run_delay_ns;
        use->steps++;
    }
    mxp__free(program, facts->count * sizeof *program);
    return error;
}

static const mxp_path_row *longest_row(const mxp_facts *facts)
{
    const mxp_path_row *most = NULL;
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        if (row->kind == MXP__PATH_CUSTOM && (most == NULL || row->total_ns > most->total_ns)) {
            most = row;
        }
    }
    return most;
}

int mxp__find_custom(const mxp_facts *facts, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_CUSTOM, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cpu_use use = {0};
    const mxp_path_row *most = longest_row(facts);
    int error = mxp__facts_kinds(facts, 1u << MXP__PATH_CUSTOM, cause->gains);
    if (error == MXP_OK && most != NULL) {
        error = use_of(facts, cause->gains, &use);
    }
    if (error != MXP_OK || most == NULL) {
        mxp__causes_drop(causes);
        return error;
    }
    for (size_t i = 0; i < facts->count; i++) {
        cause->steps += cause->gains[i] > 0;
    }
    cause->is_upper_bound = true;
    cause->places[0] = (mxp_cause_place){.name = most->name, .scope = most->scope};
    cause->place_ns[0] = (double)most->total_ns / (double)facts->count;
    cause->place_count = 1;
    if (use.steps > 0) {
        const bool waited = use.cpu_ns < use.custom_ns / 2 && use.delay_ns < use.custom_ns / 2;
        cause->custom = waited ? MXP_CUSTOM_WAITED : MXP_CUSTOM_COMPUTED;
        cause->run_ns = use.cpu_ns / (double)use.steps;
        cause->delay_ns = use.delay_ns / (double)use.steps;
    }
    return MXP_OK;
}
