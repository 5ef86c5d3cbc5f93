// SPDX-License-Identifier: Apache-2.0
// See report_ranks.h. They are what `explain` looks at, of all steps or of those that are chosen:
// how long each of them was, what of it was communication on its path, and what was waited for
// whom.
#include "report/report_ranks.h"

#include <mxprof/error.h>

#include "explain_bound.h"

static int make(const mxp_input *input, const mxp_report_wish *wish, mxp_explain_view *view)
{
    const mxp_selection *chosen = &wish->selection;
    view->step = chosen->step;
    view->from = chosen->from;
    view->until = chosen->until;
    return mxp__explain_view_take(input->source, &chosen->window, input->clocks, wish->memory_bytes,
                                  view);
}

// What cannot be told of the chosen steps: whether there are such steps is told by the report.
static bool is_untold(int error)
{
    return error == MXP_ENOTSUP || error == MXP_EINVAL;
}

int mxp__report_ranks_put(const mxp_command *command, const mxp_input *input,
                          const mxp_report_wish *wish, mxp_strbuf *out)
{
    mxp_explain_view view = {.file = ""};
    const int error = make(input, wish, &view);
    if (error == MXP_OK && view.ranks != NULL) {
        mxp__ranks_tables_put(view.ranks, &wish->screen, out);
        mxp__explain_bound_put(view.ranks, &wish->screen, out);
        mxp__strbuf_putc(out, '\n');
    } else if (is_untold(error)) {
        mxp__strbuf_printf(out, "no tables of workers: %s\n\n", mxp_last_error());
    }
    mxp__explain_view_fini(&view);
    return error == MXP_OK || is_untold(error) ? -1 : mxp__command_failed(command);
}

int mxp__report_ranks_json(const mxp_input *input, const mxp_report_wish *wish, mxp_json *json)
{
    mxp_explain_view view = {.file = ""};
    const int error = make(input, wish, &view);
    if (error == MXP_OK && view.ranks != NULL) {
        mxp__json_object(json, "ranks");
        mxp__json_u64(json, "steps", view.ranks->found.steps);
        mxp__json_number(json, "step_ns", view.ranks->found.step_ns);
        mxp__ranks_tables_json(view.ranks, json);
        mxp__json_end(json);
    }
    mxp__explain_view_fini(&view);
    return is_untold(error) ? MXP_OK : error;
}
