// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/comparison/differences.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// Calls a step that differ by less are the same: an operator of every twentieth step may have
// fallen into one step more.
#define CALLS_APART 0.05

static int no_memory(void)
{
    return mxp__fail_memory("what differs between runs");
}

// ---- calls -------------------------------------------------------------------------------------
typedef const mxp_row_sums *sums_of_run(const mxp_compared_run *run);

static const mxp_row_sums *operators_of(const mxp_compared_run *run)
{
    return &run->operators;
}

static const mxp_row_sums *shapes_of(const mxp_compared_run *run)
{
    return &run->shapes;
}

// Of all runs of a side, disturbed ones too.
static double calls_a_step(const mxp_side *side, sums_of_run *sums, size_t row)
{
    double calls = 0, steps = 0;
    for (size_t i = 0; i < side->count; i++) {
        calls += (double)mxp__row_sums_get(sums(&side->runs[i]), row).count;
        steps += (double)side->runs[i].step_count;
    }
    return steps > 0 ? calls / steps : 0;
}

static bool are_apart(const double *calls)
{
    const double more = fmax(calls[MXP__BEFORE], calls[MXP__AFTER]);
    return fabs(calls[MXP__AFTER] - calls[MXP__BEFORE]) > CALLS_APART * more;
}

static int by_difference(const void *a, const void *b)
{
    const mxp_call_difference *x = a, *y = b;
    const double of_x = fabs(x->calls[MXP__AFTER] - x->calls[MXP__BEFORE]);
    const double of_y = fabs(y->calls[MXP__AFTER] - y->calls[MXP__BEFORE]);
    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x->row > y->row) - (x->row < y->row);
}

static int find_calls(const mxp_comparison *comparison, sums_of_run *sums, size_t row_count,
                      mxp_call_difference **rows, size_t *count, size_t *capacity)
{
    for (size_t row = 0; row < row_count; row++) {
        mxp_call_difference found = {.row = row};
        for (int side = 0; side < MXP__SIDES; side++) {
            found.calls[side] = calls_a_step(&comparison->sides[side], sums, row);
        }
        if (!are_apart(found.calls)) {
            continue;
        }
        if (mxp__grow(rows, capacity, *count + 1, sizeof **rows) != MXP_OK) {
            return no_memory();
        }
        (*rows)[(*count)++] = found;
    }
    if (*count > 1) {
        qsort(*rows, *count, sizeof **rows, by_difference);
    }
    return MXP_OK;
}

static void count_rows(const mxp_comparison *comparison, mxp_differences *differences)
{
    for (size_t row = 0; row < comparison->rows.operators.count; row++) {
        size_t sides = 0;
        for (int side = 0; side < MXP__SIDES; side++) {
            const double calls = calls_a_step(&comparison->sides[side], operators_of, row);
            differences->operators[side] += calls;
            differences->rows[side] += calls > 0;
            sides += calls > 0;
        }
        differences->common_rows += sides == MXP__SIDES;
    }
}

// ---- settings ----------------------------------------------------------------------------------
static const char *setting_of(const mxp_compared_run *run, const char *key)
{
    for (size_t i = 0; i + 1 < run->setting_count; i += 2) {
        if (strcmp(run->settings[i], key) == 0) {
            return run->settings[i + 1];
        }
    }
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

// Whether all runs of a side have one value, which goes to *value; null: none has it.
static bool has_one_value(const mxp_side *side, const char *key, const char **value)
{
    *value = setting_of(&side->runs[0], key);
    for (size_t i = 1; i < side->count; i++) {
        if (!same_text(setting_of(&side->runs[i], key), *value)) {
            return false;
        }
    }
    return true;
}

static bool is_known(const mxp_differences *differences, const char *key)
{
    for (size_t i = 0; i < differences->setting_count; i++) {
        if (strcmp(differences->settings[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

static int compare_setting(const mxp_comparison *comparison, const char *key,
                           mxp_differences *differences)
{
    mxp_setting_difference found = {.key = key};
    for (int side = 0; side < MXP__SIDES; side++) {
        if (!has_one_value(&comparison->sides[side], key, &found.values[side])) {
            return MXP_OK;  // it differs from run to run
        }
    }
    if (same_text(found.values[MXP__BEFORE], found.values[MXP__AFTER]) ||
        is_known(differences, key)) {
        return MXP_OK;
    }
    if (mxp__grow(&differences->settings, &differences->setting_capacity,
                  differences->setting_count + 1, sizeof found) != MXP_OK) {
        return no_memory();
    }
    differences->settings[differences->setting_count++] = found;
    return MXP_OK;
}

// A setting of a side is one of its first run, or not of all its runs.
static int compare_settings(const mxp_comparison *comparison, mxp_differences *differences)
{
    int error = MXP_OK;
    for (int side = 0; side < MXP__SIDES; side++) {
        const mxp_compared_run *first = &comparison->sides[side].runs[0];
        for (size_t i = 0; i + 1 < first->setting_count && error == MXP_OK; i += 2) {
            error = compare_setting(comparison, first->settings[i], differences);
        }
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
int mxp__differences_find(const mxp_comparison *comparison, mxp_differences *differences)
{
    count_rows(comparison, differences);
    int error =
        find_calls(comparison, operators_of, comparison->rows.operators.count, &differences->calls,
                   &differences->call_count, &differences->call_capacity);
    if (error == MXP_OK) {
        error =
            find_calls(comparison, shapes_of, comparison->rows.shapes.count, &differences->shapes,
                       &differences->shape_count, &differences->shape_capacity);
    }
    return error == MXP_OK ? compare_settings(comparison, differences) : error;
}

void mxp__differences_fini(mxp_differences *differences)
{
    mxp__free(differences->calls, differences->call_capacity * sizeof *differences->calls);
    mxp__free(differences->shapes, differences->shape_capacity * sizeof *differences->shapes);
    mxp__free(differences->settings, differences->setting_capacity * sizeof *differences->settings);
    *differences = (mxp_differences){0};
}

static bool all_have(const mxp_comparison *comparison, bool (*has)(const mxp_compared_run *),
                     bool wanted)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            if (has(&comparison->sides[side].runs[i]) != wanted) {
                return false;
            }
        }
    }
    return true;
}

static bool has_steps(const mxp_compared_run *run)
{
    return run->has_steps;
}

static bool has_operators(const mxp_compared_run *run)
{
    return run->has_operators;
}

bool mxp__are_different_programs(const mxp_comparison *comparison,
                                 const mxp_differences *differences)
{
    const size_t before = differences->rows[MXP__BEFORE], after = differences->rows[MXP__AFTER];
    const size_t more = before > after ? before : after;
    const bool same_kind =
        (all_have(comparison, has_steps, true) || all_have(comparison, has_steps, false)) &&
        (all_have(comparison, has_operators, true) || all_have(comparison, has_operators, false));
    return !same_kind || 2 * differences->common_rows < more;
}

static bool are_of_one_program(const mxp_comparison *comparison, const mxp_compared_run *a,
                               const mxp_compared_run *b)
{
    size_t of_a = 0, of_b = 0, common = 0;
    for (size_t row = 0; row < comparison->rows.operators.count; row++) {
        const bool in_a = mxp__row_sums_get(&a->operators, row).count > 0;
        const bool in_b = mxp__row_sums_get(&b->operators, row).count > 0;
        of_a += in_a;
        of_b += in_b;
        common += in_a && in_b;
    }
    return a->has_steps == b->has_steps && a->has_operators == b->has_operators &&
           2 * common >= (of_a > of_b ? of_a : of_b);
}

const mxp_compared_run *mxp__run_of_another_program(const mxp_comparison *comparison, int side)
{
    const mxp_side *of = &comparison->sides[side];
    for (size_t i = 1; i < of->count; i++) {
        if (!are_of_one_program(comparison, &of->runs[0], &of->runs[i])) {
            return &of->runs[i];
        }
    }
    return NULL;
}
