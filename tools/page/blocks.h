// SPDX-License-Identifier: Apache-2.0
// Spans on their way into blocks: of each track, class of duration and zone one stream, of which
// blocks are made as it fills. Spans of a track come from the last to the first by their ends.
//
// Memory: what is not in a block yet, at most 20,480 spans a stream.
#ifndef MXP_TOOLS_BLOCKS_H
#define MXP_TOOLS_BLOCKS_H

#include "page/block_stats.h"
#include "page/depths.h"
#include "page/tiles.h"

enum {
    MXP_BLOCK_SPANS = 16384,
    MXP_BLOCK_AHEAD = 4096,  // more than that: what comes later may begin before them
    MXP_BLOCK_COLUMNS = 4,
    MXP_OPERATOR_COLUMNS = 9  // of operators
};

// How much a span is wanted when the page must be smaller: by the time in which it begins.
typedef enum mxp_page_zone { MXP_ZONE_OUTSIDE, MXP_ZONE_KEPT, MXP_ZONE_FULL } mxp_page_zone;
enum { MXP_PAGE_ZONES = MXP_ZONE_FULL + 1 };

typedef struct mxp_zone_window {
    int64_t from_ns, until_ns;
    mxp_page_zone zone;
} mxp_zone_window;

// Times are ns since the trace's begin.
typedef struct mxp_page_span {
    uint64_t begin_ns, duration_ns;
    uint32_t kind, depth;
} mxp_page_span;

// What operators have besides.
typedef struct mxp_page_operator {
    int64_t from_push_ns, from_ready_ns;  // start minus push, minus ready
    uint32_t id, released_by;
    int32_t pusher;  // thread, -1: unknown
} mxp_page_operator;

typedef struct mxp_block_stream {
    mxp_page_span *spans;
    mxp_page_operator *operators;
    size_t count, capacity, operator_capacity;
} mxp_block_stream;

typedef enum mxp_track_kind {
    MXP_TRACK_OPERATORS,
    MXP_TRACK_CALLS,
    MXP_TRACK_ASYNC,
    MXP_TRACK_LANE,
    MXP_TRACK_INSTANTS,
    MXP_TRACK_KINDS
} mxp_track_kind;

typedef struct mxp_page_track {
    mxp_track_kind what;
    uint32_t process, number;
    int32_t thread;  // -1: of none
    uint32_t name;  // of a lane: name id; else 0
    uint64_t spans;
    uint32_t rows;
    mxp_page_depths depths;
    bool is_large;  // more than MXP_BLOCK_SPANS: its spans are in classes
    mxp_block_stream first;  // until it is large
    mxp_block_stream streams[MXP_PAGE_CLASSES][MXP_PAGE_ZONES];
    mxp_tile_lane *lanes[MXP_PAGE_ROWS];
} mxp_page_track;

typedef struct mxp_page_block {
    uint32_t track, count;
    uint8_t class_of, zone;
    bool is_small;  // of a track that is not large: never left out
    bool is_dropped, is_narrow;  // narrow: without ids and threads of operators
    uint64_t first_ns, last_ns;
    mxp_block_rows rows;
    mxp_spooled_section section;
} mxp_page_block;

// Begins as zeros but for `tiles.levels`, the windows and the spool.
typedef struct mxp_page_blocks {
    mxp_page_spool spool;
    mxp_tiles tiles;
    mxp_block_stats stats;
    const mxp_zone_window *windows;  // by time, apart from each other
    size_t window_count, window;
    mxp_page_track **tracks;
    size_t track_count, track_capacity;
    mxp_page_block *all;
    size_t count, capacity;
    uint64_t spans;
    uint32_t *order;  // of the block that is made
    size_t order_capacity;
    mxp_strbuf columns[MXP_OPERATOR_COLUMNS], raw, packed;
} mxp_page_blocks;

// A new track. Null: MXP_ENOMEM.
mxp_page_track *mxp__blocks_track(mxp_page_blocks *blocks, mxp_track_kind what, uint32_t process,
                                  int32_t thread);
// Adds a span, whose depth is found here; `op`: what spans of a track of operators have besides.
// MXP_ENOMEM, MXP_EIO.
int mxp__blocks_add(mxp_page_blocks *blocks, mxp_page_track *track, mxp_page_span span,
                    const mxp_page_operator *op);
// After the last span of a track: its memory is given back. MXP_ENOMEM, MXP_EIO.
int mxp__blocks_end_track(mxp_page_blocks *blocks, mxp_page_track *track);
// After all tracks: puts the blocks into the order of track, class and time. MXP_ENOMEM, MXP_EIO.
int mxp__blocks_finish(mxp_page_blocks *blocks);
void mxp__blocks_fini(mxp_page_blocks *blocks);

#endif
