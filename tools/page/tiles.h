// SPDX-License-Identifier: Apache-2.0
// Tiles: sums over bins of the spans that are too short to be seen at a level, by lane (a row of a
// track). Spans of a lane come from the last to the first. A span counts in the bin in which it
// begins, at each level that is coarser than its class; finer bins are added up into coarser ones
// when they are over, by their kinds, so that each one has the kind with most time.
//
// Memory: 16 bytes a bin, and what is open in each lane. The finest levels are given up once it
// shows that their bins, or those of the finest one that has any, are more than half of its spans.
#ifndef MXP_TOOLS_TILES_H
#define MXP_TOOLS_TILES_H

#include "base/strbuf.h"
#include "page/levels.h"

typedef struct mxp_tile_bin {
    uint64_t index;
    uint32_t spans;
    uint16_t kind;  // with most time
    uint8_t busy;  // 255: all of it
} mxp_tile_bin;

enum { MXP_TILE_KINDS = 1 << 16 };

typedef struct mxp_tile_share {
    uint32_t kind, spans;
    uint64_t busy_ns;
} mxp_tile_share;

// The bins of one lane at one level.
typedef struct mxp_tile_row {
    mxp_tile_bin *bins;  // that are over, the latest first
    size_t count, capacity;
    uint64_t index;  // of the one that is open, if it has shares
    mxp_tile_share *shares;  // as they came, now and then joined by kind
    size_t share_count, share_capacity;
} mxp_tile_row;

typedef struct mxp_tile_lane {
    uint32_t track, depth;
    mxp_tile_row rows[MXP_PAGE_LEVELS];
} mxp_tile_lane;

// Begins as zeros but for `levels`.
typedef struct mxp_tiles {
    mxp_page_levels levels;
    mxp_tile_lane **lanes;
    size_t lane_count, lane_capacity;
    uint64_t spans[MXP_PAGE_LEVELS];  // of the class that begins to count at each level
    uint64_t bins[MXP_PAGE_LEVELS];  // that are over
    size_t given_up;  // levels, the finest ones, that do not pay
    uint64_t adds;
    uint16_t *place_of;  // of kinds, among the shares of the row that is joined
} mxp_tiles;

// The lane is new. Null: MXP_ENOMEM.
mxp_tile_lane *mxp__tiles_lane(mxp_tiles *tiles, uint32_t track, uint32_t depth);
// Adds a span of a class above 0. MXP_ENOMEM.
int mxp__tiles_add(mxp_tiles *tiles, mxp_tile_lane *lane, unsigned class_of, uint64_t begin_ns,
                   uint64_t duration_ns, uint32_t kind);
// After the last span of a lane. MXP_ENOMEM.
int mxp__tiles_end_lane(mxp_tiles *tiles, mxp_tile_lane *lane);

// How many levels pay: up to the first whose bins are more than half of the spans they sum up.
size_t mxp__tiles_worth(const mxp_tiles *tiles);
uint64_t mxp__tiles_bins(const mxp_tiles *tiles, size_t level);
// Appends the section of a level. Lanes stand in the order in which they were made. MXP_ENOMEM.
int mxp__tiles_pack(const mxp_tiles *tiles, size_t level, mxp_strbuf *raw, mxp_strbuf *packed);
void mxp__tiles_fini(mxp_tiles *tiles);

#endif
