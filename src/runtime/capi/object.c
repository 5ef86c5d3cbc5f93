// SPDX-License-Identifier: Apache-2.0
// The table behind handles. Blocks double in size and never move or go away, so an index is
// followed without a lock. Wherever a fork stops a change, the table is valid: at worst a slot is
// lost.
#include "runtime/capi/object.h"

#include <stdint.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/fork_lock.h"

enum {
    MAGIC = 0x4d4f,
    GENERATIONS = 1 << 20,
    INDEX_BITS = 24,
    INDEX_MAX = (1 << INDEX_BITS) - 1,
    FIRST_BITS = 6,
    BLOCKS = INDEX_BITS - FIRST_BITS
};

typedef struct slot {
    mxp_atomic_u64 handle;  // 0: free
    void *object;  // written before the handle
    uint32_t generation;  // of its next handle
    uint32_t next;  // of the free list
} slot;

static const char *const kinds[] = {"nothing",     "a symbol",          "a cached operator",
                                    "an executor", "a key-value store", "a data iterator"};
_Static_assert(sizeof kinds / sizeof kinds[0] == MXN_OBJECT_KINDS, "each kind has a name");

static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(NULL);  // of the free list and new blocks
static MXP_ATOMIC(slot *) blocks[BLOCKS];
static mxp_atomic_u32 used = {1};  // index 0 is never used
static uint32_t first_free;

static unsigned block_of(uint32_t index)
{
    return 31u - (unsigned)__builtin_clz(index + (1u << FIRST_BITS)) - FIRST_BITS;
}

static slot *slot_at(uint32_t index)
{
    unsigned block = block_of(index);
    slot *slots = mxp_atomic_load_acquire(&blocks[block]);  // pairs with take_new
    return &slots[index + (1u << FIRST_BITS) - (1u << (FIRST_BITS + block))];
}

// Under the lock: a slot that was never used, or 0.
static uint32_t take_new(void)
{
    const uint32_t index = mxp_atomic_load(&used);
    if (index >= INDEX_MAX - (1u << FIRST_BITS)) {
        return 0;
    }
    const unsigned block = block_of(index);
    if (mxp_atomic_load(&blocks[block]) == NULL) {
        slot *slots = mxp__alloc(sizeof(slot) << (FIRST_BITS + block));
        if (slots == NULL) {
            return 0;
        }
        mxp_atomic_store_release(&blocks[block], slots);
    }
    mxp_atomic_store_release(&used, index + 1);  // pairs with find
    return index;
}

int mxn__object_new(int kind, void *object, void **handle)
{
    mxp__fork_lock(&lock);
    uint32_t index = first_free;
    if (index != 0) {
        first_free = slot_at(index)->next;
    } else {
        index = take_new();
    }
    mxp__fork_unlock(&lock);
    if (index == 0) {
        return mxp__fail_memory("another handle");
    }
    slot *made = slot_at(index);
    const uint64_t bits = (uint64_t)MAGIC << 48 | (uint64_t)made->generation << 28 |
                          (uint64_t)kind << INDEX_BITS | index;
    made->object = object;
    mxp_atomic_store_release(&made->handle, bits);
    *handle = (void *)(uintptr_t)bits;
    return MXP_OK;
}

// The slot that a handle is, or was, of; null: it is none of ours.
static slot *find(const void *handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    const uint32_t index = (uint32_t)bits & INDEX_MAX;
    const bool ours = bits >> 48 == MAGIC && index != 0 && index < mxp_atomic_load_acquire(&used);
    return ours ? slot_at(index) : NULL;
}

static int fail_handle(int kind, const void *handle, const char *what)
{
    const unsigned is = (unsigned)((uintptr_t)handle >> INDEX_BITS) & 15;
    if (handle == NULL) {
        return mxp__fail(MXP_EHANDLE, "%s is a null handle: %s was expected", what, kinds[kind]);
    }
    if (find(handle) == NULL || is == 0 || is >= MXN_OBJECT_KINDS) {
        return mxp__fail(MXP_EHANDLE, "%s (%p) is no handle of %s", what, handle, kinds[kind]);
    }
    if (is != (unsigned)kind) {
        return mxp__fail(MXP_EHANDLE, "%s (%p) is the handle of %s: %s was expected", what, handle,
                         kinds[is], kinds[kind]);
    }
    return mxp__fail(MXP_EHANDLE, "%s (%p) is %s that has been freed", what, handle, kinds[kind]);
}

int mxn__object_get(int kind, const void *handle, const char *what, void **object)
{
    const slot *found = find(handle);
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    if (found == NULL || (bits >> INDEX_BITS & 15) != (uint64_t)kind ||
        mxp_atomic_load_acquire(&found->handle) != bits) {
        return fail_handle(kind, handle, what);
    }
    *object = found->object;
    return MXP_OK;
}

// Whoever clears the handle has the object: two threads that free it do not both.
int mxn__object_take(int kind, void *handle, const char *what, void **object)
{
    int error = mxn__object_get(kind, handle, what, object);
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    slot *found = find(handle);
    if (error == MXP_OK && !mxp_atomic_cas_acq_rel(&found->handle, &bits, 0)) {
        error = fail_handle(kind, handle, what);
    }
    if (error != MXP_OK) {
        return error;
    }
    found->generation = (found->generation + 1) % GENERATIONS;
    mxp__fork_lock(&lock);
    found->next = first_free;
    first_free = (uint32_t)(uintptr_t)handle & INDEX_MAX;
    mxp__fork_unlock(&lock);
    return MXP_OK;
}
