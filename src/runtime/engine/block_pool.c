// SPDX-License-Identifier: Apache-2.0
// Blocks are carved from slabs that are never given back: the pool is as large as the largest
// backlog was. A returned chain is pushed by compare-and-swap and taken whole by an exchange, so no
// block is ever looked at by two threads at once.
#include "runtime/engine/block_pool.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"

enum { SLAB_BYTES = 65536, LINE_BYTES = 64, LARGE_HEAD_BYTES = 16 };

static const uint16_t class_bytes[MXN__BLOCK_CLASSES] = {64, 128, 192, 256, 512, 1024};

typedef struct slab {
    struct slab *next;
} slab;

uint8_t mxn__block_class(size_t size_bytes)
{
    for (uint8_t i = 0; i < MXN__BLOCK_CLASSES; i++) {
        if (size_bytes <= class_bytes[i]) {
            return i;
        }
    }
    return MXN__BLOCK_LARGE;
}

static bool take_in(mxn_thread *self, uint8_t block_class)
{
    // Pairs with the release of mxn__block_return.
    mxn_free_node *chain = mxp_atomic_load(&self->returned[block_class]) == NULL
                               ? NULL
                               : mxp_atomic_exchange_acquire(&self->returned[block_class], NULL);
    if (chain == NULL) {
        return false;
    }
    mxn_free_node *last = chain;
    while (self->free[block_class] != NULL && last->next != NULL) {
        last = last->next;
    }
    if (self->free[block_class] != NULL) {
        last->next = self->free[block_class];
    }
    self->free[block_class] = chain;
    return true;
}

static bool new_slab(mxn_thread *self)
{
    slab *made = mxp__alloc(SLAB_BYTES + LINE_BYTES);
    if (made == NULL) {
        return false;
    }
    made->next = self->slabs;
    self->slabs = made;
    uintptr_t first = ((uintptr_t)made + sizeof *made + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    self->slab_at = (char *)first;
    self->slab_end = (char *)made + SLAB_BYTES + LINE_BYTES;
    return true;
}

void *mxn__block_take_slow(mxn_thread *self, uint8_t block_class)
{
    if (take_in(self, block_class)) {
        mxn_free_node *block = self->free[block_class];
        self->free[block_class] = block->next;
        return block;
    }
    if (self->slab_end - self->slab_at < class_bytes[block_class] && !new_slab(self)) {
        return NULL;
    }
    void *block = self->slab_at;
    self->slab_at += class_bytes[block_class];
    self->made[block_class]++;
    return block;
}

// Its size comes before it.
void *mxn__block_take_large(mxn_thread *self, size_t size_bytes)
{
    size_t whole_bytes = LARGE_HEAD_BYTES + size_bytes;
    char *memory = mxp__alloc(whole_bytes);
    if (memory == NULL) {
        return NULL;
    }
    memcpy(memory, &whole_bytes, sizeof whole_bytes);
    mxn__block_leaves(self);
    return memory + LARGE_HEAD_BYTES;
}

void mxn__block_give_large(uint16_t owner, void *block)
{
    char *memory = (char *)block - LARGE_HEAD_BYTES;
    size_t whole_bytes;
    memcpy(&whole_bytes, memory, sizeof whole_bytes);
    mxp__free(memory, whole_bytes);
    mxn__block_comes_home(owner);
}

void mxn__block_return(mxn_block_batch *batch, uint8_t block_class)
{
    mxn_returned *returned = &mxn__thread_at((uint16_t)batch->owner)->returned[block_class];
    mxn_free_node *head = mxp_atomic_load(returned);
    do {
        batch->last->next = head;
    } while (!mxp_atomic_cas_release(returned, &head, batch->first));
    *batch = (mxn_block_batch){0};
}

void mxn__blocks_flush(mxn_thread *self)
{
    for (uint8_t i = 0; i < MXN__BLOCK_CLASSES; i++) {
        if (self->batches[i].count != 0) {
            mxn__block_return(&self->batches[i], i);
        }
    }
}

bool mxn__blocks_all_returned(mxn_thread *thread)
{
    if (mxp_atomic_load_acquire(&thread->freed_large) != thread->made_large) {
        return false;
    }
    for (uint8_t i = 0; i < MXN__BLOCK_CLASSES; i++) {
        take_in(thread, i);
        uint32_t free = 0;
        for (const mxn_free_node *block = thread->free[i]; block != NULL; block = block->next) {
            free++;
        }
        assert(free <= thread->made[i]);
        if (free != thread->made[i]) {
            return false;
        }
    }
    return true;
}
