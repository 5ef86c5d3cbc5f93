// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/table/selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/table/aggregate_state.h"

enum {
    COLLECT_MAX = 4096,  // values of one target; more are counted in bins
    BINS = 1024,
    PASS_WORDS = 8 << 20  // 64 MiB
};

// A percentile lies within first..last, which hold `count` values, as the rank-th of them. It is
// found when they are equal.
typedef struct mxp_target {
    mxp_histogram_range range;
    uint64_t *space;  // in this pass: values, or numbers of values in bins; null: waits
    uint64_t bin_width;  // 0: values
    uint64_t seen;  // values in this pass
} mxp_target;

struct mxp_selected {
    const mxp_row *row;
    size_t number;
    bool failed;  // the passes had other values than the first one
    mxp_target targets[MXP__PERCENTILES];
    uint64_t found[MXP__PERCENTILES];
};

struct mxp_selection {
    mxp_selected *rows;  // in the order of their labels
    size_t count, capacity;
    mxp_selected **by_number;  // null where nothing is looked for
    size_t number_count;
    uint64_t *space;
    size_t space_words;
};

static const char memory_for[] = "exact percentiles";

// ---- rows -------------------------------------------------------------------------------------
static int compare_selected(const void *a, const void *b)
{
    return mxp__compare_labels(((const mxp_selected *)a)->row, ((const mxp_selected *)b)->row);
}

static void add_row(mxp_selection *selection, const mxp_row *row, size_t number)
{
    if (row->histogram == NULL || mxp__histogram_samples(row->histogram) != row->count) {
        return;  // without buckets, or with one that has counted no further
    }
    mxp_selected *selected = &selection->rows[selection->count++];
    *selected = (mxp_selected){.row = row, .number = number};
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        selected->targets[i].range =
            mxp__histogram_locate(row->histogram, mxp__percentile_fraction(i));
    }
}

mxp_selection *mxp__selection_create(mxp_row *rows, size_t count)
{
    mxp_selection *selection = mxp__alloc(sizeof *selection);
    if (selection != NULL) {
        selection->capacity = selection->number_count = count;
        selection->rows = mxp__alloc(count * sizeof *selection->rows);
        selection->by_number = mxp__alloc(count * sizeof *selection->by_number);
    }
    if (selection == NULL ||
        (count > 0 && (selection->rows == NULL || selection->by_number == NULL))) {
        mxp__selection_destroy(selection);
        mxp__fail_memory(memory_for);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        add_row(selection, &rows[i], i);
    }
    if (selection->count > 1) {
        qsort(selection->rows, selection->count, sizeof *selection->rows, compare_selected);
    }
    for (size_t i = 0; i < selection->count; i++) {
        selection->by_number[selection->rows[i].number] = &selection->rows[i];
    }
    return selection;
}

void mxp__selection_destroy(mxp_selection *selection)
{
    if (selection == NULL) {
        return;
    }
    mxp__free(selection->space, selection->space_words * sizeof *selection->space);
    mxp__free(selection->by_number, selection->number_count * sizeof *selection->by_number);
    mxp__free(selection->rows, selection->capacity * sizeof *selection->rows);
    mxp__free(selection, sizeof *selection);
}

mxp_selected *mxp__selection_find(mxp_selection *selection, const mxp_row *labels)
{
    const mxp_selected key = {.row = labels};
    return selection->count == 0 ? NULL
                                 : bsearch(&key, selection->rows, selection->count,
                                           sizeof *selection->rows, compare_selected);
}

// ---- a pass -----------------------------------------------------------------------------------
static bool is_open(const mxp_selected *selected, const mxp_target *target)
{
    return !selected->failed && target->range.first != target->range.last;
}

static size_t words_of(const mxp_target *target)
{
    return target->range.count <= COLLECT_MAX ? (size_t)target->range.count : BINS;
}

// Places of the targets that have space, or only their number of words.
static size_t place(mxp_selection *selection, uint64_t *space)
{
    size_t words = 0;
    for (size_t i = 0; i < selection->count * MXP__PERCENTILES; i++) {
        mxp_selected *selected = &selection->rows[i / MXP__PERCENTILES];
        mxp_target *target = &selected->targets[i % MXP__PERCENTILES];
        size_t needed = words_of(target);
        if (!is_open(selected, target) || words + needed > PASS_WORDS) {
            continue;
        }
        if (space != NULL) {
            target->space = space + words;
            target->bin_width = target->range.count <= COLLECT_MAX
                                    ? 0
                                    : (target->range.last - target->range.first) / BINS + 1;
            target->seen = 0;
        }
        words += needed;
    }
    return words;
}

int mxp__selection_begin(mxp_selection *selection)
{
    size_t words = place(selection, NULL);
    if (words == 0) {
        return 0;
    }
    selection->space = mxp__alloc(words * sizeof *selection->space);
    if (selection->space == NULL) {
        return mxp__fail_memory(memory_for);
    }
    selection->space_words = words;
    place(selection, selection->space);
    return 1;
}

void mxp__selected_add(mxp_selected *selected, uint64_t value)
{
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        mxp_target *target = &selected->targets[i];
        uint64_t distance = value - target->range.first;
        if (target->space == NULL || distance > target->range.last - target->range.first) {
            continue;
        }
        if (target->bin_width != 0) {
            target->space[distance / target->bin_width]++;
        } else if (target->seen < target->range.count) {
            target->space[target->seen] = value;
        }
        target->seen++;
    }
}

static int compare_values(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void keep_bin(mxp_target *target)
{
    mxp_histogram_range *range = &target->range;
    size_t bin = 0;
    while (bin + 1 < BINS && range->rank > target->space[bin]) {
        range->rank -= target->space[bin++];
    }
    range->count = target->space[bin];
    range->first += bin * target->bin_width;
    uint64_t rest = range->last - range->first;
    range->last = range->first + (rest < target->bin_width - 1 ? rest : target->bin_width - 1);
}

void mxp__selection_end(mxp_selection *selection)
{
    for (size_t i = 0; i < selection->count * MXP__PERCENTILES; i++) {
        mxp_selected *selected = &selection->rows[i / MXP__PERCENTILES];
        mxp_target *target = &selected->targets[i % MXP__PERCENTILES];
        if (target->space == NULL) {
            continue;
        }
        if (target->seen != target->range.count) {
            selected->failed = true;
        } else if (target->bin_width != 0) {
            keep_bin(target);
        } else {
            qsort(target->space, target->seen, sizeof *target->space, compare_values);
            target->range.first = target->range.last = target->space[target->range.rank - 1];
        }
        target->space = NULL;
    }
    mxp__free(selection->space, selection->space_words * sizeof *selection->space);
    selection->space = NULL;
    selection->space_words = 0;
}

const uint64_t *mxp__selection_result(const mxp_selection *selection, size_t i)
{
    mxp_selected *selected = selection->by_number[i];
    if (selected == NULL || selected->failed) {
        return NULL;
    }
    for (int p = 0; p < MXP__PERCENTILES; p++) {
        selected->found[p] = selected->targets[p].range.first;
    }
    return selected->found;
}
