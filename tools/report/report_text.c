// SPDX-License-Identifier: Apache-2.0
// The report as text: which parts, in which order.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>

#include "profiler/export/tracks.h"
#include "report/report.h"
#include "text/label.h"

enum { LAYER_DEPTH = 2, SPANS_BESIDE_OPERATORS = 5, SPANS_ALONE = 10 };

static uint32_t depth_of(const mxp_time_report *report, uint32_t usual)
{
    const size_t depth = report->wish->depth;
    return depth == 0 ? usual : depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX;
}

static void put_processes(const mxp_time_report *report, mxp_strbuf *out)
{
    enum { NAMED = 6 };
    if (report->process_count < 2) {
        return;
    }
    mxp__strbuf_printf(out, "%zu processes together:", report->process_count);
    for (size_t i = 0; i < report->process_count && i < NAMED; i++) {
        const mxp_source *source = report->processes[i].source;
        size_t length;
        const char *name = mxp__process_name(source, &length);
        mxp__strbuf_printf(out, "%s %" PRIu32 " ", i == 0 ? "" : ",", source->pid);
        mxp__put_label(report->screen, name, length, out);
    }
    mxp__strbuf_puts(out, report->process_count > NAMED ? ", ...\n" : "\n");
}

static bool has_layers(const mxp_time_report *report)
{
    return mxp__report_has_operators(report) && report->rows.scopes.count > 1;
}

// A part begins with an empty line; one that turns out to have nothing takes it back.
static int put_part(mxp_time_report *report, int (*part)(mxp_time_report *report, mxp_strbuf *out),
                    mxp_strbuf *out)
{
    const size_t before = out->length;
    mxp__strbuf_putc(out, '\n');
    const size_t begin = out->length;
    int error = part(report, out);
    if (out->length == begin && !out->failed) {
        out->length = before;
        out->data[before] = '\0';
    }
    return error;
}

static int put_usual_layers(mxp_time_report *report, mxp_strbuf *out)
{
    return has_layers(report) ? mxp__report_put_layers(report, depth_of(report, LAYER_DEPTH), out)
                              : MXP_OK;
}

static int put_usual_spans(mxp_time_report *report, mxp_strbuf *out)
{
    return mxp__report_put_spans(
        report, mxp__report_has_operators(report) ? SPANS_BESIDE_OPERATORS : SPANS_ALONE, out);
}

static int put_all(mxp_time_report *report, mxp_strbuf *out)
{
    int error = put_part(report, put_usual_layers, out);
    if (error == MXP_OK) {
        error = put_part(report, mxp__report_put_operators, out);
    }
    if (error == MXP_OK) {
        error = put_part(report, put_usual_spans, out);
    }
    return error == MXP_OK ? put_part(report, mxp__report_put_counted, out) : error;
}

static int put_by_layer(mxp_time_report *report, mxp_strbuf *out)
{
    return mxp__report_put_layers(report, depth_of(report, LAYER_DEPTH), out);
}

static int put_by_scope(mxp_time_report *report, mxp_strbuf *out)
{
    return mxp__report_put_layers(report, depth_of(report, UINT32_MAX), out);
}

static int put_body(mxp_time_report *report, mxp_strbuf *out)
{
    if (report->wish->tree) {
        return put_part(report, mxp__report_put_trees, out);
    }
    switch (report->wish->by) {
    case MXP_BY_LAYER:
        return put_part(report, put_by_layer, out);
    case MXP_BY_SCOPE:
        return put_part(report, put_by_scope, out);
    case MXP_BY_STEP:
        return put_part(report, mxp__report_put_steps, out);
    case MXP_BY_PATH:
        return put_part(report, mxp__report_put_path, out);
    default:
        return put_all(report, out);
    }
}

int mxp__report_text(mxp_time_report *report, mxp_strbuf *out)
{
    put_processes(report, out);
    mxp__report_put_summary(report, out);
    int error = put_body(report, out);
    if (error == MXP_OK && !report->wish->tree && report->wish->by == MXP_BY_NOTHING) {
        mxp__strbuf_putc(out, '\n');
        mxp__report_put_quality(report, out);
    }
    return error;
}
