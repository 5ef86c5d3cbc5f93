// SPDX-License-Identifier: Apache-2.0
// pprof's profile, a protobuf message. Each stack is a sample with how many spans it had and their
// own time; process and thread are labels. The tables of functions and texts are known at the end.
// Numbers in comments after a call name the field of the schema.
#include "export/command_exporters.h"
#include "export/stack_export.h"
#include "profiler/export/perfetto/perfetto_wire.h"

enum { TABLE_FRAMES, TABLE_TEXTS, TABLE_SCRATCH };
enum { TEXT_NONE, TEXT_SPANS, TEXT_COUNT, TEXT_WALL, TEXT_NS, TEXT_PROCESS, TEXT_THREAD, TEXTS };

static const char *const texts[TEXTS] = {"",        "spans", "count", "wall", "nanoseconds",
                                         "process", "thread"};

// Their numbers go on behind those above.
static uint64_t add_text(mxp_stack_export *at, const mxp_strbuf *text)
{
    mxp_strbuf *table = &at->tables[TABLE_TEXTS];
    mxp__wire_text(table, 6, mxp__strbuf_text(text), text->length);  // string_table
    at->out->failed = at->out->failed || text->failed || table->failed;
    return TEXTS + at->texts++;
}

static void put_type(mxp_stack_export *at, uint32_t field, uint64_t type, uint64_t unit)
{
    size_t message = mxp__wire_begin(at->out, field);
    mxp__wire_u64(at->out, 1, type);
    mxp__wire_u64(at->out, 2, unit);
    mxp__wire_end(at->out, message);
}

static void put_head(mxp_stack_export *at)
{
    put_type(at, 1, TEXT_SPANS, TEXT_COUNT);  // sample_type
    put_type(at, 1, TEXT_WALL, TEXT_NS);
    const mxp_timebase *timebase = at->first_source->timebase;
    if (timebase->point_count > 0) {
        const mxp_clock_point *last = &timebase->points[timebase->point_count - 1];
        bool is_dated = mxp__timebase_is_dated(timebase);
        mxp__wire_u64(at->out, 9, is_dated ? timebase->points[0].realtime_ns : 0);  // time_nanos
        mxp__wire_u64(at->out, 10, (uint64_t)mxp__timebase_ns(timebase, last->ticks));  // duration
    }
}

// The labels of all samples of a root: two texts.
static void put_root(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    (void)pass;
    mxp_strbuf *name = &at->tables[TABLE_SCRATCH];
    mxp__strbuf_clear(name);
    mxp__stacks_process(at->stacks.source, name);
    at->label_process = add_text(at, name);
    mxp__strbuf_clear(name);
    mxp__frame_name(at->stacks.source, at->stacks.stacks[number].frame, name);
    at->label_thread = add_text(at, name);
}

// A function and its location, both with the frame's number from 1.
static void add_frame(mxp_stack_export *at, uint32_t frame, uint64_t id)
{
    mxp_strbuf *name = &at->tables[TABLE_SCRATCH], *table = &at->tables[TABLE_FRAMES];
    mxp__strbuf_clear(name);
    mxp__frame_name(at->stacks.source, frame, name);
    uint64_t text = add_text(at, name);
    size_t function = mxp__wire_begin(table, 5);
    mxp__wire_u64(table, 1, id);
    mxp__wire_u64(table, 2, text);  // name
    mxp__wire_u64(table, 3, text);  // system_name
    mxp__wire_end(table, function);
    size_t location = mxp__wire_begin(table, 4);
    mxp__wire_u64(table, 1, id);
    size_t line = mxp__wire_begin(table, 4);
    mxp__wire_u64(table, 1, id);  // function_id
    mxp__wire_end(table, line);
    mxp__wire_end(table, location);
    at->out->failed = at->out->failed || table->failed;
}

static void put_label(mxp_stack_export *at, uint64_t key, uint64_t text)
{
    size_t label = mxp__wire_begin(at->out, 3);
    mxp__wire_u64(at->out, 1, key);
    mxp__wire_u64(at->out, 2, text);
    mxp__wire_end(at->out, label);
}

// The innermost frame comes first. Repeated numbers may be written one by one.
static void put_stack(mxp_stack_export *at, uint32_t number, unsigned pass)
{
    (void)pass;
    const mxp_stack *stack = &at->stacks.stacks[number];
    size_t sample = mxp__wire_begin(at->out, 2);
    for (uint32_t i = at->path_count; i-- > 1;) {
        bool is_new;
        uint64_t id = (uint64_t)mxp__stack_frame_number(at, at->path[i], &is_new) + 1;
        if (is_new) {
            add_frame(at, at->path[i], id);
        }
        mxp__wire_u64(at->out, 1, id);
    }
    mxp__wire_u64(at->out, 2, stack->spans);
    mxp__wire_u64(at->out, 2, stack->own_ns);
    put_label(at, TEXT_PROCESS, at->label_process);
    put_label(at, TEXT_THREAD, at->label_thread);
    mxp__wire_end(at->out, sample);
}

static void put_tail(mxp_stack_export *at)
{
    const mxp_strbuf *frames = &at->tables[TABLE_FRAMES], *own = &at->tables[TABLE_TEXTS];
    mxp__strbuf_append(at->out, mxp__strbuf_text(frames), frames->length);
    for (size_t i = 0; i < TEXTS; i++) {
        mxp__wire_string(at->out, 6, texts[i]);
    }
    mxp__strbuf_append(at->out, mxp__strbuf_text(own), own->length);
    mxp__wire_u64(at->out, 14, TEXT_WALL);  // default_sample_type
}

static const mxp_stack_exporter pprof = {
    .exporter = {.name = "pprof",
                 .extension = ".pb",
                 .help = "stacks with their own time, for pprof: as profile.pb.gz",
                 MXP__STACK_EXPORTER},
    .passes = 1,
    .head = put_head,
    .root = put_root,
    .stack = put_stack,
    .tail = put_tail,
};
const mxp_exporter *const mxp__exporter_pprof = &pprof.exporter;
