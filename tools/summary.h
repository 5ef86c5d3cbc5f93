// SPDX-License-Identifier: Apache-2.0
// The figures of a whole trace, all its processes together, found in one pass: how much was
// recorded, when, what was lost, what recording cost, how often frames came. overview.h prints
// them.
#ifndef MXP_TOOLS_SUMMARY_H
#define MXP_TOOLS_SUMMARY_H

#include <stdbool.h>

#include "command.h"
#include "open_spans.h"

enum { MXP_SUMMARY_KINDS = MXP_KIND_END };  // a kind beyond is counted under 0

// A frame row: how many ended, from when to when.
typedef struct mxp_frames {
    const mxp_source *source;  // of its process
    uint32_t name;
    uint64_t count;
    int64_t first_ns, last_ns;
} mxp_frames;

typedef struct mxp_summary {
    uint64_t records, bytes, ranges;
    uint64_t by_kind[MXP_SUMMARY_KINDS];
    uint64_t long_spans;  // among by_kind[MXP_KIND_SPAN]
    uint64_t cut_spans;  // clipped at their begin, or closed by a stop
    mxp_open_spans open;
    uint64_t threads;
    uint64_t *thread_records;  // of each thread of the last process
    size_t thread_count;
    uint64_t lost;  // records
    uint64_t unnamed;  // records made under <names full>
    uint64_t unread_chunks, unread_bytes;  // damaged: which cannot be read, or not to their end
    int64_t first_ns, last_ns;  // of everything recorded; equal if there is nothing
    bool has_time;  // first_ns and last_ns are set
    double record_cost_ns;  // as measured by the program, 0 if it did not say
    mxp_frames *frames;  // in the order of their first end
    size_t frame_count, frame_capacity;
} mxp_summary;

// 0, or MXP_ENOMEM. Records that cannot be read are reported; all others are summed up.
int mxp__summary_make(const mxp_command *command, mxp_input *input, mxp_summary *summary);
void mxp__summary_fini(mxp_summary *summary);

double mxp__frames_per_second(const mxp_frames *frames);  // 0 if they took no time

// What has become of a process that has not finished its file, as "died" after its number. Null:
// it has finished it.
const char *mxp__what_became(const mxp_source *source);
// What of a ring was used again while it was read: bytes and chunks. Null: nothing.
const char *mxp__overwritten(const mxp_source *source);
// What of its file could not be read, or of the file it was recovered from: bytes and offsets.
// Null: nothing.
const char *mxp__left_out(const mxp_source *source);
// What the trace that it was made of said that it did not have, in words. Null: nothing.
const char *mxp__incomplete(const mxp_source *source);

#endif
