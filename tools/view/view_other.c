// SPDX-License-Identifier: Apache-2.0
// --with OTHER: what `mxprof diff` says of the two traces, and the steps and causes of the other.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "diff/diff_document.h"
#include "profiler/trace/merge.h"
#include "view/view.h"

static void put_steps(const mxp_steps *steps, mxp_json *json)
{
    mxp__json_array(json, "steps");
    for (size_t i = 0; i < steps->count; i++) {
        const mxp_step_window *step = &steps->all[i];
        mxp__json_list(json, NULL);
        mxp__json_u64(json, NULL, step->number);
        mxp__json_i64(json, NULL, step->end_ns - step->begin_ns);
        mxp__json_bool(json, NULL, mxp__step_is_plain(step));
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static int put_process(mxp_source *process, mxp_json *json)
{
    mxp_steps steps;
    const int error = mxp__steps_find(process, &steps);
    if (error == MXP_OK) {
        mxp__json_object(json, NULL);
        mxp__json_u64(json, "pid", process->pid);
        put_steps(&steps, json);
        mxp__json_end(json);
        mxp__steps_fini(&steps);
    }
    return error;
}

static int put_explained(mxp_source *source, const char *file, uint64_t limit_bytes, mxp_json *json)
{
    static const mxp_screen screen = {.columns = MXP_SCREEN_COLUMNS, .is_utf8 = true};
    const mxp_choice_wish usual = {0};
    mxp_explain_view explain = {.file = file};
    mxp_strbuf text = {0};
    int error = mxp__explain_view_take(source, &usual, NULL, limit_bytes, &explain);
    if (error == MXP_OK) {
        mxp__explain_print(&explain, &screen, &text);
        mxp__json_bytes(json, "plain", mxp__strbuf_text(&text), text.length);
    } else if (error == MXP_ENOTSUP) {
        mxp__json_text(json, "plain", mxp_last_error());
        error = MXP_OK;
    }
    mxp__strbuf_fini(&text);
    mxp__explain_view_fini(&explain);
    return error;
}

static int put_other(mxp_view *view, mxp_json *json)
{
    const char *file = view->wish->other;
    mxp_input input;
    int error = mxp__input_open(view->command, file, &input);
    if (error != MXP_OK) {
        return error;
    }
    mxp__json_array(json, "processes");
    for (size_t i = 0; error == MXP_OK; i++) {
        mxp_source *process = mxp__source_process(input.source, i);
        if (process == NULL) {
            break;
        }
        error = put_process(process, json);
    }
    mxp__json_end(json);
    error = error == MXP_OK
                ? put_explained(input.source, input.path, view->report_wish.memory_bytes, json)
                : error;
    if (error != MXP_OK) {
        mxp__command_failed(view->command);
    }
    mxp__input_close(&input);
    return error;
}

int mxp__view_other(mxp_view *view)
{
    mxp_strbuf text = {0};
    mxp_json json = {.out = &text};
    if (view->wish->other == NULL) {
        return MXP_OK;
    }
    mxp__strbuf_puts(&text, "{\"diff\": ");
    int error = mxp__diff_document(view->command, view->wish->other, view->wish->file, &text);
    mxp__strbuf_puts(&text, ", \"other\": ");
    mxp__json_object(&json, NULL);
    error = error == MXP_OK ? put_other(view, &json) : error;
    mxp__json_end(&json);
    mxp__strbuf_puts(&text, "}");
    view->is_told = error != MXP_OK;
    error = error == MXP_OK ? mxp__view_text_section(view, "d", &text) : error;
    mxp__strbuf_fini(&text);
    return error;
}
