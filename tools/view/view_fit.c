// SPDX-License-Identifier: Apache-2.0
// A page within its bytes: what is left out, and in which order. Tables, verdict, tiles, totals and
// memory are of everything in any case.
#include <string.h>

#include "base/fail.h"
#include "compression/gunzip.h"
#include "page/columns.h"
#include "view/view.h"

// Of the whole page; what tiles do not need is for the blocks.
enum { TILES_PERCENT = 20 };

// What a section adds to a page: base64, and the element around it.
static uint64_t page_bytes_of(uint64_t packed_bytes)
{
    return (packed_bytes + 2) / 3 * 4 + 72;
}

static bool is_in(const mxp_view *view, const mxp_page_block *block)
{
    if (block->is_small || block->zone == MXP_ZONE_FULL) {
        return true;
    }
    const unsigned class_of =
        block->class_of < view->levels ? block->class_of : (unsigned)view->levels;
    return class_of < (block->zone == MXP_ZONE_OUTSIDE ? view->dropped.class_outside
                                                       : view->dropped.class_kept);
}

static uint64_t all_bytes(const mxp_view *view)
{
    const mxp_page_blocks *blocks = &view->page.blocks;
    uint64_t bytes = 0;
    for (size_t i = 0; i < view->section_count; i++) {
        bytes +=
            view->sections[i].is_dropped ? 0 : page_bytes_of(view->sections[i].at.packed_bytes);
    }
    for (size_t i = 0; i < blocks->count; i++) {
        if (is_in(view, &blocks->all[i])) {
            bytes += page_bytes_of(blocks->all[i].section.packed_bytes);
        }
    }
    return bytes;
}

// ---- tiles -------------------------------------------------------------------------------------
// The finest levels go first: what they sum up is in the blocks.
static void limit_tiles(mxp_view *view)
{
    const uint64_t most = view->wish->limit_bytes / 100 * TILES_PERCENT;
    uint64_t bytes = 0;
    size_t level = 0;
    for (size_t i = 0; i < view->section_count; i++) {
        mxp_view_section *section = &view->sections[i];
        if (section->name[0] != 't') {
            continue;
        }
        bytes += page_bytes_of(section->at.packed_bytes);
        section->is_dropped = level > 0 && bytes > most;
        view->levels = section->is_dropped && view->levels > level ? level : view->levels;
        level++;
    }
}

// ---- operators' columns ------------------------------------------------------------------------
static int unpack(const mxp_strbuf *packed, mxp_strbuf *raw, uint64_t bytes)
{
    mxp_gunzip *gunzip;
    mxp__strbuf_clear(raw);
    char *to = mxp__strbuf_reserve(raw, bytes);
    if (to == NULL) {
        return mxp__fail_memory("a block of the page");
    }
    int error = mxp__gunzip_open(&gunzip);
    mxp_gunzip_piece piece = {.in = (const unsigned char *)packed->data,
                              .in_bytes = packed->length,
                              .out = to,
                              .out_bytes = bytes};
    if (error == MXP_OK && mxp__gunzip_step(gunzip, &piece) == MXP_GUNZIP_DAMAGED) {
        error = mxp__fail(MXP_EIO, "the page's temporary file was changed");
    }
    raw->length = bytes;
    mxp__gunzip_close(gunzip);
    return error;
}

static uint32_t word(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// The columns of an unpacked block that stay, as a block of its own.
static int repack(const mxp_strbuf *raw, size_t columns, mxp_strbuf *again, mxp_strbuf *packed)
{
    mxp_strbuf kept[MXP_OPERATOR_COLUMNS] = {{0}};
    const size_t all = word(raw->data + 8);
    size_t at = 12 + 4 * all;
    for (size_t i = 0; i < columns && i < all; i++) {
        const uint32_t length = word(raw->data + 12 + 4 * i);
        mxp__strbuf_append(&kept[i], raw->data + at, length);
        at += length;
    }
    mxp__strbuf_clear(packed);
    const int error = mxp__columns_pack(kept, columns, word(raw->data + 4), again, packed);
    for (size_t i = 0; i < columns; i++) {
        mxp__strbuf_fini(&kept[i]);
    }
    return error;
}

enum { NARROW_COLUMNS = 6 };

static int narrow(mxp_view *view, mxp_page_block *block, mxp_strbuf *raw, mxp_strbuf *again,
                  mxp_strbuf *packed)
{
    mxp_page_spool *spool = &view->page.blocks.spool;
    int error = mxp__page_spool_read(spool, &block->section, packed);
    error = error == MXP_OK ? unpack(packed, raw, block->section.bytes) : error;
    error = error == MXP_OK ? repack(raw, NARROW_COLUMNS, again, packed) : error;
    return error == MXP_OK ? mxp__page_spool_add(spool, packed, again->length, &block->section)
                           : error;
}

static int narrow_all(mxp_view *view)
{
    mxp_page_blocks *blocks = &view->page.blocks;
    mxp_strbuf raw = {0}, again = {0}, packed = {0};
    int error = MXP_OK;
    for (size_t i = 0; i < blocks->count && error == MXP_OK; i++) {
        mxp_page_block *block = &blocks->all[i];
        if (blocks->tracks[block->track]->what == MXP_TRACK_OPERATORS && !block->is_small &&
            block->zone == MXP_ZONE_OUTSIDE) {
            block->is_narrow = true;
            error = narrow(view, block, &raw, &again, &packed);
        }
    }
    view->dropped.columns = true;
    mxp__strbuf_fini(&raw);
    mxp__strbuf_fini(&again);
    mxp__strbuf_fini(&packed);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
// The next class to go; false: there is none.
static bool drop_class(mxp_view *view)
{
    if (view->dropped.class_outside > 1) {
        view->dropped.class_outside--;
        return true;
    }
    if (view->dropped.class_kept > 1) {
        view->dropped.class_kept--;
        return true;
    }
    return false;
}

static void mark_dropped(mxp_view *view)
{
    mxp_page_blocks *blocks = &view->page.blocks;
    view->dropped.spans = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        mxp_page_block *block = &blocks->all[i];
        block->is_dropped = !is_in(view, block);
        view->dropped.spans += block->is_dropped ? block->count : 0;
    }
}

int mxp__view_fit(mxp_view *view, uint64_t page_bytes)
{
    const uint64_t limit = view->wish->limit_bytes;
    int error = MXP_OK;
    if (limit != UINT64_MAX) {
        limit_tiles(view);
    }
    view->dropped.class_outside = view->dropped.class_kept = (unsigned)view->levels + 1;
    if (all_bytes(view) + page_bytes > limit) {
        error = narrow_all(view);
    }
    while (error == MXP_OK && all_bytes(view) + page_bytes > limit && drop_class(view)) {
    }
    mark_dropped(view);
    return error;
}
