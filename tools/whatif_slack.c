// SPDX-License-Identifier: Apache-2.0
// What the operators of the replayed steps may be later by, for programs: rows as in the report.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "profiler/analysis/window/scope_tree.h"
#include "text/phase.h"
#include "whatif_view.h"

static void put_row(const mxp_source *process, const mxp_scope_tree *scopes,
                    const uint32_t *node_of, const mxp_slack_row *row, mxp_json *json)
{
    const mxp_name_view name = process->name(process, row->name);
    const uint32_t node = row->scope < process->name_count ? node_of[row->scope] : 0;
    size_t length;
    const char *scope = mxp__scope_tree_path(scopes, node, &length);
    mxp__json_row(json, NULL);
    mxp__json_bytes(json, "name", name.text, name.length);
    mxp__json_bytes(json, "scope", scope, length);
    mxp__json_text(json, "phase", mxp__phase_word(row->phase));
    mxp__json_u64(json, "runs", row->runs);
    mxp__json_u64(json, "without", row->without);
    mxp__json_i64(json, "least_ns", row->least_ns);
    mxp__json_number(json, "mean_ns", row->sum_ns / (double)row->runs);
    mxp__json_end(json);
}

void mxp__whatif_slack_json(const mxp_what_if *result, mxp_json *json)
{
    mxp_scope_tree scopes = {0};
    uint32_t *node_of = NULL;
    const mxp_source *process = result->process;
    mxp__json_array(json, "slack");
    if (mxp__scope_tree_add(&scopes, process, &node_of) == MXP_OK) {
        for (size_t i = 0; i < result->slack.count; i++) {
            put_row(process, &scopes, node_of, &result->slack.rows[i], json);
        }
        mxp__free(node_of, process->name_count * sizeof *node_of);
    } else {
        json->out->failed = true;
    }
    mxp__json_end(json);
    mxp__scope_tree_fini(&scopes);
}
