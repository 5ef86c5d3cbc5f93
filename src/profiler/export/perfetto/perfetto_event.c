// SPDX-License-Identifier: Apache-2.0
// What each kind of record becomes in a Perfetto trace: the same events and arguments as in Chrome
// JSON (chrome_event.c), but for counters, which have units and exact values here, and flows, whose
// points are instants: a slice could be drawn before its flow began.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/device_name.h"
#include "base/text.h"
#include "profiler/export/perfetto/perfetto.h"
#include "profiler/export/scope_path.h"

// ---- arguments --------------------------------------------------------------------------------
static void put_text(mxp_packets *packets, mxp_packet_key key, const char *text)
{
    mxp__packet_arg_text(packets, mxp__packet_arg(packets, key), text, strlen(text));
}

static void put_number(mxp_packets *packets, mxp_packet_key key, uint64_t value)
{
    mxp__packet_arg_u64(packets, mxp__packet_arg(packets, key), value);
}

static void put_us(mxp_packets *packets, mxp_packet_key key, int64_t ns)
{
    mxp__packet_arg_f64(packets, mxp__packet_arg(packets, key), (double)ns / 1000);
}

static void put_value(mxp_packets *packets, size_t arg, uint32_t type, uint64_t bits)
{
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
    } value = {.u64 = bits};
    switch (type) {
    case MXP_ARG_F64:
        mxp__packet_arg_f64(packets, arg, value.f64);
        break;
    case MXP_ARG_NAME:
        mxp__packet_arg_name(packets, arg, (uint32_t)bits);
        break;
    case MXP_ARG_I64:
        mxp__packet_arg_i64(packets, arg, value.i64);
        break;
    default:
        mxp__packet_arg_u64(packets, arg, bits);
    }
}

static void put_span_args(mxp_packets *packets, const mxp_event *event)
{
    if (mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        put_number(packets, MXP__KEY_clock, mxp__event_clock(event));
    }
    uint32_t count = mxp__event_arg_count(event);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key, type;
        uint64_t value;
        mxp__event_arg(event, i, &key, &type, &value);
        put_value(packets, mxp__packet_arg_named(packets, key), type, value);
    }
    if (event->flags & MXP_SPAN_BEGIN_CLIPPED) {
        put_text(packets, MXP__KEY_begun, "before recording");
    }
    if (event->flags & MXP_SPAN_CLOSED_BY_STOP) {
        put_text(packets, MXP__KEY_closed, "stop");
    }
    if (event->flags & MXP_SPAN_OPEN_AT_CRASH) {
        put_text(packets, MXP__KEY_ended, "never");
    }
}

static void put_operator_times(mxp_packets *packets, const mxp_event *event,
                               const mxp_operator_view *op)
{
    const mxp_timebase *timebase = packets->source->timebase;
    int64_t ready_ns = mxp__timebase_ns(timebase, op->ready_ticks);
    int64_t push_ns = mxp__timebase_ns(timebase, op->push_ticks);
    if (ready_ns < event->begin_ns) {
        put_us(packets, MXP__KEY_queued_us, event->begin_ns - ready_ns);
    }
    if (push_ns < ready_ns) {
        put_us(packets, MXP__KEY_blocked_us, ready_ns - push_ns);
    }
}

static void put_operator_args(mxp_packets *packets, const mxp_event *event)
{
    static const char *const phases[] = {NULL, "forward", "backward", "update", "communication"};
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    put_number(packets, MXP__KEY_op, op.id);
    put_operator_times(packets, event, &op);
    const struct {
        mxp_packet_key key;
        uint32_t value;
    } numbers[] = {{MXP__KEY_after, op.released_by},
                   {MXP__KEY_bulk, op.bulk_parent},
                   {MXP__KEY_device, op.device}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value != 0) {
            put_number(packets, numbers[i].key, numbers[i].value);
        }
    }
    uint32_t phase = event->flags & MXP_OP_PHASE_MASK;
    if (phase > 0 && phase < sizeof phases / sizeof phases[0]) {
        put_text(packets, MXP__KEY_phase, phases[phase]);
    }
    if (op.scope != 0) {
        mxp_strbuf path = {0};
        mxp__scope_path(packets->source, op.scope, &path);
        put_text(packets, MXP__KEY_scope, mxp__strbuf_text(&path));
        packets->out->failed = packets->out->failed || path.failed;
        mxp__strbuf_fini(&path);
    }
    if (op.shape != 0) {
        mxp__packet_arg_name(packets, mxp__packet_arg(packets, MXP__KEY_shape), op.shape);
    }
    if (event->flags & MXP_OP_FAILED) {
        size_t arg = mxp__packet_arg(packets, MXP__KEY_failed);
        mxp__wire_u64(packets->out, 2, 1);  // bool_value
        mxp__wire_end(packets->out, arg);
    }
}

void mxp__packets_span(mxp_packets *packets, const mxp_event *event, uint32_t track)
{
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_BEGIN, track, event->begin_ns);
    mxp__packet_name(packets, event->name);
    if (event->kind == MXP_KIND_OPERATOR) {
        put_operator_args(packets, event);
    } else {
        put_span_args(packets, event);
    }
    mxp__packet_end(packets, packet);
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

// ---- moments ----------------------------------------------------------------------------------
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

static void put_flow(mxp_packets *packets, const mxp_event *event)
{
    uint32_t track = mxp__thread_track(packets, event->thread);
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track, event->begin_ns);
    mxp__packet_name(packets, event->name);
    // Ids are the trace's own and must not meet those of another process.
    uint64_t id = packets->base ^ event->value.u64;
    mxp__wire_fixed64(packets->out, event->phase == MXP_FLOW_END ? 48 : 47, id);
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
    if (event->phase == MXP_META_STEP) {
        char name[8 + MXP__U64_CHARS] = "step ";
        *mxp__write_u64(name + 5, event->value.u64) = '\0';
        put_mark(packets, event, mxp__global_track(packets), "step", name);
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
