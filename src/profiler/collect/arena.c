// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/arena.h"

#include "base/os/os.h"
#include "profiler/spin.h"

enum { BLOCK_BYTES = 256 * 1024, MOST_BYTES = 256 * 1024 * 1024 };

static struct {
    mxp_spin lock;
    char *block;
    size_t left_bytes, taken_bytes;
} arena;

static void *take(size_t size_bytes)
{
    if (size_bytes > arena.left_bytes) {
        const size_t wanted = size_bytes > BLOCK_BYTES ? size_bytes : BLOCK_BYTES;
        char *pages = arena.taken_bytes + wanted <= MOST_BYTES ? mxp__os_map_pages(wanted) : NULL;
        if (pages == NULL) {
            return NULL;
        }
        arena.taken_bytes += wanted;
        arena.block = pages;
        arena.left_bytes = wanted;
    }
    void *taken = arena.block;
    arena.block += size_bytes;
    arena.left_bytes -= size_bytes;
    return taken;
}

void *mxp__arena_take(size_t size_bytes)
{
    if (!mxp__spin_lock(&arena.lock)) {
        return NULL;
    }
    void *taken = take((size_bytes + 15) & ~(size_t)15);
    mxp__spin_unlock(&arena.lock);
    return taken;
}
