// SPDX-License-Identifier: Apache-2.0
// Which single changes the command `whatif` tries by itself: the names, scopes and calls that take
// most of the path, the program as a whole, and loading beside computing.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/path/path_rows.h"
#include "profiler/analysis/window/scope_tree.h"
#include "whatif_view.h"

enum { OF_A_KIND = 10 };

typedef struct ranked {
    uint64_t ns;
    uint32_t id;
} ranked;

typedef struct search {
    const mxp_source *process;
    mxp_path_rows rows;
    mxp_scope_tree scopes;
    uint32_t *node_of;
    mxp_whatif_candidates *out;
} search;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->ns != y->ns) {
        return x->ns > y->ns ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

// A name is its own glob, unless it has a character that means something there.
static bool is_plain(const char *text)
{
    return text[0] != '\0' && strpbrk(text, "*?[\\=") == NULL;
}

static int add_change(mxp_whatif_candidates *out, mxp_change change)
{
    const size_t needed = out->count + 1;
    if (mxp__grow(&out->changes, &out->capacity, needed, sizeof *out->changes) != MXP_OK ||
        mxp__grow(&out->globs, &out->glob_capacity, needed, sizeof *out->globs) != MXP_OK) {
        return mxp__fail_memory("changes");
    }
    out->globs[out->count] = NULL;
    if (change.glob != NULL) {
        const size_t bytes = strlen(change.glob) + 1;
        char *copy = mxp__alloc(bytes);
        if (copy == NULL) {
            return mxp__fail_memory("changes");
        }
        memcpy(copy, change.glob, bytes);
        out->globs[out->count] = copy;
        change.glob = copy;
    }
    out->changes[out->count++] = change;
    return MXP_OK;
}

static const char *text_of(const search *in, mxp_change_kind kind, uint32_t id)
{
    if (kind != MXP_CHANGE_SCOPE) {
        return in->process->name(in->process, id).text;
    }
    size_t length;
    return mxp__scope_tree_path(&in->scopes, in->node_of[id], &length);
}

// The name, scope or call of a row, 0: it has none of this kind.
static uint32_t id_of(const search *in, const mxp_path_row *row, mxp_change_kind kind)
{
    const bool is_run = row->kind == MXP__PATH_RUN || row->kind == MXP__PATH_COMMUNICATION ||
                        row->kind == MXP__PATH_CUSTOM;
    if (kind == MXP_CHANGE_CALL) {
        return mxp__path_kind_is_host(row->kind) ? row->name : 0;
    }
    const uint32_t id = kind == MXP_CHANGE_SCOPE ? row->scope : row->name;
    return is_run && id < in->process->name_count ? id : 0;
}

// A change of a scope is one of all scopes inside. Of an outermost scope with layers inside that is
// the whole network, and not the row of that name in the report, which has what is in no layer.
static bool is_whole_network(const search *in, mxp_change_kind kind, uint32_t id)
{
    const uint32_t node = kind == MXP_CHANGE_SCOPE ? in->node_of[id] : 0;
    if (node == 0 || in->scopes.nodes[node].depth != 1) {
        return false;
    }
    for (size_t i = 0; i < in->rows.count; i++) {
        const uint32_t scope = id_of(in, &in->rows.rows[i], kind), of = in->node_of[scope];
        if (scope != 0 && of != node && mxp__scope_tree_within(&in->scopes, of, node)) {
            return true;
        }
    }
    return false;
}

static int add_largest(search *in, mxp_change_kind kind)
{
    const size_t names = in->process->name_count;
    ranked *all = mxp__alloc(names * sizeof *all);
    if (all == NULL) {
        return names == 0 ? MXP_OK : mxp__fail_memory("changes");
    }
    for (uint32_t i = 0; i < names; i++) {
        all[i].id = i;
    }
    for (size_t i = 0; i < in->rows.count; i++) {
        const uint32_t id = id_of(in, &in->rows.rows[i], kind);
        all[id].ns += id == 0 ? 0 : in->rows.rows[i].total_ns;
    }
    qsort(all, names, sizeof *all, compare_ranked);
    int error = MXP_OK;
    for (size_t i = 0; i < names && i < OF_A_KIND && error == MXP_OK; i++) {
        const char *text = text_of(in, kind, all[i].id);
        if (all[i].ns > 0 && is_plain(text) && !is_whole_network(in, kind, all[i].id)) {
            error = add_change(in->out, (mxp_change){.kind = kind, .glob = text, .factor = 0.5});
        }
    }
    mxp__free(all, names * sizeof *all);
    return error;
}

static int add_all(search *in)
{
    bool has_host = false, has_input = false;
    for (size_t i = 0; i < in->rows.count; i++) {
        has_host |= mxp__path_kind_is_host(in->rows.rows[i].kind);
        has_input |= in->rows.rows[i].kind == MXP__PATH_INPUT;
    }
    int error = add_largest(in, MXP_CHANGE_NAME);
    if (error == MXP_OK) {
        error = add_largest(in, MXP_CHANGE_SCOPE);
    }
    if (error == MXP_OK) {
        error = add_largest(in, MXP_CHANGE_CALL);
    }
    if (error == MXP_OK && has_host) {
        error = add_change(in->out, (mxp_change){.kind = MXP_CHANGE_HOST, .factor = 0.5});
    }
    if (error == MXP_OK && has_input) {
        error = add_change(in->out, (mxp_change){.kind = MXP_CHANGE_PREFETCH});
    }
    return error;
}

static int make_sets(mxp_whatif_candidates *out)
{
    out->set_capacity = out->count;
    out->sets = mxp__alloc(out->count * sizeof *out->sets);
    if (out->sets == NULL && out->count > 0) {
        return mxp__fail_memory("changes");
    }
    for (size_t i = 0; i < out->count; i++) {
        out->sets[i] = (mxp_change_set){.changes = &out->changes[i], .count = 1};
    }
    return MXP_OK;
}

int mxp__whatif_candidates_find(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                                uint64_t limit_bytes, mxp_whatif_candidates *candidates)
{
    *candidates = (mxp_whatif_candidates){0};
    search in = {.process = process, .out = candidates};
    mxp_step_window window;
    const mxp_steps one = mxp__path_window(steps, steps->first_ns, steps->last_ns, &window);
    const bool is_window = steps->count == 0;
    int error = mxp__path_rows_of_steps(process, is_window ? &one : steps,
                                        is_window ? NULL : chosen, limit_bytes, &in.rows);
    if (error == MXP_OK) {
        error = mxp__scope_tree_add(&in.scopes, process, &in.node_of);
    }
    if (error == MXP_OK) {
        error = add_all(&in);
    }
    if (error == MXP_OK) {
        error = make_sets(candidates);
    }
    mxp__free(in.node_of, process->name_count * sizeof *in.node_of);
    mxp__scope_tree_fini(&in.scopes);
    mxp__path_rows_fini(&in.rows);
    if (error != MXP_OK) {
        mxp__whatif_candidates_fini(candidates);
    }
    return error;
}

void mxp__whatif_candidates_fini(mxp_whatif_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        if (candidates->globs[i] != NULL) {
            mxp__free(candidates->globs[i], strlen(candidates->globs[i]) + 1);
        }
    }
    mxp__free(candidates->changes, candidates->capacity * sizeof *candidates->changes);
    mxp__free(candidates->globs, candidates->glob_capacity * sizeof *candidates->globs);
    mxp__free(candidates->sets, candidates->set_capacity * sizeof *candidates->sets);
    *candidates = (mxp_whatif_candidates){0};
}
