// SPDX-License-Identifier: Apache-2.0
// One layer is more of the path than everything else together. What is in no layer counts by the
// operator's name; in a trace without operators spans count by theirs.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"

static uint64_t key_of(const mxp_facts *facts, const mxp_path_row *row)
{
    const uint32_t layer = mxp__facts_layer(facts, row->scope);
    return layer != 0 ? layer : (uint64_t)1 << 32 | row->name;
}

static bool is_run(const mxp_facts *facts, const mxp_path_row *row)
{
    return row->kind == MXP__PATH_RUN ||
           (facts->operators == 0 && row->kind == MXP__PATH_SPAN && row->name != 0);
}

// A row of the layer with most time, or null.
static const mxp_path_row *largest_layer(const mxp_facts *facts, uint64_t *ns)
{
    typedef struct layer_sum {
        uint64_t key, ns;
    } layer_sum;
    mxp_id_map sums = {.entry_bytes = sizeof(layer_sum)};
    const mxp_path_row *largest = NULL;
    *ns = 0;
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        layer_sum *sum = is_run(facts, row) ? mxp__id_map_add(&sums, key_of(facts, row)) : NULL;
        if (sum == NULL) {
            continue;  // without memory the layer is smaller than it is, and no cause
        }
        sum->ns += row->total_ns;
        if (sum->ns > *ns) {
            *ns = sum->ns;
            largest = row;
        }
    }
    mxp__id_map_fini(&sums);
    return largest;
}

static void take_row(const mxp_facts *facts, const mxp_path_row *row, mxp_cause *cause)
{
    const double ns = (double)row->total_ns / (double)facts->count;
    cause->forward_ns += row->phase == MXP_PHASE_FORWARD ? ns : 0;
    cause->backward_ns += row->phase == MXP_PHASE_BACKWARD ? ns : 0;
    cause->update_ns += row->phase == MXP_PHASE_UPDATE ? ns : 0;
    if (ns > cause->place_ns[0]) {
        cause->place_ns[0] = ns;
        cause->places[0] = (mxp_cause_place){.name = row->name, .scope = row->scope};
        cause->place_count = 1;
    }
}

static int take_layer(const mxp_facts *facts, uint64_t key, mxp_cause *cause)
{
    const mxp_path_rows *rows = &facts->rows;
    bool *wanted = mxp__alloc(rows->count * sizeof *wanted);
    if (wanted == NULL) {
        return mxp__fail_memory("the rows of a layer");
    }
    for (size_t i = 0; i < rows->count; i++) {
        wanted[i] = is_run(facts, &rows->rows[i]) && key_of(facts, &rows->rows[i]) == key;
        if (wanted[i]) {
            take_row(facts, &rows->rows[i], cause);
        }
    }
    mxp__facts_add_row(facts, rows, wanted, cause->gains);
    mxp__free(wanted, rows->count * sizeof *wanted);
    return MXP_OK;
}

int mxp__find_layer(const mxp_facts *facts, mxp_causes *causes)
{
    uint64_t ns;
    const mxp_path_row *row = largest_layer(facts, &ns);
    if (row == NULL || ns <= facts->rows.total_ns / 2) {
        return MXP_OK;
    }
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_LAYER, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->layer = mxp__facts_layer(facts, row->scope);
    cause->share = (double)ns / (double)facts->rows.total_ns;
    cause->is_upper_bound = true;  // what is beside the path may take its place
    bool is_most = false;
    int error = take_layer(facts, key_of(facts, row), cause);
    if (error == MXP_OK) {
        error = mxp__share_is_above(facts, cause->gains, 0.5, &is_most);
    }
    if (error != MXP_OK || !is_most) {
        mxp__causes_drop(causes);
        return error;
    }
    for (size_t i = 0; i < facts->count; i++) {
        cause->steps += cause->gains[i] > 0;
        cause->gains[i] /= 2;  // if it were twice as fast
    }
    return MXP_OK;
}
