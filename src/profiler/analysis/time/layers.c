// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time/layers.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sum.h"

static bool has_anything(const mxp_time_row *row)
{
    return row->count > 0 || row->path_ns > 0;
}

// ---- layers ------------------------------------------------------------------------------------
static void add(mxp_layer *layer, const mxp_time_row *row)
{
    const uint32_t phase = row->phase < MXP_PHASES ? row->phase : MXP_PHASE_NONE;
    mxp__sum_add(&layer->phases_ns[phase], row->total_ns);
    // What overlaps is beside the others, not after them.
    mxp__sum_add(&layer->sum_ns, row->overlaps ? 0 : row->total_ns);
    layer->path_ns += row->path_ns;
    mxp__sum_add(&layer->waited_ns, row->waited_ns);
    mxp__sum_add(&layer->queued_ns, row->queued_ns);
    layer->count += row->count;
}

static uint64_t key_of(const mxp_layer *layer, mxp_time_key key)
{
    return key == MXP_KEY_PATH     ? layer->path_ns
           : key == MXP_KEY_WAITED ? layer->waited_ns + layer->queued_ns
           : key == MXP_KEY_CALLS  ? layer->count
                                   : layer->sum_ns;
}

typedef struct ranked {
    uint64_t key, second;
    uint32_t place;
    bool is_last;
} ranked;

static int compare(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->is_last != b->is_last) {
        return a->is_last ? 1 : -1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? 1 : -1;
    }
    if (a->second != b->second) {
        return a->second < b->second ? 1 : -1;
    }
    return a->place < b->place ? -1 : a->place > b->place;
}

// Those of `by_scope` (by node) that have anything, in order.
static int keep_ranked(const mxp_layer *by_scope, size_t count, mxp_time_key key,
                       mxp_layers *layers)
{
    ranked *order = mxp__alloc(count * sizeof *order);
    layers->all = mxp__alloc(count * sizeof *layers->all);
    if (order == NULL || layers->all == NULL) {
        mxp__free(order, count * sizeof *order);
        return mxp__fail_memory("layers");
    }
    layers->capacity = count;
    for (size_t i = 0; i < count; i++) {
        if (by_scope[i].count > 0 || by_scope[i].path_ns > 0) {
            order[layers->count++] =
                (ranked){key_of(&by_scope[i], key), by_scope[i].sum_ns, (uint32_t)i, i == 0};
        }
    }
    qsort(order, layers->count, sizeof *order, compare);
    for (size_t i = 0; i < layers->count; i++) {
        layers->all[i] = by_scope[order[i].place];
    }
    mxp__free(order, count * sizeof *order);
    return MXP_OK;
}

int mxp__layers_make(const mxp_time_rows *rows, uint32_t depth, mxp_time_key key,
                     mxp_layers *layers)
{
    const size_t count = rows->scopes.count, bytes = count * sizeof(mxp_layer);
    mxp_layer *by_scope = mxp__alloc(bytes);
    *layers = (mxp_layers){0};
    if (by_scope == NULL) {
        return count == 0 ? MXP_OK : mxp__fail_memory("layers");
    }
    for (size_t i = 0; i < rows->count; i++) {
        const mxp_time_row *row = &rows->rows[i];
        if (row->is_operator) {
            const uint32_t scope = mxp__scope_tree_up(&rows->scopes, row->scope, depth);
            by_scope[scope].scope = scope;
            add(&by_scope[scope], row);
            add(&layers->total, row);
        }
    }
    int error = keep_ranked(by_scope, count, key, layers);
    mxp__free(by_scope, bytes);
    return error;
}

void mxp__layers_fini(mxp_layers *layers)
{
    mxp__free(layers->all, layers->capacity * sizeof *layers->all);
    *layers = (mxp_layers){0};
}

// ---- rows --------------------------------------------------------------------------------------
static uint64_t row_key(mxp_time_row *row, mxp_time_key key)
{
    bool is_exact;
    switch (key) {
    case MXP_KEY_PATH:
        return row->path_ns;
    case MXP_KEY_SELF:
        return row->self_ns;
    case MXP_KEY_WAITED:
        return row->waited_ns + row->queued_ns;
    case MXP_KEY_P99:
        return mxp__samples_quantile(&row->durations, 0.99, &is_exact);
    case MXP_KEY_CALLS:
        return row->count;
    default:
        return row->total_ns;
    }
}

uint32_t *mxp__time_rows_rank(mxp_time_rows *rows, bool operators, mxp_time_key key, size_t *count)
{
    uint32_t *places = mxp__alloc(rows->count * sizeof *places);
    ranked *order = mxp__alloc(rows->count * sizeof *order);
    *count = 0;
    for (uint32_t i = 0; order != NULL && places != NULL && i < rows->count; i++) {
        mxp_time_row *row = &rows->rows[i];
        if (row->is_operator == operators && has_anything(row)) {
            order[(*count)++] =
                (ranked){row_key(row, key), row->total_ns, i, row->overlaps && !row->is_operator};
        }
    }
    if (*count > 0) {
        qsort(order, *count, sizeof *order, compare);
    }
    for (size_t i = 0; i < *count; i++) {
        places[i] = order[i].place;
    }
    if (order == NULL) {
        mxp__free(places, rows->count * sizeof *places);
        places = NULL;
    }
    mxp__free(order, rows->count * sizeof *order);
    return places;
}
