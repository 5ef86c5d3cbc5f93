// SPDX-License-Identifier: Apache-2.0
// Text, CSV and JSON say the same; figures are made here only from the summary's.
#include "overview.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "coverage.h"
#include "profiler/clock/clock.h"
#include "profiler/trace/merge.h"

static double seconds(const mxp_summary *summary)
{
    return (double)(summary->last_ns - summary->first_ns) / 1e9;
}

static double overhead_ns(const mxp_summary *summary)
{
    return (double)summary->records * summary->record_cost_ns;
}

static void print_lost(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    const char *const incomplete = mxp__incomplete(input->source);
    if (incomplete != NULL) {
        mxp__strbuf_printf(out, "  incomplete %s\n", incomplete);
    }
    if (summary->lost == 0) {
        mxp__strbuf_puts(out, incomplete == NULL ? "  lost       nothing\n" : "");
    } else {
        mxp__strbuf_printf(out,
                           "  lost       %" PRIu64 " records, which are in no number below "
                           "('mxprof info' tells when and why)\n",
                           summary->lost);
    }
    if (summary->unnamed > 0) {
        mxp__strbuf_printf(out,
                           "  unnamed    %" PRIu64 " records under <names full>: the name table "
                           "was full",
                           summary->unnamed);
        const char *largest = mxp__source_info(input->source, "names_full");
        if (largest != NULL) {
            mxp__strbuf_printf(out, " (%s)", largest);
        }
        mxp__strbuf_putc(out, '\n');
    }
    if (summary->cut_spans > 0) {
        mxp__strbuf_printf(out, "  cut        %" PRIu64 " %s cut short by a start, pause or stop\n",
                           summary->cut_spans, summary->cut_spans == 1 ? "span was" : "spans were");
    }
}

// One line a process, where there are several or one has not finished.
static void print_processes(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    mxp_source *process;
    bool several = input->source->process_count > 1;
    if (several) {
        mxp__strbuf_printf(out, "  processes  %zu together\n", input->source->process_count);
    }
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        const char *became = mxp__what_became(process);
        if (several || became != NULL) {
            mxp__strbuf_printf(out, "  process    %" PRIu32, process->pid);
            if (became != NULL) {
                mxp__strbuf_printf(out, ": it %s; the file holds what it recorded up to then",
                                   became);
            }
            mxp__strbuf_putc(out, '\n');
            mxp__open_spans_print(&summary->open, process, out);
        }
        if (input->ring[0] == '\0' && mxp__is_ring(process)) {
            mxp__strbuf_printf(out,
                               "  ring       of process %" PRIu32 "; its threads may cover "
                               "different times ('mxprof info' tells which)\n",
                               process->pid);
        }
        if (mxp__overwritten(process) != NULL) {
            mxp__strbuf_printf(out, "  left out   %s: overwritten while reading\n",
                               mxp__overwritten(process));
        }
        if (mxp__left_out(process) != NULL) {
            mxp__strbuf_printf(out, "  left out   %s: they cannot be read\n",
                               mxp__left_out(process));
        }
    }
}

static void print_unread(const mxp_summary *summary, mxp_strbuf *out)
{
    if (summary->unread_chunks > 0) {
        mxp__strbuf_printf(out,
                           "  damaged    %" PRIu64 " bytes of records in %" PRIu64
                           " %s cannot be read and are in no number below\n",
                           summary->unread_bytes, summary->unread_chunks,
                           summary->unread_chunks == 1 ? "chunk" : "chunks");
    }
}

// Of a directory. Each was named when it was met.
static void print_title(const mxp_input *input, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "Profile %s%s", input->path,
                       input->damaged ? " (damaged; this is what could be read)" : "");
    if (input->left_out > 0) {
        mxp__strbuf_printf(out, " (without %zu %s that cannot be read)", input->left_out,
                           input->left_out == 1 ? "file" : "files");
    }
    mxp__strbuf_putc(out, '\n');
}

static void print_cost(const mxp_summary *summary, mxp_strbuf *out)
{
    if (summary->record_cost_ns <= 0) {
        mxp__strbuf_puts(out, "  cost       not measured by the program\n");
        return;
    }
    mxp__strbuf_printf(out, "  cost       %.1f ns a record as measured, so about %.3g ms",
                       summary->record_cost_ns, overhead_ns(summary) / 1e6);
    mxp__strbuf_printf(out, " of %.3f s on all threads together\n", seconds(summary));
}

void mxp__overview_print(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    const mxp_source *source = input->source;
    print_title(input, out);
    mxp__strbuf_printf(out, "  program    process %" PRIu32 ", ", source->pid);
    const char *name = mxp__source_info(source, "process_name");
    const char *command = mxp__source_info(source, "command");
    const bool has_command = command != NULL && command[0] != '\0';
    if (name != NULL) {
        mxp__json_string(out, name, strlen(name));
        mxp__strbuf_puts(out, has_command ? ", " : "");
    }
    if (has_command) {
        mxp__json_string(out, command, strlen(command));
    } else if (name == NULL) {
        mxp__strbuf_puts(out, "unknown");
    }
    mxp__strbuf_putc(out, '\n');
    mxp__strbuf_printf(out,
                       "  recorded   %" PRIu64 " records in %" PRIu64 " bytes by %" PRIu64
                       " threads in %.3f s\n",
                       summary->records, summary->bytes, summary->threads, seconds(summary));
    print_processes(input, summary, out);
    if (input->ring[0] != '\0') {
        mxp__strbuf_printf(out, "  ring       %s\n", input->ring);
    }
    print_unread(summary, out);
    print_lost(input, summary, out);
    mxp__strbuf_printf(out, "  clock      %s, %.6f ns a tick, residual %.1f ns\n",
                       mxp__clock_source_name(source->timebase->source),
                       mxp__timebase_ns_per_tick(source->timebase), source->timebase->residual_ns);
    print_cost(summary, out);
}

static void csv_row(mxp_strbuf *out, const char *name, const char *unit, double value)
{
    mxp__strbuf_printf(out, "\"mxprof\",\"%s\",report,%s,,", name, unit);
    mxp__json_double(out, value);
    mxp__strbuf_puts(out, ",,,,,,\n");
}

void mxp__overview_csv(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    const mxp_timebase *timebase = input->source->timebase;
    csv_row(out, "damaged", "", input->damaged);
    csv_row(out, "unread", "B", (double)summary->unread_bytes);
    csv_row(out, "records", "", (double)summary->records);
    csv_row(out, "record bytes", "bytes", (double)summary->bytes);
    csv_row(out, "threads", "", (double)summary->threads);
    csv_row(out, "time", "s", seconds(summary));
    csv_row(out, "lost records", "", (double)summary->lost);
    csv_row(out, "unnamed records", "", (double)summary->unnamed);
    csv_row(out, "cut spans", "", (double)summary->cut_spans);
    csv_row(out, "open spans", "", (double)summary->open.count);
    csv_row(out, "clock tick", "ns", mxp__timebase_ns_per_tick(timebase));
    csv_row(out, "clock residual", "ns", timebase->residual_ns);
    csv_row(out, "record cost", "ns", summary->record_cost_ns);
    csv_row(out, "estimated overhead", "ms", overhead_ns(summary) / 1e6);
}

static void json_member(mxp_strbuf *out, int indent, const char *key)
{
    mxp__strbuf_printf(out, ",\n%*s\"%s\": ", indent, "", key);
}

static void json_count(mxp_strbuf *out, int indent, const char *key, uint64_t value)
{
    json_member(out, indent, key);
    mxp__strbuf_printf(out, "%" PRIu64, value);
}

static void json_number(mxp_strbuf *out, int indent, const char *key, double value)
{
    json_member(out, indent, key);
    mxp__json_double(out, value);
}

void mxp__overview_json(const mxp_input *input, const mxp_summary *summary, int indent,
                        mxp_strbuf *out)
{
    const mxp_source *source = input->source;
    int inner = indent + 4;
    mxp__strbuf_printf(out, "{\n%*s\"File\": ", inner, "");
    mxp__json_string(out, input->path, strlen(input->path));
    json_count(out, inner, "Process", source->pid);
    json_count(out, inner, "Processes", source->process_count > 0 ? source->process_count : 1);
    json_member(out, inner, "Damaged");
    mxp__strbuf_puts(out, input->damaged ? "true" : "false");
    json_count(out, inner, "Unread Bytes", summary->unread_bytes);
    if (input->ring[0] != '\0') {
        json_member(out, inner, "Ring");
        mxp__json_string(out, input->ring, strlen(input->ring));
    }
    json_count(out, inner, "Records", summary->records);
    json_count(out, inner, "Bytes", summary->bytes);
    json_count(out, inner, "Threads", summary->threads);
    json_number(out, inner, "Seconds", seconds(summary));
    json_count(out, inner, "Lost", summary->lost);
    json_count(out, inner, "Unnamed", summary->unnamed);
    json_count(out, inner, "Cut Spans", summary->cut_spans);
    json_count(out, inner, "Open Spans", summary->open.count);
    const char *clock = mxp__clock_source_name(source->timebase->source);
    json_member(out, inner, "Clock");
    mxp__json_string(out, clock, strlen(clock));
    json_number(out, inner, "Clock ns per Tick", mxp__timebase_ns_per_tick(source->timebase));
    json_number(out, inner, "Clock Residual ns", source->timebase->residual_ns);
    json_number(out, inner, "Record Cost ns", summary->record_cost_ns);
    json_number(out, inner, "Estimated Overhead ms", overhead_ns(summary) / 1e6);
    mxp__strbuf_printf(out, "\n%*s}", indent, "");
}
