// SPDX-License-Identifier: Apache-2.0
// See change_tables.h.
#include "profiler/analysis/replay/change_tables.h"

#include <math.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/roof/roof.h"
#include "profiler/analysis/window/filter.h"

static int make_factors(mxp_change_tables *tables, double **factors)
{
    if (*factors != NULL || tables->names == 0) {
        return MXP_OK;
    }
    *factors = mxp__alloc(tables->names * sizeof **factors);
    if (*factors == NULL) {
        return mxp__fail_memory("changes");
    }
    for (uint32_t i = 0; i < tables->names; i++) {
        (*factors)[i] = 1;
    }
    return MXP_OK;
}

static int fail_glob(const mxp_source *process, mxp_filter_kind kind, const char *glob)
{
    mxp_strbuf nearest = {0};
    const char *what = kind == MXP_FILTER_SCOPE ? "no scope" : "nothing";
    int error = mxp__filter_nearest(process, kind, glob, &nearest);
    if (error == MXP_OK) {
        error = nearest.length > 0 ? mxp__fail(MXP_EINVAL, "%s is called '%s'; the nearest are %s",
                                               what, glob, nearest.data)
                                   : mxp__fail(MXP_EINVAL, "%s is called '%s'", what, glob);
    }
    mxp__strbuf_fini(&nearest);
    return error;
}

static int match(const mxp_source *process, mxp_filter_kind kind, const mxp_change *change,
                 mxp_filter *filter)
{
    mxp_filter_wish wish = {0};
    wish.globs[kind] = &change->glob;
    wish.counts[kind] = 1;
    return mxp__filter_make(process, &wish, filter);
}

// Of what fits the change's glob.
static int filter_of(const mxp_source *process, const mxp_change *change, mxp_filter *filter)
{
    const mxp_filter_kind kind =
        change->kind == MXP_CHANGE_SCOPE ? MXP_FILTER_SCOPE : MXP_FILTER_NAME;
    int error = match(process, kind, change, filter);
    if (error == MXP_OK && filter->empty_kind != MXP_FILTER_KINDS) {
        mxp__filter_fini(filter);
        error = fail_glob(process, kind, change->glob);
    }
    return error;
}

static void scale_chosen(const mxp_change_tables *tables, const mxp_filter *filter,
                         mxp_filter_kind kind, double *factors, double factor)
{
    for (uint32_t i = 0; i < tables->names; i++) {
        if (mxp__filter_takes_id(filter, kind, i)) {
            factors[i] *= factor;
        }
    }
}

static int leave_waits(mxp_change_tables *tables, const mxp_filter *filter,
                       const mxp_change *change)
{
    if (tables->no_wait == NULL && tables->names > 0) {
        tables->no_wait = mxp__alloc(tables->names * sizeof *tables->no_wait);
        if (tables->no_wait == NULL) {
            return mxp__fail_memory("changes");
        }
    }
    for (uint32_t i = 0; i < tables->names; i++) {
        tables->no_wait[i] |= mxp__filter_takes_id(filter, MXP_FILTER_NAME, i);
    }
    tables->changes.no_wait_number = change->count;
    return MXP_OK;
}

static int take_named(mxp_change_tables *tables, const mxp_source *process,
                      const mxp_change *change)
{
    mxp_filter filter;
    int error = filter_of(process, change, &filter);
    if (error != MXP_OK) {
        return error;
    }
    const bool is_scope = change->kind == MXP_CHANGE_SCOPE;
    double **factors = is_scope                          ? &tables->by_scope
                       : change->kind == MXP_CHANGE_CALL ? &tables->by_call
                                                         : &tables->by_name;
    if (change->kind == MXP_CHANGE_NO_WAIT) {
        error = leave_waits(tables, &filter, change);
    } else {
        error = make_factors(tables, factors);
        if (error == MXP_OK) {
            scale_chosen(tables, &filter, is_scope ? MXP_FILTER_SCOPE : MXP_FILTER_NAME, *factors,
                         change->factor);
        }
    }
    mxp__filter_fini(&filter);
    return error;
}

// ---- roofs -------------------------------------------------------------------------------------
// *count: how many names or scopes fit.
static int match_roof(mxp_change_tables *tables, const mxp_source *process,
                      const mxp_change *change, mxp_filter_kind kind, uint32_t *count)
{
    const mxp_ceilings ***roofs =
        kind == MXP_FILTER_SCOPE ? &tables->roof_of_scope : &tables->roof_of_name;
    if (*roofs == NULL && tables->names > 0) {
        *roofs = mxp__alloc(tables->names * sizeof **roofs);
        if (*roofs == NULL) {
            return mxp__fail_memory("changes");
        }
    }
    mxp_filter filter;
    int error = match(process, kind, change, &filter);
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < tables->names && filter.empty_kind == MXP_FILTER_KINDS; i++) {
        if (mxp__filter_takes_id(&filter, kind, i)) {
            (*roofs)[i] = change->ceilings;
            ++*count;
        }
    }
    mxp__filter_fini(&filter);
    return MXP_OK;
}

static int take_roof(mxp_change_tables *tables, const mxp_source *process, const mxp_change *change)
{
    uint32_t count = 0;
    int error = match_roof(tables, process, change, MXP_FILTER_NAME, &count);
    if (error == MXP_OK) {
        error = match_roof(tables, process, change, MXP_FILTER_SCOPE, &count);
    }
    return error == MXP_OK && count == 0 ? fail_glob(process, MXP_FILTER_NAME, change->glob)
                                         : error;
}

static const mxp_ceilings *roof_of(const mxp_change_tables *tables, const mxp_graph_op *op)
{
    const mxp_ceilings *of = NULL;
    if (tables->roof_of_name != NULL && op->name < tables->names) {
        of = tables->roof_of_name[op->name];
    }
    if (of == NULL && tables->roof_of_scope != NULL && op->scope < tables->names) {
        of = tables->roof_of_scope[op->scope];
    }
    return of;
}

// What a call takes at its roof, never longer than it took. Failed ones did not compute.
static int64_t run_at_roof(void *context, const mxp_graph *graph, uint32_t op)
{
    mxp_change_tables *tables = context;
    const mxp_graph_op *at = &graph->ops[op];
    const mxp_ceilings *ceilings = roof_of(tables, at);
    if (ceilings == NULL || at->is_idle) {
        return MXP__NS_NONE;
    }
    mxp_roof_call call = {.shape = (uint32_t)(at->words[6] >> 32)};
    const uint32_t flops = (uint32_t)at->words[7], bytes = (uint32_t)(at->words[7] >> 32);
    memcpy(&call.flops, &flops, sizeof flops);
    memcpy(&call.bytes, &bytes, sizeof bytes);
    mxp_ceiling bound;
    const double least_ns = mxp__roof_least_ns(graph->source, ceilings, &call, &bound);
    if (least_ns <= 0 || (at->flags & (MXP_OP_FAILED | MXP_OP_ASYNC)) != 0) {
        tables->roofless++;
        return MXP__NS_NONE;
    }
    const int64_t run_ns = at->end_ns - at->start_ns;
    return least_ns < (double)run_ns ? llround(least_ns) : run_ns;
}

static int take_change(mxp_change_tables *tables, const mxp_source *process,
                       const mxp_change *change)
{
    switch (change->kind) {
    case MXP_CHANGE_HOST:
        tables->changes.host *= change->factor;
        return MXP_OK;
    case MXP_CHANGE_PREFETCH:
        tables->changes.prefetch_input = true;
        return MXP_OK;
    case MXP_CHANGE_WORKERS:
        tables->changes.workers = change->count;
        return MXP_OK;
    case MXP_CHANGE_ROOF:
        return take_roof(tables, process, change);
    case MXP_CHANGE_BULK:
        tables->bulk = change->count;
        return make_factors(tables, &tables->by_call);
    default:
        return take_named(tables, process, change);
    }
}

int mxp__change_tables_make(const mxp_source *process, const mxp_change_set *set,
                            mxp_change_tables *tables)
{
    *tables = (mxp_change_tables){.changes = mxp__no_changes, .names = process->name_count};
    int error = MXP_OK;
    for (size_t i = 0; i < set->count && error == MXP_OK; i++) {
        error = take_change(tables, process, &set->changes[i]);
    }
    if (error != MXP_OK) {
        mxp__change_tables_fini(tables);
        return error;
    }
    tables->changes.by_name = tables->by_name;
    tables->changes.by_scope = tables->by_scope;
    tables->changes.by_call = tables->by_call;
    tables->changes.no_wait = tables->no_wait;
    if (tables->roof_of_name != NULL || tables->roof_of_scope != NULL) {
        tables->changes.run_ns = run_at_roof;
        tables->changes.context = tables;
    }
    return MXP_OK;
}

// The innermost span of a thread at a moment, if it is a call. 0: none.
static uint32_t call_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, ns);
    return host != NULL && host->kind == MXP__HOST_CALL ? host->name : 0;
}

int mxp__change_tables_for(mxp_change_tables *tables, const mxp_graph *graph)
{
    if (tables->bulk < 2) {
        return MXP_OK;
    }
    if (tables->pushes == NULL) {
        tables->pushes = mxp__alloc(tables->names * sizeof *tables->pushes);
        if (tables->pushes == NULL) {
            return mxp__fail_memory("changes");
        }
    }
    for (size_t i = 0; i < graph->op_count; i++) {
        const mxp_graph_op *op = &graph->ops[i];
        const bool is_known = op->push_thread < graph->thread_count && !op->is_idle &&
                              graph->threads[op->push_thread].role == MXP__ROLE_PROGRAM;
        const uint32_t name = is_known ? call_at(graph, op->push_thread, op->push_ns) : 0;
        if (name != 0 && name < tables->names && !tables->pushes[name]) {
            tables->pushes[name] = true;
            tables->by_call[name] *= 1.0 / tables->bulk;
        }
    }
    return MXP_OK;
}

void mxp__change_tables_fini(mxp_change_tables *tables)
{
    mxp__free(tables->by_name, tables->names * sizeof *tables->by_name);
    mxp__free(tables->by_scope, tables->names * sizeof *tables->by_scope);
    mxp__free(tables->by_call, tables->names * sizeof *tables->by_call);
    mxp__free(tables->no_wait, tables->names * sizeof *tables->no_wait);
    mxp__free(tables->pushes, tables->names * sizeof *tables->pushes);
    mxp__free(tables->roof_of_name, tables->names * sizeof *tables->roof_of_name);
    mxp__free(tables->roof_of_scope, tables->names * sizeof *tables->roof_of_scope);
    *tables = (mxp_change_tables){0};
}
