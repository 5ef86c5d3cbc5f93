// SPDX-License-Identifier: Apache-2.0
// What bounds the steps of the command `path` from below, which layers their paths are in, and what
// their length goes with.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "path_view.h"
#include "text/figure.h"
#include "text/label.h"

enum { LAYERS = 5, LAYER_DEPTH = 2 };

// ---- bounds ------------------------------------------------------------------------------------
void mxp__path_view_bound(mxp_path_view *view, const mxp_facts *facts)
{
    view->rows = facts->rows;
    view->has_lent_rows = true;
    for (size_t i = 0; i < facts->count; i++) {
        view->work_ns += facts->at[i].run_ns;
        view->dependent_ns += facts->at[i].dependent_ns;
    }
    view->workers = facts->workers;
    view->has_bounds = facts->count > 0 && facts->workers > 0;
    view->work_ns = view->has_bounds ? view->work_ns / (double)facts->workers : 0;
}

static const char *largest_bound(const mxp_path_view *view)
{
    if (view->work_ns >= view->dependent_ns && view->work_ns >= view->program_ns) {
        return view->workers == 1 ? "the worker's work" : "the workers' work";
    }
    return view->dependent_ns >= view->program_ns ? "dependencies" : "the program";
}

void mxp__path_view_put_bounds(const mxp_path_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    if (!view->has_bounds) {
        return;
    }
    const double steps = (double)view->rows.steps;
    mxp__strbuf_puts(out, "no step can be shorter than\n    work ");
    mxp__put_duration(screen, view->work_ns / steps, out);
    mxp__strbuf_printf(out, " (%zu %s), dependencies ", view->workers,
                       view->workers == 1 ? "worker" : "workers");
    mxp__put_duration(screen, view->dependent_ns / steps, out);
    mxp__strbuf_puts(out, ", the program ");
    mxp__put_duration(screen, view->program_ns / steps, out);
    mxp__strbuf_printf(out, "\n    the largest is that of %s\n", largest_bound(view));
}

// ---- layers ------------------------------------------------------------------------------------
typedef struct layer_sum {
    uint32_t node;
    uint64_t ns;
} layer_sum;

static int compare_layers(const void *a, const void *b)
{
    const layer_sum *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void add_rows(const mxp_path_view *view, layer_sum *sums)
{
    for (size_t i = 0; i < view->rows.count; i++) {
        const mxp_path_row *row = &view->rows.rows[i];
        if (row->scope != 0 && row->scope < view->process->name_count &&
            (row->kind == MXP__PATH_RUN || row->kind == MXP__PATH_COMMUNICATION)) {
            const uint32_t node =
                mxp__scope_tree_up(&view->scopes, view->node_of[row->scope], LAYER_DEPTH);
            sums[node].node = node;
            sums[node].ns += row->total_ns;
        }
    }
}

void mxp__path_view_put_layers(const mxp_path_view *view, const mxp_screen *screen, mxp_strbuf *out)
{
    const size_t count = view->scopes.count, bytes = count * sizeof(layer_sum);
    mxp_strbuf label = {0};
    layer_sum *sums = mxp__alloc(bytes);
    if (sums == NULL) {
        out->failed = true;
        return;
    }
    add_rows(view, sums);
    sums[0].ns = 0;  // no scope
    qsort(sums, count, sizeof *sums, compare_layers);
    for (size_t i = 0; i < LAYERS && i < count && sums[i].ns > 0; i++) {
        size_t length;
        const char *path = mxp__scope_tree_path(&view->scopes, sums[i].node, &length);
        mxp__strbuf_puts(out, i == 0 ? "added up: " : ", ");
        mxp__strbuf_clear(&label);
        mxp__put_label(screen, path, length, &label);
        mxp__put_shortened(screen, mxp__strbuf_text(&label), label.length, 24, out);
        mxp__strbuf_putc(out, ' ');
        mxp__put_percent((double)sums[i].ns / (double)view->rows.total_ns, out);
    }
    mxp__strbuf_puts(out, sums[0].ns > 0 ? "\n" : "");
    out->failed = out->failed || label.failed;
    mxp__strbuf_fini(&label);
    mxp__free(sums, bytes);
}

// ---- what the length goes with -----------------------------------------------------------------
void mxp__path_view_put_varying(const mxp_path_view *view, const mxp_steps *steps,
                                const mxp_screen *screen, mxp_strbuf *out)
{
    const double least = 0.5;
    const mxp_path_varying found = mxp__path_rows_varying(&view->rows, steps, view->choice->steps);
    if (found.row == SIZE_MAX || found.correlation < least) {
        return;
    }
    const mxp_path_row *row = &view->rows.rows[found.row];
    mxp__strbuf_puts(out, "\nsteps are longer where this is: ");
    mxp__path_view_put_place(view, screen, row->kind, row->name, row->scope, out);
    mxp__strbuf_printf(out, " (correlation %.2f)\n", found.correlation);
}
