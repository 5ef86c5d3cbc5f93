// SPDX-License-Identifier: Apache-2.0
#include "prof/fork_memory.h"

#include <stdint.h>
#include <string.h>

#include "base/os/os.h"

enum { REGIONS_MAX = 24, FIRST_BYTES = 64 << 10, ALIGNMENT = 16 };

typedef struct region {
    char *pages;
    size_t size, used;
} region;

static region regions[REGIONS_MAX];  // each twice as large as the one before; the last has room
static unsigned region_count;
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

static region *region_with_room(size_t size)
{
    if (region_count > 0) {
        region *last = &regions[region_count - 1];
        if (size <= last->size - last->used) {
            return last;
        }
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

void *mxp__fork_memory_realloc(void *block, size_t old_size_bytes, size_t size_bytes)
{
    if (size_bytes == 0 || size_bytes > SIZE_MAX / 4) {
        return NULL;
    }
    size_t size = (size_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    region *from = region_with_room(size);
    if (from == NULL) {
        return NULL;
    }
    char *taken = from->pages + from->used;
    from->used += size;
    if (block != NULL) {
        memcpy(taken, block, old_size_bytes < size_bytes ? old_size_bytes : size_bytes);
    }
    return taken;
}
