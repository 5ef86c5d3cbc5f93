// SPDX-License-Identifier: Apache-2.0
// `--layout mxnet`: an overview of the profile, and its aggregate statistics as MXNet prints them.
#include "report/report_mxnet.h"

#include <inttypes.h>
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
                      const mxp_mxnet_options *options, const mxp_aggregate *aggregate,
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
                       const mxp_mxnet_options *options, const mxp_aggregate *aggregate,
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
                        const mxp_mxnet_options *options, mxp_strbuf *out)
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

static int report_source(const mxp_command *self, mxp_input *input,
                         const mxp_mxnet_options *options, mxp_strbuf *out)
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
                            const mxp_mxnet_options *options, mxp_strbuf *out)
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

// Unreadable records are reported for the whole trace.
static int report_alone(const mxp_command *self, mxp_input *input, const mxp_mxnet_options *options,
                        mxp_strbuf *out)
{
    mxp_summary whole = {0}, summary = {0};
    int error = mxp__summary_make(self, input, &whole);
    if (error == MXP_OK) {
        error = mxp__coverage_limit(input, whole.last_ns);
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

int mxp__report_mxnet(const mxp_command *self, mxp_input *input, const mxp_mxnet_options *options,
                      mxp_strbuf *out)
{
    return options->per_process                ? report_processes(self, input, options, out)
           : mxp__is_ring_alone(input->source) ? report_alone(self, input, options, out)
                                               : report_source(self, input, options, out);
}
