// SPDX-License-Identifier: Apache-2.0
// Folder profiler/export/perfetto: the trace as Perfetto's protobuf.
//
// Private to src/profiler/export. docs/files.md says how its events differ from the Chrome trace's.
//
//   packet  process, threads                     mxp__packets_begin
//   packet  span begin, span end, counter ...    mxp__packet_event ... mxp__packet_end
//   packet  lanes and counters, each before its first event
//   packet  metadata                             mxp__packets_end
//
// All packets are of one sequence. Viewers sort events by time and keep the file's order among
// events of the same timestamp.
#ifndef MXP_EXPORT_PERFETTO_H
#define MXP_EXPORT_PERFETTO_H

#include "profiler/export/event_args.h"
#include "profiler/export/perfetto/perfetto_wire.h"
#include "profiler/export/tracks.h"
#include "profiler/trace/event.h"

enum {
    MXP__MEMORY_DEVICES = 256,
    MXP__EVENT_BEGIN = 1,  // TrackEvent.type
    MXP__EVENT_END = 2,
    MXP__EVENT_INSTANT = 3,
    MXP__EVENT_COUNTER = 4
};

// The writer of packets. Tracks are numbers above `base`, which differs from process to process, so
// that files may be read together.
typedef struct mxp_packets {
    mxp_source *source;
    const mxp_chrome_tracks *tracks;  // the threads' ids; borrowed
    mxp_arrows *arrows;  // theirs
    mxp_strbuf *out;
    mxp_strbuf interned;  // texts that the current packet interns
    uint8_t *emitted;  // by name id, what was emitted of it; the last one is for bad ids
    uint32_t *counters;  // tracks by name id, 0: none yet
    uint32_t memory[MXP__MEMORY_DEVICES];  // tracks by device
    uint32_t name_count;
    uint32_t keys_emitted;  // bits of argument keys
    uint32_t track_count, global_track;
    uint32_t sequence;
    uint64_t base;
    bool is_first;  // process of the trace
    int64_t zero_ns;  // CLOCK_BOOTTIME at the trace's begin
} mxp_packets;

typedef struct mxp_packet {
    size_t packet, event;
} mxp_packet;

// `out` gets the descriptors of process and threads. `first`: the source of the trace's first
// process, by whose begin all times are. MXP_ENOMEM.
int mxp__packets_begin(mxp_packets *packets, mxp_source *source, const mxp_source *first,
                       const mxp_chrome_tracks *tracks, mxp_strbuf *out);
void mxp__packets_end(mxp_packets *packets);  // writes losses and metadata
void mxp__packets_fini(mxp_packets *packets);
// Whether spans of this name may overlap.
bool mxp__span_is_async(const mxp_packets *packets, uint32_t name);

// ---- tracks (perfetto_track.c) ----------------------------------------------------------------
void mxp__tracks_begin(mxp_packets *packets);  // describes process and threads
// The process's for a thread it does not have.
uint32_t mxp__thread_track(const mxp_packets *packets, uint32_t thread);
uint32_t mxp__process_track(void);
uint32_t mxp__global_track(mxp_packets *packets);
// A new one below `parent`, called as the name says; with id 0 "overlapping".
uint32_t mxp__lane_track(mxp_packets *packets, uint32_t parent, uint32_t name);
// A new counter of the process. `unit`: MXP_UNIT_*.
uint32_t mxp__counter_track(mxp_packets *packets, const char *text, size_t length, uint8_t unit);

// ---- packets ----------------------------------------------------------------------------------
// Of any kind; mxp__wire_end ends it. `sequence_flags`: TracePacket's, 0 for none.
size_t mxp__packet_begin(mxp_packets *packets, unsigned sequence_flags);
// An event at a trace time (a negative one counts as 0) ...
mxp_packet mxp__packet_event(mxp_packets *packets, int type, uint32_t track, int64_t ns);
// ... what it is called: an entry of the name table, or texts that are written each time ...
void mxp__packet_name(mxp_packets *packets, uint32_t name);
void mxp__packet_texts(mxp_packets *packets, const char *category, const char *text);
// ... its arguments, each a key and a value ...
size_t mxp__packet_arg(mxp_packets *packets, mxp_arg_key key);
size_t mxp__packet_arg_named(mxp_packets *packets, uint32_t name);
void mxp__packet_arg_u64(mxp_packets *packets, size_t arg, uint64_t value);
void mxp__packet_arg_i64(mxp_packets *packets, size_t arg, int64_t value);
void mxp__packet_arg_f64(mxp_packets *packets, size_t arg, double value);
void mxp__packet_arg_bool(mxp_packets *packets, size_t arg, bool value);
void mxp__packet_arg_text(mxp_packets *packets, size_t arg, const char *text, size_t length);
void mxp__packet_arg_name(mxp_packets *packets, size_t arg, uint32_t name);
// ... and its end.
void mxp__packet_end(mxp_packets *packets, mxp_packet packet);

// ---- records (perfetto_event.c) ---------------------------------------------------------------
// The begin of a span or operator with its name and arguments, on a track.
void mxp__packets_span(mxp_packets *packets, const mxp_event *event, uint32_t track);
// Where the arrow to an operator begins; nothing if it has none.
void mxp__packets_push(mxp_packets *packets, const mxp_event *event);
// Anything that is neither.
void mxp__packets_record(mxp_packets *packets, const mxp_event *event);
// Sample of a counter.
void mxp__packets_sample(mxp_packets *packets, uint32_t track, int64_t ns, uint64_t value);

// ---- order (perfetto_order.c) -----------------------------------------------------------------
typedef struct mxp_span_order mxp_span_order;
int mxp__span_order_create(mxp_packets *packets, mxp_span_order **order);
void mxp__span_order_destroy(mxp_span_order *order);  // null is fine
// A span of another thread's row (MXP_LANE_THREAD), wherever it is; all of them before any
// other. MXP_ENOMEM.
int mxp__span_order_take(mxp_span_order *order, const mxp_event *event);
// A span or operator. They must come in the opposite order of their thread's; `late`: it does not
// keep to the order of ends.
int mxp__span_order_add(mxp_span_order *order, const mxp_event *event, bool late);
int mxp__span_order_finish(mxp_span_order *order);  // after the last one

#endif
