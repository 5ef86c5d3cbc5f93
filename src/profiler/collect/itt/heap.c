// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/itt/heap.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>

#include "base/os/os.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/thread.h"
#include "profiler/spin.h"

enum { BLOCKS = 1 << 16, LOOKED_AT = 32 };

typedef struct heap_function {
    mxp_name name;
} heap_function;

typedef struct known_block {
    uintptr_t address;  // 0: free
    uint64_t size_bytes;
} known_block;

static struct {
    mxp_spin lock;
    known_block *blocks;  // [BLOCKS]
    uint64_t live_bytes;
} heap;

void *mxp__itt_heap_function_create(const char *name, const char *domain)
{
    heap_function *function = mxp__arena_take(sizeof *function);
    if (function != NULL) {
        function->name = mxp_intern(domain != NULL ? domain : "ITT", name != NULL ? name : "(null)",
                                    MXP_STYLE_NONE, MXP_UNIT_NONE);
    }
    return function;
}

// The place of `address`; else a free one of those where it may be, or null.
static known_block *place_of(uintptr_t address)
{
    const uint64_t mixed = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    known_block *free_one = NULL;
    for (uint32_t i = 0; i < LOOKED_AT; i++) {
        known_block *at = &heap.blocks[((mixed >> 40) + i) % BLOCKS];
        if (at->address == address) {
            return at;
        }
        free_one = free_one == NULL && at->address == 0 ? at : free_one;
    }
    return free_one;
}

// Under the lock. False: there is no room, or no such block.
static bool take_in(uintptr_t address, uint64_t size_bytes)
{
    if (heap.blocks == NULL) {
        heap.blocks = mxp__os_map_pages(BLOCKS * sizeof *heap.blocks);
    }
    known_block *place = heap.blocks != NULL ? place_of(address) : NULL;
    if (place == NULL) {
        return false;
    }
    heap.live_bytes += size_bytes - (place->address == address ? place->size_bytes : 0);
    *place = (known_block){address, size_bytes};
    return true;
}

static bool take_out(uintptr_t address, uint64_t *size_bytes)
{
    known_block *place = heap.blocks != NULL ? place_of(address) : NULL;
    if (place == NULL || place->address != address) {
        return false;
    }
    *size_bytes = place->size_bytes;
    heap.live_bytes -= place->size_bytes;
    place->address = 0;
    return true;
}

static void change(const heap_function *function, uintptr_t address, uint64_t size_bytes,
                   uint32_t flags)
{
    bool is_known = false;
    uint64_t live_bytes = 0;
    if (mxp__spin_lock(&heap.lock)) {
        is_known = (flags & MXP_MEM_FREE) != 0 ? take_out(address, &size_bytes)
                                               : take_in(address, size_bytes);
        live_bytes = heap.live_bytes;
        mxp__spin_unlock(&heap.lock);
    }
    if (!is_known) {
        mxp_lose_foreign(1);
        return;
    }
    mxp_memory_emit(&(mxp_memory){.name = function->name,
                                  .scope = mxp_scope_current(),
                                  .block = address,
                                  .flags = flags,
                                  .requested_bytes = size_bytes,
                                  .rounded_bytes = size_bytes,
                                  .live_bytes = live_bytes});
}

// The recorder may allocate at a thread's first record: that is no mark of the program's.
static void tell(void *handle, void *block, uint64_t size_bytes, uint32_t flags)
{
    mxp_collect_thread *own = mxp_enabled(MXP_CLASS_MEMORY) ? mxp__collect_thread() : NULL;
    if (own != NULL && !own->is_inside && handle != NULL && block != NULL) {
        own->is_inside = true;
        change(handle, (uintptr_t)block, size_bytes, flags);
        own->is_inside = false;
    }
}

void mxp__itt_heap_allocate_end(void *function, void **block, size_t size_bytes, int initialized)
{
    (void)initialized;
    tell(function, block != NULL ? *block : NULL, size_bytes, 0);
}

void mxp__itt_heap_free_begin(void *function, void *block)
{
    tell(function, block, 0, MXP_MEM_FREE);
}

void mxp__itt_heap_reallocate_begin(void *function, void *block, size_t size_bytes, int initialized)
{
    (void)size_bytes, (void)initialized;
    tell(function, block, 0, MXP_MEM_FREE);
}

void mxp__itt_heap_reallocate_end(void *function, void *block, void **made, size_t size_bytes,
                                  int initialized)
{
    (void)block, (void)initialized;
    tell(function, made != NULL ? *made : NULL, size_bytes, 0);
}
