// SPDX-License-Identifier: Apache-2.0
// One table for programs: a row for each operator by scope and phase, each span, each kind of the
// path, and each step. Sums in ns over the whole window.
#include <inttypes.h>
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "report/report.h"
#include "text/phase.h"

static void put_text(mxp_strbuf *out, const char *text, size_t length)
{
    mxp__csv_string(out, text, length);
    mxp__strbuf_putc(out, ',');
}

static void put_row(mxp_time_report *report, mxp_time_row *row, mxp_strbuf *out)
{
    static const double fractions[] = {0.5, 0.9, 0.99, 1};
    const mxp_texts *texts = &report->rows.scopes.texts;
    size_t length;
    bool is_exact = true;
    mxp__strbuf_puts(out, row->is_operator ? "operator," : "span,");
    const char *scope = mxp__scope_tree_path(&report->rows.scopes, row->scope, &length);
    put_text(out, scope, length);
    const char *category = mxp__texts_at(texts, row->category, &length);
    put_text(out, category, length);
    const char *name = mxp__texts_at(texts, row->name, &length);
    put_text(out, name, length);
    mxp__strbuf_printf(out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", mxp__phase_label(row->phase),
                       row->count, row->total_ns, row->self_ns);
    if (report->rows.has_path) {
        mxp__strbuf_printf(out, "%" PRIu64, row->path_ns);
    }
    mxp__strbuf_printf(out, ",%" PRIu64 ",%" PRIu64, row->waited_ns, row->queued_ns);
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        mxp__strbuf_printf(out, ",%" PRIu64,
                           mxp__samples_quantile(&row->durations, fractions[i], &is_exact));
    }
    mxp__strbuf_printf(out, ",%d\n", is_exact);
}

static int put_rows(mxp_time_report *report, bool operators, mxp_strbuf *out)
{
    const mxp_time_key key = operators ? mxp__report_key(report) : MXP_KEY_SELF;
    const size_t bytes = report->rows.count * sizeof(uint32_t);
    size_t count;
    uint32_t *order = mxp__time_rows_rank(&report->rows, operators, key, &count);
    for (size_t i = 0; i < count; i++) {
        put_row(report, &report->rows.rows[order[i]], out);
    }
    mxp__free(order, bytes);
    return order == NULL && bytes > 0 ? mxp__fail_memory("the report") : MXP_OK;
}

static void put_path(const mxp_time_report *report, mxp_strbuf *out)
{
    for (int kind = 0; kind < MXP__PATH_KINDS && report->rows.has_path; kind++) {
        if (report->rows.path_kinds_ns[kind] > 0) {
            mxp__strbuf_printf(out, "path,\"\",\"\",\"%s\",,,,,%" PRIu64 ",,,,,,,\n",
                               mxp__path_kind_name(kind), report->rows.path_kinds_ns[kind]);
        }
    }
}

static void put_steps(const mxp_time_report *report, mxp_strbuf *out)
{
    for (size_t p = 0; p < report->process_count; p++) {
        const mxp_report_process *process = &report->processes[p];
        for (size_t i = 0; i < process->steps.count; i++) {
            const mxp_step_window *step = &process->steps.all[i];
            if (process->choice.steps != NULL && process->choice.steps[i]) {
                mxp__strbuf_printf(out, "step,\"\",\"\",\"%" PRIu64 "\",,1,%" PRId64 ",,,,,,,,,\n",
                                   step->number, step->end_ns - step->begin_ns);
            }
        }
    }
}

int mxp__report_csv(mxp_time_report *report, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "kind,scope,category,name,phase,calls,total_ns,self_ns,path_ns,waited_ns,"
                          "queued_ns,p50_ns,p90_ns,p99_ns,max_ns,exact\n");
    int error = put_rows(report, true, out);
    if (error == MXP_OK) {
        error = put_rows(report, false, out);
    }
    put_path(report, out);
    put_steps(report, out);
    return error;
}
