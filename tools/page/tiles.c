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
    if (tiles->place_of == NULL) {
        tiles->place_of = mxp__alloc(MXP_TILE_KINDS * sizeof *tiles->place_of);
    }
    if (lane == NULL || tiles->place_of == NULL ||
        mxp__grow(&tiles->lanes, &tiles->lane_capacity, tiles->lane_count + 1,
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
// Makes one of the shares of each kind, which stand in the order of their first ones; kinds beyond
// SHARES_MAX count as the last one. What place_of has of rows before is not its kind's.
static void join_shares(mxp_tiles *tiles, mxp_tile_row *row)
{
    mxp_tile_share *shares = row->shares;
    size_t count = 0;
    for (size_t i = 0; i < row->share_count; i++) {
        const mxp_tile_share share = shares[i];
        const size_t known = tiles->place_of[share.kind];
        const bool is_known = known < count && shares[known].kind == share.kind;
        if (!is_known && count < SHARES_MAX) {
            tiles->place_of[share.kind] = (uint16_t)count;
            shares[count++] = share;
        } else {
            mxp_tile_share *const into = &shares[is_known ? known : count - 1];
            into->busy_ns += share.busy_ns;
            into->spans += share.spans;
        }
    }
    row->share_count = count;
}

// Joining gives room mostly: a row takes no more than twice what its kinds do.
static int make_share_room(mxp_tiles *tiles, mxp_tile_row *row)
{
    join_shares(tiles, row);
    if (row->share_count * 2 >= row->share_capacity &&
        mxp__grow(&row->shares, &row->share_capacity, row->share_capacity + 1,
                  sizeof *row->shares) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    return MXP_OK;
}

static inline int add_share(mxp_tiles *tiles, mxp_tile_row *row, const mxp_tile_share *share)
{
    if (row->share_count == row->share_capacity && make_share_room(tiles, row) != MXP_OK) {
        return MXP_ENOMEM;
    }
    row->shares[row->share_count++] = *share;
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

// The shares of a bin that is over, to the level above it. The first one opens the bin for all.
static int hand_up(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level)
{
    const mxp_tile_row *row = &lane->rows[level];
    mxp_tile_row *above = &lane->rows[level - 1];
    const uint64_t index = row->index / MXP_PAGE_RADIX;
    int error = MXP_OK;
    for (size_t i = 0; i < row->share_count && error == MXP_OK; i++) {
        error = above->share_count > 0 && index == above->index
                    ? add_share(tiles, above, &row->shares[i])
                    : add_at(tiles, lane, level - 1, index, &row->shares[i]);
    }
    return error;
}

static mxp_tile_bin bin_of(const mxp_tile_row *row, uint64_t width_ns)
{
    uint64_t busy_ns = 0, most_ns = row->shares[0].busy_ns;
    uint32_t spans = 0, kind = row->shares[0].kind;
    for (size_t i = 0; i < row->share_count; i++) {
        const mxp_tile_share share = row->shares[i];
        kind = share.busy_ns > most_ns ? share.kind : kind;
        most_ns = share.busy_ns > most_ns ? share.busy_ns : most_ns;
        busy_ns += share.busy_ns;
        spans += share.spans;
    }
    return (mxp_tile_bin){.index = row->index,
                          .spans = spans,
                          .kind = (uint16_t)kind,
                          .busy = busy_of(busy_ns, width_ns)};
}

// The open bin of a level is over.
static int end_bin(mxp_tiles *tiles, mxp_tile_lane *lane, size_t level)
{
    mxp_tile_row *row = &lane->rows[level];
    if (row->share_count == 0) {
        return MXP_OK;
    }
    join_shares(tiles, row);
    const mxp_tile_bin bin = bin_of(row, tiles->levels.width_ns[level]);
    const int error = level == 0 ? MXP_OK : hand_up(tiles, lane, level);
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
        return add_share(tiles, row, share);
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
    return add_share(tiles, row, share);
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

// The finest level that has spans; MXP_PAGE_LEVELS: it may pay yet, which 65,536 of them show. No
// level finer than one that does not pay is of use, but those that are empty yet wait for more.
static size_t find_idle_level(const mxp_tiles *tiles)
{
    enum { SHOWS = 1 << 16, SHOWS_FINER = 1 << 20 };
    const size_t finest = active_levels(tiles) - 1;
    size_t level = finest;
    while (level > 0 && spans_of(tiles, level) == 0) {
        level--;
    }
    const uint64_t spans = spans_of(tiles, level);
    const bool is_shown = spans >= (level < finest ? SHOWS_FINER : SHOWS);
    return level > 0 && is_shown && tiles->bins[level] * 2 > spans + spans / 8 ? level
                                                                               : MXP_PAGE_LEVELS;
}

static int give_up_levels(mxp_tiles *tiles)
{
    int error = MXP_OK;
    for (size_t level; error == MXP_OK && (level = find_idle_level(tiles)) < MXP_PAGE_LEVELS;) {
        while (error == MXP_OK && active_levels(tiles) > level) {
            error = give_up_level(tiles);
        }
    }
    return error;
}

int mxp__tiles_add(mxp_tiles *tiles, mxp_tile_lane *lane, unsigned class_of, uint64_t begin_ns,
                   uint64_t duration_ns, uint32_t kind)
{
    enum { OFTEN = 1 << 14 };  // between two looks at what the levels pay
    assert(class_of > 0 && class_of <= tiles->levels.count && kind < MXP_TILE_KINDS);
    const mxp_tile_share share = {.kind = kind, .spans = 1, .busy_ns = duration_ns};
    tiles->spans[class_of - 1]++;
    const int error = ++tiles->adds % OFTEN == 0 ? give_up_levels(tiles) : MXP_OK;
    const size_t level = class_of <= active_levels(tiles) ? class_of - 1 : active_levels(tiles) - 1;
    const uint64_t width_ns = tiles->levels.width_ns[level];
    mxp_tile_row *row = &lane->rows[level];
    if (error != MXP_OK) {
        return error;
    }
    // Mostly it is the open bin, which is told without a division.
    if (row->share_count > 0 && begin_ns - row->index * width_ns < width_ns) {
        return add_share(tiles, row, &share);
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
    mxp__free(tiles->place_of, MXP_TILE_KINDS * sizeof *tiles->place_of);
    *tiles = (mxp_tiles){0};
}
