// SPDX-License-Identifier: Apache-2.0
// What each kind of record becomes in a Perfetto trace: the same events as in Chrome JSON
// (chrome_event.c), but for counters, which have units and exact values here, and flows, whose
// points are instants: a slice could be drawn before its flow began. An arrow to an operator ends
// in the operator's slice, and begins in an instant within the call.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/device_name.h"
#include "base/text.h"
#include "profiler/export/event_args.h"
#include "profiler/export/perfetto/perfetto.h"

// ---- arguments --------------------------------------------------------------------------------
// Each is a message that begins with its key and ends after its value.
typedef struct args_writer {
    mxp_packets *packets;
    size_t arg;
} args_writer;

static void arg_key(void *to, mxp_arg_key key)
{
    args_writer *args = to;
    args->arg = mxp__packet_arg(args->packets, key);
}

static void arg_named_key(void *to, uint32_t name)
{
    args_writer *args = to;
    args->arg = mxp__packet_arg_named(args->packets, name);
}

static void arg_u64(void *to, uint64_t value)
{
    args_writer *args = to;
    mxp__packet_arg_u64(args->packets, args->arg, value);
}

static void arg_i64(void *to, int64_t value)
{
    args_writer *args = to;
    mxp__packet_arg_i64(args->packets, args->arg, value);
}

static void arg_f64(void *to, double value)
{
    args_writer *args = to;
    mxp__packet_arg_f64(args->packets, args->arg, value);
}

static void arg_us(void *to, int64_t ns)
{
    arg_f64(to, (double)ns / 1000);
}

static void arg_yes(void *to)
{
    args_writer *args = to;
    mxp__packet_arg_bool(args->packets, args->arg, true);
}

static void arg_text(void *to, const char *text, size_t length)
{
    args_writer *args = to;
    mxp__packet_arg_text(args->packets, args->arg, text, length);
}

static void arg_name(void *to, uint32_t name)
{
    args_writer *args = to;
    mxp__packet_arg_name(args->packets, args->arg, name);
}

static const mxp_arg_form arg_form = {.key = arg_key,
                                      .named_key = arg_named_key,
                                      .u64 = arg_u64,
                                      .i64 = arg_i64,
                                      .f64 = arg_f64,
                                      .us = arg_us,
                                      .yes = arg_yes,
                                      .text = arg_text,
                                      .name = arg_name};

// ---- spans and operators ----------------------------------------------------------------------
enum { FLOW = 47, LAST_OF_FLOW = 48 };  // fields of TrackEvent

// Ids are the trace's own and must not meet those of another process.
static void put_flow_id(mxp_packets *packets, int field, uint64_t id)
{
    mxp__wire_fixed64(packets->out, (uint32_t)field, packets->base ^ id);
}

// An operator may have the time of its push, and nothing be between.
typedef struct arrow_marks {
    mxp_arrow arrow;
    bool is_short;  // it ends in an instant, too
} arrow_marks;

static bool find_arrow(mxp_packets *packets, const mxp_event *event, arrow_marks *marks)
{
    int found = mxp__arrows_of(packets->arrows, event, &marks->arrow);
    packets->out->failed = packets->out->failed || found < 0;
    // The program's flows have ids of their own, which are rarely that large.
    marks->arrow.id |= UINT64_C(1) << 63;
    marks->is_short = marks->arrow.to_ns < marks->arrow.from_ns + 2;
    return found == 1 && !(marks->is_short && event->end_ns < marks->arrow.from_ns + 3);
}

void mxp__packets_span(mxp_packets *packets, const mxp_event *event, uint32_t track)
{
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_BEGIN, track, event->begin_ns);
    arrow_marks marks;
    mxp__packet_name(packets, event->name);
    if (find_arrow(packets, event, &marks) && !marks.is_short) {
        put_flow_id(packets, LAST_OF_FLOW, marks.arrow.id);
    }
    args_writer args = {packets, 0};
    if (!mxp__event_args(packets->source, event, &arg_form, &args)) {
        packets->out->failed = true;
    }
    mxp__packet_end(packets, packet);
}

static void put_arrow_mark(mxp_packets *packets, uint32_t thread, int64_t ns, int field,
                           uint64_t id)
{
    uint32_t track = mxp__thread_track(packets, thread);
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track, ns);
    mxp__packet_texts(packets, MXP__ARROW_NAME, MXP__ARROW_NAME);
    put_flow_id(packets, field, id);
    mxp__packet_end(packets, packet);
}

// One nanosecond into the call, which may begin with the push: of two that begin at once a viewer
// could take the instant for the outer one. It is behind a call that took no time.
void mxp__packets_push(mxp_packets *packets, const mxp_event *event)
{
    arrow_marks marks;
    if (find_arrow(packets, event, &marks)) {
        const mxp_arrow *arrow = &marks.arrow;
        put_arrow_mark(packets, arrow->from_thread, arrow->from_ns + 1, FLOW, arrow->id);
        if (marks.is_short) {
            put_arrow_mark(packets, arrow->to_thread, arrow->from_ns + 2, LAST_OF_FLOW, arrow->id);
        }
    }
}

// ---- counters ---------------------------------------------------------------------------------
// A value that the schema's integer has no room for is written as a double.
void mxp__packets_sample(mxp_packets *packets, uint32_t track, int64_t ns, uint64_t value)
{
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_COUNTER, track, ns);
    if (value <= INT64_MAX) {
        mxp__wire_u64(packets->out, 30, value);
    } else {
        mxp__wire_double(packets->out, 44, (double)value);
    }
    mxp__packet_end(packets, packet);
}

static void put_counter(mxp_packets *packets, const mxp_event *event)
{
    if (event->phase == MXP_ARG_F64 && !isfinite(event->value.f64)) {
        return;  // as in Chrome JSON: no number, no sample
    }
    uint32_t name = event->name < packets->name_count ? event->name : packets->name_count;
    uint32_t *track = &packets->counters[name];
    if (*track == 0) {
        mxp_name_view view = packets->source->name(packets->source, event->name);
        *track = mxp__counter_track(packets, view.text, view.length, view.unit);
    }
    if (event->phase == MXP_ARG_U64) {
        mxp__packets_sample(packets, *track, event->begin_ns, event->value.u64);
        return;
    }
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_COUNTER, *track, event->begin_ns);
    if (event->phase == MXP_ARG_F64) {
        mxp__wire_double(packets->out, 44, event->value.f64);
    } else {
        mxp__wire_u64(packets->out, 30, event->value.u64);
    }
    mxp__packet_end(packets, packet);
}

static void put_memory(mxp_packets *packets, const mxp_event *event)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    uint32_t *track = &packets->memory[memory.device % MXP__MEMORY_DEVICES];
    if (*track == 0) {
        char name[8 + MXP__DEVICE_NAME_CHARS] = "Memory: ";
        mxp__device_name(memory.device, name + strlen(name), MXP__DEVICE_NAME_CHARS);
        *track = mxp__counter_track(packets, name, strlen(name), MXP_UNIT_BYTES);
    }
    mxp__packets_sample(packets, *track, event->begin_ns, memory.live_bytes);
}

// ---- instants ---------------------------------------------------------------------------------
static void put_instant(mxp_packets *packets, const mxp_event *event)
{
    uint32_t track = event->phase == MXP_INSTANT_GLOBAL ? mxp__global_track(packets)
                     : event->phase == MXP_INSTANT_THREAD
                         ? mxp__thread_track(packets, event->thread)
                         : mxp__process_track();
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track, event->begin_ns);
    mxp__packet_name(packets, event->name);
    mxp__packet_end(packets, packet);
}

// A lane that is no thread has as many tracks as its spans need: the process's stands for it.
static uint32_t flow_track(const mxp_packets *packets, const mxp_event *event)
{
    if (event->lane == 0) {
        return mxp__thread_track(packets, event->thread);
    }
    return (event->lane & MXP_LANE_THREAD) != 0
               ? mxp__thread_track(packets, event->lane & ~MXP_LANE_THREAD)
               : mxp__process_track();
}

// Messages between the processes of a job have ids of the job.
static bool is_message(const mxp_source *source, uint32_t name)
{
    const uint32_t category = source->name(source, name).category;
    return strcmp(source->name(source, category).text, "communication") == 0;
}

static void put_flow(mxp_packets *packets, const mxp_event *event)
{
    uint32_t track = flow_track(packets, event);
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track, event->begin_ns);
    mxp__packet_name(packets, event->name);
    const uint64_t own = is_message(packets->source, event->name) ? packets->base : 0;
    put_flow_id(packets, event->phase == MXP_FLOW_END ? LAST_OF_FLOW : FLOW,
                event->value.u64 ^ own);
    mxp__packet_end(packets, packet);
}

static void put_mark(mxp_packets *packets, const mxp_event *event, uint32_t track,
                     const char *category, const char *text)
{
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track, event->begin_ns);
    mxp__packet_texts(packets, category, text);
    mxp__packet_end(packets, packet);
}

static void put_meta(mxp_packets *packets, const mxp_event *event)
{
    static const char *const states[] = {"profiler stop", "profiler run", "profiler pause",
                                         "profiler resume"};
    bool ends = event->phase == MXP_META_STEP_END;
    if (event->phase == MXP_META_STEP || ends) {
        char name[16 + MXP__U64_CHARS] = "step ";
        char *at = mxp__write_u64(name + 5, event->value.u64);
        memcpy(at, ends ? " ends" : "", ends ? sizeof " ends" : 1);
        put_mark(packets, event, mxp__global_track(packets), ends ? "step_end" : "step", name);
    } else if (event->phase == MXP_META_STATE &&
               event->value.u64 < sizeof states / sizeof states[0]) {
        put_mark(packets, event, mxp__process_track(), "mxprof", states[event->value.u64]);
    }
}

void mxp__packets_record(mxp_packets *packets, const mxp_event *event)
{
    switch (event->kind) {
    case MXP_KIND_COUNTER:
        put_counter(packets, event);
        break;
    case MXP_KIND_MEMORY:
        put_memory(packets, event);
        break;
    case MXP_KIND_INSTANT:
        put_instant(packets, event);
        break;
    case MXP_KIND_FLOW:
        put_flow(packets, event);
        break;
    case MXP_KIND_META:
        put_meta(packets, event);
        break;
    default:
        break;
    }
}
