// SPDX-License-Identifier: Apache-2.0
// The rows of where the time went (profiler/analysis/time/time_rows.h), those of one name added up.
#include "own_times.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"

int mxp__own_times_add(mxp_own_times *times, mxp_source *process)
{
    mxp_steps steps;
    int error = mxp__steps_find(process, &steps);
    if (error != MXP_OK) {
        return error;
    }
    const mxp_choice everything = {.of = &steps, .is_everything = true};
    times->all.has_no_durations = true;
    error = mxp__time_rows_add(&times->all, process, &everything, NULL);
    times->spans = times->all.spans + times->all.operators;
    mxp__steps_fini(&steps);
    return error;
}

const char *mxp__own_times_text(const mxp_own_times *times, uint32_t text)
{
    return mxp__texts_at(&times->all.scopes.texts, text, NULL);
}

// ---- order -------------------------------------------------------------------------------------
static int compare_rows(const void *left, const void *right)
{
    const mxp_own_row *a = left, *b = right;
    if (a->overlaps != b->overlaps) {
        return a->overlaps ? 1 : -1;
    }
    return a->own_ns != b->own_ns ? (a->own_ns < b->own_ns ? 1 : -1) : 0;
}

static int compare_categories(const void *left, const void *right)
{
    const mxp_own_category *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : 0;
}

static int count_category(mxp_own_times *times, const mxp_own_row *row)
{
    for (size_t i = 0; i < times->category_count; i++) {
        mxp_own_category *category = &times->categories[i];
        if (category->text == row->category) {
            category->count += row->count;
            return MXP_OK;
        }
    }
    int error = mxp__grow(&times->categories, &times->category_capacity, times->category_count + 1,
                          sizeof *times->categories);
    if (error == MXP_OK) {
        times->categories[times->category_count++] =
            (mxp_own_category){.text = row->category, .count = row->count};
    }
    return error;
}

// Those of equal texts are neighbours.
static int compare_texts(const void *left, const void *right)
{
    const mxp_own_row *a = left, *b = right;
    return a->category != b->category ? (a->category < b->category ? -1 : 1)
           : a->text != b->text       ? (a->text < b->text ? -1 : 1)
                                      : 0;
}

// Scopes and phases of operators are not told apart here.
static int join_rows(mxp_own_times *times)
{
    const mxp_time_rows *all = &times->all;
    if (mxp__grow(&times->rows, &times->row_capacity, all->count, sizeof *times->rows) != MXP_OK) {
        return MXP_ENOMEM;
    }
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const mxp_time_row *row = &all->rows[i];
        if (row->count > 0) {
            times->rows[count++] = (mxp_own_row){.category = row->category,
                                                 .text = row->name,
                                                 .count = row->count,
                                                 .own_ns = row->self_ns,
                                                 .overlaps = row->overlaps};
        }
    }
    if (count > 0) {
        qsort(times->rows, count, sizeof *times->rows, compare_texts);
    }
    for (size_t i = 0; i < count; i++) {
        mxp_own_row *last = times->row_count == 0 ? NULL : &times->rows[times->row_count - 1];
        if (last != NULL && compare_texts(last, &times->rows[i]) == 0) {
            last->count += times->rows[i].count;
            last->own_ns += times->rows[i].own_ns;
        } else {
            times->rows[times->row_count++] = times->rows[i];
        }
    }
    return MXP_OK;
}

int mxp__own_times_rank(mxp_own_times *times)
{
    int error = join_rows(times);
    for (size_t i = 0; i < times->row_count && error == MXP_OK; i++) {
        error = count_category(times, &times->rows[i]);
    }
    if (times->row_count > 0 && error == MXP_OK) {
        qsort(times->rows, times->row_count, sizeof *times->rows, compare_rows);
        qsort(times->categories, times->category_count, sizeof *times->categories,
              compare_categories);
    }
    return error == MXP_OK ? MXP_OK : mxp__fail_memory("the summary");
}

void mxp__own_times_fini(mxp_own_times *times)
{
    mxp__free(times->rows, times->row_capacity * sizeof *times->rows);
    mxp__free(times->categories, times->category_capacity * sizeof *times->categories);
    mxp__time_rows_fini(&times->all);
    *times = (mxp_own_times){0};
}
