// SPDX-License-Identifier: Apache-2.0
// Memory of operations and variables: blocks of a few sizes, each owned by the thread that took it.
// Another thread frees it by returning it to its owner, in batches; the owner takes all of them at
// once.
#ifndef MXN_ENGINE_BLOCK_POOL_H
#define MXN_ENGINE_BLOCK_POOL_H

#include "runtime/engine/engine_thread.h"

enum { MXN__BLOCK_LARGE = 15, MXN__BLOCK_BATCH = 128 };
// Classes of operations that are in the image of a bulk template: members, and the bulk.
enum { MXN__BLOCK_MEMBER = 13, MXN__BLOCK_IMAGE = 14 };

// The class of a block of at least `size_bytes`; MXN__BLOCK_LARGE if it must be allocated alone.
uint8_t mxn__block_class(size_t size_bytes);

// Null without memory. Classes only, not MXN__BLOCK_LARGE. 64-byte aligned, not zeroed.
void *mxn__block_take_slow(mxn_thread *self, uint8_t block_class);

static inline void *mxn__block_take(mxn_thread *self, uint8_t block_class)
{
    mxn_free_node *block = self->free[block_class];
    if (__builtin_expect(block == NULL, 0)) {
        return mxn__block_take_slow(self, block_class);
    }
    self->free[block_class] = block->next;
    return block;
}

// For MXN__BLOCK_LARGE. Any thread frees it; `owner` took it.
void *mxn__block_take_large(mxn_thread *self, size_t size_bytes);
void mxn__block_give_large(uint16_t owner, void *block);

// Around the time that memory of nobody's pool names a thread as its owner: its state stays.
static inline void mxn__block_leaves(mxn_thread *self)
{
    self->made_large++;
}

static inline void mxn__block_comes_home(uint16_t owner)
{
    // Pairs with mxn__blocks_all_returned.
    mxp_atomic_add_release(&mxn__thread_at(owner)->freed_large, 1);
}

void mxn__block_return(mxn_block_batch *batch, uint8_t block_class);

static inline void mxn__block_give(mxn_thread *self, uint16_t owner, uint8_t block_class, void *at)
{
    mxn_free_node *block = at;
    if (owner == self->index) {
        block->next = self->free[block_class];
        self->free[block_class] = block;
        return;
    }
    mxn_block_batch *batch = &self->batches[block_class];
    if (batch->count != 0 && batch->owner != owner) {
        mxn__block_return(batch, block_class);
    }
    block->next = batch->first;
    batch->first = block;
    batch->last = batch->count == 0 ? block : batch->last;
    batch->owner = owner;
    batch->count++;
    // Only a worker comes by again for sure.
    if (batch->count >= MXN__BLOCK_BATCH || !self->is_worker) {
        mxn__block_return(batch, block_class);
    }
}

// Returns every batch to its owner: when the thread goes idle or ends.
void mxn__blocks_flush(mxn_thread *self);

// Whether all blocks this state ever made are in its own lists, and the large ones freed: then
// nobody asks for its owner any more. Takes in what came back.
bool mxn__blocks_all_returned(mxn_thread *thread);

#endif
