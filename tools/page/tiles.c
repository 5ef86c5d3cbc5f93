// SPDX-License-Identifier: Apache-2.0
// See tiles.h.
#include "page/tiles.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"

// Kinds that are told apart in a bin; what comes later counts as the last of them.
enum { SHARES_MAX = 256 };

static const char memory_for[] = "the tiles of the page";

mxp_tile_lane *mxp__tiles_lane(mxp_tiles *tiles, uint32_t track, uint32_t depth)
{
    mxp_tile_lane *lane = mxp__alloc(sizeof *lane);
    if (lane == NULL || mxp__grow(&tiles->lanes, &tiles->lane_capacity, tiles->lane_count + 1,
                                  sizeof *tiles->lanes) != MXP_OK) {
        mxp__free(lane, sizeof *lane);
        mxp__fail_memory(memory_for);
        return NULL;
    }
    lane->track = track;
    lane->depth = depth;
    tiles->lanes[tiles->lane_count++] = lane;
    return lane;
}

static uint8_t busy_of(uint64_t busy_ns, uint64_t width_ns)
{
    const uint64_t busy = busy_ns < width_ns ? busy_ns * 255 / width_ns : 255;
    return (uint8_t)busy;
}

// ---- bins --------------------------------------------------------------------------------------
// Place of a kind; share_count: there is none. What place_of has of bins before is not its kind's.
static inline size_t find_share(const mxp_tile_row *row, uint32_t kind)
{
    size_t i = 0;
    if (row->place_of != NULL && kind < MXP_TILE_PLACES) {
        i = row->place_of[kind];
        return i < row->share_count && row->shares[i].kind == kind ? i : row->share_count;
    }
    while (i < row->share_count && row->shares[i].kind != kind) {
        i++;
    }
    return i;
}

static void forget_places(mxp_tile_row *row)
{
    mxp__free(row->place_of, MXP_TILE_PLACES * sizeof *row->place_of);
    row->place_of = NULL;
}

// Of few kinds a search is as fast. Without memory for places it goes on.
static void make_places(mxp_tile_row *row)
{
    row->place_of = mxp__alloc(MXP_TILE_PLACES * sizeof *row->place_of);
    for (size_t i = 0; row->place_of != NULL && i < row->share_count; i++) {
        if (row->shares[i].kind < MXP_TILE_PLACES) {
            row->place_of[row->shares[i].kind] = (uint16_t)i;
        }
    }
}

static int append_share(mxp_tile_row *row, const mxp_tile_share *share)
{
    enum { FEW = 2 };
    const size_t place = row->share_count;
    if (place == row->share_capacity &&
        mxp__grow(&row->shares, &row->share_capacity, place + 1, sizeof *row->shares) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    row->shares[row->share_count++] = *share;
    if (row->place_of != NULL && share->kind < MXP_TILE_PLACES) {
        row->place_of[share->kind] = (uint16_t)place;
    } else if (row->place_of == NULL && place == FEW) {
        make_places(row);
    }
    return MXP_OK;
}

static inline int add_share(mxp_tile_row *row, const mxp_tile_share *share)
{
    size_t i = find_share(row, share->kind);
    if (i == row->share_count && i < SHARES_MAX) {
        return append_share(row, share);
    }
    i = i < row->share_count ? i : row->share_count - 1;
    row->shares[i].busy_ns += share->busy_ns;
    row->shares[i].spans += share->spans;
    return MXP_OK;
}

static size_t active_levels(const mxp_tiles *tiles)
{
    return tiles->levels.count - tiles->given_up;
}

static int push_bin(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level, size_t at,
                    mxp_tile_bin bin)
{
    mxp_tile_row *row = &lane->rows[level];
    tiles->bins[level]++;
    if (row->count == row->capacity &&
        mxp__grow(&row->bins, &row->capacity, row->count + 1, sizeof *row->bins) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    if (at < row->count) {
        memmove(row->bins + at + 1, row->bins + at, (row->count - at) * sizeof *row->bins);
    }
    row->bins[at] = bin;
    row->count++;
    return MXP_OK;
}

static int add_at(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level, uint64_t index,
                  const mxp_tile_share *share);

// A share of the open bin of the level below; that of the first one opens the bin for all.
static inline int hand_up(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level,
                          const mxp_tile_share *share)
{
    mxp_tile_row *row = &lane->rows[level];
    const uint64_t index = lane->rows[level + 1].index / MXP_PAGE_RADIX;
    return row->share_count > 0 && index == row->index ? add_share(row, share)
                                                       : add_at(tiles, lane, level, index, share);
}

// The open bin of a level is over.
static int end_bin(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level)
{
    mxp_tile_row *row = &lane->rows[level];
    uint64_t busy_ns = 0, most_ns = 0;
    mxp_tile_bin bin = {.index = row->index};
    int error = MXP_OK;
    if (row->share_count == 0) {
        return MXP_OK;
    }
    for (size_t i = 0; i < row->share_count && error == MXP_OK; i++) {
        const mxp_tile_share *share = &row->shares[i];
        if (i == 0 || share->busy_ns > most_ns) {
            most_ns = share->busy_ns;
            bin.kind = (uint16_t)share->kind;
        }
        busy_ns += share->busy_ns;
        bin.spans += share->spans;
        error = level == 0 ? MXP_OK : hand_up(tiles, lane, level - 1, share);
    }
    bin.busy = busy_of(busy_ns, tiles->levels.width_ns[level]);
    row->share_count = 0;
    return error == MXP_OK ? push_bin(tiles, lane, level, row->count, bin) : error;
}

// A span that begins behind the bin that is open: of a row whose spans overlap.
static int add_late(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level, uint64_t index,
                    const mxp_tile_share *share)
{
    mxp_tile_row *row = &lane->rows[level];
    const uint64_t width_ns = tiles->levels.width_ns[level];
    size_t low = 0, high = row->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (row->bins[middle].index > index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int error = MXP_OK;
    if (low < row->count && row->bins[low].index == index) {
        const unsigned busy = row->bins[low].busy + (unsigned)busy_of(share->busy_ns, width_ns);
        row->bins[low].busy = (uint8_t)(busy < 255 ? busy : 255);
        row->bins[low].spans += share->spans;
    } else {
        error = push_bin(tiles, lane, level, low,
                         (mxp_tile_bin){.index = index,
                                        .spans = share->spans,
                                        .kind = (uint16_t)share->kind,
                                        .busy = busy_of(share->busy_ns, width_ns)});
    }
    return error == MXP_OK && level > 0
               ? add_at(tiles, lane, level - 1, index / MXP_PAGE_RADIX, share)
               : error;
}

// Before a level goes on to an earlier bin: what finer levels have of later ones is handed up.
static int end_later(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level, uint64_t index)
{
    int error = MXP_OK;
    for (size_t finer = active_levels(tiles) - 1; finer > level && error == MXP_OK; finer--) {
        const mxp_tile_row *row = &lane->rows[finer];
        if (row->share_count > 0 && row->index >> (2 * (finer - level)) > index) {
            error = end_bin(tiles, lane, finer);
        }
    }
    if (error == MXP_OK && lane->rows[level].index > index) {
        error = end_bin(tiles, lane, level);
    }
    return error;
}

static int add_at(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level, uint64_t index,
                  const mxp_tile_share *share)
{
    mxp_tile_row *row = &lane->rows[level];
    if (row->share_count > 0 && index == row->index) {
        return add_share(row, share);
    }
    if (row->share_count > 0 && index > row->index) {
        return add_late(tiles, lane, level, index, share);
    }
    const int error = end_later(tiles, lane, level, index);
    if (error != MXP_OK) {
        return error;
    }
    if (row->share_count == 0 && row->count > 0 && index >= row->bins[row->count - 1].index) {
        return add_late(tiles, lane, level, index, share);
    }
    if (row->share_count > 0 && row->index != index) {  // handed up from a finer level
        return add_late(tiles, lane, level, index, share);
    }
    row->index = index;
    return add_share(row, share);
}

// ---- levels that do not pay ---------------------------------------------------------------------
static uint64_t spans_of(const mxp_tiles *tiles, size_t level)
{
    uint64_t spans = 0;
    for (size_t i = level; i < tiles->levels.count; i++) {
        spans += tiles->spans[i];
    }
    return spans;
}

static void forget_row(mxp_tile_row *row)
{
    mxp__free(row->bins, row->capacity * sizeof *row->bins);
    mxp__free(row->shares, row->share_capacity * sizeof *row->shares);
    forget_places(row);
    *row = (mxp_tile_row){0};
}

// What the finest level has open is handed up; all else of it goes.
static int give_up_level(mxp_tiles *tiles)
{
    const size_t level = active_levels(tiles) - 1;
    int error = MXP_OK;
    for (size_t i = 0; i < tiles->lane_count && error == MXP_OK; i++) {
        error = end_bin(tiles, tiles->lanes[i], level);
        forget_row(&tiles->lanes[i]->rows[level]);
    }
    tiles->given_up++;
    return error;
}

// Now and then: whether the finest level pays, which 65,536 spans show.
static int give_up_levels(mxp_tiles *tiles)
{
    enum { OFTEN = 1 << 14, SHOWS = 1 << 16 };
    int error = MXP_OK;
    if (++tiles->adds % OFTEN != 0) {
        return MXP_OK;
    }
    while (error == MXP_OK && active_levels(tiles) > 1) {
        const size_t level = active_levels(tiles) - 1;
        const uint64_t spans = spans_of(tiles, level);
        if (spans < SHOWS || tiles->bins[level] * 2 <= spans + spans / 8) {
            break;
        }
        error = give_up_level(tiles);
    }
    return error;
}

int mxp__tiles_add(mxp_tiles *tiles, mxp_tile_lane *lane, unsigned class_of, uint64_t begin_ns,
                   uint64_t duration_ns, uint32_t kind)
{
    assert(class_of > 0 && class_of <= tiles->levels.count);
    const mxp_tile_share share = {.kind = kind, .spans = 1, .busy_ns = duration_ns};
    tiles->spans[class_of - 1]++;
    const int error = give_up_levels(tiles);
    const size_t level = class_of <= active_levels(tiles) ? class_of - 1 : active_levels(tiles) - 1;
    const uint64_t width_ns = tiles->levels.width_ns[level];
    mxp_tile_row *row = &lane->rows[level];
    if (error != MXP_OK) {
        return error;
    }
    // Mostly it is the open bin, which is told without a division.
    if (row->share_count > 0 && begin_ns - row->index * width_ns < width_ns) {
        return add_share(row, &share);
    }
    return add_at(tiles, lane, level, begin_ns / width_ns, &share);
}

int mxp__tiles_end_lane(mxp_tiles *tiles, mxp_tile_lane *lane)
{
    int error = MXP_OK;
    for (size_t level = active_levels(tiles); level-- > 0 && error == MXP_OK;) {
        mxp_tile_row *row = &lane->rows[level];
        error = end_bin(tiles, lane, level);
        mxp__free(row->shares, row->share_capacity * sizeof *row->shares);
        row->shares = NULL;
        row->share_capacity = 0;
        forget_places(row);
    }
    return error;
}

// ---- levels ------------------------------------------------------------------------------------
uint64_t mxp__tiles_bins(const mxp_tiles *tiles, size_t level)
{
    uint64_t bins = 0;
    for (size_t i = 0; i < tiles->lane_count; i++) {
        bins += tiles->lanes[i]->rows[level].count;
    }
    return bins;
}

size_t mxp__tiles_worth(const mxp_tiles *tiles)
{
    size_t worth = 0;
    for (; worth < active_levels(tiles); worth++) {
        const uint64_t spans = spans_of(tiles, worth);
        if (spans == 0 || mxp__tiles_bins(tiles, worth) * 2 > spans) {
            break;
        }
    }
    return worth;
}

// Appends the columns of one row, the earliest bin first.
static void put_row(const mxp_tile_row *row, uint8_t **to, mxp_strbuf *busy)
{
    uint64_t before = 0;
    for (size_t i = row->count; i-- > 0;) {
        const mxp_tile_bin *bin = &row->bins[i];
        to[0] = mxp__varint_put(to[0], bin->index - before);
        to[1] = mxp__varint_put(to[1], bin->spans);
        to[2] = mxp__varint_put(to[2], bin->kind);
        mxp__strbuf_putc(busy, (char)bin->busy);
        before = bin->index;
    }
}

int mxp__tiles_pack(const mxp_tiles *tiles, size_t level, mxp_strbuf *raw, mxp_strbuf *packed)
{
    enum { INDEX, BUSY, SPANS, KIND, COLUMNS };
    mxp_strbuf columns[COLUMNS] = {{0}};
    const uint64_t bins = mxp__tiles_bins(tiles, level);
    uint8_t *to[] = {mxp__column_begin(&columns[INDEX], bins),
                     mxp__column_begin(&columns[SPANS], bins),
                     mxp__column_begin(&columns[KIND], bins)};
    int error = MXP_OK;
    if (to[0] == NULL || to[1] == NULL || to[2] == NULL) {
        error = mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < tiles->lane_count && error == MXP_OK; i++) {
        put_row(&tiles->lanes[i]->rows[level], to, &columns[BUSY]);
    }
    if (error == MXP_OK) {
        mxp__column_end(&columns[INDEX], to[0]);
        mxp__column_end(&columns[SPANS], to[1]);
        mxp__column_end(&columns[KIND], to[2]);
        error = mxp__columns_pack(columns, COLUMNS, bins, raw, packed);
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        mxp__strbuf_fini(&columns[i]);
    }
    return error;
}

void mxp__tiles_fini(mxp_tiles *tiles)
{
    for (size_t i = 0; i < tiles->lane_count; i++) {
        mxp_tile_lane *lane = tiles->lanes[i];
        for (size_t level = 0; level < MXP_PAGE_LEVELS; level++) {
            forget_row(&lane->rows[level]);
        }
        mxp__free(lane, sizeof *lane);
    }
    mxp__free(tiles->lanes, tiles->lane_capacity * sizeof *tiles->lanes);
    *tiles = (mxp_tiles){0};
}
