// SPDX-License-Identifier: Apache-2.0
// One record of any kind as Chrome JSON. The fast path for lean spans is in chrome.c; how each kind
// is drawn is decided here. Keys are always in the order ph cat name pid tid ts dur id/id2 bp s
// args.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/device_name.h"
#include "base/text.h"
#include "profiler/export/chrome/chrome.h"
#include "profiler/export/event_args.h"

static const uint64_t exact_limit = UINT64_C(1) << 53;  // larger integers are rounded by viewers

// ---- pieces -----------------------------------------------------------------------------------
static void put_us(mxp_strbuf *out, const char *key, int64_t ns)
{
    mxp__strbuf_puts(out, key);
    char *at = mxp__strbuf_reserve(out, MXP__US_CHARS);
    if (at != NULL) {
        out->length += (size_t)(mxp__write_us(at, ns) - at);
    }
}

static void put_u64(mxp_strbuf *out, const char *key, uint64_t value)
{
    mxp__strbuf_puts(out, key);
    char *at = mxp__strbuf_reserve(out, MXP__U64_CHARS);
    if (at != NULL) {
        out->length += (size_t)(mxp__write_u64(at, value) - at);
    }
}

static void put_hex(mxp_strbuf *out, uint64_t value)
{
    char *at = mxp__strbuf_reserve(out, 16);
    if (at != NULL) {
        out->length += (size_t)(mxp__write_hex(at, value) - at);
    }
}

static void put_id(mxp_strbuf *out, uint64_t id)
{
    mxp__strbuf_puts(out, ",\"id\":\"0x");
    put_hex(out, id);
    mxp__strbuf_putc(out, '"');
}

// The id of tasks and frames is a local one (id2). With it Perfetto shows them under their process,
// also if files of several processes are opened together. With a plain id they are in a closed
// group "Global Legacy Events".
static void put_local_id(mxp_strbuf *out, uint64_t id)
{
    mxp__strbuf_puts(out, ",\"id2\":{\"local\":\"0x");
    put_hex(out, id);
    mxp__strbuf_puts(out, "\"}");
}

// Everything up to the time, which must not be negative.
static void put_begin(mxp_strbuf *out, const mxp_chrome_name *name, char phase, uint32_t row,
                      int64_t ns)
{
    size_t start = out->length;
    mxp__strbuf_append(out, name->text, name->length);
    if (!out->failed) {
        out->data[start + MXP__CHROME_PHASE_AT] = phase;
    }
    put_u64(out, "", row);
    put_us(out, ",\"ts\":", ns);
}

// The same for an item whose name is none of the trace's.
static void put_begin_own(mxp_chrome *chrome, mxp_strbuf *out, char phase, const char *category,
                          const char *text, const mxp_event *event)
{
    mxp__strbuf_printf(out,
                       ",\n{\"ph\":\"%c\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%" PRIu32
                       ",\"tid\":%" PRIu32,
                       phase, category, text, mxp__chrome_pid(chrome->source),
                       mxp__chrome_thread_row(chrome->tracks, event->thread));
    put_us(out, ",\"ts\":", event->begin_ns);
}

static void put_name(mxp_chrome *chrome, uint32_t id, mxp_strbuf *out)
{
    mxp_name_view view = chrome->source->name(chrome->source, id);
    mxp__json_string(out, view.text, view.length);
}

// ---- arguments --------------------------------------------------------------------------------
typedef struct args_writer {
    mxp_chrome *chrome;
    mxp_strbuf *out;
    size_t count;
} args_writer;

// Opens "args" at the first one.
static mxp_strbuf *next_arg(args_writer *args)
{
    mxp__strbuf_puts(args->out, args->count++ == 0 ? ",\"args\":{" : ",");
    return args->out;
}

static void arg_key(void *to, mxp_arg_key key)
{
    mxp_strbuf *out = next_arg(to);
    mxp__strbuf_putc(out, '"');
    mxp__strbuf_puts(out, mxp__arg_keys[key]);
    mxp__strbuf_puts(out, "\":");
}

static void arg_named_key(void *to, uint32_t name)
{
    args_writer *args = to;
    put_name(args->chrome, name, next_arg(args));
    mxp__strbuf_putc(args->out, ':');
}

static void arg_u64(void *to, uint64_t value)
{
    const char *quote = value <= exact_limit ? "" : "\"";
    args_writer *args = to;
    put_u64(args->out, quote, value);
    mxp__strbuf_puts(args->out, quote);
}

static void arg_i64(void *to, int64_t value)
{
    bool exact = value <= (int64_t)exact_limit && value >= -(int64_t)exact_limit;
    args_writer *args = to;
    mxp__strbuf_printf(args->out, exact ? "%" PRId64 : "\"%" PRId64 "\"", value);
}

static void arg_f64(void *to, double value)
{
    mxp__json_double(((args_writer *)to)->out, value);
}

static void arg_us(void *to, int64_t ns)
{
    put_us(((args_writer *)to)->out, "", ns);
}

static void arg_yes(void *to)
{
    mxp__strbuf_puts(((args_writer *)to)->out, "true");
}

static void arg_text(void *to, const char *text, size_t length)
{
    mxp__json_string(((args_writer *)to)->out, text, length);
}

static void arg_name(void *to, uint32_t name)
{
    args_writer *args = to;
    put_name(args->chrome, name, args->out);
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

static void put_args(mxp_chrome *chrome, const mxp_event *event, mxp_strbuf *out)
{
    args_writer args = {chrome, out, 0};
    bool complete = mxp__event_args(chrome->source, event, &arg_form, &args);
    mxp__strbuf_puts(out, args.count > 0 ? "}}" : "}");
    out->failed = out->failed || !complete;
}

// ---- kinds ------------------------------------------------------------------------------------
static int64_t not_negative(int64_t ns)
{
    return ns < 0 ? 0 : ns;
}

static uint32_t row_of(mxp_chrome *chrome, const mxp_event *event, bool is_async,
                       const mxp_chrome_name *name)
{
    if (event->lane == 0) {
        return is_async ? mxp__chrome_lane_row(chrome->tracks, name->category)
                        : mxp__chrome_thread_row(chrome->tracks, event->thread);
    }
    return event->lane & MXP_LANE_THREAD
               ? mxp__chrome_thread_row(chrome->tracks, event->lane & ~MXP_LANE_THREAD)
               : mxp__chrome_lane_row(chrome->tracks, event->lane);
}

static void put_async_end(const mxp_chrome_name *name, const mxp_event *event, uint32_t row,
                          mxp_strbuf *out)
{
    put_begin(out, name, 'e', row, not_negative(event->end_ns));
    put_local_id(out, event->id);
    mxp__strbuf_putc(out, '}');
}

static void put_span(mxp_chrome *chrome, const mxp_event *event, const mxp_chrome_name *name,
                     mxp_strbuf *out)
{
    uint32_t row = row_of(chrome, event, name->is_async, name);
    int64_t begin_ns = not_negative(event->begin_ns), end_ns = not_negative(event->end_ns);
    put_begin(out, name, name->is_async ? 'b' : 'X', row, begin_ns);
    if (name->is_async) {
        put_local_id(out, event->id);
        put_args(chrome, event, out);
        put_async_end(name, event, row, out);
    } else {
        put_us(out, ",\"dur\":", end_ns - begin_ns);
        put_args(chrome, event, out);
    }
}

bool mxp__chrome_is_exchange(const mxp_event *event)
{
    mxp_operator_view op;
    if (event->kind != MXP_KIND_OPERATOR ||
        (event->flags & MXP_OP_PHASE_MASK) != MXP_PHASE_COMMUNICATION) {
        return false;
    }
    mxp__event_operator(event, &op);
    return (event->flags & MXP_OP_ASYNC) != 0 || op.push_thread == 0xffff;
}

static void put_operator(mxp_chrome *chrome, const mxp_event *event, const mxp_chrome_name *name,
                         mxp_strbuf *out)
{
    int64_t begin_ns = not_negative(event->begin_ns), end_ns = not_negative(event->end_ns);
    const uint32_t row = mxp__chrome_thread_row(chrome->tracks, event->thread);
    if (mxp__chrome_is_exchange(event)) {
        put_begin(out, name, 'b', row, begin_ns);
        put_local_id(out, event->id);
        put_args(chrome, event, out);
        put_async_end(name, event, row, out);
        return;
    }
    put_begin(out, name, 'X', row, begin_ns);
    put_us(out, ",\"dur\":", end_ns - begin_ns);
    put_args(chrome, event, out);
}

static void put_counter(mxp_chrome *chrome, const mxp_event *event, const mxp_chrome_name *name,
                        mxp_strbuf *out)
{
    // A value that is no number gives no sample, because viewers drop the whole counter for a null.
    if (event->phase == MXP_ARG_F64 && !isfinite(event->value.f64)) {
        return;
    }
    put_begin(out, name, 'C', mxp__chrome_thread_row(chrome->tracks, event->thread),
              event->begin_ns);
    if (name->needs_id) {
        put_id(out, event->name);
    }
    mxp__strbuf_puts(out, ",\"args\":{");
    put_name(chrome, event->name, out);
    switch (event->phase) {
    case MXP_ARG_F64:
        mxp__strbuf_putc(out, ':');
        mxp__json_double(out, event->value.f64);
        break;
    case MXP_ARG_I64:
        mxp__strbuf_printf(out, ":%" PRId64, event->value.i64);
        break;
    default:
        put_u64(out, ":", event->value.u64);  // exact, though Perfetto wraps from 2^63 on
    }
    mxp__strbuf_puts(out, "}}");
}

static void put_memory(mxp_chrome *chrome, const mxp_event *event, mxp_strbuf *out)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    char name[32] = "Memory: ";
    mxp__device_name(memory.device, name + strlen(name), MXP__DEVICE_NAME_CHARS);
    put_begin_own(chrome, out, 'C', "Device Storage", name, event);
    mxp__strbuf_printf(out, ",\"args\":{\"%s\":%" PRIu64 "}}", name, memory.live_bytes);
}

static void put_instant(mxp_chrome *chrome, const mxp_event *event, const mxp_chrome_name *name,
                        mxp_strbuf *out)
{
    put_begin(out, name, 'i', mxp__chrome_thread_row(chrome->tracks, event->thread),
              event->begin_ns);
    mxp__strbuf_puts(out, event->phase == MXP_INSTANT_GLOBAL   ? ",\"s\":\"g\"}"
                          : event->phase == MXP_INSTANT_THREAD ? ",\"s\":\"t\"}"
                                                               : ",\"s\":\"p\"}");
}

static void put_flow(mxp_chrome *chrome, const mxp_event *event, const mxp_chrome_name *name,
                     mxp_strbuf *out)
{
    char phase = event->phase == MXP_FLOW_START ? 's' : event->phase == MXP_FLOW_END ? 'f' : 't';
    put_begin(out, name, phase, row_of(chrome, event, false, name), event->begin_ns);
    put_id(out, event->value.u64);
    mxp__strbuf_puts(out, phase == 's' ? "}" : ",\"bp\":\"e\"}");
}

static void put_meta(mxp_chrome *chrome, const mxp_event *event, mxp_strbuf *out)
{
    static const char *const states[] = {"profiler stop", "profiler run", "profiler pause",
                                         "profiler resume"};
    bool ends = event->phase == MXP_META_STEP_END;
    if (event->phase == MXP_META_STEP || ends) {
        char name[40] = "step ";
        char *at = mxp__write_u64(name + 5, event->value.u64);
        memcpy(at, ends ? " ends" : "", ends ? sizeof " ends" : 1);
        put_begin_own(chrome, out, 'i', ends ? "step_end" : "step", name, event);
        mxp__strbuf_puts(out, ",\"s\":\"p\"}");  // "g" is on a row without a name
    } else if (event->phase == MXP_META_STATE &&
               event->value.u64 < sizeof states / sizeof states[0]) {
        put_begin_own(chrome, out, 'i', "mxprof", states[event->value.u64], event);
        mxp__strbuf_puts(out, ",\"s\":\"p\"}");
    }
}

void mxp__chrome_event(mxp_chrome *chrome, const mxp_chrome_name *name, const mxp_event *event,
                       mxp_strbuf *out)
{
    switch (event->kind) {
    case MXP_KIND_SPAN:
        put_span(chrome, event, name, out);
        break;
    case MXP_KIND_OPERATOR:
        put_operator(chrome, event, name, out);
        break;
    case MXP_KIND_COUNTER:
        put_counter(chrome, event, name, out);
        break;
    case MXP_KIND_MEMORY:
        put_memory(chrome, event, out);
        break;
    case MXP_KIND_INSTANT:
        put_instant(chrome, event, name, out);
        break;
    case MXP_KIND_FLOW:
        put_flow(chrome, event, name, out);
        break;
    case MXP_KIND_META:
        put_meta(chrome, event, out);
        break;
    default:
        break;
    }
}
