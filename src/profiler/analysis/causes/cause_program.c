// SPDX-License-Identifier: Apache-2.0
// The program itself, Python or C, is a good part of the path: nothing was to be done meanwhile.
#include "profiler/analysis/causes/cause.h"

static const double share_least = 0.2;  // of the path

static bool is_own(int kind)
{
    return kind == MXP__PATH_CALL || kind == MXP__PATH_SPAN || kind == MXP__PATH_BETWEEN ||
           kind == MXP__PATH_GARBAGE;
}

static void take_places(const mxp_facts *facts, mxp_cause *cause)
{
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        if (is_own(row->kind)) {
            mxp__cause_keep_place(cause, (mxp_cause_place){.name = row->name},
                                  (double)row->total_ns / (double)facts->count);
        }
    }
}

int mxp__find_program(const mxp_facts *facts, mxp_causes *causes)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < facts->rows.count; i++) {
        ns += is_own(facts->rows.rows[i].kind) ? facts->rows.rows[i].total_ns : 0;
    }
    if (facts->operators == 0 || (double)ns <= share_least * (double)facts->rows.total_ns) {
        return MXP_OK;  // without operators there is nothing that it could keep waiting
    }
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_PROGRAM, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->is_upper_bound = true;
    cause->share = (double)ns / (double)facts->rows.total_ns;
    take_places(facts, cause);
    const unsigned kinds = 1u << MXP__PATH_CALL | 1u << MXP__PATH_SPAN | 1u << MXP__PATH_BETWEEN |
                           1u << MXP__PATH_GARBAGE;
    int error = mxp__facts_kinds(facts, kinds, cause->gains);
    bool is_much = false;
    if (error == MXP_OK) {
        error = mxp__share_is_above(facts, cause->gains, share_least, &is_much);
    }
    if (error != MXP_OK || !is_much) {
        mxp__causes_drop(causes);
        return error;
    }
    for (size_t i = 0; i < facts->count; i++) {
        cause->steps += cause->gains[i] > 0;
        cause->gains[i] /= 2;  // if it were twice as fast
    }
    return MXP_OK;
}
