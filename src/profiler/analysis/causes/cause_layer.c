// SPDX-License-Identifier: Apache-2.0
// One layer is more of the path than everything else together, or, where the machine's ceilings are
// known, most of the path's time above the roof is its. What is in no layer counts by the
// operator's name; in a trace without operators spans count by theirs.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/roof/roof.h"

static const double twice_as_fast = 0.5, majority = 0.5;

typedef struct layer_sum {
    uint64_t key;
    uint64_t path_ns;
    uint64_t run_ns;  // of operators whose roof is known, on the path or not
    double above_ns;  // of them
    const mxp_path_row *row;  // the first one
} layer_sum;

static uint64_t key_of(const mxp_facts *facts, uint32_t name, uint32_t scope)
{
    const uint32_t layer = mxp__facts_layer(facts, scope);
    return layer != 0 ? layer : (uint64_t)1 << 32 | name;
}

static bool is_run(const mxp_facts *facts, const mxp_path_row *row)
{
    return row->kind == MXP__PATH_RUN ||
           (facts->operators == 0 && row->kind == MXP__PATH_SPAN && row->name != 0);
}

static int sum_paths(const mxp_facts *facts, mxp_id_map *sums)
{
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        if (!is_run(facts, row)) {
            continue;
        }
        layer_sum *sum = mxp__id_map_add(sums, key_of(facts, row->name, row->scope));
        if (sum == NULL) {
            return mxp__fail_memory("the layers of a path");
        }
        sum->path_ns += row->total_ns;
        sum->row = sum->row != NULL ? sum->row : row;
    }
    return MXP_OK;
}

// Records that cannot be read leave the roof as far as it is known.
static int sum_roofs(const mxp_facts *facts, mxp_id_map *sums)
{
    if (facts->ceilings == NULL) {
        return MXP_OK;
    }
    mxp_roof roof;
    int error = mxp__roof_make(facts->process, facts->choice, facts->ceilings, &roof);
    for (size_t i = 0; error != MXP_ENOMEM && !roof.is_void && i < roof.group_count; i++) {
        const mxp_roof_group *group = &roof.groups[i];
        layer_sum *sum = mxp__id_map_find(sums, key_of(facts, group->name, group->scope));
        if (sum != NULL) {
            sum->run_ns += group->known_run_ns;
            sum->above_ns += group->above_ns;
        }
    }
    mxp__roof_fini(&roof);
    return error == MXP_ENOMEM ? error : MXP_OK;
}

// Of its time, what it would take at its roof. 1: not known, or it is there.
static double at_roof(const layer_sum *sum)
{
    return sum->run_ns == 0 ? 1 : 1 - sum->above_ns / (double)sum->run_ns;
}

// The one with more than half of the path; else the one with most of the path above the roof.
static const layer_sum *choose(const mxp_facts *facts, const mxp_id_map *sums)
{
    const layer_sum *largest = NULL, *above = NULL;
    for (const layer_sum *sum = mxp__id_map_next(sums, NULL); sum != NULL;
         sum = mxp__id_map_next(sums, sum)) {
        const double gain = (double)sum->path_ns * (1 - at_roof(sum));
        largest = largest == NULL || sum->path_ns > largest->path_ns ? sum : largest;
        above = gain > 0 && (above == NULL || gain > (double)above->path_ns * (1 - at_roof(above)))
                    ? sum
                    : above;
    }
    const bool is_most =
        largest != NULL && (double)largest->path_ns > majority * (double)facts->rows.total_ns;
    return is_most ? largest : above;
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

// The layer's time on the path of each step.
static int take_layer(const mxp_facts *facts, uint64_t key, mxp_cause *cause)
{
    const mxp_path_rows *rows = &facts->rows;
    bool *wanted = mxp__alloc(rows->count * sizeof *wanted);
    if (wanted == NULL) {
        return mxp__fail_memory("the rows of a layer");
    }
    for (size_t i = 0; i < rows->count; i++) {
        const mxp_path_row *row = &rows->rows[i];
        wanted[i] = is_run(facts, row) && key_of(facts, row->name, row->scope) == key;
        if (wanted[i]) {
            take_row(facts, row, cause);
        }
    }
    mxp__facts_add_row(facts, rows, wanted, cause->gains);
    mxp__free(wanted, rows->count * sizeof *wanted);
    return MXP_OK;
}

static int add_layer(const mxp_facts *facts, const layer_sum *sum, mxp_causes *causes)
{
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_LAYER, MXP_GAIN_PATH);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    const bool has_roof = at_roof(sum) < 1;
    cause->layer = mxp__facts_layer(facts, sum->row->scope);
    cause->share = (double)sum->path_ns / (double)facts->rows.total_ns;
    cause->roof = has_roof ? at_roof(sum) : 0;
    cause->factor = has_roof ? at_roof(sum) : twice_as_fast;
    cause->is_upper_bound = true;  // what is beside the path may take its place
    int error = take_layer(facts, sum->key, cause);
    if (error == MXP_OK) {
        error = mxp__share_is_above(facts, cause->gains, majority, &cause->is_most);
    }
    if (error != MXP_OK || (!cause->is_most && !has_roof)) {
        mxp__causes_drop(causes);
        return error;
    }
    for (size_t i = 0; i < facts->count; i++) {
        cause->steps += cause->gains[i] > 0;
        cause->gains[i] *= 1 - cause->factor;
    }
    return MXP_OK;
}

int mxp__find_layer(const mxp_facts *facts, mxp_causes *causes)
{
    mxp_id_map sums = {.entry_bytes = sizeof(layer_sum)};
    int error = sum_paths(facts, &sums);
    if (error == MXP_OK) {
        error = sum_roofs(facts, &sums);
    }
    const layer_sum *chosen = error == MXP_OK ? choose(facts, &sums) : NULL;
    if (chosen != NULL) {
        error = add_layer(facts, chosen, causes);
    }
    mxp__id_map_fini(&sums);
    return error;
}
