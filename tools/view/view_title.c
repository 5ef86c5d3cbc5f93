// SPDX-License-Identifier: Apache-2.0
// The verdict in a line: what takes most of a step. That is a layer, or what steps wait for
// exchanges where that is more; where no scopes were recorded an operator, else a call.
#include "base/alloc.h"
#include "text/figure.h"
#include "text/label.h"
#include "view/view.h"

// A name, and no more of it than a title takes.
static void put_name(const char *name, size_t length, mxp_strbuf *out)
{
    enum { COLUMNS = 60 };
    mxp_strbuf label = {0};
    mxp__put_label(&mxp__page_screen, name, length, &label);
    mxp__put_shortened(&mxp__page_screen, mxp__strbuf_text(&label), label.length, COLUMNS, out);
    mxp__strbuf_fini(&label);
}

static void put_takes(const mxp_time_report *report, double sum_ns, mxp_strbuf *out)
{
    const double per = mxp__report_per(report);
    mxp__strbuf_puts(out, " takes ");
    mxp__put_duration(&mxp__page_screen, sum_ns / per, out);
    mxp__strbuf_puts(out, " of ");
    mxp__put_duration(&mxp__page_screen, (double)report->rows.wall_ns / per, out);
    mxp__strbuf_puts(out, report->rows.steps > 0 ? " of a step" : "");
}

// What the chosen steps wait for exchanges, which is no layer's.
static uint64_t communication_of(const mxp_view *view)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        const mxp_choice *choice = &view->processes[i].of->choice;
        for (size_t step = 0; choice->steps != NULL && step < choice->of->count; step++) {
            sum_ns += choice->steps[step]
                          ? view->processes[i].sums[step].phases_ns[MXP_PHASE_COMMUNICATION]
                          : 0;
        }
    }
    return sum_ns;
}

static void put_communication_title(const mxp_view *view, const mxp_layer *next, uint64_t sum_ns,
                                    mxp_strbuf *out)
{
    const mxp_time_report *report = &view->report;
    size_t length;
    mxp__strbuf_puts(out, "communication");
    put_takes(report, (double)sum_ns, out);
    if (next->sum_ns > 0) {
        const char *path = mxp__scope_tree_path(&report->rows.scopes, next->scope, &length);
        mxp__strbuf_puts(out, ", then ");
        put_name(path, length, out);
        mxp__strbuf_puts(out, " ");
        mxp__put_duration(&mxp__page_screen, (double)next->sum_ns / mxp__report_per(report), out);
    }
}

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
    size_t length;
    int most = 1;
    const char *path = mxp__scope_tree_path(&report->rows.scopes, layer->scope, &length);
    put_name(path, length, out);
    put_takes(report, (double)layer->sum_ns, out);
    for (int phase = 2; phase < MXP_PHASES; phase++) {
        most = share_of_sum(layer, phase) > share_of_sum(layer, most) ? phase : most;
    }
    if (share_of_sum(layer, most) * 2 > layer->sum_ns) {
        mxp__strbuf_printf(out, ", most of it %s", phases[most]);
    }
}

static void put_row_title(const mxp_time_report *report, const mxp_time_row *row, mxp_strbuf *out)
{
    size_t length;
    const char *name = mxp__time_row_name(&report->rows, row, &length);
    put_name(name, length, out);
    put_takes(report, (double)row->self_ns, out);
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

static void put_title(mxp_view *view, const mxp_layers *layers)
{
    static const mxp_layer none = {0};
    mxp_time_report *report = &view->report;
    const uint64_t communication_ns = communication_of(view);
    const bool has_layer =
        layers->count > 0 && layers->all[0].scope != 0 && layers->all[0].sum_ns > 0;
    const mxp_layer *layer = has_layer ? &layers->all[0] : &none;
    if (communication_ns > layer->sum_ns) {
        put_communication_title(view, layer, communication_ns, &view->title);
    } else if (has_layer) {
        put_layer_title(report, layer, &view->title);
    } else if (!put_first_row(report, true, &view->title) &&
               !put_first_row(report, false, &view->title)) {
        mxp__strbuf_puts(&view->title, "Nothing was recorded");
    }
}

int mxp__view_title(mxp_view *view)
{
    mxp_layers layers;
    const int error = mxp__layers_make(&view->report.rows, 2, MXP_KEY_TOTAL, &layers);
    if (error == MXP_OK) {
        put_title(view, &layers);
    }
    mxp__layers_fini(&layers);
    return error;
}
