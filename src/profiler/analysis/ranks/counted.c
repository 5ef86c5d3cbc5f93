// SPDX-License-Identifier: Apache-2.0
// See counted.h. Names are "WHAT: WHOM" in a category for each quantity, as the store makes them.
#include "profiler/analysis/ranks/counted.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/merge.h"

typedef struct place {
    uint64_t key;
    size_t row;
} place;

static const char memory_for[] = "what was counted of a store";

// MXP__COUNTED_QUANTITIES: the name is another one.
static mxp_counted_quantity quantity_of(const mxp_source *source, const mxp_name_view *name)
{
    static const char *const categories[MXP__COUNTED_QUANTITIES] = {
        "communication time", "communication waited", "communication sent", "communication bytes"};
    const mxp_name_view category = source->name(source, name->category);
    int i = 0;
    while (i < MXP__COUNTED_QUANTITIES && strcmp(category.text, categories[i]) != 0) {
        i++;
    }
    return (mxp_counted_quantity)i;
}

static mxp_counted_row *add_row(mxp_counted *counted, const mxp_name_view *name)
{
    if (mxp__grow(&counted->rows, &counted->capacity, counted->count + 1, sizeof *counted->rows) !=
        MXP_OK) {
        return NULL;
    }
    const char *colon = strstr(name->text, ": ");
    const size_t what = colon != NULL ? (size_t)(colon - name->text) : name->length;
    mxp_counted_row *row = &counted->rows[counted->count++];
    *row = (mxp_counted_row){.what = name->text,
                             .what_length = what,
                             .whom = colon != NULL ? colon + 2 : "",
                             .whom_length = colon != NULL ? name->length - what - 2 : 0};
    for (int i = 0; i < MXP__COUNTED_QUANTITIES; i++) {
        mxp__histogram_init(&row->of[i]);
    }
    return row;
}

static mxp_counted_row *row_of(mxp_counted *counted, const mxp_name_view *name)
{
    const uint64_t key = mxp__checksum(name->text, name->length) | 1;
    const place *known = mxp__id_map_find(&counted->places, key);
    if (known != NULL) {
        return &counted->rows[known->row];
    }
    place *made = mxp__id_map_add(&counted->places, key);
    mxp_counted_row *row = made == NULL ? NULL : add_row(counted, name);
    if (row != NULL) {
        made->row = counted->count - 1;
    }
    return row;
}

static int add_process(mxp_counted *counted, const mxp_source *process)
{
    for (size_t i = 0; i < process->stats_count; i++) {
        const mxp_name_view name = process->name(process, process->stats[i].name);
        const mxp_counted_quantity quantity = quantity_of(process, &name);
        if (quantity == MXP__COUNTED_QUANTITIES) {
            continue;
        }
        mxp_counted_row *row = row_of(counted, &name);
        if (row == NULL) {
            return mxp__fail_memory(memory_for);
        }
        mxp__histogram_merge(&row->of[quantity], process->stats[i].histogram);
    }
    return MXP_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const mxp_counted_row *x = a, *y = b;
    const uint64_t x_ns = x->of[MXP__COUNTED_TIME].total, y_ns = y->of[MXP__COUNTED_TIME].total;
    return x_ns != y_ns ? (x_ns < y_ns) - (x_ns > y_ns) : strcmp(x->what, y->what);
}

size_t mxp__counted_names(mxp_source *source)
{
    const mxp_source *process;
    size_t names = 0;
    for (size_t p = 0; (process = mxp__source_process(source, p)) != NULL; p++) {
        for (size_t i = 0; i < process->stats_count; i++) {
            const mxp_name_view name = process->name(process, process->stats[i].name);
            names += quantity_of(process, &name) != MXP__COUNTED_QUANTITIES;
        }
    }
    return names;
}

int mxp__counted_make(mxp_source *source, mxp_counted *counted)
{
    const mxp_source *process;
    *counted = (mxp_counted){.places.entry_bytes = sizeof(place)};
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && (process = mxp__source_process(source, i)) != NULL; i++) {
        error = add_process(counted, process);
    }
    if (counted->count > 0) {
        qsort(counted->rows, counted->count, sizeof *counted->rows, compare_rows);
    }
    mxp__id_map_fini(&counted->places);
    return error;
}

void mxp__counted_fini(mxp_counted *counted)
{
    mxp__free(counted->rows, counted->capacity * sizeof *counted->rows);
    mxp__id_map_fini(&counted->places);
    *counted = (mxp_counted){0};
}
