// SPDX-License-Identifier: Apache-2.0
// The order of tracks, blocks and lanes in a page, once all spans are there.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/blocks.h"

static int by_track_class_and_time(const void *one, const void *other)
{
    const mxp_page_block *a = one, *b = other;
    if (a->track != b->track) {
        return a->track < b->track ? -1 : 1;
    }
    if (a->class_of != b->class_of) {
        return a->class_of < b->class_of ? -1 : 1;
    }
    return a->first_ns != b->first_ns ? (a->first_ns < b->first_ns ? -1 : 1)
                                      : (a->section.at < b->section.at ? -1 : 1);
}

static int by_process_and_kind(const void *one, const void *other)
{
    const mxp_page_track *a = *(mxp_page_track *const *)one, *b = *(mxp_page_track *const *)other;
    if (a->process != b->process) {
        return a->process < b->process ? -1 : 1;
    }
    if (a->what != b->what) {
        return a->what < b->what ? -1 : 1;
    }
    return a->thread != b->thread ? (a->thread < b->thread ? -1 : 1)
                                  : (a->number < b->number ? -1 : 1);
}

static int by_track_and_depth(const void *one, const void *other)
{
    const mxp_tile_lane *a = *(mxp_tile_lane *const *)one, *b = *(mxp_tile_lane *const *)other;
    return a->track != b->track ? (a->track < b->track ? -1 : 1) : (a->depth < b->depth ? -1 : 1);
}

// Numbers the tracks anew: those of a process together, operators first.
static int order_tracks(mxp_page_blocks *blocks)
{
    const size_t bytes = blocks->track_count * sizeof(uint32_t);
    uint32_t *now = mxp__alloc(bytes);
    if (now == NULL) {
        return mxp__fail_memory("the tracks of the page");
    }
    qsort(blocks->tracks, blocks->track_count, sizeof *blocks->tracks, by_process_and_kind);
    for (uint32_t i = 0; i < blocks->track_count; i++) {
        now[blocks->tracks[i]->number] = i;
        blocks->tracks[i]->number = i;
    }
    for (size_t i = 0; i < blocks->count; i++) {
        blocks->all[i].track = now[blocks->all[i].track];
    }
    for (size_t i = 0; i < blocks->tiles.lane_count; i++) {
        blocks->tiles.lanes[i]->track = now[blocks->tiles.lanes[i]->track];
    }
    mxp__free(now, bytes);
    return MXP_OK;
}

int mxp__blocks_finish(mxp_page_blocks *blocks)
{
    mxp_tiles *tiles = &blocks->tiles;
    int error = blocks->track_count > 0 ? order_tracks(blocks) : MXP_OK;
    if (error == MXP_OK && blocks->count > 0) {
        qsort(blocks->all, blocks->count, sizeof *blocks->all, by_track_class_and_time);
    }
    if (error == MXP_OK && tiles->lane_count > 0) {
        qsort(tiles->lanes, tiles->lane_count, sizeof *tiles->lanes, by_track_and_depth);
    }
    return error == MXP_OK ? mxp__block_stats_finish(&blocks->stats, &blocks->spool) : error;
}
