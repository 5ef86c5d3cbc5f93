// SPDX-License-Identifier: Apache-2.0
// One pass over all records of a file, block by block (order does not matter here), and the words
// for what it found. Times are in ns of trace time; nothing here interprets names but ",frame",
// the end of a frame's category.
#include "summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"
#include "trace/event.h"
#include "trace/merge.h"

const char *mxp__loss_reason_name(uint32_t reason)
{
    switch (reason) {
    case MXP_LOSS_MEMORY_FULL:
        return "the memory limit was reached";
    case MXP_LOSS_IN_SIGNAL:
        return "a signal handler interrupted a record";
    case MXP_LOSS_NAMES_FULL:
        return "the name table was full (recorded as <names full>)";
    case MXP_LOSS_THREAD:
        return "no memory for one more thread";
    default:
        return "for a reason this version does not know";
    }
}

// What a pass keeps beside the summary. `frame_of` tells for each name id whether it is a frame
// row's: asking the names for each span would take longer than all the rest.
enum { FRAME_UNKNOWN = 0, FRAME_NOT = 1, FRAME_FIRST = 2 };

typedef struct summary_pass {
    mxp_source *source;
    mxp_summary *summary;
    uint32_t *frame_of;  // FRAME_*, or the place in summary->frames + FRAME_FIRST
    uint64_t lost_before;
    bool damaged;  // a block could not be read to its end
} summary_pass;

static bool is_frame(const mxp_source *source, uint32_t name)
{
    static const char ending[] = ",frame";
    enum { ENDING_LENGTH = sizeof ending - 1 };
    mxp_name_view view = source->name(source, name);
    if (view.style != MXP_STYLE_ASYNC) {
        return false;
    }
    mxp_name_view category = source->name(source, view.category);
    return category.length >= ENDING_LENGTH &&
           memcmp(category.text + category.length - ENDING_LENGTH, ending, ENDING_LENGTH) == 0;
}

// Decides about a name that is met for the first time.
static int classify_name(summary_pass *pass, const mxp_event *event)
{
    mxp_summary *summary = pass->summary;
    if (!is_frame(pass->source, event->name)) {
        pass->frame_of[event->name] = FRAME_NOT;
        return MXP_OK;
    }
    int error = mxp__grow(&summary->frames, &summary->frame_capacity, summary->frame_count + 1,
                          sizeof *summary->frames);
    if (error == MXP_OK) {
        pass->frame_of[event->name] = (uint32_t)summary->frame_count + FRAME_FIRST;
        summary->frames[summary->frame_count++] = (mxp_frames){.source = pass->source,
                                                               .name = event->name,
                                                               .first_ns = event->begin_ns,
                                                               .last_ns = event->end_ns};
    }
    return error;
}

static int add_frame(summary_pass *pass, const mxp_event *event)
{
    if (event->name >= pass->source->name_count) {
        return MXP_OK;
    }
    if (pass->frame_of[event->name] == FRAME_UNKNOWN) {
        int error = classify_name(pass, event);
        if (error != MXP_OK) {
            return error;
        }
    }
    uint32_t place = pass->frame_of[event->name];
    if (place >= FRAME_FIRST) {
        mxp_frames *frames = &pass->summary->frames[place - FRAME_FIRST];
        frames->count++;
        frames->first_ns = event->begin_ns < frames->first_ns ? event->begin_ns : frames->first_ns;
        frames->last_ns = event->end_ns > frames->last_ns ? event->end_ns : frames->last_ns;
    }
    return MXP_OK;
}

// A span on a lane's own clock says nothing about the time of the trace.
static void extend_time(mxp_summary *summary, const mxp_event *event)
{
    if (mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        return;
    }
    if (!summary->has_time || event->begin_ns < summary->first_ns) {
        summary->first_ns = event->begin_ns;
    }
    if (!summary->has_time || event->end_ns > summary->last_ns) {
        summary->last_ns = event->end_ns;
    }
    summary->has_time = true;
}

static int add_open(summary_pass *pass, const mxp_event *event)
{
    mxp_summary *summary = pass->summary;
    int error = mxp__grow(&summary->open, &summary->open_capacity, summary->open_count + 1,
                          sizeof *summary->open);
    if (error == MXP_OK) {
        summary->open[summary->open_count++] = (mxp_open_at_end){.source = pass->source,
                                                                 .thread = event->thread,
                                                                 .name = event->name,
                                                                 .begin_ns = event->begin_ns,
                                                                 .end_ns = event->end_ns};
    }
    return error;
}

static int add_event(summary_pass *pass, const mxp_event *event)
{
    mxp_summary *summary = pass->summary;
    extend_time(summary, event);
    summary->records++;
    summary->by_kind[event->kind < MXP_SUMMARY_KINDS ? event->kind : 0]++;
    if (event->kind != MXP_KIND_SPAN) {
        return MXP_OK;
    }
    summary->long_spans += (event->words[0] & 0xff) == MXP_KIND_SPAN_LONG;
    if (event->flags & MXP_SPAN_OPEN_AT_CRASH) {
        return add_open(pass, event);
    }
    summary->cut_spans += event->flags != 0;
    return add_frame(pass, event);
}

// 1: the block was read; 0: there is none; a negative error.
static int add_block(summary_pass *pass, size_t number)
{
    mxp_block block;
    int found = pass->source->block(pass->source, number, &block);
    if (found != 1) {
        return found;
    }
    pass->summary->blocks++;
    pass->lost_before += block.lost_before;
    pass->summary->bytes += (uint64_t)(block.end - block.words) * sizeof *block.words;
    mxp_decoder decoder;
    mxp_event event;
    mxp__decoder_begin(&decoder, pass->source->timebase, &block);
    int more = mxp__decoder_next(&decoder, &event);
    while (more == 1) {
        int error = add_event(pass, &event);
        if (error != MXP_OK) {
            return error;
        }
        more = mxp__decoder_next(&decoder, &event);
    }
    pass->damaged = pass->damaged || more < 0;  // other blocks may be whole
    return 1;
}

// Losses stand in the LOSS section. Where it is missing or damaged, the threads' own counts and
// those between the chunks tell how many there were at least.
static void add_losses(const mxp_source *source, uint64_t lost_before, mxp_summary *summary)
{
    uint64_t lost = 0, lost_by_threads = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        const mxp_loss_entry *loss = &source->losses[i];
        *(loss->reason == MXP_LOSS_NAMES_FULL ? &summary->unnamed : &lost) += loss->count;
    }
    for (uint32_t i = 0; i < source->thread_count; i++) {
        lost_by_threads += source->threads[i].lost;
    }
    lost = lost > lost_before ? lost : lost_before;
    summary->lost += lost > lost_by_threads ? lost : lost_by_threads;
}

// 0, or MXP_ENOMEM; *damaged is set if something could not be read.
static int add_process(mxp_source *source, mxp_summary *summary, bool *damaged)
{
    size_t table_bytes = source->name_count * sizeof(uint32_t);
    summary_pass pass = {.source = source, .summary = summary};
    pass.frame_of = mxp__alloc(table_bytes);
    if (pass.frame_of == NULL && table_bytes > 0) {
        return mxp__fail_memory("a pass over the trace");
    }
    int read = 1;
    for (size_t number = 0; read == 1; number++) {
        read = add_block(&pass, number);
    }
    mxp__free(pass.frame_of, table_bytes);
    *damaged = *damaged || (read < 0 && read != MXP_ENOMEM) || pass.damaged;
    summary->threads += source->thread_count;
    add_losses(source, pass.lost_before, summary);
    return read == MXP_ENOMEM ? read : MXP_OK;
}

int mxp__summary_make(const mxp_command *command, mxp_input *input, mxp_summary *summary)
{
    *summary = (mxp_summary){0};
    bool damaged = false;
    mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(input->source, i)) != NULL; i++) {
        int error = add_process(process, summary, &damaged);
        if (error != MXP_OK) {
            mxp__summary_fini(summary);
            return error;
        }
    }
    if (damaged) {
        mxp__input_cut_short(command, input);
    }
    const char *cost = mxp__source_info(input->source, "record_cost_ns");
    summary->record_cost_ns = cost == NULL ? 0 : strtod(cost, NULL);
    return MXP_OK;
}

void mxp__summary_fini(mxp_summary *summary)
{
    mxp__free(summary->open, summary->open_capacity * sizeof *summary->open);
    mxp__free(summary->frames, summary->frame_capacity * sizeof *summary->frames);
    *summary = (mxp_summary){0};
}

double mxp__frames_per_second(const mxp_frames *frames)
{
    int64_t ns = frames->last_ns - frames->first_ns;
    return ns > 0 ? (double)frames->count * 1e9 / (double)ns : 0;
}

static double seconds(const mxp_summary *summary)
{
    return (double)(summary->last_ns - summary->first_ns) / 1e9;
}

static double overhead_ns(const mxp_summary *summary)
{
    return (double)summary->records * summary->record_cost_ns;
}

static void print_lost(const mxp_summary *summary, mxp_strbuf *out)
{
    if (summary->lost == 0) {
        mxp__strbuf_puts(out, "  lost       nothing\n");
    } else {
        mxp__strbuf_printf(out,
                           "  lost       %" PRIu64 " records, which are in no number below "
                           "('mxprof info' tells when and why)\n",
                           summary->lost);
    }
    if (summary->unnamed > 0) {
        mxp__strbuf_printf(out,
                           "  unnamed    %" PRIu64 " records under <names full>: the name table "
                           "was full\n",
                           summary->unnamed);
    }
    if (summary->cut_spans > 0) {
        mxp__strbuf_printf(out, "  cut        %" PRIu64 " %s cut short by a start, pause or stop\n",
                           summary->cut_spans, summary->cut_spans == 1 ? "span was" : "spans were");
    }
}

bool mxp__is_unfinished(const mxp_source *source)
{
    return mxp__source_info(source, "unfinished") != NULL;
}

const char *mxp__left_out(const mxp_source *source)
{
    return mxp__source_info(source, "left_out");
}

// The spans of a thread come innermost first.
void mxp__print_open(const mxp_summary *summary, const mxp_source *source, mxp_strbuf *out)
{
    for (size_t end = summary->open_count, begin; end > 0; end = begin) {
        const mxp_open_at_end *last = &summary->open[end - 1];
        for (begin = end; begin > 0; begin--) {
            const mxp_open_at_end *open = &summary->open[begin - 1];
            if (open->source != last->source || open->thread != last->thread) {
                break;
            }
        }
        if (last->source != source) {
            continue;
        }
        mxp_name_view name = source->name(source, source->threads[last->thread].name);
        mxp__strbuf_printf(out, "  running    on thread %" PRIu32 " ", last->thread);
        mxp__json_string(out, name.text, name.length);
        mxp__strbuf_putc(out, ':');
        for (size_t i = end; i-- > begin;) {
            const mxp_open_at_end *open = &summary->open[i];
            name = source->name(source, open->name);
            mxp__strbuf_puts(out, i + 1 == end ? " " : ", in it ");
            mxp__json_string(out, name.text, name.length);
            mxp__strbuf_printf(out, " for %.6f s", (double)(open->end_ns - open->begin_ns) / 1e9);
        }
        mxp__strbuf_putc(out, '\n');
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
        bool unfinished = mxp__is_unfinished(process);
        if (several || unfinished) {
            mxp__strbuf_printf(out, "  process    %" PRIu32 "%s\n", process->pid,
                               unfinished
                                   ? ": it died (or is still recording); the file holds what "
                                     "it recorded up to then"
                                   : "");
            mxp__print_open(summary, process, out);
        }
        if (mxp__left_out(process) != NULL) {
            mxp__strbuf_printf(out, "  left out   %s: they cannot be read\n",
                               mxp__left_out(process));
        }
    }
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

void mxp__summary_print(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    const mxp_source *source = input->source;
    mxp__strbuf_printf(out, "Profile %s%s\n", input->path,
                       input->damaged ? " (damaged; this is what could be read)" : "");
    mxp__strbuf_printf(out, "  program    process %" PRIu32 ", ", source->pid);
    const char *command = mxp__source_info(input->source, "command");
    command = command == NULL ? "" : command;
    mxp__json_string(out, command, strlen(command));
    mxp__strbuf_putc(out, '\n');
    mxp__strbuf_printf(out,
                       "  recorded   %" PRIu64 " records in %" PRIu64 " bytes by %" PRIu64
                       " threads in %.3f s\n",
                       summary->records, summary->bytes, summary->threads, seconds(summary));
    print_processes(input, summary, out);
    print_lost(summary, out);
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

void mxp__summary_csv(const mxp_input *input, const mxp_summary *summary, mxp_strbuf *out)
{
    const mxp_timebase *timebase = input->source->timebase;
    csv_row(out, "damaged", "", input->damaged);
    csv_row(out, "records", "", (double)summary->records);
    csv_row(out, "record bytes", "bytes", (double)summary->bytes);
    csv_row(out, "threads", "", (double)summary->threads);
    csv_row(out, "time", "s", seconds(summary));
    csv_row(out, "lost records", "", (double)summary->lost);
    csv_row(out, "unnamed records", "", (double)summary->unnamed);
    csv_row(out, "cut spans", "", (double)summary->cut_spans);
    csv_row(out, "open spans", "", (double)summary->open_count);
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

void mxp__summary_json(const mxp_input *input, const mxp_summary *summary, int indent,
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
    json_count(out, inner, "Records", summary->records);
    json_count(out, inner, "Bytes", summary->bytes);
    json_count(out, inner, "Threads", summary->threads);
    json_number(out, inner, "Seconds", seconds(summary));
    json_count(out, inner, "Lost", summary->lost);
    json_count(out, inner, "Unnamed", summary->unnamed);
    json_count(out, inner, "Cut Spans", summary->cut_spans);
    json_count(out, inner, "Open Spans", summary->open_count);
    const char *clock = mxp__clock_source_name(source->timebase->source);
    json_member(out, inner, "Clock");
    mxp__json_string(out, clock, strlen(clock));
    json_number(out, inner, "Clock ns per Tick", mxp__timebase_ns_per_tick(source->timebase));
    json_number(out, inner, "Clock Residual ns", source->timebase->residual_ns);
    json_number(out, inner, "Record Cost ns", summary->record_cost_ns);
    json_number(out, inner, "Estimated Overhead ms", overhead_ns(summary) / 1e6);
    mxp__strbuf_printf(out, "\n%*s}", indent, "");
}
