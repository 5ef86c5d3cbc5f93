// SPDX-License-Identifier: Apache-2.0
// See blocks.h.
#include "page/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"

static const char memory_for[] = "the spans of the page";

static int fail_memory(void)
{
    return mxp__fail_memory(memory_for);
}

mxp_page_track *mxp__blocks_track(mxp_page_blocks *blocks, mxp_track_kind what, uint32_t process,
                                  int32_t thread)
{
    mxp_page_track *track = mxp__alloc(sizeof *track);
    if (track == NULL || mxp__grow(&blocks->tracks, &blocks->track_capacity,
                                   blocks->track_count + 1, sizeof *blocks->tracks) != MXP_OK) {
        mxp__free(track, sizeof *track);
        fail_memory();
        return NULL;
    }
    track->what = what;
    track->process = process;
    track->thread = thread;
    track->number = (uint32_t)blocks->track_count;
    blocks->tracks[blocks->track_count++] = track;
    return track;
}

// ---- a block -----------------------------------------------------------------------------------
typedef struct begin_place {
    uint64_t begin_ns;
    uint32_t place;
} begin_place;

static int by_begin(const void *one, const void *other)
{
    const begin_place *a = one, *b = other;
    return a->begin_ns != b->begin_ns ? (a->begin_ns < b->begin_ns ? -1 : 1)
                                      : (a->place > b->place ? -1 : 1);
}

// The order of begins, however the spans came.
static int sort_order(mxp_page_blocks *blocks, const mxp_block_stream *stream)
{
    const size_t bytes = stream->count * sizeof(begin_place);
    begin_place *begins = mxp__alloc(bytes);
    if (begins == NULL) {
        return fail_memory();
    }
    for (size_t i = 0; i < stream->count; i++) {
        begins[i] = (begin_place){stream->spans[i].begin_ns, (uint32_t)i};
    }
    qsort(begins, stream->count, sizeof *begins, by_begin);
    for (size_t i = 0; i < stream->count; i++) {
        blocks->order[i] = begins[i].place;
    }
    mxp__free(begins, bytes);
    return MXP_OK;
}

// The same where they come from the last to the first, as they mostly do.
static int find_order(mxp_page_blocks *blocks, const mxp_block_stream *stream)
{
    enum { SHIFTS = 16 };  // a span, on the average
    const mxp_page_span *spans = stream->spans;
    size_t shifts = 0;
    if (mxp__grow(&blocks->order, &blocks->order_capacity, stream->count, sizeof *blocks->order) !=
        MXP_OK) {
        return fail_memory();
    }
    uint32_t *order = blocks->order;
    for (size_t i = 0; i < stream->count; i++) {
        const uint32_t at = (uint32_t)(stream->count - 1 - i);
        size_t to = i;
        while (to > 0 && spans[order[to - 1]].begin_ns > spans[at].begin_ns) {
            to--;
        }
        shifts += i - to;
        if (shifts > stream->count * SHIFTS) {
            return sort_order(blocks, stream);
        }
        memmove(order + to + 1, order + to, (i - to) * sizeof *order);
        order[to] = at;
    }
    return MXP_OK;
}

static int begin_columns(mxp_page_blocks *blocks, size_t columns, size_t count, uint8_t **to)
{
    for (size_t i = 0; i < columns; i++) {
        mxp__strbuf_clear(&blocks->columns[i]);
        to[i] = mxp__column_begin(&blocks->columns[i], count);
        if (to[i] == NULL) {
            return fail_memory();
        }
    }
    return MXP_OK;
}

static int put_spans(mxp_page_blocks *blocks, const mxp_block_stream *stream, const uint32_t *order,
                     uint8_t **to, mxp_page_block *block)
{
    uint64_t before_ns = block->first_ns;
    int error = MXP_OK;
    for (size_t i = 0; i < block->count && error == MXP_OK; i++) {
        const mxp_page_span *span = &stream->spans[order[i]];
        const uint64_t end_ns = span->begin_ns + span->duration_ns;
        to[0] = mxp__varint_put(to[0], span->begin_ns - before_ns);
        to[1] = mxp__varint_put(to[1], span->duration_ns);
        to[2] = mxp__varint_put(to[2], span->kind);
        to[3] = mxp__varint_put(to[3], span->depth);
        before_ns = span->begin_ns;
        block->last_ns = end_ns > block->last_ns ? end_ns : block->last_ns;
        error = mxp__block_stats_add(&blocks->stats, span->kind, span->duration_ns);
    }
    return error;
}

static void put_operators(const mxp_block_stream *stream, const uint32_t *order, size_t count,
                          uint8_t **to)
{
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        const mxp_page_operator *op = &stream->operators[order[i]];
        const int64_t id = op->id, releaser = op->released_by;
        to[4] = mxp__signed_put(to[4], op->from_push_ns);
        to[5] = mxp__signed_put(to[5], op->from_ready_ns);
        to[6] = mxp__signed_put(to[6], id - before);
        to[7] = mxp__signed_put(to[7], releaser == 0 ? 0 : id - releaser);
        to[8] = mxp__signed_put(to[8], op->pusher);
        before = id;
    }
}

static int keep_block(mxp_page_blocks *blocks, mxp_page_block *block)
{
    mxp__strbuf_clear(&blocks->packed);
    const size_t columns = blocks->tracks[block->track]->what == MXP_TRACK_OPERATORS
                               ? MXP_OPERATOR_COLUMNS
                               : MXP_BLOCK_COLUMNS;
    int error =
        mxp__columns_pack(blocks->columns, columns, block->count, &blocks->raw, &blocks->packed);
    if (error == MXP_OK) {
        error = mxp__page_spool_add(&blocks->spool, &blocks->packed, blocks->raw.length,
                                    &block->section);
    }
    if (error == MXP_OK) {
        error = mxp__block_stats_end(&blocks->stats, &blocks->spool, &block->rows);
    }
    if (error == MXP_OK && mxp__grow(&blocks->all, &blocks->capacity, blocks->count + 1,
                                     sizeof *blocks->all) != MXP_OK) {
        error = fail_memory();
    }
    if (error == MXP_OK) {
        blocks->all[blocks->count++] = *block;
    }
    return error;
}

// Takes the latest spans of a stream's order, from place `from` on, into a block.
static int make_block(mxp_page_blocks *blocks, const mxp_page_track *track,
                      const mxp_block_stream *stream, size_t from, mxp_page_block *block)
{
    const bool has_operators = track->what == MXP_TRACK_OPERATORS;
    const uint32_t *order = blocks->order + from;
    uint8_t *to[MXP_OPERATOR_COLUMNS];
    const size_t columns = has_operators ? MXP_OPERATOR_COLUMNS : MXP_BLOCK_COLUMNS;
    block->track = track->number;
    block->count = (uint32_t)(stream->count - from);
    block->first_ns = stream->spans[order[0]].begin_ns;
    int error = begin_columns(blocks, columns, block->count, to);
    error = error == MXP_OK ? put_spans(blocks, stream, order, to, block) : error;
    if (error != MXP_OK) {
        return error;
    }
    if (has_operators) {
        put_operators(stream, order, block->count, to);
    }
    for (size_t i = 0; i < columns; i++) {
        mxp__column_end(&blocks->columns[i], to[i]);
    }
    return keep_block(blocks, block);
}

// What is left of a stream when the latest spans are gone: the first `count` of the order.
static int keep_rest(mxp_page_blocks *blocks, mxp_block_stream *stream, size_t count)
{
    const size_t bytes = count * sizeof(mxp_page_span);
    const size_t operator_bytes = count * sizeof(mxp_page_operator);
    mxp_page_span *spans = mxp__alloc(bytes);
    mxp_page_operator *operators = stream->operators != NULL ? mxp__alloc(operator_bytes) : NULL;
    if ((spans == NULL || (stream->operators != NULL && operators == NULL)) && count > 0) {
        mxp__free(spans, bytes);
        mxp__free(operators, operator_bytes);
        return fail_memory();
    }
    for (size_t i = 0; i < count; i++) {  // as they came: the last one first
        spans[count - 1 - i] = stream->spans[blocks->order[i]];
        if (operators != NULL) {
            operators[count - 1 - i] = stream->operators[blocks->order[i]];
        }
    }
    if (count > 0) {
        memcpy(stream->spans, spans, bytes);
    }
    if (operators != NULL) {
        memcpy(stream->operators, operators, operator_bytes);
    }
    stream->count = count;
    mxp__free(spans, bytes);
    mxp__free(operators, operator_bytes);
    return MXP_OK;
}

// ---- streams -----------------------------------------------------------------------------------
static int make_stream_room(mxp_block_stream *stream, bool has_operators)
{
    const size_t count = stream->count + 1;
    const int error = mxp__grow(&stream->spans, &stream->capacity, count, sizeof *stream->spans);
    return error != MXP_OK || !has_operators
               ? error
               : mxp__grow(&stream->operators, &stream->operator_capacity, count,
                           sizeof *stream->operators);
}

static int put_stream(mxp_block_stream *stream, const mxp_page_span *span,
                      const mxp_page_operator *op)
{
    const bool is_full = stream->count == stream->capacity ||
                         (op != NULL && stream->count >= stream->operator_capacity);
    if (is_full && make_stream_room(stream, op != NULL) != MXP_OK) {
        return fail_memory();
    }
    if (op != NULL) {
        stream->operators[stream->count] = *op;
    }
    stream->spans[stream->count++] = *span;
    return MXP_OK;
}

static void stream_fini(mxp_block_stream *stream)
{
    mxp__free(stream->spans, stream->capacity * sizeof *stream->spans);
    mxp__free(stream->operators, stream->operator_capacity * sizeof *stream->operators);
    *stream = (mxp_block_stream){0};
}

// The zone of a time; spans come nearly in the order of time, so it is near the one before.
static mxp_page_zone zone_of(mxp_page_blocks *blocks, uint64_t ns)
{
    const mxp_zone_window *windows = blocks->windows;
    const int64_t at_ns = (int64_t)ns;
    size_t i = blocks->window;
    while (i > 0 && windows[i - 1].from_ns > at_ns) {
        i--;
    }
    while (i < blocks->window_count && windows[i].from_ns <= at_ns) {
        i++;
    }
    blocks->window = i;  // behind the last one that begins before
    return i > 0 && windows[i - 1].until_ns > at_ns ? windows[i - 1].zone : MXP_ZONE_OUTSIDE;
}

static int flush(mxp_page_blocks *blocks, mxp_page_track *track, unsigned class_of,
                 mxp_page_zone zone, size_t least)
{
    mxp_block_stream *stream = &track->streams[class_of][zone];
    int error = MXP_OK;
    while (error == MXP_OK && stream->count > least) {
        mxp_page_block block = {.class_of = (uint8_t)class_of, .zone = (uint8_t)zone};
        error = find_order(blocks, stream);
        const size_t from = stream->count > MXP_BLOCK_SPANS ? stream->count - MXP_BLOCK_SPANS : 0;
        error = error == MXP_OK ? make_block(blocks, track, stream, from, &block) : error;
        error = error == MXP_OK ? keep_rest(blocks, stream, from) : error;
    }
    return error;
}

static int add_to_class(mxp_page_blocks *blocks, mxp_page_track *track, const mxp_page_span *span,
                        const mxp_page_operator *op)
{
    const unsigned class_of = mxp__page_class(&blocks->tiles.levels, span->duration_ns);
    const mxp_page_zone zone = zone_of(blocks, span->begin_ns);
    mxp_tile_lane **lane = &track->lanes[span->depth];
    int error = put_stream(&track->streams[class_of][zone], span, op);
    if (error == MXP_OK && class_of > 0 && *lane == NULL) {
        *lane = mxp__tiles_lane(&blocks->tiles, track->number, span->depth);
        error = *lane == NULL ? MXP_ENOMEM : MXP_OK;
    }
    if (error == MXP_OK && class_of > 0) {
        error = mxp__tiles_add(&blocks->tiles, *lane, class_of, span->begin_ns, span->duration_ns,
                               span->kind);
    }
    if (error == MXP_OK &&
        track->streams[class_of][zone].count >= MXP_BLOCK_SPANS + MXP_BLOCK_AHEAD) {
        error = flush(blocks, track, class_of, zone, MXP_BLOCK_SPANS + MXP_BLOCK_AHEAD - 1);
    }
    return error;
}

static int become_large(mxp_page_blocks *blocks, mxp_page_track *track)
{
    int error = MXP_OK;
    track->is_large = true;
    for (size_t i = 0; i < track->first.count && error == MXP_OK; i++) {
        const mxp_page_operator *op =
            track->first.operators != NULL ? &track->first.operators[i] : NULL;
        error = add_to_class(blocks, track, &track->first.spans[i], op);
    }
    stream_fini(&track->first);
    return error;
}

int mxp__blocks_add(mxp_page_blocks *blocks, mxp_page_track *track, mxp_page_span span,
                    const mxp_page_operator *op)
{
    assert((op != NULL) == (track->what == MXP_TRACK_OPERATORS));
    const int64_t begin_ns = (int64_t)span.begin_ns;
    const int64_t end_ns = (int64_t)(span.begin_ns + span.duration_ns);
    span.depth =
        track->what == MXP_TRACK_INSTANTS ? 0 : mxp__page_depth(&track->depths, begin_ns, end_ns);
    track->rows = span.depth >= track->rows ? span.depth + 1 : track->rows;
    track->spans++;
    blocks->spans++;
    int error = MXP_OK;
    if (track->first.count == MXP_BLOCK_SPANS) {
        error = become_large(blocks, track);
    }
    if (error != MXP_OK) {
        return error;
    }
    return track->is_large ? add_to_class(blocks, track, &span, op)
                           : put_stream(&track->first, &span, op);
}

static int end_small(mxp_page_blocks *blocks, mxp_page_track *track)
{
    mxp_page_block block = {.zone = MXP_ZONE_OUTSIDE, .is_small = true};
    int error = MXP_OK;
    if (track->first.count > 0) {
        error = find_order(blocks, &track->first);
        error = error == MXP_OK ? make_block(blocks, track, &track->first, 0, &block) : error;
    }
    stream_fini(&track->first);
    return error;
}

int mxp__blocks_end_track(mxp_page_blocks *blocks, mxp_page_track *track)
{
    int error = end_small(blocks, track);
    for (unsigned c = 0; c < MXP_PAGE_CLASSES; c++) {
        for (int zone = 0; zone < MXP_PAGE_ZONES; zone++) {
            error = error == MXP_OK ? flush(blocks, track, c, (mxp_page_zone)zone, 0) : error;
            stream_fini(&track->streams[c][zone]);
        }
    }
    for (size_t i = 0; i < MXP_PAGE_ROWS && error == MXP_OK; i++) {
        if (track->lanes[i] != NULL) {
            error = mxp__tiles_end_lane(&blocks->tiles, track->lanes[i]);
        }
    }
    return error;
}

void mxp__blocks_fini(mxp_page_blocks *blocks)
{
    for (size_t i = 0; i < blocks->track_count; i++) {
        mxp_page_track *track = blocks->tracks[i];
        stream_fini(&track->first);
        for (unsigned c = 0; c < MXP_PAGE_CLASSES; c++) {
            for (int zone = 0; zone < MXP_PAGE_ZONES; zone++) {
                stream_fini(&track->streams[c][zone]);
            }
        }
        mxp__free(track, sizeof *track);
    }
    for (size_t i = 0; i < MXP_OPERATOR_COLUMNS; i++) {
        mxp__strbuf_fini(&blocks->columns[i]);
    }
    mxp__strbuf_fini(&blocks->raw);
    mxp__strbuf_fini(&blocks->packed);
    mxp__tiles_fini(&blocks->tiles);
    mxp__block_stats_fini(&blocks->stats);
    mxp__free(blocks->tracks, blocks->track_capacity * sizeof *blocks->tracks);
    mxp__free(blocks->all, blocks->capacity * sizeof *blocks->all);
    mxp__free(blocks->order, blocks->order_capacity * sizeof *blocks->order);
    mxp__page_spool_close(&blocks->spool);
    *blocks = (mxp_page_blocks){.spool = {.fd = -1}};
}
