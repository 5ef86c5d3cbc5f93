// SPDX-License-Identifier: Apache-2.0
// The packets of a Perfetto trace. Names, categories, argument keys and texts of the name table are
// interned once, in the packet that first uses them (incremental state); everything else is in
// each packet. Numbers in comments after a call name the field of the schema.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/perfetto/perfetto.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/loss.h"

// What was emitted of a name id.
enum { EMITTED_NAME = 1, EMITTED_CATEGORY = 2, EMITTED_KEY = 4, EMITTED_TEXT = 8, IS_ASYNC = 128 };

enum { BASE_BITS = 28, TRACK_BITS = 24 };

enum { SEQUENCE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };

// ---- packets ----------------------------------------------------------------------------------
size_t mxp__packet_begin(mxp_packets *packets, unsigned sequence_flags)
{
    size_t packet = mxp__wire_begin(packets->out, 1);  // Trace.packet
    mxp__wire_u64(packets->out, 10, packets->sequence);  // trusted_packet_sequence_id
    if (sequence_flags != 0) {
        mxp__wire_u64(packets->out, 13, sequence_flags);
    }
    return packet;
}

mxp_packet mxp__packet_event(mxp_packets *packets, int type, uint32_t track, int64_t ns)
{
    mxp_strbuf *out = packets->out;
    mxp_packet packet = {.packet = mxp__packet_begin(packets, SEQUENCE_NEEDS_STATE)};
    mxp__wire_u64(out, 8, (uint64_t)(packets->zero_ns + (ns < 0 ? 0 : ns)));  // timestamp
    packet.event = mxp__wire_begin(out, 11);  // track_event
    mxp__wire_u64(out, 9, (uint64_t)type);
    mxp__wire_u64(out, 11, packets->base + track);  // track_uuid
    return packet;
}

void mxp__packet_end(mxp_packets *packets, mxp_packet packet)
{
    mxp__wire_end(packets->out, packet.event);
    if (packets->interned.length > 0) {
        mxp__wire_bytes(packets->out, 12, packets->interned.data, packets->interned.length);
    }
    packets->out->failed = packets->out->failed || packets->interned.failed;
    mxp__strbuf_clear(&packets->interned);
    mxp__wire_end(packets->out, packet.packet);
}

// ---- interning --------------------------------------------------------------------------------
static mxp_name_view view_of(const mxp_packets *packets, uint32_t name)
{
    return packets->source->name(packets->source, name);
}

static uint32_t known_id(const mxp_packets *packets, uint32_t name)
{
    return name < packets->name_count ? name : packets->name_count;
}

static void put_interned(mxp_packets *packets, uint32_t field, uint64_t id, const char *text,
                         size_t length)
{
    size_t entry = mxp__wire_begin(&packets->interned, field);
    mxp__wire_u64(&packets->interned, 1, id);
    mxp__wire_text(&packets->interned, 2, text, length);
    mxp__wire_end(&packets->interned, entry);
}

// The id under which the name is known as `what`, interned by field `field` of InternedData.
static uint64_t intern(mxp_packets *packets, uint32_t name, uint8_t what, uint32_t field)
{
    name = known_id(packets, name);
    uint64_t id = name + UINT64_C(1) + (what == EMITTED_KEY ? MXP__ARG_KEYS : 0);
    if ((packets->emitted[name] & what) == 0) {
        packets->emitted[name] |= what;
        mxp_name_view view = view_of(packets, name);
        bool is_nameless = what == EMITTED_CATEGORY && view.length == 0;
        put_interned(packets, field, id, is_nameless ? "user" : view.text,
                     is_nameless ? 4 : view.length);
    }
    return id;
}

void mxp__packet_name(mxp_packets *packets, uint32_t name)
{
    uint32_t category = view_of(packets, name).category;
    mxp__wire_u64(packets->out, 3, intern(packets, category, EMITTED_CATEGORY, 1));
    mxp__wire_u64(packets->out, 10, intern(packets, name, EMITTED_NAME, 2));
}

void mxp__packet_texts(mxp_packets *packets, const char *category, const char *text)
{
    mxp__wire_string(packets->out, 22, category);
    mxp__wire_string(packets->out, 23, text);
}

// ---- arguments --------------------------------------------------------------------------------
static size_t begin_arg(mxp_packets *packets, uint64_t key)
{
    size_t arg = mxp__wire_begin(packets->out, 4);  // debug_annotations
    mxp__wire_u64(packets->out, 1, key);
    return arg;
}

size_t mxp__packet_arg(mxp_packets *packets, mxp_arg_key key)
{
    _Static_assert((int)MXP__ARG_KEYS <= 32, "keys_emitted has a bit for each");
    if ((packets->keys_emitted >> key & 1) == 0) {
        packets->keys_emitted |= 1u << key;
        put_interned(packets, 3, (uint64_t)key + 1, mxp__arg_keys[key], strlen(mxp__arg_keys[key]));
    }
    return begin_arg(packets, (uint64_t)key + 1);
}

size_t mxp__packet_arg_named(mxp_packets *packets, uint32_t name)
{
    return begin_arg(packets, intern(packets, name, EMITTED_KEY, 3));
}

void mxp__packet_arg_u64(mxp_packets *packets, size_t arg, uint64_t value)
{
    mxp__wire_u64(packets->out, 3, value);
    mxp__wire_end(packets->out, arg);
}

void mxp__packet_arg_i64(mxp_packets *packets, size_t arg, int64_t value)
{
    mxp__wire_u64(packets->out, 4, (uint64_t)value);
    mxp__wire_end(packets->out, arg);
}

void mxp__packet_arg_f64(mxp_packets *packets, size_t arg, double value)
{
    mxp__wire_double(packets->out, 5, value);
    mxp__wire_end(packets->out, arg);
}

void mxp__packet_arg_bool(mxp_packets *packets, size_t arg, bool value)
{
    mxp__wire_u64(packets->out, 2, value ? 1 : 0);
    mxp__wire_end(packets->out, arg);
}

void mxp__packet_arg_text(mxp_packets *packets, size_t arg, const char *text, size_t length)
{
    mxp__wire_text(packets->out, 6, text, length);
    mxp__wire_end(packets->out, arg);
}

void mxp__packet_arg_name(mxp_packets *packets, size_t arg, uint32_t name)
{
    mxp__wire_u64(packets->out, 17, intern(packets, name, EMITTED_TEXT, 29));
    mxp__wire_end(packets->out, arg);
}

// ---- begin ------------------------------------------------------------------------------------
static void put_clock(mxp_packets *packets, uint32_t id, uint64_t ns)
{
    size_t clock = mxp__wire_begin(packets->out, 1);
    mxp__wire_u64(packets->out, 1, id);
    mxp__wire_u64(packets->out, 2, ns);
    mxp__wire_end(packets->out, clock);
}

// Times are CLOCK_BOOTTIME's, which needs no conversion; with this they have a date. In a packet of
// its own: readers take nothing else from one with clocks.
static void put_clocks(mxp_packets *packets)
{
    const mxp_timebase *timebase = packets->source->timebase;
    const mxp_clock_point *point = timebase->points;
    size_t packet = mxp__packet_begin(packets, SEQUENCE_CLEARED);
    if (packets->is_first && timebase->point_count > 0 &&
        point->boottime_ns == (uint64_t)packets->zero_ns) {
        size_t snapshot = mxp__wire_begin(packets->out, 6);
        put_clock(packets, CLOCK_ID_BOOTTIME, point->boottime_ns);
        put_clock(packets, CLOCK_ID_MONOTONIC, point->monotonic_ns);
        put_clock(packets, CLOCK_ID_REALTIME, point->realtime_ns);
        mxp__wire_end(packets->out, snapshot);
    }
    mxp__wire_end(packets->out, packet);
}

static int64_t zero_of(const mxp_timebase *timebase)
{
    bool makes_sense =
        timebase->point_count > 0 && timebase->points[0].boottime_ns < (uint64_t)MXP__NS_MAX;
    return makes_sense ? (int64_t)timebase->points[0].boottime_ns : 0;
}

static void choose_numbers(mxp_packets *packets)
{
    const mxp_timebase *timebase = packets->source->timebase;
    uint64_t process[2] = {mxp__chrome_pid(packets->source), 0};
    process[1] = timebase->point_count > 0 ? timebase->points[0].realtime_ns : 0;
    uint64_t hash = mxp__checksum(process, sizeof process);
    packets->base = (hash & ((UINT64_C(1) << BASE_BITS) - 1)) << TRACK_BITS;
    packets->sequence = (uint32_t)(hash >> 32 & 0x0fffffff) | 1;
}

int mxp__packets_begin(mxp_packets *packets, mxp_source *source, const mxp_source *first,
                       const mxp_chrome_tracks *tracks, mxp_strbuf *out)
{
    *packets = (mxp_packets){.source = source,
                             .tracks = tracks,
                             .out = out,
                             .name_count = source->name_count,
                             .is_first = source == first};
    size_t entries = (size_t)packets->name_count + 1;
    packets->emitted = mxp__alloc(entries);
    packets->counters = mxp__alloc(entries * sizeof *packets->counters);
    if (packets->emitted == NULL || packets->counters == NULL) {
        return mxp__fail_memory("the names of the trace");
    }
    for (uint32_t id = 0; id < packets->name_count; id++) {
        packets->emitted[id] = view_of(packets, id).style == MXP_STYLE_ASYNC ? IS_ASYNC : 0;
    }
    choose_numbers(packets);
    packets->zero_ns = zero_of(first->timebase);
    put_clocks(packets);
    mxp__tracks_begin(packets);
    return MXP_OK;
}

bool mxp__span_is_async(const mxp_packets *packets, uint32_t name)
{
    return (packets->emitted[known_id(packets, name)] & IS_ASYNC) != 0;
}

// ---- end --------------------------------------------------------------------------------------
static void put_loss(mxp_packets *packets, const mxp_loss_entry *loss)
{
    char text[96];
    const mxp_timebase *timebase = packets->source->timebase;
    snprintf(text, sizeof text, "%" PRIu64 " records %s (%s)", loss->count,
             loss->reason == MXP_LOSS_NAMES_FULL ? "without a name" : "lost",
             mxp__loss_reason(loss->reason));
    uint32_t track = mxp__thread_track(packets, loss->thread);
    mxp_packet packet = mxp__packet_event(packets, MXP__EVENT_INSTANT, track,
                                          mxp__timebase_ns(timebase, loss->from_ticks));
    mxp__packet_texts(packets, "mxprof", text);
    mxp__packet_arg_f64(packets, mxp__packet_arg(packets, MXP__KEY_until_us),
                        (double)mxp__timebase_ns(timebase, loss->to_ticks) / 1000);
    mxp__packet_end(packets, packet);
}

// Those of the first process have their plain names; "4711.command" is another process's.
static void put_attribute(mxp_packets *packets, const char *key, const char *value)
{
    mxp_strbuf name = {0};
    if (!packets->is_first) {
        mxp__strbuf_printf(&name, "%" PRIu32 ".", mxp__chrome_pid(packets->source));
    }
    mxp__strbuf_puts(&name, key);
    size_t attribute = mxp__wire_begin(packets->out, 1);
    mxp__wire_text(packets->out, 1, mxp__strbuf_text(&name), name.length);
    mxp__wire_text(packets->out, 3, value, strlen(value));
    mxp__wire_end(packets->out, attribute);
    packets->out->failed = packets->out->failed || name.failed;
    mxp__strbuf_fini(&name);
}

void mxp__packets_end(mxp_packets *packets)
{
    const mxp_source *source = packets->source;
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        lost += source->losses[i].reason == MXP_LOSS_NAMES_FULL ? 0 : source->losses[i].count;
        if (source->losses[i].count > 0) {
            put_loss(packets, &source->losses[i]);
        }
    }
    size_t packet = mxp__packet_begin(packets, 0);
    size_t attributes = mxp__wire_begin(packets->out, 126);  // trace_attributes
    for (size_t i = 0; i < source->info_count; i++) {
        put_attribute(packets, source->info[i].key, source->info[i].value);
    }
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, lost);
    put_attribute(packets, "lost_records", number);
    mxp__wire_end(packets->out, attributes);
    mxp__wire_end(packets->out, packet);
}

void mxp__packets_fini(mxp_packets *packets)
{
    size_t entries = (size_t)packets->name_count + 1;
    mxp__free(packets->emitted, entries);
    mxp__free(packets->counters, entries * sizeof *packets->counters);
    mxp__strbuf_fini(&packets->interned);
    packets->emitted = NULL;
    packets->counters = NULL;
}
