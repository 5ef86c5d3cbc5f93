// SPDX-License-Identifier: Apache-2.0
// mxprof report: an overview of the profile, and the aggregate statistics of a file in MXNet's
// layout. It gives numbers and no verdict.
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "coverage.h"
#include "mixed_steps.h"
#include "overview.h"
#include "percentiles.h"
#include "profiler/export/export.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/window.h"

static const char help[] =
    "mxprof report prints where the time of a profile went: one row for each name, with its count\n"
    "and times, in sections by category.\n"
    "\n"
    "usage: mxprof report [OPTIONS] FILE|DIRECTORY\n"
    "\n"
    "  --sort KEY      order of the rows: total (default), avg, min, max or count\n"
    "  --ascending     smallest first\n"
    "  --by WHAT       one row for each name (default), scope or step\n"
    "  --percentiles   also the 50th, 90th and 99th percentile of each row's durations\n"
    "  --per-process   a report for each process, where there are several, instead of one of all\n"
    "  --json          as JSON: members Time, Memory, Unit as MXNet prints them, and Report, "
    "Frames,\n"
    "                  Percentiles of ours\n"
    "  --csv           as comma-separated values, percentiles included; the last rows, of kind\n"
    "                  \"frame rate\" and \"report\", are what is around the table\n"
    "\n"
    "Of a directory all native traces (*.mxp, *.mxpz) in it are read as one, as 'mxprof merge'\n"
    "joins them: rows of one name are added up, and a counter that several processes have stays\n"
    "one for each, its process after its name.\n"
    "\n"
    "The lines above the table tell how far to trust it: what was lost is in no number below, and\n"
    "the cost is what recording itself added to the run. Times are in ms. A counter's row shows "
    "its\n"
    "smallest and largest value and its average over time. Frames have their rate below the "
    "table.\n"
    "\n"
    "examples\n"
    "  mxprof report profile.mxp\n"
    "  mxprof report --sort avg --percentiles profile.mxp\n"
    "  mxprof report --by step --csv profile.mxp > steps.csv\n"
    "  mxprof report --per-process traces/\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call\n";

typedef struct report_options {
    int sort_by, ascending, group, json, csv, percentiles, per_process;
} report_options;

static void put_frames(const mxp_summary *summary, mxp_strbuf *out)
{
    for (size_t i = 0; i < summary->frame_count; i++) {
        const mxp_frames *frames = &summary->frames[i];
        const mxp_source *source = frames->source;
        mxp_name_view view = source->name(source, frames->name);
        mxp_name_view category = source->name(source, view.category);
        if (i == 0) {
            mxp__strbuf_puts(out, "\nFrames per second\n=================\n");
        }
        mxp__json_string(out, category.text, category.length);
        mxp__strbuf_putc(out, ' ');
        mxp__json_string(out, view.text, view.length);
        mxp__strbuf_printf(out, "  %.2f  (%" PRIu64 " frames in %.3f s)\n",
                           mxp__frames_per_second(frames), frames->count,
                           (double)(frames->last_ns - frames->first_ns) / 1e9);
    }
}

static void put_frames_json(const mxp_summary *summary, mxp_strbuf *out)
{
    mxp__strbuf_putc(out, '[');
    for (size_t i = 0; i < summary->frame_count; i++) {
        const mxp_frames *frames = &summary->frames[i];
        const mxp_source *source = frames->source;
        mxp_name_view view = source->name(source, frames->name);
        mxp_name_view category = source->name(source, view.category);
        mxp__strbuf_printf(out, "%s\n        {\"Section\": ", i == 0 ? "" : ",");
        mxp__json_string(out, category.text, category.length);
        mxp__strbuf_puts(out, ", \"Name\": ");
        mxp__json_string(out, view.text, view.length);
        mxp__strbuf_printf(out, ", \"Count\": %" PRIu64 ", \"Per Second\": ", frames->count);
        mxp__json_double(out, mxp__frames_per_second(frames));
        mxp__strbuf_putc(out, '}');
    }
    mxp__strbuf_puts(out, summary->frame_count == 0 ? "]" : "\n    ]");
}

static void put_frames_csv(const mxp_summary *summary, mxp_strbuf *out)
{
    for (size_t i = 0; i < summary->frame_count; i++) {
        const mxp_frames *frames = &summary->frames[i];
        const mxp_source *source = frames->source;
        mxp_name_view view = source->name(source, frames->name);
        mxp_name_view category = source->name(source, view.category);
        mxp__csv_string(out, category.text, category.length);
        mxp__strbuf_putc(out, ',');
        mxp__csv_string(out, view.text, view.length);
        mxp__strbuf_printf(out, ",frame rate,per s,%" PRIu64 ",", frames->count);
        mxp__json_double(out, mxp__frames_per_second(frames));
        mxp__strbuf_puts(out, ",,,,,,\n");
    }
}

static int print_csv(const mxp_input *input, const mxp_summary *summary,
                     const mxp_aggregate *aggregate, const mxp_row *rows, size_t count,
                     mxp_strbuf *out)
{
    int error = mxp__print_csv(rows, count, out);
    if (error == MXP_OK) {
        put_frames_csv(summary, out);
        mxp__overview_csv(input, summary, out);
        mxp__mixed_steps_csv(aggregate, input->source->process_count, out);
    }
    return error;
}

// Opens the object that ends `out` again, so that members can be added to it.
static int reopen_object(mxp_strbuf *out)
{
    while (out->length > 0 && strchr(" \n", out->data[out->length - 1]) != NULL) {
        out->length--;
    }
    if (out->length == 0 || out->data[out->length - 1] != '}') {
        return mxp__fail(MXP_ENOMEM, "the table could not be printed as JSON");
    }
    out->length--;
    while (strchr(" \n", out->data[out->length - 1]) != NULL) {
        out->length--;
    }
    out->data[out->length] = '\0';
    return MXP_OK;
}

static int print_json(const mxp_input *input, const mxp_summary *summary,
                      const report_options *options, const mxp_aggregate *aggregate,
                      const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    int error = mxp__print_json(rows, count, out);
    if (error == MXP_OK) {
        error = reopen_object(out);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__strbuf_puts(out, ",\n    \"Report\": ");
    mxp__overview_json(input, summary, 4, out);
    mxp__mixed_steps_json(aggregate, input->source->process_count, out);
    mxp__strbuf_puts(out, ",\n    \"Frames\": ");
    put_frames_json(summary, out);
    if (options->percentiles) {
        mxp__strbuf_puts(out, ",\n    \"Percentiles\": ");
        mxp__percentiles_json(rows, count, 4, out);
    }
    mxp__strbuf_puts(out, "\n}\n");
    return MXP_OK;
}

static int print_table(const mxp_input *input, const mxp_summary *summary,
                       const report_options *options, const mxp_aggregate *aggregate,
                       const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    mxp__mixed_steps_line(aggregate, input->source->process_count, out);
    mxp__overview_print(input, summary, out);
    int error = mxp__print_table(rows, count, out);
    if (error == MXP_OK && options->percentiles) {
        mxp__percentiles_table(rows, count, out);
    }
    if (error == MXP_OK) {
        put_frames(summary, out);
    }
    return error;
}

// The time up to which counters are weighted: the last time at which the program is known to have
// been recording.
static int64_t end_of_trace(const mxp_source *source, const mxp_summary *summary)
{
    const mxp_timebase *timebase = source->timebase;
    int64_t end_ns = summary->last_ns;
    if (timebase->point_count > 0) {
        int64_t point_ns =
            mxp__timebase_ns(timebase, timebase->points[timebase->point_count - 1].ticks);
        end_ns = point_ns > end_ns ? point_ns : end_ns;
    }
    return end_ns;
}

static int print_report(const mxp_command *self, mxp_input *input, const mxp_summary *summary,
                        const report_options *options, mxp_strbuf *out)
{
    mxp_aggregate *aggregate = NULL;
    const mxp_row *rows;
    size_t count;
    int error = mxp__aggregate_create(options->group, &aggregate);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__aggregate_add(aggregate, input->source);
    if (error != MXP_OK && error != MXP_ENOMEM) {
        mxp__input_cut_short(self, input);
        error = MXP_OK;
    }
    if (error == MXP_OK) {
        error = mxp__aggregate_rows(aggregate, options->sort_by, options->ascending,
                                    end_of_trace(input->source, summary), &rows, &count);
    }
    if (error == MXP_OK && (options->percentiles || options->csv)) {
        error = mxp__aggregate_exact(aggregate, input->source);
    }
    if (error == MXP_OK) {
        error = options->json  ? print_json(input, summary, options, aggregate, rows, count, out)
                : options->csv ? print_csv(input, summary, aggregate, rows, count, out)
                               : print_table(input, summary, options, aggregate, rows, count, out);
    }
    mxp__aggregate_destroy(aggregate);
    return error;
}

static int report_source(const mxp_command *self, mxp_input *input, const report_options *options,
                         mxp_strbuf *out)
{
    mxp_summary summary = {0};
    int error = mxp__summary_make(self, input, &summary);
    if (error == MXP_OK) {
        error = print_report(self, input, &summary, options, out);
    }
    mxp__summary_fini(&summary);
    return error;
}

static int report_processes(const mxp_command *self, mxp_input *input,
                            const report_options *options, mxp_strbuf *out)
{
    mxp_input one = *input;
    int error = MXP_OK;
    mxp__strbuf_puts(out, options->json ? "[\n" : "");
    for (size_t i = 0; error == MXP_OK; i++) {
        one.source = mxp__source_process(input->source, i);
        if (one.source == NULL) {
            break;
        }
        mxp__strbuf_puts(out, i == 0 ? "" : options->json ? ",\n" : "\n");
        error = report_source(self, &one, options, out);
    }
    mxp__strbuf_puts(out, options->json ? "]\n" : "");
    input->damaged = one.damaged;
    return error;
}

// The threads of a ring cover different times: busy ones the last seconds, idle ones all of the
// run. Its table counts from the time on that all of them cover.
static int count_from_where_all_are(mxp_input *input, const mxp_summary *summary)
{
    mxp_coverage coverage;
    mxp_strbuf text = {0};
    int error = mxp__coverage_make(input->source, &coverage);
    if (error == MXP_OK && coverage.is_ring) {
        mxp__coverage_print(&coverage, summary->last_ns, &text);
        if (coverage.overwritten) {
            mxp__strbuf_printf(&text, "; counted from %.3f s on",
                               (double)coverage.complete_ns / 1e9);
            mxp_source *whole = input->source;
            input->source = NULL;
            error = mxp__window_open(whole, coverage.complete_ns, &input->source);
        }
        snprintf(input->ring, sizeof input->ring, "%s", mxp__strbuf_text(&text));
    }
    mxp__strbuf_fini(&text);
    mxp__coverage_fini(&coverage);
    return error;
}

// Unreadable records are reported for the whole trace.
static int report_alone(const mxp_command *self, mxp_input *input, const report_options *options,
                        mxp_strbuf *out)
{
    mxp_summary whole = {0}, summary = {0};
    int error = mxp__summary_make(self, input, &whole);
    if (error == MXP_OK) {
        error = count_from_where_all_are(input, &whole);
    }
    if (error == MXP_OK) {
        error = mxp__summary_make(self, input, &summary);
    }
    if (error == MXP_OK) {
        summary.unread_chunks = whole.unread_chunks;
        summary.unread_bytes = whole.unread_bytes;
        error = print_report(self, input, &summary, options, out);
    }
    mxp__summary_fini(&whole);
    mxp__summary_fini(&summary);
    return error;
}

static bool is_ring_alone(const mxp_source *source)
{
    return source->process_count == 0 && mxp__is_ring(source);
}

static int report_file(const mxp_command *self, const char *file, const report_options *options)
{
    mxp_input input;
    mxp_strbuf out = {0};
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    int code;
    int error = options->per_process          ? report_processes(self, &input, options, &out)
                : is_ring_alone(input.source) ? report_alone(self, &input, options, &out)
                                              : report_source(self, &input, options, &out);
    if (error != MXP_OK) {
        code = mxp__command_failed(self);
    } else {
        code = mxp__output_print(self, &out);
        code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
    }
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    static const char *const sort_words[] = {
        [MXP_SORT_TOTAL] = "total", [MXP_SORT_AVG] = "avg",     [MXP_SORT_MIN] = "min",
        [MXP_SORT_MAX] = "max",     [MXP_SORT_COUNT] = "count", NULL};
    static const char *const group_words[] = {
        [MXP_GROUP_NAME] = "name", [MXP_GROUP_SCOPE] = "scope", [MXP_GROUP_STEP] = "step", NULL};
    report_options chosen = {.sort_by = MXP_SORT_TOTAL, .group = MXP_GROUP_NAME};
    const mxp_option options[] = {
        {.name = "--sort", .words = sort_words, .number = &chosen.sort_by},
        {.name = "--ascending", .number = &chosen.ascending},
        {.name = "--by", .words = group_words, .number = &chosen.group},
        {.name = "--percentiles", .number = &chosen.percentiles},
        {.name = "--per-process", .number = &chosen.per_process},
        {.name = "--json", .number = &chosen.json},
        {.name = "--csv", .number = &chosen.csv},
        {.name = NULL},
    };
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    if (chosen.json && chosen.csv) {
        return mxp__usage_error(self, "--json and --csv are two formats; give one of them");
    }
    if (chosen.per_process && chosen.csv) {
        return mxp__usage_error(self, "--per-process prints several tables, which --csv cannot "
                                      "hold; report the files one by one");
    }
    return report_file(self, file, &chosen);
}

const mxp_command mxp__command_report = {
    .name = "report",
    .summary = "where the time went: a table by name, scope or step",
    .help = help,
    .run = run,
};
