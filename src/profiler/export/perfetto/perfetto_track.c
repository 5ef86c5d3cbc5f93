// SPDX-License-Identifier: Apache-2.0
// The tracks of a Perfetto trace: process, threads, what is global, lanes and counters. Each is
// described in a packet of its own. Numbers in comments after a call name the field of the schema.
#include <inttypes.h>
#include <stdio.h>

#include "profiler/export/perfetto/perfetto.h"

enum { PROCESS_TRACK = 1, FIRST_THREAD_TRACK = 2 };

typedef struct descriptor {
    size_t packet, track;
} descriptor;

static descriptor begin_descriptor(mxp_packets *packets, uint32_t track, uint32_t parent)
{
    descriptor made = {.packet = mxp__packet_begin(packets, 0)};
    made.track = mxp__wire_begin(packets->out, 60);  // track_descriptor
    mxp__wire_u64(packets->out, 1, packets->base + track);
    if (parent != 0) {
        mxp__wire_u64(packets->out, 5, packets->base + parent);
    }
    return made;
}

static void end_descriptor(mxp_packets *packets, descriptor made)
{
    mxp__wire_end(packets->out, made.track);
    mxp__wire_end(packets->out, made.packet);
}

uint32_t mxp__process_track(void)
{
    return PROCESS_TRACK;
}

uint32_t mxp__thread_track(const mxp_packets *packets, uint32_t thread)
{
    return thread < packets->source->thread_count ? FIRST_THREAD_TRACK + thread : PROCESS_TRACK;
}

uint32_t mxp__global_track(mxp_packets *packets)
{
    if (packets->global_track == 0) {
        packets->global_track = ++packets->track_count;
        descriptor made = begin_descriptor(packets, packets->global_track, 0);
        mxp__wire_string(packets->out, 2, "steps and global marks");
        end_descriptor(packets, made);
    }
    return packets->global_track;
}

uint32_t mxp__lane_track(mxp_packets *packets, uint32_t parent, uint32_t name)
{
    uint32_t track = ++packets->track_count;
    mxp_name_view view = packets->source->name(packets->source, name);
    descriptor made = begin_descriptor(packets, track, parent);
    if (view.length == 0) {
        mxp__wire_string(packets->out, 2, "overlapping");
    } else {
        mxp__wire_text(packets->out, 2, view.text, view.length);
    }
    if (mxp__lane_place(&view) != 0) {  // below those that have no place, whose rank is 0
        mxp__wire_u64(packets->out, 12, (uint64_t)((int64_t)mxp__lane_place(&view) - 256));
    }
    end_descriptor(packets, made);
    return track;
}

uint32_t mxp__counter_track(mxp_packets *packets, const char *text, size_t length, uint8_t unit)
{
    static const uint8_t units[] = {[MXP_UNIT_NS] = 1, [MXP_UNIT_BYTES] = 3};
    uint32_t track = ++packets->track_count;
    descriptor made = begin_descriptor(packets, track, PROCESS_TRACK);
    mxp__wire_text(packets->out, 2, text, length);
    size_t counter = mxp__wire_begin(packets->out, 8);
    if (unit < sizeof units && units[unit] != 0) {
        mxp__wire_u64(packets->out, 3, units[unit]);
    } else if (unit == MXP_UNIT_PERCENT) {
        mxp__wire_string(packets->out, 6, "%");
    }
    mxp__wire_end(packets->out, counter);
    mxp__wire_u64(packets->out, 15, 2);  // not merged with another of the same name
    end_descriptor(packets, made);
    return track;
}

static bool has_places(mxp_source *source)
{
    uint32_t id = 0;
    while (id < source->name_count) {
        mxp_name_view view = source->name(source, id++);
        if (mxp__lane_place(&view) != 0) {
            return true;
        }
    }
    return false;
}

static void put_process(mxp_packets *packets)
{
    mxp_strbuf title = {0};
    mxp__process_title(packets->source, &title);
    descriptor made = begin_descriptor(packets, PROCESS_TRACK, 0);
    size_t process = mxp__wire_begin(packets->out, 3);
    mxp__wire_u64(packets->out, 1, mxp__chrome_pid(packets->source));
    mxp__wire_text(packets->out, 6, mxp__strbuf_text(&title), title.length);
    mxp__wire_end(packets->out, process);
    packets->out->failed = packets->out->failed || title.failed;
    mxp__strbuf_fini(&title);
    if (has_places(packets->source)) {
        mxp__wire_u64(packets->out, 11, 3);  // tracks are in the order of their ranks
    }
    end_descriptor(packets, made);
}

static void put_thread(mxp_packets *packets, uint32_t index)
{
    mxp_source *source = packets->source;
    mxp_name_view name = source->name(source, source->threads[index].name);
    char number[32];
    if (name.length == 0) {
        name.length = (uint32_t)snprintf(number, sizeof number, "thread %" PRIu32, index);
        name.text = number;
    }
    descriptor made = begin_descriptor(packets, FIRST_THREAD_TRACK + index, PROCESS_TRACK);
    size_t thread = mxp__wire_begin(packets->out, 4);
    mxp__wire_u64(packets->out, 1, mxp__chrome_pid(source));
    mxp__wire_u64(packets->out, 2, mxp__chrome_thread_row(packets->tracks, index));
    mxp__wire_u64(packets->out, 3, index);
    mxp__wire_text(packets->out, 5, name.text, name.length);
    mxp__wire_end(packets->out, thread);
    end_descriptor(packets, made);
}

void mxp__tracks_begin(mxp_packets *packets)
{
    packets->track_count = FIRST_THREAD_TRACK + packets->source->thread_count;
    put_process(packets);
    for (uint32_t i = 0; i < packets->source->thread_count; i++) {
        put_thread(packets, i);
    }
}
