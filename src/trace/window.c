// SPDX-License-Identifier: Apache-2.0
// Records of a thread stand in the order of their ends, so a block is cut at its first record that
// ends in time.
#include "trace/window.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "trace/event.h"

typedef struct window {
    mxp_source source;  // must stay first
    mxp_source *inner;
    mxp_block *blocks;
    size_t count, capacity;
} window;

static window *of(const mxp_source *source)
{
    return (window *)(uintptr_t)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_source *inner = of(source)->inner;
    return inner->name(inner, id);
}

static int get_block(mxp_source *source, size_t number, mxp_block *block)
{
    const window *self = of(source);
    if (number >= self->count) {
        return 0;
    }
    *block = self->blocks[number];
    return 1;
}

static void close_window(mxp_source *source)
{
    window *self = of(source);
    mxp__source_close(self->inner);
    mxp__free(self->blocks, self->capacity * sizeof *self->blocks);
    mxp__free(self, sizeof *self);
}

// Records that are skipped at the front, from the first of a block on.
static void cut_front(const mxp_source *inner, mxp_block *block, int64_t from_ns)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, inner->timebase, block);
    const uint64_t *at = block->words;
    mxp_event event;
    while (mxp__decoder_next(&decoder, &event) == 1 && event.end_ns < from_ns) {
        at = decoder.at;
    }
    block->first_unit += (uint32_t)(at - block->words) / 2;
    block->offset += block->offset == 0 ? 0 : (uint64_t)(at - block->words) * sizeof *at;
    block->words = at;
}

static int add_block(window *self, mxp_block *block, int64_t from_ns)
{
    cut_front(self->inner, block, from_ns);
    if (block->words == block->end) {
        return MXP_OK;
    }
    if (mxp__grow(&self->blocks, &self->capacity, self->count + 1, sizeof *self->blocks) !=
        MXP_OK) {
        return mxp__fail_memory("a window of a trace");
    }
    self->blocks[self->count++] = *block;
    return MXP_OK;
}

static int add_blocks(window *self, int64_t from_ns)
{
    mxp_block block;
    for (size_t i = 0;; i++) {
        int found = self->inner->block(self->inner, i, &block);
        if (found == 0) {
            return MXP_OK;
        }
        int error = found == 1             ? add_block(self, &block, from_ns)
                    : found == MXP_EFORMAT ? MXP_OK
                                           : found;
        if (error != MXP_OK) {
            return error;
        }
    }
}

int mxp__window_open(mxp_source *inner, int64_t from_ns, mxp_source **source)
{
    *source = NULL;
    window *self = mxp__alloc(sizeof *self);
    if (self == NULL) {
        mxp__source_close(inner);
        return mxp__fail_memory("a window of a trace");
    }
    self->source = *inner;
    self->source.name = view_name;
    self->source.block = get_block;
    self->source.close = close_window;
    self->source.block_thread = NULL;
    self->inner = inner;
    int error = add_blocks(self, from_ns);
    if (error != MXP_OK) {
        close_window(&self->source);
        return error;
    }
    *source = &self->source;
    return MXP_OK;
}
