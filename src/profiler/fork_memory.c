// SPDX-License-Identifier: Apache-2.0
#include "profiler/fork_memory.h"

#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "base/os/os.h"

enum { REGIONS_MAX = 24, FIRST_BYTES = 128 << 10, ALIGNMENT = 16 };

typedef struct region {
    char *pages;
    size_t size, used;
} region;

typedef struct left_block {
    struct left_block *next;
    void *block;
    size_t size;
} left_block;

// The first region is static memory, because leak checkers look for pointers there and not in
// mappings.
static _Alignas(ALIGNMENT) char first_pages[FIRST_BYTES];
static region regions[REGIONS_MAX] = {{.pages = first_pages, .size = FIRST_BYTES}};
static unsigned region_count = 1;  // each is twice as large as the one before; the last has room
static MXP_ATOMIC(left_block *) left;  // given back, and not yet handed out
static bool is_used;

void mxp__fork_memory_begin(void)
{
    is_used = true;
}

void mxp__fork_memory_end(void)
{
    is_used = false;
}

bool mxp__fork_memory_is_used(void)
{
    return is_used;
}

bool mxp__fork_memory_has(const void *block)
{
    for (unsigned i = 0; i < region_count; i++) {
        if ((uintptr_t)block - (uintptr_t)regions[i].pages < regions[i].size) {
            return true;
        }
    }
    return false;
}

static region *region_with_space(size_t size)
{
    region *last = &regions[region_count - 1];
    if (size <= last->size - last->used) {
        return last;
    }
    if (region_count == REGIONS_MAX) {
        return NULL;
    }
    size_t bytes = (size_t)FIRST_BYTES << region_count;
    while (bytes < size) {
        bytes *= 2;
    }
    char *pages = mxp__os_map_pages(bytes);
    if (pages == NULL) {
        return NULL;
    }
    regions[region_count] = (region){.pages = pages, .size = bytes};
    return &regions[region_count++];
}

static void *take(size_t size_bytes)
{
    if (size_bytes > SIZE_MAX / 4) {
        return NULL;
    }
    size_t size = (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    region *from = region_with_space(size);
    if (from == NULL) {
        return NULL;
    }
    from->used += size;
    return from->pages + from->used - size;
}

// Without memory for the note the block is leaked.
static void leave(void *block, size_t size_bytes)
{
    left_block *note = block != NULL && !mxp__fork_memory_has(block) ? take(sizeof *note) : NULL;
    if (note != NULL) {
        *note = (left_block){.next = mxp_atomic_own(&left), .block = block, .size = size_bytes};
        mxp_atomic_set(&left, note);
    }
}

void *mxp__fork_memory_realloc(void *block, size_t old_size_bytes, size_t size_bytes)
{
    void *taken = size_bytes != 0 ? take(size_bytes) : NULL;
    if (block != NULL && taken != NULL) {
        memcpy(taken, block, old_size_bytes < size_bytes ? old_size_bytes : size_bytes);
    }
    if (taken != NULL || size_bytes == 0) {
        leave(block, old_size_bytes);
    }
    return taken;
}

void mxp__fork_memory_give_back(void (*give)(void *block, size_t size_bytes))
{
    if (mxp_atomic_load(&left) == NULL) {
        return;
    }
    left_block *note = mxp_atomic_exchange_acq_rel(&left, NULL);
    for (; note != NULL; note = note->next) {
        give(note->block, note->size);
    }
}
