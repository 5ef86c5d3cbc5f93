// SPDX-License-Identifier: Apache-2.0
// mxprof info: what a file is and whether it can be trusted: who wrote it, with which clock, how
// much it has and what is missing. It does not interpret what was measured.
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "coverage.h"
#include "info_json.h"
#include "overview.h"
#include "profiler/clock/clock.h"
#include "profiler/trace/loss.h"
#include "profiler/trace/merge.h"
#include "recorded_config.h"

static const char help[] =
    "mxprof info tells what a trace holds, and whether anything is missing from it.\n"
    "\n"
    "usage: mxprof info [--json] FILE|DIRECTORY\n"
    "\n"
    "  --json   as JSON, times in ns, and all that the program noted about itself\n"
    "\n"
    "  file     the file, the profiler it was imported from, its size, whether it is whole\n"
    "  written  when recording began, and by which process; whether that has finished the file,\n"
    "           and if not, which spans were open\n"
    "  clock    what times were taken with; ns a tick; the residual is the largest distance of a\n"
    "           calibration point from the line through the others: how far a time may be off\n"
    "  time     of the first and the last record, counted from the first calibration point\n"
    "  records  how many of each kind; bytes as they are stored, without names\n"
    "  names    entries of the name table\n"
    "  threads  those that recorded, each with its own losses; of more than 65,535 those that "
    "have\n"
    "           ended share an index with later ones\n"
    "  lost     what could not be recorded, why, and from when to when\n"
    "  info     what else the program noted about itself\n"
    "\n"
    "example\n"
    "  mxprof info profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or is damaged (what could be read is shown), 2 wrong "
    "call\n";

static double seconds_at(const mxp_source *source, uint64_t ticks)
{
    return (double)mxp__timebase_ns(source->timebase, ticks) / 1e9;
}

static void print_written(const mxp_source *source, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "written  ");
    if (mxp__timebase_is_dated(source->timebase)) {
        time_t when = (time_t)(source->timebase->points[0].realtime_ns / 1000000000u);
        struct tm fields;
        char text[32];
        if (gmtime_r(&when, &fields) != NULL &&
            strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &fields) > 0) {
            mxp__strbuf_printf(out, "%s, ", text);
        }
    }
    mxp__strbuf_printf(out, "process %" PRIu32 "\n", source->pid);
}

static void print_clock(const mxp_source *source, mxp_strbuf *out)
{
    const mxp_timebase *timebase = source->timebase;
    uint64_t bracket = 0;
    for (size_t i = 0; i < timebase->point_count; i++) {
        uint64_t ticks = timebase->points[i].bracket_ticks;
        bracket = ticks > bracket ? ticks : bracket;
    }
    mxp__strbuf_printf(out,
                       "clock    %s, %.6f ns a tick; %zu calibration points, residual %.1f ns, "
                       "points known to %.1f ns\n",
                       mxp__clock_source_name(timebase->source),
                       mxp__timebase_ns_per_tick(timebase), timebase->point_count,
                       timebase->residual_ns,
                       (double)bracket * mxp__timebase_ns_per_tick(timebase));
    if (timebase->jump_ticks != 0) {
        mxp__strbuf_printf(out,
                           "         one of the clocks jumped at %.6f s (a suspend, a migration): "
                           "from there on trace time is off by %.3f ms\n",
                           seconds_at(source, timebase->jump_ticks),
                           (double)timebase->jump_ns / 1e6);
    }
}

static void print_records(const mxp_summary *summary, mxp_strbuf *out)
{
    static const struct {
        int kind;
        const char *text;
    } kinds[] = {
#define KIND(name, number, units, text) {number, text},
        MXP_RECORD_KINDS(KIND)
#undef KIND
    };
    mxp__strbuf_printf(out, "records  %" PRIu64 " in %" PRIu64 " bytes, %" PRIu64 " chunks\n",
                       summary->records, summary->bytes, summary->ranges);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t count = summary->by_kind[kinds[i].kind];
        if (count == 0 || kinds[i].text == NULL) {
            continue;
        }
        mxp__strbuf_printf(out, "         %12" PRIu64 "  %s", count, kinds[i].text);
        if (kinds[i].kind == MXP_KIND_SPAN && summary->long_spans + summary->cut_spans > 0) {
            mxp__strbuf_printf(out, " (%" PRIu64 " long, %" PRIu64 " cut by start, pause or stop)",
                               summary->long_spans, summary->cut_spans);
        }
        mxp__strbuf_putc(out, '\n');
    }
}

static void print_unread(const mxp_summary *summary, mxp_strbuf *out)
{
    if (summary->unread_chunks > 0) {
        mxp__strbuf_printf(out,
                           "         %12" PRIu64 "  bytes in %" PRIu64 " %s that cannot be read\n",
                           summary->unread_bytes, summary->unread_chunks,
                           summary->unread_chunks == 1 ? "chunk" : "chunks");
    }
}

static void print_names(const mxp_source *source, mxp_strbuf *out)
{
    uint64_t bytes = 0;
    for (uint32_t id = 0; id < source->name_count; id++) {
        bytes += source->name(source, id).length;
    }
    mxp__strbuf_printf(out, "names    %" PRIu32 " of %" PRIu64 " bytes together\n",
                       source->name_count, bytes);
    if (source->stats_count > 0) {
        mxp__strbuf_printf(out, "         %zu of them with statistics gathered without a trace\n",
                           source->stats_count);
    }
}

// Records are counted while they are read, because a ring, a part or a damaged file has fewer than
// the thread made.
static void print_thread(const mxp_source *source, const mxp_summary *summary,
                         const mxp_coverage *coverage, uint32_t i, mxp_strbuf *out)
{
    const mxp_thread_entry *thread = &source->threads[i];
    mxp__strbuf_printf(out, "         %5" PRIu32 " %8" PRIu32 " %12.6f ", thread->index,
                       thread->tid, seconds_at(source, thread->start_ticks));
    if (thread->end_ticks == 0) {
        mxp__strbuf_printf(out, "%12s", "running");
    } else {
        mxp__strbuf_printf(out, "%12.6f", seconds_at(source, thread->end_ticks));
    }
    if (coverage->is_ring && coverage->since_ns[i] == INT64_MAX) {
        mxp__strbuf_printf(out, " %12s", "no more");
    } else if (coverage->is_ring) {
        mxp__strbuf_printf(out, " %12.6f", (double)coverage->since_ns[i] / 1e9);
    }
    mxp__strbuf_printf(out, " %12" PRIu64 " %8" PRIu64 "  ", summary->thread_records[i],
                       thread->lost);
    mxp_name_view name = source->name(source, thread->name);
    mxp__json_string(out, name.text, name.length);
    mxp__strbuf_puts(out, (thread->flags & MXP_THREAD_SEVERAL) != 0 ? ", after others that ended\n"
                                                                    : "\n");
}

// Of threads that ended a ring in a file may have nothing any more when its process dies: their
// pages became those of later ones.
static bool is_known(const mxp_thread_entry *thread)
{
    return thread->tid != 0 || thread->start_ticks != 0;
}

static void print_forgotten(const mxp_source *source, mxp_strbuf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < source->thread_count; i++) {
        count += !is_known(&source->threads[i]);
    }
    if (count > 0) {
        mxp__strbuf_printf(
            out, "         %" PRIu32 " that ended have nothing in the file any more\n", count);
    }
}

static void print_threads(const mxp_source *source, const mxp_summary *summary,
                          const mxp_coverage *coverage, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "threads  %" PRIu32 "\n", source->thread_count);
    print_forgotten(source, out);
    const char *folded = mxp__source_info(source, "folded_threads");
    if (folded != NULL) {
        mxp__strbuf_printf(out, "         %s more that ended share an index with later ones\n",
                           folded);
    }
    if (source->thread_count == 0) {
        return;
    }
    mxp__strbuf_printf(out, "         %5s %8s %12s %12s ", "index", "tid", "from (s)", "to (s)");
    mxp__strbuf_printf(out, coverage->is_ring ? "%12s " : "%s",
                       coverage->is_ring ? "held since" : "");
    mxp__strbuf_printf(out, "%12s %8s  %s\n", "records", "lost", "name");
    for (uint32_t i = 0; i < source->thread_count; i++) {
        if (is_known(&source->threads[i])) {
            print_thread(source, summary, coverage, i, out);
        }
    }
}

static void print_losses(const mxp_source *source, const mxp_summary *summary, mxp_strbuf *out)
{
    const char *const incomplete = mxp__incomplete(source);
    if (incomplete != NULL) {
        mxp__strbuf_printf(out, "not all  %s\n", incomplete);
    }
    if (summary->lost + summary->unnamed == 0) {
        mxp__strbuf_puts(out, incomplete == NULL ? "lost     nothing\n" : "");
        return;
    }
    mxp__strbuf_printf(out, "lost     %" PRIu64 " records\n", summary->lost);
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        mxp__strbuf_printf(out, "         %12" PRIu64 "  ", loss->count);
        if (loss->thread == UINT32_MAX) {
            mxp__strbuf_puts(out, "process: ");
        } else {
            mxp__strbuf_printf(out, "thread %" PRIu32 ": ", loss->thread);
        }
        mxp__strbuf_printf(out, "%s, from %.6f s to %.6f s\n", mxp__loss_reason(loss->reason),
                           seconds_at(source, loss->from_ticks),
                           seconds_at(source, loss->to_ticks));
    }
}

// Keys whose values are printed further up, as the file itself tells it.
static bool is_shown_already(const char *key)
{
    static const char *const keys[] = {
        "pid",           "clock",   "ns_per_tick", "clock_residual_ns",
        "records",       "bytes",   "lost",        "names",
        "names_bytes",   "threads", "unfinished",  "overwritten_while_reading",
        "folded_threads"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void put_info_value(const mxp_info_pair *pair, mxp_strbuf *out)
{
    mxp_strbuf words = {0};
    bool is_config = strcmp(pair->key, "config") == 0;
    if (is_config) {
        mxp__recorded_config_put(pair->value, &words);
    }
    const char *text = is_config ? mxp__strbuf_text(&words) : pair->value;
    mxp__json_string(out, text, strlen(text));
    mxp__strbuf_fini(&words);
}

static void print_info(const mxp_source *source, mxp_strbuf *out)
{
    const char *label = "info     ";
    for (size_t i = 0; i < source->info_count; i++) {
        if (is_shown_already(source->info[i].key)) {
            continue;
        }
        mxp__strbuf_printf(out, "%s%s = ", label, source->info[i].key);
        label = "         ";
        put_info_value(&source->info[i], out);
        mxp__strbuf_putc(out, '\n');
    }
}

static void print_file(const mxp_input *input, mxp_strbuf *out)
{
    const char *imported = mxp__source_info(input->source, "imported");
    mxp__strbuf_printf(out, "file     %s: %s%s, %" PRIu64 " bytes, %s", input->path,
                       input->is_imported && imported != NULL ? "imported from "
                                                              : "mxprof native trace",
                       input->is_imported && imported != NULL ? imported : "", input->file_bytes,
                       input->damaged ? "damaged" : "whole");
    if (input->source->process_count > 1) {
        mxp__strbuf_printf(out, ", %zu processes", input->source->process_count);
    }
    mxp__strbuf_putc(out, '\n');
}

static int print_process(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    mxp_coverage coverage;
    int error = mxp__coverage_make(input->source, &coverage);
    if (error != MXP_OK) {
        return error;
    }
    print_written(input->source, out);
    const char *became = mxp__what_became(input->source);
    if (became != NULL) {
        mxp__strbuf_printf(out, "state    the process %s\n", became);
        if (mxp__overwritten(input->source) != NULL) {
            mxp__strbuf_printf(out, "         left out: %s, overwritten while reading\n",
                               mxp__overwritten(input->source));
        }
        mxp__open_spans_print(&summary->open, input->source, out);
    }
    print_clock(input->source, out);
    mxp__strbuf_printf(out, "time     from %.6f s to %.6f s\n", (double)summary->first_ns / 1e9,
                       (double)summary->last_ns / 1e9);
    print_records(summary, out);
    print_unread(summary, out);
    print_names(input->source, out);
    if (coverage.is_ring) {
        mxp__strbuf_puts(out, "ring     ");
        mxp__coverage_print(&coverage, summary->last_ns, out);
        mxp__strbuf_putc(out, '\n');
    }
    print_threads(input->source, summary, &coverage, out);
    print_losses(input->source, summary, out);
    print_info(input->source, out);
    mxp__coverage_fini(&coverage);
    return MXP_OK;
}

static int json_process(mxp_json *json, const mxp_input *input, const mxp_summary *summary)
{
    mxp_coverage coverage;
    int error = mxp__coverage_make(input->source, &coverage);
    if (error == MXP_OK) {
        mxp__info_json_process(json, input->source, summary, &coverage);
        mxp__coverage_fini(&coverage);
    }
    return error;
}

// `text`: the processes one after the other; or as members of `json`, if that is not null.
static int print_each(const mxp_command *self, mxp_input *input, mxp_strbuf *text, mxp_json *json)
{
    mxp_input one = *input;
    for (size_t i = 0; (one.source = mxp__source_process(input->source, i)) != NULL; i++) {
        mxp_summary summary;
        int error = mxp__summary_make(self, &one, &summary);
        if (error != MXP_OK) {
            return error;
        }
        mxp__strbuf_puts(text, i == 0 || json != NULL ? "" : "\n");
        error =
            json != NULL ? json_process(json, &one, &summary) : print_process(&one, &summary, text);
        mxp__summary_fini(&summary);
        if (error != MXP_OK) {
            return error;
        }
    }
    input->damaged = one.damaged;
    input->told_unread = one.told_unread;
    return MXP_OK;
}

static int print_json(const mxp_command *self, mxp_input *input, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__info_json_begin(&json, input);
    int error = print_each(self, input, out, &json);
    mxp__info_json_end(&json, input);
    return error;
}

static int print_processes(const mxp_command *self, mxp_input *input, mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    int error = print_each(self, input, &text, NULL);
    print_file(input, out);  // now it is known whether all of it can be read
    mxp__strbuf_append(out, mxp__strbuf_text(&text), text.length);
    mxp__strbuf_fini(&text);
    return error;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    int json = 0;
    const mxp_option options[] = {{.name = "--json", .number = &json}, {.name = NULL}};
    const char *file;
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    mxp_input input;
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp_strbuf out = {0};
    if ((json ? print_json : print_processes)(self, &input, &out) != MXP_OK) {
        code = mxp__command_failed(self);
    } else {
        code = mxp__output_print(self, &out);
        code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
    }
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

const mxp_command mxp__command_info = {
    .name = "info",
    .summary = "what a file holds: process, clock, threads, records, losses",
    .help = help,
    .run = run,
};
