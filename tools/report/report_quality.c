// SPDX-License-Identifier: Apache-2.0
// How far the figures above can be trusted: what was lost, what cannot be read, what is missing for
// more, and what recording cost.
#include <inttypes.h>
#include <string.h>

#include "coverage.h"
#include "profiler/analysis/ranks/counted.h"
#include "report/report.h"
#include "text/figure.h"

// Each line begins with what it is about.
static void begin(mxp_strbuf *out, const char *about)
{
    mxp__strbuf_printf(out, "%-11s", about);
}

const char *mxp__report_incomplete(const mxp_time_report *report)
{
    const char *found = NULL;
    for (size_t i = 0; i < report->process_count && found == NULL; i++) {
        found = mxp__incomplete(report->processes[i].source);
    }
    return found;
}

static void put_recorded(const mxp_time_report *report, mxp_strbuf *out)
{
    const mxp_summary *summary = &report->summary;
    begin(out, "recorded");
    mxp__put_grouped(summary->records, out);
    mxp__strbuf_puts(out, summary->records == 1 ? " record in " : " records in ");
    mxp__put_duration(report->screen, (double)(summary->last_ns - summary->first_ns), out);
    if (summary->lost == 0) {
        mxp__strbuf_puts(out, mxp__report_incomplete(report) != NULL ? "\n" : "; nothing lost\n");
    } else {
        mxp__strbuf_puts(out, "; lost ");
        mxp__put_grouped(summary->lost, out);
        mxp__strbuf_puts(out, ", in no figure above ('mxprof info' tells when and why)\n");
    }
}

static void put_cost(const mxp_time_report *report, mxp_strbuf *out)
{
    const mxp_summary *summary = &report->summary;
    const double cost_ns = (double)summary->records * summary->record_cost_ns;
    const double all_ns = (double)(summary->last_ns - summary->first_ns);
    begin(out, "own cost");
    if (summary->record_cost_ns <= 0) {
        mxp__strbuf_puts(out, "not measured by the program\n");
        return;
    }
    mxp__put_duration(report->screen, cost_ns, out);
    mxp__strbuf_puts(out, " on all threads together");
    if (all_ns > 0) {
        mxp__strbuf_puts(out, ", ");
        mxp__put_percent(cost_ns / all_ns, out);
        mxp__strbuf_puts(out, " of the time");
    }
    mxp__strbuf_puts(out, "\n");
}

static void put_count(mxp_strbuf *out, const char *about, uint64_t count, const char *one,
                      const char *several)
{
    if (count > 0) {
        begin(out, about);
        mxp__put_grouped(count, out);
        mxp__strbuf_printf(out, " %s\n", count == 1 ? one : several);
    }
}

// CPU time and what its threads waited for a core, a step, where they are recorded.
static void put_machine(const mxp_time_report *report, mxp_strbuf *out)
{
    double cpu_ns = 0, delay_ns = 0;
    size_t cpu_steps = 0, delay_steps = 0;
    for (size_t p = 0; p < report->process_count; p++) {
        const mxp_report_process *process = &report->processes[p];
        for (size_t i = 0; i < process->steps.count; i++) {
            const mxp_step_window *step = &process->steps.all[i];
            const bool is_chosen = process->choice.steps != NULL && process->choice.steps[i];
            if (is_chosen && step->cpu_ns != MXP__NOT_RECORDED) {
                cpu_ns += (double)step->cpu_ns;
                cpu_steps++;
            }
            if (is_chosen && step->run_delay_ns != MXP__NOT_RECORDED) {
                delay_ns += (double)step->run_delay_ns;
                delay_steps++;
            }
        }
    }
    if (cpu_steps == 0) {
        return;
    }
    begin(out, "machine");
    mxp__put_duration(report->screen, cpu_ns / (double)cpu_steps, out);
    mxp__strbuf_puts(out, " of CPU time a step");
    if (delay_steps > 0) {
        mxp__strbuf_puts(out, "; its threads waited ");
        mxp__put_duration(report->screen, delay_ns / (double)delay_steps, out);
        mxp__strbuf_puts(out, " for a core");
    }
    mxp__strbuf_puts(out, "\n");
}

static void put_source(const mxp_time_report *report, const mxp_source *source, mxp_strbuf *out)
{
    char about[16];
    snprintf(about, sizeof about, "%" PRIu32, source->pid);
    const char *const became = mxp__what_became(source);
    if (became != NULL) {
        begin(out, "process");
        mxp__strbuf_printf(out, "%s: it %s; what it recorded up to then is here\n", about, became);
    }
    if (report->input->ring[0] == '\0' && mxp__is_ring(source)) {
        begin(out, "ring");
        mxp__strbuf_printf(out,
                           "of process %s; its threads may cover different times ('mxprof info' "
                           "tells which)\n",
                           about);
    }
    if (mxp__incomplete(source) != NULL) {
        begin(out, "incomplete");
        mxp__strbuf_printf(out, "%s\n", mxp__incomplete(source));
    }
    const char *const lefts[] = {mxp__overwritten(source), mxp__left_out(source)};
    for (int i = 0; i < 2; i++) {
        if (lefts[i] != NULL) {
            begin(out, "left out");
            mxp__strbuf_printf(out, "%s: %s\n", lefts[i],
                               i == 0 ? "overwritten while reading" : "cannot be read");
        }
    }
}

// Names whose spans were counted without records are in MXNet's table alone, but for those of a
// distributed store.
static void put_statistics(const mxp_time_report *report, mxp_strbuf *out)
{
    size_t names = 0;
    for (size_t i = 0; i < report->process_count; i++) {
        names += report->processes[i].source->stats_count;
    }
    names -= mxp__counted_names(report->input->source);
    put_count(out, "statistics", names,
              "name was counted without records, too: --layout mxnet has its times",
              "names were counted without records, too: --layout mxnet has their times");
}

// What would be told if it were there.
static void put_missing(const mxp_time_report *report, mxp_strbuf *out)
{
    if (report->no_path[0] != '\0') {
        begin(out, "no path");
        mxp__strbuf_printf(out, "%s\n", report->no_path);
    }
    const uint64_t unknown_ns = report->rows.path_kinds_ns[MXP__PATH_UNKNOWN];
    if (unknown_ns * 100 > report->rows.path_wall_ns) {
        begin(out, "unknown");
        mxp__put_percent((double)unknown_ns / (double)report->rows.path_wall_ns, out);
        mxp__strbuf_puts(out, " of the path: operators of which there is no record\n");
    }
    if (!mxp__report_has_operators(report)) {
        begin(out, "missing");
        mxp__strbuf_puts(out,
                         report->rows.spans == 0
                             ? "operators and spans: nothing is recorded in this window\n"
                             : "operators of libmxnet: tables of layers and a path need them\n");
    }
}

void mxp__report_put_quality(const mxp_time_report *report, mxp_strbuf *out)
{
    const mxp_summary *summary = &report->summary;
    put_recorded(report, out);
    if (report->input->damaged) {
        begin(out, "damaged");
        mxp__strbuf_puts(out, "this is what could be read\n");
    }
    if (report->input->left_out > 0) {
        put_count(out, "left out", report->input->left_out, "file that cannot be read",
                  "files that cannot be read");
    }
    put_count(out, "unread", summary->unread_bytes, "byte of records cannot be read",
              "bytes of records cannot be read");
    if (report->input->ring[0] != '\0') {
        begin(out, "ring");
        mxp__strbuf_printf(out, "%s\n", report->input->ring);
    }
    put_count(out, "unnamed", summary->unnamed, "record under <names full>",
              "records under <names full>: the name table was full");
    put_count(out, "cut", summary->cut_spans, "span was cut short by a start, pause or stop",
              "spans were cut short by a start, pause or stop");
    for (size_t i = 0; i < report->process_count; i++) {
        put_source(report, report->processes[i].source, out);
    }
    put_statistics(report, out);
    put_machine(report, out);
    put_missing(report, out);
    put_cost(report, out);
}
