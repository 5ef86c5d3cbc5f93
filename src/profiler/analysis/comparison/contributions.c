// SPDX-License-Identifier: Apache-2.0
// A run's row is whole nanoseconds over whole steps, a side's row the mean of its runs. What is
// given out are whole nanoseconds again: each row gets what the sum of all rows so far has grown by
// when it is rounded, so no row is off by one, and the sum is the rounded mean.
#include "profiler/analysis/comparison/contributions.h"

#include <assert.h>
#include <math.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/path/path.h"
#include "profiler/analysis/statistics/correction.h"

typedef mxp_row_sums *sums_of_run(mxp_compared_run *run);

static mxp_row_sums *path_of(mxp_compared_run *run)
{
    return &run->path_rows;
}

static mxp_row_sums *operators_of(mxp_compared_run *run)
{
    return &run->operators;
}

static int no_memory(void)
{
    return mxp__fail_memory("what a difference consists of");
}

// ---- values ------------------------------------------------------------------------------------
// A row's time a step in each run of a side that counts; returns their number.
static size_t put_values(const mxp_comparison *comparison, int side, sums_of_run *sums, size_t row,
                         double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->sides[side].count; i++) {
        mxp_compared_run *run = &comparison->sides[side].runs[i];
        if (mxp__run_counts(comparison, side, i)) {
            const mxp_row_sum sum = mxp__row_sums_get(sums(run), row);
            values[count++] = (double)sum.ns / (double)run->step_count;
        }
    }
    return count;
}

static long double row_mean(const mxp_comparison *comparison, int side, sums_of_run *sums,
                            size_t row)
{
    long double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < comparison->sides[side].count; i++) {
        mxp_compared_run *run = &comparison->sides[side].runs[i];
        if (mxp__run_counts(comparison, side, i)) {
            const mxp_row_sum of_run = mxp__row_sums_get(sums(run), row);
            sum += (long double)of_run.ns / (long double)run->step_count;
            count++;
        }
    }
    return count == 0 ? 0 : sum / (long double)count;
}

static bool is_in_a_run(const mxp_comparison *comparison, sums_of_run *sums, size_t row)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < comparison->sides[side].count; i++) {
            mxp_compared_run *run = &comparison->sides[side].runs[i];
            if (mxp__run_counts(comparison, side, i) &&
                mxp__row_sums_get(sums(run), row).count > 0) {
                return true;
            }
        }
    }
    return false;
}

// ---- rows --------------------------------------------------------------------------------------
// What damaged files add up to may be more than there are numbers.
static int64_t whole_ns(long double ns)
{
    return ns < 9e18L ? llroundl(ns) : (int64_t)9e18;
}

static int add_rows(const mxp_comparison *comparison, sums_of_run *sums, size_t row_count,
                    mxp_contribution **rows, size_t *count, size_t *capacity)
{
    long double so_far[MXP__SIDES] = {0};
    int64_t given[MXP__SIDES] = {0};
    for (size_t row = 0; row < row_count; row++) {
        if (!is_in_a_run(comparison, sums, row)) {
            continue;
        }
        if (mxp__grow(rows, capacity, *count + 1, sizeof **rows) != MXP_OK) {
            return no_memory();
        }
        mxp_contribution *made = &(*rows)[(*count)++];
        *made = (mxp_contribution){.row = row, .p = 1, .adjusted_p = 1};
        for (int side = 0; side < MXP__SIDES; side++) {
            so_far[side] += row_mean(comparison, side, sums, row);
            made->ns[side] = whole_ns(so_far[side]) - given[side];
            given[side] += made->ns[side];
        }
    }
    return MXP_OK;
}

static double largest_share(const mxp_comparison *comparison, const mxp_contribution *row)
{
    double share = 0;
    for (int side = 0; side < MXP__SIDES; side++) {
        share = fmax(share, (double)row->ns[side] / comparison->wall.means_ns[side]);
    }
    return share;
}

static bool has_test(const mxp_comparison *comparison)
{
    return comparison->wall.counts[MXP__BEFORE] >= MXP__RUNS_FOR_TEST &&
           comparison->wall.counts[MXP__AFTER] >= MXP__RUNS_FOR_TEST;
}

static int test_row(const mxp_comparison *comparison, sums_of_run *sums, mxp_contribution *row)
{
    const size_t before = comparison->sides[MXP__BEFORE].count;
    const size_t after = comparison->sides[MXP__AFTER].count;
    double *all = mxp__alloc((before + after) * sizeof *all);
    if (all == NULL) {
        return no_memory();
    }
    double *const values[MXP__SIDES] = {all, all + before};
    mxp_permutation test;
    for (int side = 0; side < MXP__SIDES; side++) {
        put_values(comparison, side, sums, row->row, values[side]);
    }
    int error = mxp__comparison_test(comparison, values, &test);
    row->is_tested = error == MXP_OK;
    row->p = error == MXP_OK ? test.p : 1;
    mxp__free(all, (before + after) * sizeof *all);
    return error;
}

// The p of all tested rows, adjusted for their number.
static int adjust(mxp_contribution *rows, size_t count)
{
    double *p = mxp__alloc(count * sizeof *p);
    size_t tested = 0;
    if (p == NULL && count > 0) {
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        if (rows[i].is_tested) {
            p[tested++] = rows[i].p;
        }
    }
    int error = mxp__correction_benjamini_hochberg(p, tested, p);
    tested = 0;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        if (rows[i].is_tested) {
            rows[i].adjusted_p = p[tested++];
            rows[i].is_told = rows[i].adjusted_p <= MXP__ROW_LEVEL;
        }
    }
    mxp__free(p, count * sizeof *p);
    return error;
}

static int test_rows(const mxp_comparison *comparison, sums_of_run *sums, mxp_contribution *rows,
                     size_t count)
{
    int error = MXP_OK;
    for (size_t i = 0; i < count && error == MXP_OK && has_test(comparison); i++) {
        if (largest_share(comparison, &rows[i]) >= MXP__ROW_SHARE) {
            error = test_row(comparison, sums, &rows[i]);
        }
    }
    return error == MXP_OK ? adjust(rows, count) : error;
}

// ---- slower, and not on the path ---------------------------------------------------------------
// How much longer the operator runs on the path.
static int64_t change_on_path(const mxp_comparison *comparison, const mxp_contributions *found,
                              size_t operator_row)
{
    const mxp_row_key *key = &comparison->rows.operators.all[operator_row];
    const char *run = mxp__path_kind_name(MXP__PATH_RUN);
    for (size_t i = 0; i < found->count; i++) {
        const mxp_row_key *of_path = &comparison->rows.path.all[found->all[i].row];
        if (strcmp(of_path->kind, run) == 0 && strcmp(of_path->name, key->name) == 0 &&
            strcmp(of_path->scope, key->scope) == 0) {
            return mxp__contribution_change(&found->all[i]);
        }
    }
    return 0;
}

// Half of what it runs longer is not on the path, so no row of that shows it.
static void keep_slower(const mxp_comparison *comparison, mxp_contributions *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->slower_count; i++) {
        const mxp_contribution *row = &found->slower[i];
        const int64_t change_ns = mxp__contribution_change(row);
        if (row->is_told && change_ns > 0 &&
            2 * change_on_path(comparison, found, row->row) < change_ns) {
            found->slower[kept++] = *row;
        }
    }
    found->slower_count = kept;
}

static int find_slower(const mxp_comparison *comparison, mxp_contributions *found)
{
    int error = add_rows(comparison, operators_of, comparison->rows.operators.count, &found->slower,
                         &found->slower_count, &found->slower_capacity);
    if (error == MXP_OK) {
        error = test_rows(comparison, operators_of, found->slower, found->slower_count);
    }
    if (error == MXP_OK) {
        keep_slower(comparison, found);
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int by_change(const void *a, const void *b)
{
    const mxp_contribution *x = a, *y = b;
    const int64_t of_x = llabs(mxp__contribution_change(x));
    const int64_t of_y = llabs(mxp__contribution_change(y));
    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x->row > y->row) - (x->row < y->row);
}

static void sort_rows(mxp_contribution *rows, size_t count)
{
    if (count > 1) {
        qsort(rows, count, sizeof *rows, by_change);
    }
}

static void sum_rows(const mxp_comparison *comparison, mxp_contributions *found)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        for (size_t i = 0; i < found->count; i++) {
            found->ns[side] += found->all[i].ns[side];
        }
        const double mean_ns = comparison->wall.means_ns[side];
        (void)mean_ns;
        assert(fabs((double)found->ns[side] - mean_ns) < 1 + 1e-12 * mean_ns &&
               "a path fills its window");
    }
}

int mxp__contributions_find(const mxp_comparison *comparison, mxp_contributions *contributions)
{
    int error = add_rows(comparison, path_of, comparison->rows.path.count, &contributions->all,
                         &contributions->count, &contributions->capacity);
    if (error == MXP_OK) {
        sum_rows(comparison, contributions);
        error = test_rows(comparison, path_of, contributions->all, contributions->count);
    }
    if (error == MXP_OK) {
        error = find_slower(comparison, contributions);
    }
    sort_rows(contributions->all, contributions->count);
    sort_rows(contributions->slower, contributions->slower_count);
    return error;
}

void mxp__contributions_fini(mxp_contributions *contributions)
{
    mxp__free(contributions->all, contributions->capacity * sizeof *contributions->all);
    mxp__free(contributions->slower,
              contributions->slower_capacity * sizeof *contributions->slower);
    *contributions = (mxp_contributions){0};
}
