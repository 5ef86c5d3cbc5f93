// SPDX-License-Identifier: Apache-2.0
// The verdict in a line: what takes most of a step. That is a layer, where no scopes were recorded
// an operator, else a call; or what steps wait for exchanges, or time without any operator, where
// that is more.
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

// "3 ms of 5 ms of a step"; of what ran on several threads "9 ms on several threads in 5 ms".
static void put_of(const mxp_time_report *report, double sum_ns, mxp_strbuf *out)
{
    const double per = mxp__report_per(report);
    mxp__put_duration(&mxp__page_screen, sum_ns / per, out);
    mxp__strbuf_puts(out,
                     sum_ns > (double)report->rows.wall_ns ? " on several threads in " : " of ");
    mxp__put_duration(&mxp__page_screen, (double)report->rows.wall_ns / per, out);
    if (report->rows.steps > 0) {
        mxp__strbuf_puts(out, " of a step");
    } else if (report->process_count > 1) {
        mxp__strbuf_printf(out, " of %zu processes", report->process_count);
    }
}

static void put_takes(const mxp_time_report *report, double sum_ns, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, " takes ");
    put_of(report, sum_ns, out);
}

// ---- beside layers -----------------------------------------------------------------------------
// Of the chosen steps what they wait for exchanges, and how long no operator ran: no layer's.
typedef struct beside_layers {
    uint64_t communication_ns, idle_ns;
} beside_layers;

static beside_layers beside_layers_of(const mxp_view *view)
{
    uint64_t communication_ns = 0, work_ns = 0, wall_ns = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        const mxp_choice *choice = &view->processes[i].of->choice;
        for (size_t at = 0; choice->steps != NULL && at < choice->of->count; at++) {
            const mxp_step_window *step = &choice->of->all[at];
            const uint64_t *phases_ns = view->processes[i].sums[at].phases_ns;
            wall_ns += choice->steps[at] ? (uint64_t)(step->end_ns - step->begin_ns) : 0;
            communication_ns += choice->steps[at] ? phases_ns[MXP_PHASE_COMMUNICATION] : 0;
            for (int phase = 0; phase < MXP_PHASES; phase++) {
                work_ns += choice->steps[at] ? phases_ns[phase] : 0;
            }
        }
    }
    return (beside_layers){.communication_ns = communication_ns,
                           .idle_ns = work_ns > 0 && wall_ns > work_ns ? wall_ns - work_ns : 0};
}

// What takes most of all that has a name: a layer, else an operator, else a call.
typedef struct named_part {
    const mxp_layer *layer;
    const mxp_time_row *row;
    const char *name;
    size_t length;
    uint64_t ns;
} named_part;

static void put_then(const mxp_time_report *report, const named_part *part, mxp_strbuf *out)
{
    if (part->ns > 0) {
        mxp__strbuf_puts(out, ", then ");
        put_name(part->name, part->length, out);
        mxp__strbuf_puts(out, " ");
        mxp__put_duration(&mxp__page_screen, (double)part->ns / mxp__report_per(report), out);
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

static void put_phase(const mxp_layer *layer, mxp_strbuf *out)
{
    static const char *const phases[MXP_PHASES] = {"", "forward", "backward", "update",
                                                   "communication"};
    int most = 1;
    for (int phase = 2; phase < MXP_PHASES; phase++) {
        most = share_of_sum(layer, phase) > share_of_sum(layer, most) ? phase : most;
    }
    if (share_of_sum(layer, most) * 2 > layer->sum_ns) {
        mxp__strbuf_printf(out, ", most of it %s", phases[most]);
    }
}

// Of the rows of operators, or else of spans, the first; null: there is none.
static const mxp_time_row *first_row(mxp_time_report *report, bool operators)
{
    const size_t bytes = report->rows.count * sizeof(uint32_t);
    size_t count = 0;
    uint32_t *order = mxp__time_rows_rank(&report->rows, operators, MXP_KEY_SELF, &count);
    const mxp_time_row *row = order != NULL && count > 0 ? &report->rows.rows[order[0]] : NULL;
    mxp__free(order, bytes);
    return row;
}

// The layer that takes most; null: there is none, or more is in no scope.
static const mxp_layer *largest_layer(const mxp_layers *layers)
{
    const mxp_layer *most = NULL;
    for (size_t i = 0; i < layers->count; i++) {
        const mxp_layer *layer = &layers->all[i];
        most = most == NULL || layer->sum_ns > most->sum_ns ? layer : most;
    }
    return most != NULL && most->scope != 0 && most->sum_ns > 0 ? most : NULL;
}

static named_part largest_of(mxp_time_report *report, const mxp_layers *layers)
{
    named_part part = {.layer = largest_layer(layers)};
    if (part.layer != NULL) {
        part.ns = part.layer->sum_ns;
        part.name = mxp__scope_tree_path(&report->rows.scopes, part.layer->scope, &part.length);
        return part;
    }
    part.row = first_row(report, true);
    part.row = part.row != NULL ? part.row : first_row(report, false);
    if (part.row != NULL) {
        part.ns = part.row->self_ns;
        part.name = mxp__time_row_name(&report->rows, part.row, &part.length);
    }
    return part;
}

static void put_title(mxp_view *view, const mxp_layers *layers)
{
    mxp_time_report *report = &view->report;
    mxp_strbuf *out = &view->title;
    const beside_layers beside = beside_layers_of(view);
    const named_part part = largest_of(report, layers);
    if (beside.communication_ns > part.ns && beside.communication_ns >= beside.idle_ns) {
        mxp__strbuf_puts(out, "communication");
        put_takes(report, (double)beside.communication_ns, out);
        put_then(report, &part, out);
    } else if (beside.idle_ns > part.ns) {
        mxp__strbuf_puts(out, "No operator ran for ");
        put_of(report, (double)beside.idle_ns, out);
        put_then(report, &part, out);
    } else if (part.name != NULL) {
        put_name(part.name, part.length, out);
        put_takes(report, (double)part.ns, out);
        if (part.layer != NULL) {
            put_phase(part.layer, out);
        }
    } else {
        mxp__strbuf_puts(out, "Nothing was recorded");
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
