// SPDX-License-Identifier: Apache-2.0
// The program waits for its input, while nothing else is to be done.
#include "profiler/analysis/causes/cause.h"

// The row with most time of input; whether the program loads it or waits for those that do.
static void take_rows(const mxp_facts *facts, mxp_cause *cause)
{
    const mxp_path_row *most = NULL;
    double waited_ns = 0, total_ns = 0;
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        if (row->kind == MXP__PATH_INPUT) {
            most = most == NULL || row->total_ns > most->total_ns ? row : most;
            total_ns += (double)row->total_ns;
        }
    }
    for (size_t i = 0; i < facts->count; i++) {
        waited_ns += facts->at[i].input_wait_ns;
    }
    cause->places[0] = (mxp_cause_place){.name = most != NULL ? most->name : 0};
    cause->place_ns[0] = most != NULL ? (double)most->total_ns / (double)facts->count : 0;
    cause->place_count = 1;
    cause->waits_for_workers = 2 * waited_ns > total_ns;
}

int mxp__find_input(const mxp_facts *facts, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_INPUT, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    int error = mxp__facts_kinds(facts, 1u << MXP__PATH_INPUT, cause->gains);
    for (size_t i = 0; i < facts->count; i++) {
        cause->steps += cause->gains[i] > 0;
    }
    if (error != MXP_OK || cause->steps == 0) {
        mxp__causes_drop(causes);
        return error;
    }
    cause->is_upper_bound = true;  // the loader beside computing takes a core from it
    take_rows(facts, cause);
    return MXP_OK;
}
