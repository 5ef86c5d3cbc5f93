// SPDX-License-Identifier: Apache-2.0
// What report and explain say, and the verdict in a line of it.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "text/figure.h"
#include "text/label.h"
#include "view/view.h"

// A fixed screen: a page is read elsewhere than where it is made.
static const mxp_screen page_screen = {.columns = MXP_SCREEN_COLUMNS, .is_utf8 = true};

// A name, and no more of it than a title takes.
static void put_name(const char *name, size_t length, mxp_strbuf *out)
{
    enum { COLUMNS = 60 };
    mxp_strbuf label = {0};
    mxp__put_label(&page_screen, name, length, &label);
    mxp__put_shortened(&page_screen, mxp__strbuf_text(&label), label.length, COLUMNS, out);
    mxp__strbuf_fini(&label);
}

// ---- the title ---------------------------------------------------------------------------------
// Exchanges that run beside a layer's computing are no part of its sum.
static uint64_t share_of_sum(const mxp_layer *layer, int phase)
{
    uint64_t others_ns = 0;
    for (int other = 0; other < MXP_PHASE_COMMUNICATION; other++) {
        others_ns += layer->phases_ns[other];
    }
    return phase != MXP_PHASE_COMMUNICATION ? layer->phases_ns[phase]
           : layer->sum_ns > others_ns      ? layer->sum_ns - others_ns
                                            : 0;
}

static void put_layer_title(const mxp_time_report *report, const mxp_layer *layer, mxp_strbuf *out)
{
    static const char *const phases[MXP_PHASES] = {"", "forward", "backward", "update",
                                                   "communication"};
    const double per = mxp__report_per(report);
    size_t length;
    int most = 1;
    const char *path = mxp__scope_tree_path(&report->rows.scopes, layer->scope, &length);
    put_name(path, length, out);
    mxp__strbuf_puts(out, " takes ");
    mxp__put_duration(&page_screen, (double)layer->sum_ns / per, out);
    mxp__strbuf_puts(out, " of ");
    mxp__put_duration(&page_screen, (double)report->rows.wall_ns / per, out);
    mxp__strbuf_puts(out, report->rows.steps > 0 ? " of a step" : "");
    for (int phase = 2; phase < MXP_PHASES; phase++) {
        most = share_of_sum(layer, phase) > share_of_sum(layer, most) ? phase : most;
    }
    if (share_of_sum(layer, most) * 2 > layer->sum_ns) {
        mxp__strbuf_printf(out, ", most of it %s", phases[most]);
    }
}

static void put_row_title(const mxp_time_report *report, const mxp_time_row *row, mxp_strbuf *out)
{
    const double per = mxp__report_per(report);
    size_t length;
    const char *name = mxp__time_row_name(&report->rows, row, &length);
    put_name(name, length, out);
    mxp__strbuf_puts(out, " takes ");
    mxp__put_duration(&page_screen, (double)row->self_ns / per, out);
    mxp__strbuf_puts(out, " of ");
    mxp__put_duration(&page_screen, (double)report->rows.wall_ns / per, out);
    mxp__strbuf_puts(out, report->rows.steps > 0 ? " of a step" : "");
}

// Of the rows of operators, or else of spans, the first; false: there is none.
static bool put_first_row(mxp_time_report *report, bool operators, mxp_strbuf *out)
{
    const size_t bytes = report->rows.count * sizeof(uint32_t);
    size_t count = 0;
    uint32_t *order = mxp__time_rows_rank(&report->rows, operators, MXP_KEY_SELF, &count);
    if (order != NULL && count > 0) {
        put_row_title(report, &report->rows.rows[order[0]], out);
    }
    mxp__free(order, bytes);
    return count > 0;
}

static int make_title(mxp_view *view)
{
    mxp_layers layers;
    mxp_time_report *report = &view->report;
    const int error = mxp__layers_make(&report->rows, 2, MXP_KEY_TOTAL, &layers);
    if (error == MXP_OK && layers.count > 0 && layers.all[0].scope != 0 &&
        layers.all[0].sum_ns > 0) {
        put_layer_title(report, &layers.all[0], &view->title);
    } else if (error == MXP_OK && !put_first_row(report, true, &view->title) &&
               !put_first_row(report, false, &view->title)) {
        mxp__strbuf_puts(&view->title, "Nothing was recorded");
    }
    mxp__layers_fini(&layers);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int explain(mxp_view *view)
{
    mxp_json json = {.out = &view->explain_json};
    view->explain.file = view->wish->file;
    view->explain.step = view->wish->verdict.step;
    view->explain.is_imported = view->input.is_imported;
    view->explain.keeps_paths = true;
    const int error =
        mxp__explain_view_take(view->input.source, &view->wish->verdict.window, view->input.clocks,
                               view->report_wish.memory_bytes, &view->explain);
    if (error == MXP_ENOTSUP) {
        snprintf(view->explain_refused, sizeof view->explain_refused, "%s", mxp_last_error());
        return MXP_OK;
    }
    if (error != MXP_OK) {
        return error;
    }
    view->is_explained = true;
    mxp__explain_json(&view->explain, &json);
    mxp__explain_print(&view->explain, &page_screen, &view->plain);
    return MXP_OK;
}

static bool is_same_choice(const mxp_choice *a, const mxp_choice *b)
{
    return a->steps != NULL && b->steps != NULL && a->of->count == b->of->count &&
           memcmp(a->steps, b->steps, a->of->count * sizeof *a->steps) == 0;
}

mxp_explained *mxp__view_explained(mxp_view *view, const mxp_report_process *of)
{
    for (size_t i = 0; view->is_explained && i < view->explain.count; i++) {
        mxp_explained *explained = &view->explain.all[i];
        if (explained->process == of->source && explained->is_marked &&
            is_same_choice(&explained->choice, &of->choice)) {
            return explained;
        }
    }
    return NULL;
}

size_t mxp__view_told_step(const mxp_explained *of, const mxp_cause *cause)
{
    size_t most = 0;
    if (cause->gains == NULL || !of->is_marked || of->facts.count == 0) {
        return SIZE_MAX;
    }
    for (size_t i = 1; i < of->facts.count; i++) {
        most = cause->gains[i] > cause->gains[most] ? i : most;
    }
    return cause->gains[most] > 0 ? of->facts.at[most].place : SIZE_MAX;
}

size_t mxp__view_process_of(const mxp_view *view, const mxp_explained *of)
{
    for (size_t i = 0; i < view->report.process_count; i++) {
        const mxp_report_process *process = &view->report.processes[i];
        if (process->source == of->process && process->steps.count == of->steps.count) {
            return i;
        }
    }
    return SIZE_MAX;
}

// Report's column of the path, from explain's walk where it looked at the same steps.
static int add_paths(mxp_view *view)
{
    int error = MXP_OK;
    for (size_t i = 0; i < view->report.process_count && error == MXP_OK; i++) {
        const mxp_report_process *of = &view->report.processes[i];
        const mxp_explained *known = mxp__view_explained(view, of);
        error = mxp__report_add_path(&view->report, of, known != NULL ? &known->facts.rows : NULL);
    }
    return error;
}

int mxp__view_documents(mxp_view *view)
{
    int error = explain(view);
    error = error == MXP_OK ? add_paths(view) : error;
    error = error == MXP_OK ? make_title(view) : error;
    if (error == MXP_OK && !view->is_explained) {
        mxp__strbuf_printf(&view->plain, "%s\n", view->explain_refused);
    }
    if (error == MXP_OK) {
        mxp__report_put_quality(&view->report, &view->plain);
    }
    return error;
}
