// SPDX-License-Identifier: Apache-2.0
// What report and explain say.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "view/view.h"

static int explain(mxp_view *view)
{
    mxp_json json = {.out = &view->explain_json};
    view->explain.file = view->input.path;
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
    mxp__explain_print(&view->explain, &mxp__page_screen, &view->plain);
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
    if (error == MXP_OK && !view->is_explained) {
        mxp__strbuf_printf(&view->plain, "%s\n", view->explain_refused);
    }
    if (error == MXP_OK) {
        mxp__report_put_quality(&view->report, &view->plain);
    }
    return error;
}
