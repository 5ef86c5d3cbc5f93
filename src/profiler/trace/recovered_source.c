// SPDX-License-Identifier: Apache-2.0
// See recovered_source.h. Blocks are looked through once, when it is opened.
#include "profiler/trace/recovered_source.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/event.h"
#include "profiler/trace/merge.h"

// The readable part of one process.
typedef struct recovered {
    mxp_source source;  // must stay first
    mxp_source *inner;
    mxp_block *blocks;
    size_t count, capacity;
} recovered;

static const char memory_for[] = "recovering a trace";

static recovered *recovered_of(const mxp_source *source)
{
    return (recovered *)(uintptr_t)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_source *inner = recovered_of(source)->inner;
    return inner->name(inner, id);
}

static int get_block(mxp_source *source, size_t number, mxp_block *block)
{
    const recovered *self = recovered_of(source);
    if (number >= self->count) {
        return 0;
    }
    *block = self->blocks[number];
    return 1;
}

static void close_recovered(mxp_source *source)
{
    recovered *self = recovered_of(source);
    mxp__free(self->blocks, self->capacity * sizeof *self->blocks);
    mxp__free(self, sizeof *self);
}

static void note_loss(mxp_recovery_loss *lost, uint64_t bytes)
{
    if (lost->chunks++ == 0) {
        strncat(lost->text, mxp_last_error(), sizeof lost->text - 1);
    }
    lost->bytes += bytes;
}

// Ends the block before its first damaged record.
static void truncate_end(const mxp_source *inner, mxp_block *block, mxp_recovery_loss *lost)
{
    mxp_decoder decoder;
    mxp__decoder_begin(&decoder, inner->timebase, block);
    const uint64_t *at = block->words;
    mxp_event event;
    int found;
    while ((found = mxp__decoder_next(&decoder, &event)) == 1) {
        at = decoder.at;
    }
    if (found < 0) {
        note_loss(lost, (uint64_t)(block->end - at) * sizeof *at);
        block->end = at;
    }
}

static int add_block(recovered *self, const mxp_block *block)
{
    if (mxp__grow(&self->blocks, &self->capacity, self->count + 1, sizeof *self->blocks) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    self->blocks[self->count++] = *block;
    return MXP_OK;
}

static int add_blocks(recovered *self, mxp_recovery_loss *lost)
{
    for (size_t number = 0;; number++) {
        mxp_block block;
        int found = self->inner->block(self->inner, number, &block);
        if (found == 1) {
            truncate_end(self->inner, &block, lost);
            int error = block.words != block.end ? add_block(self, &block) : MXP_OK;
            if (error != MXP_OK) {
                return error;
            }
        } else if (found == MXP_EFORMAT) {
            note_loss(lost, block.unread_bytes);
        } else {
            return found;
        }
    }
}

static int open_process(mxp_source *inner, mxp_source **opened, mxp_recovery_loss *lost)
{
    recovered *self = mxp__alloc(sizeof *self);
    if (self == NULL) {
        return mxp__fail_memory(memory_for);
    }
    self->source = *inner;
    self->source.name = view_name;
    self->source.block = get_block;
    self->source.block_thread = NULL;
    self->source.close = close_recovered;
    self->inner = inner;
    int error = add_blocks(self, lost);
    if (error != MXP_OK) {
        close_recovered(&self->source);
        return error;
    }
    *opened = &self->source;
    return MXP_OK;
}

static int open_processes(mxp_source *inner, mxp_source **parts, size_t count,
                          mxp_recovery_loss *lost, mxp_source **source)
{
    for (size_t i = 0; i < count; i++) {
        int error = open_process(mxp__source_process(inner, i), &parts[i], lost);
        if (error != MXP_OK) {
            while (i > 0) {
                mxp__source_close(parts[--i]);
            }
            return error;
        }
    }
    return mxp__merge_open(parts, count, source);
}

int mxp__recovered_open(mxp_source *inner, mxp_source **source, mxp_recovery_loss *lost)
{
    *source = NULL;
    size_t count = inner->process_count;
    if (count == 0) {
        return open_process(inner, source, lost);
    }
    mxp_source **parts = mxp__alloc(count * sizeof(mxp_source *));
    if (parts == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int error = open_processes(inner, parts, count, lost, source);
    mxp__free(parts, count * sizeof(mxp_source *));
    return error;
}
