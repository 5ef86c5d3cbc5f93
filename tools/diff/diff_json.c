// SPDX-License-Identifier: Apache-2.0
// The comparison as JSON: times in whole ns, changes and shares as shares of 1.
#include <math.h>
#include <string.h>

#include "diff/diff.h"
#include "text/json_writer.h"

static const char *const side_names[MXP__SIDES] = {"before", "after"};
static const char *const ns_names[MXP__SIDES] = {"before_ns", "after_ns"};

static void put_ns(mxp_json *json, const char *key, double ns)
{
    if (ns < 0) {
        mxp__json_null(json, key);
    } else {
        mxp__json_i64(json, key, llround(ns));
    }
}

static void put_judged(mxp_json *json, const char *key, const mxp_judged *judged)
{
    if (!judged->is_known) {
        mxp__json_null(json, key);
        return;
    }
    const mxp_permutation *test = &judged->test;
    const bool is_tested = test->splits > 0;
    mxp__json_object(json, key);
    mxp__json_text(json, "verdict", mxp__verdict_name(judged->verdict));
    for (int side = 0; side < MXP__SIDES; side++) {
        put_ns(json, ns_names[side], judged->means_ns[side]);
    }
    mxp__json_number(json, "change",
                     judged->means_ns[MXP__AFTER] / judged->means_ns[MXP__BEFORE] - 1);
    mxp__json_number(json, "change_low", is_tested ? expm1(test->low) : NAN);
    mxp__json_number(json, "change_high", is_tested ? expm1(test->high) : NAN);
    mxp__json_number(json, "p", is_tested ? test->p : NAN);
    mxp__json_u64(json, "splits", test->splits);
    mxp__json_bool(json, "all_splits", test->is_exact);
    mxp__json_u64(json, "pairs", judged->pairs);
    mxp__json_number(json, "smallest_change_seen", judged->smallest);
    mxp__json_end(json);
}

static void put_run(mxp_json *json, const mxp_diff *diff, int side, size_t place)
{
    const mxp_compared_run *run = &diff->comparison.sides[side].runs[place];
    mxp__json_row(json, NULL);
    mxp__json_text(json, "file", run->path);
    mxp__json_u64(json, "began_ns", run->began_ns);
    mxp__json_u64(json, "steps", run->has_steps ? run->step_count : 0);
    mxp__json_u64(json, "first_run_steps", run->first_run_steps);
    mxp__json_u64(json, "steps_left_out", run->marred_steps);
    put_ns(json, "mean_ns", run->mean_ns);
    put_ns(json, "cpu_ns", run->cpu_ns);
    put_ns(json, "run_delay_ns", run->delay_ns);
    mxp__json_bool(json, "disturbed", diff->comparison.sides[side].is_disturbed[place]);
    mxp__json_bool(json, "counts", mxp__run_counts(&diff->comparison, side, place));
    mxp__json_end(json);
}

static void put_runs(mxp_json *json, const mxp_diff *diff)
{
    mxp__json_object(json, "runs");
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp__json_array(json, side_names[side]);
        for (size_t i = 0; i < diff->comparison.sides[side].count; i++) {
            put_run(json, diff, side, i);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_key(mxp_json *json, const mxp_row_key *key)
{
    if (key->kind[0] != '\0') {
        mxp__json_text(json, "kind", key->kind);
    }
    mxp__json_text(json, "scope", key->scope);
    mxp__json_text(json, "name", key->name);
    if (key->shape[0] != '\0') {
        mxp__json_text(json, "shape", key->shape);
    }
}

static void put_calls(mxp_json *json, const char *name, const mxp_row_keys *keys,
                      const mxp_call_difference *rows, size_t count)
{
    mxp__json_array(json, name);
    for (size_t i = 0; i < count; i++) {
        mxp__json_row(json, NULL);
        put_key(json, &keys->all[rows[i].row]);
        for (int side = 0; side < MXP__SIDES; side++) {
            mxp__json_number(json, side_names[side], rows[i].calls[side]);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_settings(mxp_json *json, const mxp_differences *differences)
{
    mxp__json_array(json, "settings");
    for (size_t i = 0; i < differences->setting_count; i++) {
        const mxp_setting_difference *setting = &differences->settings[i];
        mxp__json_row(json, NULL);
        mxp__json_text(json, "key", setting->key);
        for (int side = 0; side < MXP__SIDES; side++) {
            if (setting->values[side] == NULL) {
                mxp__json_null(json, side_names[side]);
            } else {
                mxp__json_text(json, side_names[side], setting->values[side]);
            }
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static void put_differences(mxp_json *json, const mxp_diff *diff)
{
    const mxp_differences *differences = &diff->differences;
    mxp__json_object(json, "differences");
    mxp__json_row(json, "operators_a_step");
    for (int side = 0; side < MXP__SIDES; side++) {
        mxp__json_number(json, side_names[side], differences->operators[side]);
    }
    mxp__json_end(json);
    mxp__json_row(json, "rows");
    mxp__json_u64(json, "before", differences->rows[MXP__BEFORE]);
    mxp__json_u64(json, "after", differences->rows[MXP__AFTER]);
    mxp__json_u64(json, "common", differences->common_rows);
    mxp__json_end(json);
    put_calls(json, "calls_a_step", &diff->comparison.rows.operators, differences->calls,
              differences->call_count);
    put_calls(json, "shapes_a_step", &diff->comparison.rows.shapes, differences->shapes,
              differences->shape_count);
    put_settings(json, differences);
    mxp__json_end(json);
}

static void put_rows(mxp_json *json, const char *name, const mxp_row_keys *keys,
                     const mxp_contribution *rows, size_t count)
{
    mxp__json_array(json, name);
    for (size_t i = 0; i < count; i++) {
        const mxp_contribution *row = &rows[i];
        mxp__json_row(json, NULL);
        put_key(json, &keys->all[row->row]);
        for (int side = 0; side < MXP__SIDES; side++) {
            mxp__json_i64(json, ns_names[side], row->ns[side]);
        }
        mxp__json_i64(json, "change_ns", mxp__contribution_change(row));
        mxp__json_number(json, "p", row->is_tested ? row->p : NAN);
        mxp__json_number(json, "adjusted_p", row->is_tested ? row->adjusted_p : NAN);
        mxp__json_bool(json, "told", row->is_told);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

void mxp__diff_put_json(const mxp_diff *diff, mxp_strbuf *out)
{
    const mxp_comparison *comparison = &diff->comparison;
    mxp_json json = {.out = out};
    mxp__json_object(&json, NULL);
    mxp__json_text(&json, "verdict",
                   diff->is_refused ? "refused" : mxp__verdict_name(comparison->wall.verdict));
    mxp__json_number(&json, "at_least", comparison->at_least);
    put_judged(&json, "wall", &comparison->wall);
    put_judged(&json, "cpu", &comparison->cpu);
    mxp__json_u64(&json, "disturbed_runs", comparison->disturbed);
    mxp__json_number(&json, "disturbed_above",
                     comparison->knows_delay ? comparison->delay_bound : NAN);
    put_runs(&json, diff);
    put_differences(&json, diff);
    if (!diff->is_refused) {
        const mxp_contributions *found = &diff->contributions;
        put_rows(&json, "path", &comparison->rows.path, found->all, found->count);
        put_rows(&json, "slower_beside_the_path", &comparison->rows.operators, found->slower,
                 found->slower_count);
    }
    mxp__json_end(&json);
}
