// SPDX-License-Identifier: Apache-2.0
// See slack_rows.h.
#include "profiler/analysis/replay/slack_rows.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/replay/replay_parts.h"

typedef struct row_places {
    uint64_t key;  // name and scope
    uint32_t rows[MXP__SLACK_PHASES];  // by phase: row plus 1, 0: none
} row_places;

static const char memory_for[] = "the slack of operators";

static int find_row(mxp_slack_rows *rows, const mxp_graph_op *op, mxp_slack_row **found)
{
    const uint32_t phase = op->flags & MXP_OP_PHASE_MASK;
    rows->places.entry_bytes = sizeof(row_places);
    row_places *places = mxp__id_map_add(&rows->places, (uint64_t)op->name << 32 | op->scope);
    if (places == NULL) {
        return mxp__fail_memory(memory_for);
    }
    uint32_t *place = &places->rows[phase < MXP__SLACK_PHASES ? phase : 0];
    if (*place == 0) {
        if (mxp__grow(&rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows) !=
            MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        rows->rows[rows->count] = (mxp_slack_row){.name = op->name,
                                                  .scope = op->scope,
                                                  .phase = phase < MXP__SLACK_PHASES ? phase : 0,
                                                  .least_ns = INT64_MAX};
        *place = (uint32_t)++rows->count;
    }
    *found = &rows->rows[*place - 1];
    return MXP_OK;
}

static int add_op(mxp_slack_rows *rows, const mxp_graph_op *op, int64_t slack_ns)
{
    mxp_slack_row *row = NULL;
    const int error = find_row(rows, op, &row);
    if (error == MXP_OK) {
        row->runs++;
        row->without += slack_ns == 0;
        row->least_ns = slack_ns < row->least_ns ? slack_ns : row->least_ns;
        row->sum_ns += (double)slack_ns;
    }
    return error;
}

int mxp__slack_rows_add(mxp_slack_rows *rows, const mxp_replay_plan *plan, const bool *chosen)
{
    const mxp_graph *graph = plan->graph;
    int64_t *slack_ns;
    int error = mxp__replay_slack(plan, &slack_ns);
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < graph->op_count && error == MXP_OK; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        const size_t step = mxp__replay_step_of(plan, op->push_ns);
        const bool is_named = op->name != 0 || op->scope != 0;
        if (is_named && !op->is_idle && step != SIZE_MAX && (chosen == NULL || chosen[step])) {
            error = add_op(rows, op, slack_ns[i]);
        }
    }
    mxp__free(slack_ns, graph->op_count * sizeof *slack_ns);
    return error;
}

void mxp__slack_rows_fini(mxp_slack_rows *rows)
{
    mxp__free(rows->rows, rows->capacity * sizeof *rows->rows);
    mxp__id_map_fini(&rows->places);
    *rows = (mxp_slack_rows){0};
}
