// SPDX-License-Identifier: Apache-2.0
// The slack of operators (replay.h) added up: a row for each name, scope and phase.
#ifndef MXP_ANALYSIS_SLACK_ROWS_H
#define MXP_ANALYSIS_SLACK_ROWS_H

#include "base/id_map.h"
#include "profiler/analysis/replay/replay.h"

enum { MXP__SLACK_PHASES = MXP_PHASE_COMMUNICATION + 1 };

typedef struct mxp_slack_row {
    uint32_t name, scope, phase;  // MXP_PHASE_*
    uint64_t runs, without;  // without: those that have none
    int64_t least_ns;
    double sum_ns;
} mxp_slack_row;

// Begins as zeros.
typedef struct mxp_slack_rows {
    mxp_slack_row *rows;  // in the order in which they came
    size_t count, capacity;
    mxp_id_map places;  // of rows, by name and scope
} mxp_slack_rows;

// Adds the operators that do work of the plan's steps, of those that are `chosen`: by place in the
// steps' table, null for all. MXP_ENOMEM.
int mxp__slack_rows_add(mxp_slack_rows *rows, const mxp_replay_plan *plan, const bool *chosen);
void mxp__slack_rows_fini(mxp_slack_rows *rows);

#endif
