// SPDX-License-Identifier: Apache-2.0
// Everything is read here: steps and windows of each process, rows of all of them, the path.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "coverage.h"
#include "profiler/trace/merge.h"
#include "report/report.h"

mxp_time_key mxp__report_key(const mxp_time_report *report)
{
    return report->wish->key >= 0  ? (mxp_time_key)report->wish->key
           : report->rows.has_path ? MXP_KEY_PATH
                                   : MXP_KEY_TOTAL;
}

bool mxp__report_has_operators(const mxp_time_report *report)
{
    return report->rows.operators > 0;
}

bool mxp__report_has_steps(const mxp_time_report *report)
{
    return report->rows.steps > 0;
}

// ---- a process ---------------------------------------------------------------------------------
static int failed(const mxp_time_report *report)
{
    return mxp__command_failed(report->command);
}

static int find_steps(mxp_time_report *report, mxp_report_process *process)
{
    int code = mxp__steps_find(process->source, &process->steps) == MXP_OK ? -1 : failed(report);
    if (code < 0 && report->process_count == 1 && report->summary.has_time &&
        report->summary.first_ns < process->steps.first_ns && report->input->ring[0] == '\0') {
        process->steps.first_ns = report->summary.first_ns;  // which looked at all records
    }
    return code;
}

static int choose(mxp_time_report *report, mxp_report_process *process)
{
    return mxp__selection_whole_window(report->command, &report->selection, &process->steps,
                                       &process->choice);
}

static int choose_rows(mxp_time_report *report, mxp_report_process *process)
{
    const mxp_selection *selection = &report->selection;
    int code = -1;
    if (mxp__selection_filters(selection)) {
        code = mxp__selection_filter(report->command, selection, process->source, &process->filter);
        process->has_filter = code < 0;
    }
    return code;
}

static const mxp_filter *filter_of(const mxp_report_process *process)
{
    return process->has_filter ? &process->filter : NULL;
}

// A path needs operators; of chosen threads alone there is none.
int mxp__report_add_path(mxp_time_report *report, const mxp_report_process *process,
                         const mxp_path_rows *known)
{
    if (process->steps.operators == 0 || report->no_path[0] != '\0' || !process->counts ||
        report->wish->selection.threads.count > 0) {
        return MXP_OK;
    }
    int error = known != NULL
                    ? mxp__time_rows_take_path(&report->rows, process->source, &process->choice,
                                               filter_of(process), known)
                    : mxp__time_rows_add_path(&report->rows, process->source, &process->choice,
                                              filter_of(process), report->wish->memory_bytes);
    if (error == MXP_ENOMEM) {
        snprintf(report->no_path, sizeof report->no_path, "%s", mxp_last_error());
        return MXP_OK;
    }
    return error;
}

// Beside processes with steps the windows of those without have no step to be divided by: their
// rows count, their time does not.
static int add_process(mxp_time_report *report, mxp_report_process *process)
{
    mxp_choice choice = process->choice;
    choice.wall_ns = process->counts ? choice.wall_ns : 0;
    int error = mxp__time_rows_add(&report->rows, process->source, &choice, filter_of(process));
    if (error == MXP_OK && !report->wish->leaves_path_out) {
        error = mxp__report_add_path(report, process, NULL);
    }
    return error == MXP_OK ? -1 : failed(report);
}

// ---- which part of each ------------------------------------------------------------------------
// Of several processes one time is looked at: a server of a job, which has no steps, from the begin
// of the first to the end of the last one that is chosen of the others.
static int share(mxp_time_report *report)
{
    mxp_sharing sharing;
    int error = MXP_OK;
    if (report->process_count < 2) {
        return -1;
    }
    mxp__sharing_begin(&sharing, report->command, &report->selection);
    for (size_t i = 0; i < report->process_count && error == MXP_OK; i++) {
        const mxp_report_process *process = &report->processes[i];
        error = mxp__sharing_add(&sharing, process->source, &process->steps);
    }
    return error == MXP_OK ? mxp__sharing_end(&sharing) : failed(report);
}

static int choose_all(mxp_time_report *report)
{
    int code = share(report);
    for (size_t i = 0; i < report->process_count && code < 0; i++) {
        mxp_report_process *process = &report->processes[i];
        code = choose(report, process);
        code = code < 0 ? choose_rows(report, process) : code;
    }
    return code;
}

static int add_processes(mxp_time_report *report)
{
    int code = -1;
    bool has_steps = false;
    for (size_t i = 0; i < report->process_count && code < 0; i++) {
        code = find_steps(report, &report->processes[i]);
    }
    code = code < 0 ? choose_all(report) : code;
    for (size_t i = 0; i < report->process_count && code < 0; i++) {
        has_steps |= report->processes[i].choice.steps != NULL;
    }
    for (size_t i = 0; i < report->process_count && code < 0; i++) {
        mxp_report_process *process = &report->processes[i];
        process->counts = process->choice.steps != NULL || !has_steps;
        code = add_process(report, process);
    }
    return code;
}

// ---- all ---------------------------------------------------------------------------------------
static int list_processes(mxp_time_report *report)
{
    const size_t several = report->input->source->process_count;
    report->process_count = several > 0 ? several : 1;
    report->processes = mxp__alloc(report->process_count * sizeof *report->processes);
    if (report->processes == NULL) {
        mxp__fail_memory("the report");
        report->process_count = 0;
        return failed(report);
    }
    for (size_t i = 0; i < report->process_count; i++) {
        report->processes[i].source = mxp__source_process(report->input->source, i);
    }
    return -1;
}

// Of a ring alone what is counted begins where all threads are there.
static int summarize(mxp_time_report *report)
{
    int error = mxp__summary_make(report->command, report->input, &report->summary);
    if (error == MXP_OK && mxp__is_ring_alone(report->input->source)) {
        error = mxp__coverage_limit(report->input, report->summary.last_ns);
    }
    return error == MXP_OK ? list_processes(report) : failed(report);
}

static int nothing_chosen(const mxp_time_report *report)
{
    fprintf(stderr, "mxprof %s: nothing fits all of the filters together in this window\n",
            report->command->name);
    return MXP_EXIT_USAGE;
}

int mxp__report_make(const mxp_command *command, mxp_input *input, const mxp_report_wish *wish,
                     mxp_time_report *report)
{
    *report = (mxp_time_report){.command = command,
                                .input = input,
                                .wish = wish,
                                .selection = wish->selection,
                                .screen = &wish->screen};
    int code = summarize(report);
    if (code < 0) {
        code = add_processes(report);
    }
    if (code < 0 && mxp__selection_filters(&wish->selection) && !wish->selection.is_shared &&
        report->rows.operators + report->rows.spans == 0) {
        code = nothing_chosen(report);
    }
    if (code >= 0) {
        mxp__report_fini(report);
    }
    return code;
}

void mxp__report_fini(mxp_time_report *report)
{
    for (size_t i = 0; i < report->process_count; i++) {
        mxp__choice_fini(&report->processes[i].choice);
        mxp__steps_fini(&report->processes[i].steps);
        mxp__filter_fini(&report->processes[i].filter);
    }
    mxp__free(report->processes, report->process_count * sizeof *report->processes);
    mxp__time_rows_fini(&report->rows);
    mxp__summary_fini(&report->summary);
    *report = (mxp_time_report){0};
}
