// SPDX-License-Identifier: Apache-2.0
// What the command `path` keeps of the paths that were walked: see path_view.h.
#include "path_view.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static mxp_path_long long_of(const mxp_graph *graph, const mxp_path_piece *piece, size_t step)
{
    mxp_path_long kept = {.piece = *piece, .name = piece->name, .step = step};
    if (piece->op != MXP__NO_OP) {
        const mxp_graph_op *op = &graph->ops[piece->op];
        kept.name = op->name;
        kept.scope = op->scope;
        kept.phase = op->flags & MXP_OP_PHASE_MASK;
        kept.piece.op = op->id;  // the place means nothing without the graph
    } else {
        kept.piece.op = 0;
    }
    return kept;
}

static int64_t length_of(const mxp_path_piece *piece)
{
    return piece->to_ns - piece->from_ns;
}

static bool is_among_longest(const mxp_path_view *view, const mxp_path_piece *piece)
{
    return view->longest_count < MXP_PATH_LONGEST ||
           length_of(piece) > length_of(&view->longest[MXP_PATH_LONGEST - 1].piece);
}

static void keep_longest(mxp_path_view *view, const mxp_path_long *kept)
{
    size_t at = view->longest_count;
    while (at > 0 && length_of(&view->longest[at - 1].piece) < length_of(&kept->piece)) {
        at--;
    }
    view->longest_count += view->longest_count < MXP_PATH_LONGEST;
    memmove(&view->longest[at + 1], &view->longest[at],
            (view->longest_count - at - 1) * sizeof *view->longest);
    view->longest[at] = *kept;
}

static int keep_piece(mxp_path_view *view, const mxp_path_long *kept)
{
    if (mxp__grow(&view->pieces, &view->piece_capacity, view->piece_count + 1,
                  sizeof *view->pieces) != MXP_OK) {
        return mxp__fail_memory("the pieces of a path");
    }
    view->pieces[view->piece_count++] = *kept;
    return MXP_OK;
}

static int keep_pieces(mxp_path_view *view, const mxp_graph *graph, size_t step,
                       const mxp_path *path)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < path->count; i++) {
        const bool is_long = is_among_longest(view, &path->pieces[i]);
        if (!is_long && !view->keeps_pieces) {
            continue;
        }
        const mxp_path_long kept = long_of(graph, &path->pieces[i], step);
        if (is_long) {
            keep_longest(view, &kept);
        }
        error = view->keeps_pieces ? keep_piece(view, &kept) : MXP_OK;
    }
    view->has_waits |= graph->has_waits;
    return error;
}

static int add_path(mxp_path_view *view, const mxp_graph *graph, size_t step, const mxp_path *path)
{
    const int error = mxp__path_rows_add(&view->rows, graph, step, path);
    return error == MXP_OK ? keep_pieces(view, graph, step, path) : error;
}

static int add_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                    const mxp_path *path)
{
    mxp_path_view *view = context;
    (void)steps;
    return add_path(view, graph, step, path);
}

// The rows are those of the facts.
static int take_step(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                     const mxp_path *path)
{
    mxp_path_view *view = context;
    view->program_ns += (double)mxp__step_program_ns(graph, steps, step);
    return keep_pieces(view, graph, step, path);
}

static int walk_time(mxp_path_view *view, uint64_t limit_bytes)
{
    const int64_t from_ns = view->choice->from_ns, until_ns = view->choice->until_ns;
    mxp_graph graph;
    mxp_path path = {0};
    int error =
        mxp__graph_load_part(&view->choice->of->index, from_ns, until_ns, limit_bytes, &graph);
    if (error != MXP_OK || graph.records == 0) {
        mxp__graph_fini(&graph);
        return error;
    }
    view->from_thread = mxp__path_window_thread(&graph);
    error = mxp__path_walk(&graph, from_ns, until_ns, view->from_thread, &path);
    if (error == MXP_OK) {
        error = mxp__path_split(&graph, &path);
    }
    if (error == MXP_OK) {
        error = add_path(view, &graph, 0, &path);
    }
    mxp__path_fini(&path);
    mxp__graph_fini(&graph);
    return error;
}

static int64_t first_begin(const mxp_steps *steps, const mxp_choice *choice)
{
    for (size_t i = 0; choice->steps != NULL && i < steps->count; i++) {
        if (choice->steps[i]) {
            return steps->all[i].begin_ns;
        }
    }
    return choice->from_ns;
}

int mxp__path_view_begin(mxp_source *process, const mxp_choice *choice, bool keeps_pieces,
                         mxp_path_view *view)
{
    *view = (mxp_path_view){.process = process,
                            .choice = choice,
                            .keeps_pieces = keeps_pieces,
                            .begin_ns = first_begin(choice->of, choice)};
    const int error = mxp__scope_tree_add(&view->scopes, process, &view->node_of);
    if (error != MXP_OK) {
        mxp__path_view_fini(view);
    }
    return error;
}

mxp_path_listener mxp__path_view_listener(mxp_path_view *view)
{
    return (mxp_path_listener){.each = take_step, .context = view};
}

// With the bounds of steps, which come from the same walk.
static int walk_bounded(mxp_path_view *view, uint64_t limit_bytes)
{
    const mxp_path_listener listener = mxp__path_view_listener(view);
    mxp_facts facts;
    const int error = mxp__facts_make(view->process, view->choice->of, view->choice, limit_bytes,
                                      &listener, &facts);
    if (error == MXP_OK) {
        mxp__path_view_bound(view, &facts);
        facts.rows = (mxp_path_rows){0};  // the view's now
        view->has_lent_rows = false;
        mxp__facts_fini(&facts);
    }
    return error;
}

static int make(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                bool keeps_pieces, bool is_bounded, mxp_path_view *view)
{
    int error = mxp__path_view_begin(process, choice, keeps_pieces, view);
    if (error != MXP_OK) {
        return error;
    }
    error = choice->steps == NULL ? walk_time(view, limit_bytes)
            : is_bounded
                ? walk_bounded(view, limit_bytes)
                : mxp__path_steps(process, choice->of, choice->steps, limit_bytes, add_step, view);
    if (error != MXP_OK) {
        mxp__path_view_fini(view);
    }
    return error;
}

int mxp__path_view_make(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                        bool keeps_pieces, mxp_path_view *view)
{
    return make(process, choice, limit_bytes, keeps_pieces, true, view);
}

int mxp__path_view_pieces(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                          mxp_path_view *view)
{
    return make(process, choice, limit_bytes, true, false, view);
}

void mxp__path_view_fini(mxp_path_view *view)
{
    if (!view->has_lent_rows) {
        mxp__path_rows_fini(&view->rows);
    }
    mxp__scope_tree_fini(&view->scopes);
    if (view->process != NULL) {
        mxp__free(view->node_of, view->process->name_count * sizeof *view->node_of);
    }
    mxp__free(view->pieces, view->piece_capacity * sizeof *view->pieces);
    *view = (mxp_path_view){0};
}

uint64_t mxp__path_view_kind_ns(const mxp_path_view *view, int kind)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < view->rows.count; i++) {
        ns += view->rows.rows[i].kind == kind ? view->rows.rows[i].total_ns : 0;
    }
    return ns;
}

void mxp__path_view_label(const mxp_path_view *view, int kind, uint32_t name, uint32_t scope,
                          mxp_strbuf *out)
{
    const mxp_source *process = view->process;
    size_t length = 0;
    if (scope != 0 && scope < process->name_count) {
        const char *path = mxp__scope_tree_path(&view->scopes, view->node_of[scope], &length);
        mxp__strbuf_append(out, path, length);
        mxp__strbuf_puts(out, length > 0 ? "/" : "");
    }
    if (name == 0) {
        mxp__strbuf_puts(out, kind == MXP__PATH_UNKNOWN ? "no record" : mxp__path_kind_name(kind));
        return;
    }
    const mxp_name_view text = process->name(process, name);
    mxp__strbuf_append(out, text.text, text.length);
}
